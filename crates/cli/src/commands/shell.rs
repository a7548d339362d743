//! `deadheat completions` and `deadheat man`: what shells and `man` want to know of us.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap_complete::Shell;
use deadheat_session::error::{Error, Result};
use deadheat_session::exit::Exit;

use super::Cli;

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  deadheat completions bash > ~/.local/share/bash-completion/completions/deadheat
  deadheat completions zsh > ~/.zfunc/_deadheat
  deadheat completions fish > ~/.config/fish/completions/deadheat.fish";

const MAN_EXAMPLES: &str = "\
Examples:
  deadheat man | man -l -                   read the main page
  deadheat man ~/.local/share/man/man1      write a page for every command";

/// Prints a script that completes Deadheat's commands and options.
#[derive(Debug, clap::Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the manual page, or writes the pages of all commands.
#[derive(Debug, clap::Args)]
#[command(after_help = MAN_EXAMPLES)]
pub struct ManArgs {
    /// The folder for the pages.
    folder: Option<PathBuf>,
}

impl CompletionsArgs {
    /// Prints it.
    pub fn run(self) -> Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "deadheat", &mut script);
        print(&script)
    }
}

impl ManArgs {
    /// Prints or writes it.
    pub fn run(self) -> Result<Exit> {
        let mut command = Cli::command();
        command.build();
        match self.folder {
            None => print(&page(&command)),
            Some(folder) => write_pages(&folder, &command),
        }
    }
}

fn page(command: &clap::Command) -> Vec<u8> {
    let mut text = Vec::new();
    let man = clap_mangen::Man::new(command.clone());
    man.render(&mut text).expect("a vector takes everything");
    text
}

fn write_pages(folder: &Path, command: &clap::Command) -> Result<Exit> {
    let refused =
        |path: &Path, error| Error::usage(format!("cannot write {}: {error}", path.display()));
    std::fs::create_dir_all(folder).map_err(|error| refused(folder, error))?;
    let mut waiting = vec![command.clone().display_name("deadheat")];
    while let Some(command) = waiting.pop() {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let path = folder.join(format!("{name}.1"));
        std::fs::write(&path, page(&command)).map_err(|error| refused(&path, error))?;
        waiting.extend(
            command
                .get_subcommands()
                .filter(|c| !c.is_hide_set())
                .cloned(),
        );
    }
    Ok(Exit::Clean)
}

fn print(text: &[u8]) -> Result<Exit> {
    std::io::stdout()
        .write_all(text)
        .map_err(|error| Error::usage(format!("cannot write: {error}")))?;
    Ok(Exit::Clean)
}
