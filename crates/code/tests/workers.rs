//! Several workers share the functions of a program, and find what one after the other would. Deadheat looks at this test
//! itself (`crates/cli/tests/itself.rs`), so it is small.

mod support;

use support::{Build, Program};

#[test]
fn functions_are_looked_at_side_by_side() {
    let mut source = String::from("int x, y;\n");
    for number in 0..6 {
        source += &format!(
            "void writes{number}(void) {{\n    if (x)\n        y = {number}; // {number} writes\n}}\n"
        );
    }
    let build = Build {
        compiler: "gcc",
        level: 1,
    };
    let program = Program::new(build, "many.c", &source);
    let sites: Vec<u64> = program.facts.sites().collect();
    for number in 0..6 {
        let site = program.site(&format!("{number} writes"));
        assert!(sites.contains(&site), "{number}: {sites:x?}");
    }
    assert!(sites.is_sorted(), "whoever was faster");
}
