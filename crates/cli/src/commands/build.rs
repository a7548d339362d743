//! `deadheat build`: runs a build whose compilers are ours.

use std::ffi::OsString;
use std::process::Command;

use deadheat_build::compiler::{Surroundings, shims};
use deadheat_run::store::info::Ended;
use deadheat_session::error::{Error, Result};
use deadheat_session::exit::Exit;
use deadheat_session::signals::Watch;

const EXAMPLES: &str = "\
Examples:
  deadheat build -- make -j8
  deadheat build -- sh -c './configure && make'
  deadheat build -- cmake -S . -B build     then: cmake --build build
  deadheat build --compiler clang -- make

What is done:
  CC and CXX name Deadheat's wrapper (`deadheat cc --help`), and so do cc, gcc, clang, c++, g++,
  clang++ and their versions at the front of PATH, each standing for the real one. A CC or CXX
  that was set before is the compiler that CC or CXX stands for.
  Only an absolute path of a compiler in the build's own files escapes this.
Objects from an earlier build are not instrumented: start with `make clean` or a new folder.
If the command fails the exit code is 3; its own is reported.";

/// Runs a build command so that what it builds can be recorded.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    override_usage = "deadheat build [OPTIONS] [--] COMMAND [ARGS]..."
)]
pub struct Args {
    /// The compiler to use for CC and CXX, such as gcc or clang-19.
    #[arg(long, value_name = "NAME")]
    compiler: Option<OsString>,

    /// The build command and its arguments.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    command: Vec<OsString>,
}

impl Args {
    /// Runs the build.
    pub fn run(self) -> Result<Exit> {
        let surroundings = Surroundings::of_process()?;
        let shims = shims::folder(&surroundings)?;
        let mut path = shims.as_os_str().to_owned();
        path.push(":");
        path.push(&surroundings.path);

        let (program, args) = self.command.split_first().expect("clap requires one");
        let mut command = Command::new(program);
        command.args(args).env("PATH", path);
        for (name, ours, shim) in [("CC", "DEADHEAT_CC", "cc"), ("CXX", "DEADHEAT_CXX", "c++")] {
            if let Some(real) = self.real_compiler(name, &surroundings) {
                command.env(ours, real);
            }
            command.env(name, shims.join(shim));
        }
        if let Some(compiler) = &self.compiler {
            // The wrapper finds the C++ counterpart by itself.
            command
                .env("DEADHEAT_CC", compiler)
                .env_remove("DEADHEAT_CXX");
        }

        let watch = Watch::begin(true);
        let ended = command.spawn().and_then(|mut child| {
            watch.child(child.id());
            child.wait()
        });
        watch.end();
        let shown = program.display();
        match ended.map(Ended::from_status) {
            Ok(Ended::Exit(0)) => Ok(Exit::Clean),
            Ok(ended) => Err(Error::not_started(format!("{shown} {}", ended.told()))),
            Err(error) => Err(Error::not_started(format!("cannot run {shown}: {error}"))
                .help("what follows `--` is run as a command: deadheat build -- make")),
        }
    }

    /// The compiler that the user's own `CC` or `CXX` names, unless that is already a wrapper.
    fn real_compiler(&self, name: &str, surroundings: &Surroundings) -> Option<OsString> {
        let set = std::env::var_os(name).filter(|value| !value.is_empty())?;
        let text = set.to_str()?;
        let wrapper = text.split_whitespace().any(|word| {
            let path = std::path::Path::new(word);
            path.ends_with("deadheat")
                || path
                    .canonicalize()
                    .is_ok_and(|path| path == surroundings.deadheat)
        });
        (self.compiler.is_none() && !wrapper).then_some(set)
    }
}
