//! Why a recording stops before the program ends.

use core::fmt;

/// Why a recording stops before the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The system refused, with this negated error number.
    Refused(isize),
    /// It has the size that the user allows.
    Size,
    /// The disk has no more room than is to stay free.
    Space,
    /// It was to have so many events; the rest of the run only shows which memory threads share.
    Length,
}

impl Stop {
    /// A write did not write all: what it returned. If it wrote less, the disk filled up under it.
    pub fn cut_off(wrote: isize) -> Self {
        Stop::Refused(match wrote {
            ..0 => wrote,
            _ => -(libc::ENOSPC as isize),
        })
    }

    /// In words.
    pub const fn told(self) -> &'static str {
        match self {
            Stop::Size => "it has reached its largest size",
            Stop::Space => "the disk is nearly full",
            Stop::Length => "it has as many events as it was to have",
            Stop::Refused(error) => match -error as i32 {
                libc::ENOSPC => "the disk is full",
                libc::EDQUOT => "the disk quota is used up",
                libc::ENOMEM => "there is no memory for a buffer",
                libc::EFBIG => "the trace reached the largest size a file may have",
                _ => "the trace could not be written",
            },
        }
    }

    /// What the user can do about it.
    pub const fn advice(self) -> &'static str {
        match self {
            Stop::Size => " (--max-size allows more)",
            Stop::Space => " (make room, record to another disk, or leave less free: --keep-free)",
            Stop::Refused(_) | Stop::Length => "",
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.told())?;
        match self {
            Stop::Refused(error) => write!(f, " (error {})", -error),
            Stop::Size | Stop::Space | Stop::Length => Ok(()),
        }
    }
}
