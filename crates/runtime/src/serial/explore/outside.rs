//! What copies may not do to the world.

/// Before the first copy.
pub fn prepare() {}

/// In every copy.
pub fn contain() {}
