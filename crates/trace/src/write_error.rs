//! Why a trace could not be written in another form.

use thiserror::Error;

/// Why a trace could not be written in another form: it could not be read to its end, or its
/// new form found no place.
#[derive(Debug, Error)]
pub enum WriteError<E: std::error::Error + 'static> {
    /// The trace breaks off.
    #[error(transparent)]
    Read(E),
    /// The output failed.
    #[error("cannot write: {0}")]
    Write(#[from] std::io::Error),
}
