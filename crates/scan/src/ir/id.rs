//! Numbers into the vectors of a program.

/// A number of its own type.
macro_rules! id {
    ($(#[$doc:meta] $name:ident;)*) => {$(
        #[$doc]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// Of the element at this index.
            pub fn new(index: usize) -> Self {
                $name(u32::try_from(index).unwrap_or(u32::MAX))
            }

            /// The index of the element.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

id! {
    /// A function of a program.
    FunctionId;
    /// A global variable of a program.
    GlobalId;
    /// A structure's layout.
    LayoutId;
    /// A place in the source text.
    PlaceId;
    /// A source file.
    FileId;
    /// A type of functions.
    SignatureId;
    /// A block of a function.
    BlockId;
    /// A value of a function.
    ValueId;
}
