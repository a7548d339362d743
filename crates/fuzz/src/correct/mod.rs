//! Programs that are correct by construction, with unusual synchronisation, alone and combined.
