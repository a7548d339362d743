//! What is run: programs of Debian's source packages, and programs of our own that use crates as their advisories describe.

/// How a program is put to work.
pub enum Load {
    /// It is run once, on a file `input` of so many bytes of text; what it prints is compared.
    Once(&'static [&'static str], usize),
    /// It serves at `PORT` while a script of bash talks to it and at last tells it to end; what the script prints is compared.
    Serves(&'static [&'static str], &'static str),
}

/// A program.
pub struct Program {
    /// Its package's name.
    pub name: &'static str,
    /// How it is built, for a shell in the folder of the sources.
    pub build: &'static str,
    /// What that makes.
    pub made: &'static str,
    /// The folder of its sources.
    pub sources: &'static str,
    /// Its work.
    pub load: Load,
}

/// Talks to memcached: four clients at once, then the command that ends it.
const CLIENTS: &str = r#"
for try in $(seq 200); do (exec 3<>/dev/tcp/127.0.0.1/$1) 2>/dev/null && break; sleep 0.05; done
for client in 1 2 3 4; do (
    exec 3<>/dev/tcp/127.0.0.1/$1
    for key in 1 2 3; do printf 'set k%d 0 0 5\r\nhello\r\nget k%d\r\n' $key $key >&3; done
    printf 'stats\r\nquit\r\n' >&3
    grep -c -e STORED -e hello <&3
) & done
wait
exec 3<>/dev/tcp/127.0.0.1/$1
printf 'shutdown\r\n' >&3
cat <&3 >/dev/null
"#;

/// The programs; those that no mirror has are told in the table.
pub const PROGRAMS: &[Program] = &[
    Program {
        name: "pbzip2",
        build: "make",
        made: "pbzip2",
        sources: ".",
        load: Load::Once(&["-p4", "-b1", "-k", "-c", "input"], 300_000),
    },
    Program {
        name: "lbzip2",
        // Its portability layer is older than today's C library and has to be told two names.
        build: "./configure && make CPPFLAGS='-D_IO_ftrylockfile -D_IO_IN_BACKUP=0x100'",
        made: "src/lbzip2",
        sources: "src",
        load: Load::Once(&["-n4", "-1", "-k", "-c", "input"], 10_000),
    },
    Program {
        name: "memcached",
        build: "./configure && make memcached",
        made: "memcached",
        sources: ".",
        load: Load::Serves(
            &[
                "-A",
                "-u",
                "root",
                "-p",
                "PORT",
                "-l",
                "127.0.0.1",
                "-t",
                "4",
                "-m",
                "16",
            ],
            CLIENTS,
        ),
    },
    Program {
        name: "pigz",
        build: "make",
        made: "pigz",
        sources: ".",
        load: Load::Once(&["-p4", "-b128", "-c", "input"], 300_000),
    },
    Program {
        name: "pfscan",
        build: "make",
        made: "pfscan",
        sources: ".",
        load: Load::Once(&["-n4", "77", "input"], 10_000),
    },
];

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
