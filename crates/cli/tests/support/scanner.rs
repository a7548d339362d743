//! The static analyser, beside the executable under test.

use std::path::Path;
use std::process::Command;
use std::sync::Once;

use super::DEADHEAT;

/// Builds it if that was not done: tests of this package do not build it by themselves.
pub fn build() {
    static BUILT: Once = Once::new();
    BUILT.call_once(|| {
        let folder = Path::new(DEADHEAT).parent().unwrap();
        let profile = match folder.file_name().unwrap().to_str().unwrap() {
            "debug" => "dev",
            other => other,
        };
        let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
        let status = Command::new(cargo)
            .args(["build", "--quiet", "--locked", "--package", "deadheat-scan"])
            .args(["--profile", profile, "--target-dir"])
            .arg(folder.parent().unwrap())
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
            .status();
        assert!(status.unwrap().success(), "deadheat-scan can be built");
    });
}
