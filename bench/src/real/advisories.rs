//! Programs of our own that use old versions of crates as the advisories about them describe.

/// A crate with an advisory about a data race, and a program that has it.
pub struct Advisory {
    /// The crate.
    pub name: &'static str,
    /// The advisory's number.
    pub number: &'static str,
    /// What the program depends on, as in `Cargo.toml`.
    pub dependencies: &'static str,
    /// The crate's version.
    pub version: &'static str,
    /// The program.
    pub program: &'static str,
}

/// The advisories.
pub const ADVISORIES: &[Advisory] = &[
    Advisory {
        name: "thread_local",
        number: "RUSTSEC-2022-0006",
        dependencies: "thread_local = \"=1.1.3\"",
        version: "1.1.3",
        program: include_str!("../../real/thread_local.rs"),
    },
    Advisory {
        name: "lock_api",
        number: "RUSTSEC-2020-0070",
        dependencies: "lock_api = \"=0.4.1\"\nparking_lot = { version = \"=0.11.0\", features = [\"send_guard\"] }",
        version: "0.4.1",
        program: include_str!("../../real/lock_api.rs"),
    },
    Advisory {
        name: "atomic-option",
        number: "RUSTSEC-2020-0113",
        dependencies: "atomic-option = \"=0.1.2\"",
        version: "0.1.2",
        program: include_str!("../../real/atomic_option.rs"),
    },
    Advisory {
        name: "beef",
        number: "RUSTSEC-2020-0122",
        dependencies: "beef = \"=0.4.4\"",
        version: "0.4.4",
        program: include_str!("../../real/beef.rs"),
    },
    Advisory {
        name: "rcu_cell",
        number: "RUSTSEC-2020-0131",
        dependencies: "rcu_cell = \"=0.1.8\"",
        version: "0.1.8",
        program: include_str!("../../real/rcu_cell.rs"),
    },
];
