//! The names of things: one newtype each, so that none is taken for another.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty), $prefix:literal) => {
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub struct $name(pub $inner);

        impl $name {
            /// As an index into a table.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id! {
    /// A thread of the program, numbered in the order of creation; the first is 0.
    ThreadId(u32), "T"
}
id! {
    /// A lock during its life: between two uses of the same address by different locks lies a
    /// destruction, and the second gets a new number. An index into [`Tables::syncs`].
    ///
    /// [`Tables::syncs`]: crate::Tables::syncs
    LockId(u32), "L"
}
id! {
    /// A condition, barrier, semaphore, channel or futex; numbered like locks, in the same table.
    SyncId(u32), "S"
}
id! {
    /// A place in the program: in recordings a position in its code, all modules laid end to end
    /// (so it does not change from run to run); in text traces an index into the locations.
    Pc(u32), "pc"
}
id! {
    /// The position of an event in the trace's order.
    EventIndex(u64), "#"
}

impl Pc {
    /// Where it was is not known.
    pub const UNKNOWN: Pc = Pc(u32::MAX);
}

/// An address of the program's memory.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Addr(pub u64);

impl fmt::Display for Addr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}
