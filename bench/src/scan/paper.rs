//! The table in section 5 of "Fast and Accurate Static Data-Race Detection for Concurrent Programs" (2007).

/// A row of it.
pub struct Row {
    /// The driver.
    pub name: &'static str,
    /// Thousands of lines.
    pub kloc: f64,
    /// Shared variables.
    pub variables: u64,
    /// Warnings.
    pub warnings: u64,
    /// After reduction.
    pub reduced: u64,
    /// After contexts.
    pub contexts: u64,
    /// Seconds.
    pub seconds: f64,
}

const fn row(name: &'static str, kloc: f64, counts: [u64; 4], seconds: f64) -> Row {
    let [variables, warnings, reduced, contexts] = counts;
    Row {
        name,
        kloc,
        variables,
        warnings,
        reduced,
        contexts,
        seconds,
    }
}

/// All rows.
pub const TABLE: [Row; 10] = [
    row("hugetlb", 1.2, [5, 4, 1, 1], 3.2),
    row("ipoibmulticast", 26.1, [10, 33228, 6, 6], 7.0),
    row("plip", 13.7, [17, 94, 51, 51], 5.0),
    row("sock", 0.9, [6, 32, 21, 13], 2.0),
    row("ctrace_comb", 1.4, [19, 985, 218, 58], 6.7),
    row("autofs_expire", 8.3, [7, 20, 8, 3], 6.0),
    row("ptrace", 15.4, [3, 9, 1, 1], 15.0),
    row("tty_io", 17.8, [1, 6, 3, 3], 4.0),
    row("raid", 17.2, [6, 23, 21, 13], 1.5),
    row("pci_gart", 0.6, [1, 3, 1, 1], 1.0),
];
