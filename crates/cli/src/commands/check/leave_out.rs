//! The options that leave out the accesses of functions.

use deadheat_analysis::leave_out::LeaveOut;

/// Which functions to leave out.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct LeaveOutArgs {
    /// Record only the accesses of this function; may be given several times.
    #[arg(long, value_name = "FUNCTION")]
    only: Vec<String>,

    /// Do not record the accesses of this function; may be given several times.
    #[arg(long, value_name = "FUNCTION")]
    except: Vec<String>,
}

impl LeaveOutArgs {
    /// The same for who leaves it out.
    pub fn functions(self) -> LeaveOut {
        LeaveOut {
            only: self.only,
            except: self.except,
        }
    }
}
