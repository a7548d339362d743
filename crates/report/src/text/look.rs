//! How findings are to look.

/// The width where there is no terminal.
const WIDTH: usize = 100;
/// Less is not made use of.
const NARROWEST: usize = 30;

/// How findings are to look in the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// With all functions that led there.
    pub stacks: bool,
    /// How many columns there are.
    pub width: usize,
}

impl Default for Look {
    fn default() -> Self {
        Look {
            stacks: false,
            width: WIDTH,
        }
    }
}

impl Look {
    /// As wide as `COLUMNS` says, or the terminal that the process has, if it has one.
    pub fn of_terminal(stacks: bool) -> Self {
        let set = std::env::var("COLUMNS").ok();
        let set = set.and_then(|columns| columns.parse().ok());
        let terminal = || {
            let (width, _) = terminal_size::terminal_size()?;
            Some(usize::from(width.0))
        };
        Look {
            stacks,
            width: set.or_else(terminal).unwrap_or(WIDTH).max(NARROWEST),
        }
    }
}
