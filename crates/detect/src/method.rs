//! The methods by name, and what each promises.

use std::fmt;
use std::str::FromStr;

use crate::{Cp, Detector, Hb, Hybrid, HybridOptions, Shb, Simple, SyncP, Wcp};

/// A way to find races.
///
/// ```
/// use deadheat_detect::{Method, Promise};
/// let method: Method = "shb".parse()?;
/// assert_eq!(method.promise(), Promise::EveryRace);
/// assert!(method.needs_exact_order());
/// # Ok::<(), deadheat_detect::UnknownMethod>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// Happens-before.
    Hb,
    /// Schedulable happens-before.
    Shb,
    /// Weak-causally-precedes.
    Wcp,
    /// Causally-precedes.
    Cp,
    /// Sync-preserving races.
    Syncp,
    /// Locksets alone.
    Lockset,
    /// Locksets and a limited happens-before.
    Hybrid,
}

/// Which of the races that a method reports some run of the program really has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Promise {
    /// All.
    EveryRace,
    /// The first one, by its second access; the others may depend on it.
    FirstRace,
    /// None: they are warnings.
    Nothing,
}

/// No method has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMethod(pub String);

impl Method {
    /// All, in the order in which they are shown.
    pub const ALL: [Method; 7] = [
        Method::Hb,
        Method::Shb,
        Method::Wcp,
        Method::Cp,
        Method::Syncp,
        Method::Lockset,
        Method::Hybrid,
    ];

    /// As users write it.
    pub const fn name(self) -> &'static str {
        match self {
            Method::Hb => "hb",
            Method::Shb => "shb",
            Method::Wcp => "wcp",
            Method::Cp => "cp",
            Method::Syncp => "syncp",
            Method::Lockset => "lockset",
            Method::Hybrid => "hybrid",
        }
    }

    /// What its reports are worth.
    pub const fn promise(self) -> Promise {
        match self {
            Method::Shb | Method::Syncp => Promise::EveryRace,
            Method::Hb | Method::Wcp | Method::Cp => Promise::FirstRace,
            Method::Lockset | Method::Hybrid => Promise::Nothing,
        }
    }

    /// Whether it looks at which write a read sees, which only traces in
    /// [`Mode::Serial`](deadheat_trace::Mode::Serial) tell.
    pub const fn needs_exact_order(self) -> bool {
        matches!(self, Method::Shb | Method::Syncp)
    }

    /// A detector at the start of a trace.
    pub fn detector(self) -> Box<dyn Detector> {
        match self {
            Method::Hb => Box::new(Hb::new()),
            Method::Shb => Box::new(Shb::new()),
            Method::Wcp => Box::new(Wcp::new()),
            Method::Cp => Box::new(Cp::new()),
            Method::Syncp => Box::new(SyncP::new()),
            Method::Lockset => Box::new(Simple::new()),
            Method::Hybrid => Box::new(Hybrid::new(HybridOptions::default())),
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, UnknownMethod> {
        let mut all = Method::ALL.into_iter();
        all.find(|method| method.name() == name)
            .ok_or_else(|| UnknownMethod(name.to_owned()))
    }
}

impl fmt::Display for UnknownMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Method::ALL.iter().map(|method| method.name()).collect();
        write!(f, "no method `{}`: there are {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownMethod {}
