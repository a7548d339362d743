//! What a call of a function that is not looked into does to threads, locks and memory.

/// What a function does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Takes a lock.
    Lock {
        /// Which.
        object: Object,
        /// How.
        mode: Mode,
        /// Whether it may come back without.
        fails: Fails,
        /// Whether it goes on with an attempt that may have succeeded.
        is_again: bool,
    },
    /// Takes a lock without a fixed order: waits for none while it has others.
    LockAny {
        /// The argument that points at the lock.
        argument: u32,
        /// Whether it points at a guard instead, which holds the lock's address.
        is_guard: bool,
    },
    /// Gives a lock back.
    Unlock {
        /// Which.
        object: Object,
    },
    /// Starts a thread.
    Create {
        /// The argument with the function that it runs.
        start: u32,
        /// The argument that this function gets.
        data: Option<u32>,
        /// The argument that tells where the thread's handle is put; its result, if there is none.
        handle: Option<u32>,
    },
    /// Starts a thread with an object's method.
    CreateMethod {
        /// The argument that points at where the object's address is.
        object: u32,
        /// Which of its virtual functions.
        slot: u32,
        /// The argument that tells where the thread's handle is put.
        handle: Option<u32>,
    },
    /// Starts a thread with a boxed closure of Rust's.
    CreateClosure {
        /// The argument that points at something that holds the closure.
        at: u32,
    },
    /// Waits for a thread to end.
    Join {
        /// The argument with its handle.
        handle: u32,
        /// Whether the argument is the address of the handle.
        by_address: bool,
        /// How far behind that address the handle is.
        offset: i64,
    },
    /// Tells whether a thread can still be waited for: 0 means that it was.
    IsRunning {
        /// The argument with the address of its handle.
        handle: u32,
    },
    /// Lets a thread go: nobody will wait for it.
    Detach {
        /// The argument with the address of its handle.
        handle: u32,
    },
    /// Waits for a thread to end whose handle is in the last argument, along with something that only the thread and its handle have.
    JoinHolder,
    /// What this function has created has ended when it returns. It is looked into.
    JoinsOwn,
    /// Runs a function if nobody did yet.
    Once {
        /// The argument that remembers.
        flag: u32,
        /// The argument with the function.
        run: u32,
    },
    /// Tells by its result whether what runs once has run.
    IsDone {
        /// The argument that remembers.
        flag: u32,
        /// Whether 0 is the yes.
        if_zero: bool,
    },
    /// What runs once has run now.
    Done {
        /// The argument that remembers.
        flag: u32,
    },
    /// Runs a closure of Rust's if nobody did yet.
    OnceClosure {
        /// The argument that remembers.
        flag: u32,
        /// The argument with the closure's data. The next one is its table.
        data: u32,
    },
    /// Calls a closure of Rust's before it returns.
    CallsClosure {
        /// The argument with the closure's data. The next one is its table.
        data: u32,
    },
    /// Runs what was last stored in a variable of the thread, by its name.
    RunsStored(u32),
    /// Calls what a function object holds: a pointer to a function at an offset, which gets the object's address first.
    CallsObject {
        /// The argument that points at the object.
        object: u32,
        /// Where the pointer is.
        offset: u32,
    },
    /// Calls back before it returns.
    Calls {
        /// The argument with the function.
        function: u32,
        /// Its parameters, from the first on, are these arguments.
        with: Vec<u32>,
    },
    /// Waits for a condition.
    Wait {
        /// Which.
        condition: Object,
        /// Whether the wait may end without.
        is_timed: bool,
    },
    /// Announces a condition.
    Signal {
        /// Which.
        condition: Object,
    },
    /// Waits until all have come.
    Barrier {
        /// Where.
        barrier: u32,
    },
    /// Comes to a barrier without waiting there.
    Arrive {
        /// Where.
        barrier: u32,
    },
    /// Waits until all have come, without being one of them.
    Pass {
        /// Where.
        barrier: u32,
    },
    /// Waits for a result: the condition has been announced, and threads that were given the object have ended.
    Await {
        /// What the result is in.
        object: u32,
    },
    /// Gives a semaphore its first value, or a barrier the number of those who have to come.
    Count {
        /// Which.
        semaphore: u32,
        /// The argument with the value.
        value: u32,
    },
    /// Takes one from a semaphore.
    Down {
        /// Which.
        semaphore: u32,
        /// Whether it may come back without.
        fails: Fails,
    },
    /// Gives one to a semaphore.
    Up {
        /// Which.
        semaphore: u32,
    },
    /// Returns memory that nobody else has.
    Allocate,
    /// Ends the life of memory.
    Free(u32),
    /// Reads what an argument points at.
    Read(u32),
    /// Writes what an argument points at.
    Write(u32),
    /// Copies what one argument points at to where another does, pointers included.
    Copy {
        /// Where to.
        to: u32,
        /// Where from.
        from: u32,
    },
    /// Works on memory atomically.
    Atomic(u32),
    /// Reads memory atomically.
    AtomicRead(u32),
    /// Returns one of its arguments.
    Returns(u32),
    /// Hands a function to somebody who calls it later, in parallel with everything else.
    Registers {
        /// The argument with the function.
        function: u32,
        /// Whether it can run twice at once.
        is_parallel: bool,
    },
    /// Returns something that belongs to the thread that calls it.
    Own,
    /// Does not return.
    Ends,
    /// Nothing that matters.
    Nothing,
}

/// A lock or a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    /// What an argument points at.
    Argument(u32),
    /// What the address leads to that is stored so many bytes behind where an argument points.
    Pointed(u32, i64),
    /// One that has no address, by the number of its name.
    Named(u32),
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Together with other readers.
    Read,
    /// Alone.
    #[default]
    Write,
}

/// Whether an attempt may fail, and how that is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fails {
    /// It does not.
    #[default]
    Never,
    /// It has failed if the result is not 0.
    NonZero,
    /// It has failed if the result is 0.
    Zero,
}
