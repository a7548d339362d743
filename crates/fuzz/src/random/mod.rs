//! Small random programs and the truth about them, by an interpreter that tries all interleavings.
