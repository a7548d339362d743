//! Writes the fee into the crate. It runs threads itself, which are nobody's concern.

use std::path::PathBuf;

fn main() {
    let fee = std::thread::spawn(|| 2).join().unwrap();
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").unwrap());
    std::fs::write(folder.join("fee.rs"), format!("const FEE: i64 = {fee};\n")).unwrap();
    println!("cargo::rerun-if-changed=build.rs");
}
