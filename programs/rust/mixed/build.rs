//! Builds the C halves of the programs.
//
// NORACE

fn main() {
    println!("cargo::rerun-if-changed=src/bin");
    let halves = ["callback", "counter_race", "table"];
    let sources = halves.map(|half| format!("src/bin/{half}.c"));
    cc::Build::new()
        .files(sources)
        .flag("-pthread")
        .warnings(true)
        .compile("halves");
}
