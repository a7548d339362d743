//! The ways to find races: the streaming detectors, and prediction.

use deadheat_detect::{Detector, Method, Promise};
use deadheat_report::Rung;

use crate::prediction::Model;

/// A way to find races.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// A detector that reads the trace once.
    Detect(Method),
    /// Proof by schedules.
    Predict(Model),
    /// Schedules of synchronisation that may lead there.
    Interleave,
}

impl How {
    /// All, in the order in which they are shown.
    pub fn all() -> Vec<How> {
        let detectors = Method::ALL.into_iter().map(How::Detect);
        let models = [Model::Said, Model::Maximal].map(How::Predict);
        detectors.chain([How::Interleave]).chain(models).collect()
    }

    /// As users write it.
    pub const fn name(self) -> &'static str {
        match self {
            How::Detect(method) => method.name(),
            How::Predict(Model::Maximal) => "maximal",
            How::Predict(Model::Said) => "said",
            How::Interleave => "interleave",
        }
    }

    /// What its reports are worth.
    pub const fn promise(self) -> Promise {
        match self {
            How::Detect(method) => method.promise(),
            How::Predict(_) => Promise::EveryRace,
            How::Interleave => Promise::Nothing,
        }
    }

    /// Whether it looks at which write a read sees.
    pub const fn needs_exact_order(self) -> bool {
        match self {
            How::Detect(method) => method.needs_exact_order(),
            How::Predict(_) => true,
            How::Interleave => false,
        }
    }

    /// The rung of what it finds.
    pub const fn rung(self) -> Rung {
        match self {
            How::Detect(Method::Hb | Method::Shb) => Rung::Observed,
            How::Detect(_) | How::Interleave => Rung::Warning,
            How::Predict(_) => Rung::Witness,
        }
    }

    /// A detector at the start of the trace, if it is one that needs to know nothing before.
    pub fn detector(self) -> Option<Box<dyn Detector>> {
        match self {
            How::Detect(Method::Hybrid) | How::Predict(_) | How::Interleave => None,
            How::Detect(method) => Some(method.detector()),
        }
    }
}
