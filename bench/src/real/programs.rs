//! Programs of Debian's source packages, and what they are put to.

/// How a program is put to work. Each has a file `input` of lines of numbers.
pub enum Load {
    /// It is run once; what it prints is compared.
    Once(&'static [&'static str]),
    /// It is a program of Rust's tests, which are run one after the other; the lines that it prints are compared, in any order and without times.
    Tests(&'static [&'static str]),
    /// It fetches `URL`, which is `input`, into the file `out`, which is compared.
    Fetches(&'static [&'static str]),
    /// It serves at `PORT` while clients talk to it and at last tell it to end; what those print is compared.
    Serves(Service),
}

/// A server and its clients. Where it says `PORT` there is a number.
pub struct Service {
    /// The server's arguments.
    pub arguments: &'static [&'static str],
    /// Files that it needs: name and text.
    pub files: &'static [(&'static str, &'static str)],
    /// The clients: a script of bash.
    pub clients: &'static str,
}

/// What is done with a program.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// How it is put to work.
    pub load: &'a Load,
    /// Bytes of `input`.
    pub input: usize,
    /// In how many runs it is checked.
    pub runs: &'static str,
}

/// A program.
pub struct Program {
    /// Its package's name, for apt.
    pub package: &'static str,
    /// What is said of it beside its name, if it is not run as it comes.
    pub note: &'static str,
    /// How it is built, for a shell in the folder of the sources.
    pub build: &'static str,
    /// A program of our own that is built with it, as `ours.c`, if it is a library.
    pub ours: Option<&'static str>,
    /// What that makes.
    pub made: &'static str,
    /// The folder of its sources.
    pub sources: &'static str,
    /// Bytes of `input`.
    pub input: usize,
    /// Its work.
    pub load: Load,
}

impl Program {
    /// Its name.
    pub fn name(&self) -> &'static str {
        self.package.split('/').next().unwrap_or(self.package)
    }
}

/// The programs; those that no mirror has are told in the table.
pub const PROGRAMS: &[Program] = &[
    Program {
        package: "pbzip2",
        note: "",
        build: "make",
        ours: None,
        made: "pbzip2",
        sources: ".",
        input: 300_000,
        load: Load::Once(&["-p4", "-b1", "-k", "-c", "input"]),
    },
    Program {
        package: "lbzip2",
        note: "",
        // Its portability layer is older than today's C library and has to be told two names.
        build: "./configure && make CPPFLAGS='-D_IO_ftrylockfile -D_IO_IN_BACKUP=0x100'",
        ours: None,
        made: "src/lbzip2",
        sources: "src",
        input: 10_000,
        load: Load::Once(&["-n4", "-1", "-k", "-c", "input"]),
    },
    Program {
        // The older release's archive is listed, but not there.
        package: "pigz/trixie",
        note: "",
        build: "make",
        ours: None,
        made: "pigz",
        sources: ".",
        input: 300_000,
        load: Load::Once(&["-p4", "-b128", "-c", "-n", "input"]),
    },
    Program {
        package: "xz-utils",
        note: "`-T2`",
        build: "./configure --disable-shared --disable-nls --disable-doc --disable-lzmadec --disable-lzmainfo --disable-scripts && make",
        ours: None,
        made: "src/xz/xz",
        sources: "src",
        input: 40_000,
        load: Load::Once(&["-T2", "-0", "--block-size=10000", "-k", "-c", "input"]),
    },
    Program {
        package: "zstd",
        note: "`-T2`",
        build: "make -C programs zstd-release ZSTD_LEGACY_SUPPORT=0 HAVE_ZLIB=0 HAVE_LZMA=0 HAVE_LZ4=0 CFLAGS=-O1",
        ours: None,
        made: "programs/zstd",
        sources: "lib",
        input: 1_200_000,
        load: Load::Once(&["-T2", "--fast=1000", "-B524288", "-q", "-c", "input"]),
    },
    Program {
        package: "axel/trixie",
        note: "four connections",
        build: "./configure --disable-nls --without-ssl && make axel",
        ours: None,
        made: "axel",
        sources: "src",
        input: 400_000,
        load: Load::Fetches(&["-q", "-n4", "-o", "out", "URL"]),
    },
    Program {
        package: "sqlite3",
        note: "three threads of a program of ours",
        build: "./configure --disable-tcl && make sqlite3.c && \
                cc -g -O1 -DSQLITE_THREADSAFE=1 -I. ours.c sqlite3.c -o ours -lpthread -ldl -lm",
        ours: Some(include_str!("../../real/debian/sqlite.c")),
        made: "ours",
        sources: "src",
        input: 0,
        load: Load::Once(&[]),
    },
    Program {
        package: "memcached",
        note: "four workers",
        build: "./configure && make memcached",
        ours: None,
        made: "memcached",
        sources: ".",
        input: 0,
        load: Load::Serves(Service {
            arguments: &[
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
            files: &[],
            clients: include_str!("../../real/debian/memcached.sh"),
        }),
    },
    Program {
        package: "redis",
        note: "four I/O threads",
        build: "make -C src MALLOC=libc USE_SYSTEMD=no OPTIMIZATION=-O1 redis-server",
        ours: None,
        made: "src/redis-server",
        sources: "src",
        input: 0,
        load: Load::Serves(Service {
            arguments: &[
                "--port",
                "PORT",
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--io-threads",
                "4",
                "--io-threads-do-reads",
                "yes",
            ],
            files: &[],
            clients: include_str!("../../real/debian/redis.sh"),
        }),
    },
    Program {
        package: "nginx",
        note: "`aio threads`",
        build: "./configure --with-threads --without-http_rewrite_module --without-http_gzip_module && make",
        ours: None,
        made: "objs/nginx",
        sources: "src",
        input: 20_000,
        load: Load::Serves(Service {
            arguments: &["-e", "stderr", "-p", ".", "-c", "nginx.conf"],
            files: &[("nginx.conf", include_str!("../../real/debian/nginx.conf"))],
            clients: include_str!("../../real/debian/nginx.sh"),
        }),
    },
    Program {
        package: "pfscan",
        note: "",
        build: "make",
        ours: None,
        made: "pfscan",
        sources: ".",
        input: 10_000,
        load: Load::Once(&["-n4", "77", "input"]),
    },
    Program {
        package: "x264",
        note: "four threads, two pictures",
        build: "./configure --disable-asm --disable-lavf --disable-ffms --disable-gpac --disable-lsmash --disable-swscale \
                --disable-avs --disable-opencl --extra-cflags=-O1 && make -j2 x264",
        ours: None,
        made: "x264",
        sources: ".",
        input: 2 * 96 * 80 * 3 / 2,
        load: Load::Once(&[
            "--threads",
            "4",
            "--quiet",
            "--no-progress",
            "--demuxer",
            "raw",
            "--input-res",
            "96x80",
            "-o",
            "/dev/null",
            "input",
        ]),
    },
    Program {
        package: "leveldb",
        note: "`env_test`",
        build: LEVELDB,
        ours: None,
        made: "made/env_test",
        sources: ".",
        input: 0,
        load: Load::Once(&[]),
    },
    Program {
        package: "leveldb",
        note: "`fault_injection_test`",
        build: LEVELDB,
        ours: None,
        made: "made/fault_injection_test",
        sources: ".",
        input: 0,
        load: Load::Once(&[]),
    },
    Program {
        package: "libuv1",
        note: "test `threadpool_multiple_event_loops`",
        build: LIBUV,
        ours: None,
        made: "made/uv_run_tests_a",
        sources: "src",
        input: 0,
        load: Load::Once(&[
            "threadpool_multiple_event_loops",
            "threadpool_multiple_event_loops",
        ]),
    },
    Program {
        package: "libuv1",
        note: "test `fs_file_async`",
        build: LIBUV,
        ours: None,
        made: "made/uv_run_tests_a",
        sources: "src",
        input: 0,
        load: Load::Once(&["fs_file_async", "fs_file_async"]),
    },
    Program {
        package: "zeromq3",
        note: "`test_reqrep_tcp`",
        build: ZEROMQ,
        ours: None,
        made: "made/bin/test_reqrep_tcp",
        sources: "src",
        input: 0,
        load: Load::Once(&[]),
    },
    Program {
        package: "zeromq3",
        note: "`test_pair_inproc`",
        build: ZEROMQ,
        ours: None,
        made: "made/bin/test_pair_inproc",
        sources: "src",
        input: 0,
        load: Load::Once(&[]),
    },
    Program {
        package: "zeromq3",
        note: "`test_thread_safe`",
        build: ZEROMQ,
        ours: None,
        made: "made/bin/test_thread_safe",
        sources: "src",
        input: 0,
        load: Load::Once(&[]),
    },
    Program {
        package: "onetbb",
        note: "`test_concurrent_queue`",
        build: ONETBB,
        ours: None,
        made: "made/found/test_concurrent_queue",
        sources: "src",
        input: 0,
        load: Load::Once(&[]),
    },
    Program {
        package: "onetbb",
        note: "`test_task_group`, cancellation",
        build: ONETBB,
        ours: None,
        made: "made/found/test_task_group",
        sources: "src",
        input: 0,
        // It counts what depends on the order.
        load: Load::Once(&["--minimal", "--test-case=Cancellation*"]),
    },
    Program {
        package: "unbound",
        note: "four threads of a program of ours",
        build: UNBOUND,
        ours: Some(include_str!("../../real/debian/unbound.c")),
        made: "ours",
        sources: ".",
        input: 0,
        load: Load::Once(&[]),
    },
];

/// The folder of what it makes is named after the compiler and the C library.
const ONETBB: &str = "mkdir -p made && cd made && cmake -DTBB_TEST=ON -DTBB_STRICT=OFF -DCMAKE_BUILD_TYPE=RelWithDebInfo .. && \
    make -j2 test_concurrent_queue test_task_group && ln -s *_relwithdebinfo found";

const UNBOUND: &str = "./configure --disable-shared --with-pthreads --without-libevent --disable-flto && \
    make -j2 libunbound.la && \
    cc -g -O1 -Ilibunbound ours.c .libs/libunbound.a -lssl -lcrypto -lpthread -o ours";

const ZEROMQ: &str = "mkdir -p made && cd made && cmake -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUILD_STATIC=ON -DBUILD_SHARED=OFF \
    -DENABLE_DRAFTS=ON -DWITH_LIBSODIUM=OFF -DWITH_DOCS=OFF -DBUILD_TESTS=ON .. && make -j2 test_reqrep_tcp test_pair_inproc test_thread_safe";

const LIBUV: &str = "mkdir -p made && cd made && cmake -DBUILD_TESTING=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo .. && \
                     make -j2 uv_run_tests_a";

/// Its tests want Google's, whose sources Debian has apart.
const LEVELDB: &str = "mkdir -p made && cd made && cmake -DLEVELDB_BUILD_TESTS=OFF -DLEVELDB_BUILD_BENCHMARKS=OFF \
    -DLEVELDB_INSTALL=OFF -DHAVE_SNAPPY=OFF -DHAVE_CRC32C=OFF -DHAVE_TCMALLOC=OFF -DCMAKE_BUILD_TYPE=RelWithDebInfo .. && \
    make -j2 leveldb && cd .. && G=/usr/src/googletest && for test in util/env_test db/fault_injection_test; do \
    c++ -g -O1 -std=c++14 -fno-rtti -DLEVELDB_PLATFORM_POSIX=1 -I. -Iinclude -Imade/include -I$G/googletest -I$G/googletest/include \
    -I$G/googlemock -I$G/googlemock/include $test.cc util/testutil.cc $G/googletest/src/gtest-all.cc \
    $G/googlemock/src/gmock-all.cc made/libleveldb.a -lpthread -o made/$(basename $test) || exit 1; done";
