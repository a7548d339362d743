//! Programs of our own after the manner of Splash-3 and PARSEC, correct and with a race each.

use super::programs::Load;

/// A kernel with so many threads.
pub struct Kernel {
    /// Its file below `bench/real/kernels`.
    pub file: &'static str,
    /// Whether it is built with its race.
    pub races: bool,
    /// Its arguments: how many threads, and the size where it is not the usual one.
    pub load: Load,
}

impl Kernel {
    /// Its name and how it is run.
    pub fn title(&self) -> String {
        let Load::Once(arguments) = self.load else {
            return self.file.to_owned();
        };
        let race = if self.races { " with its race" } else { "" };
        format!("{}{race}, `{}`", self.file, arguments.join(" "))
    }

    /// The same for a folder.
    pub fn folder(&self) -> String {
        self.title().replace([' ', '`', ','], "-")
    }
}

const fn kernel(file: &'static str, arguments: &'static [&'static str]) -> Kernel {
    Kernel {
        file,
        races: false,
        load: Load::Once(arguments),
    }
}

const fn racing(file: &'static str, arguments: &'static [&'static str]) -> Kernel {
    Kernel {
        races: true,
        ..kernel(file, arguments)
    }
}

/// The kernels.
pub const KERNELS: &[Kernel] = &[
    kernel("barnes.c", &["4"]),
    kernel("barnes.c", &["8"]),
    kernel("fmm.c", &["4"]),
    kernel("fmm.c", &["8"]),
    kernel("ocean.c", &["4"]),
    kernel("ocean.c", &["8"]),
    kernel("radix.c", &["4"]),
    kernel("radix.c", &["8"]),
    kernel("volrend.c", &["4"]),
    kernel("volrend.c", &["8"]),
    kernel("raytrace.rs", &["4"]),
    kernel("raytrace.rs", &["8"]),
    kernel("water.c", &["4"]),
    kernel("water.c", &["8"]),
    kernel("lu.c", &["4"]),
    kernel("lu.c", &["8"]),
    kernel("fft.c", &["4"]),
    kernel("fft.c", &["8"]),
    kernel("streamcluster.c", &["4"]),
    kernel("streamcluster.c", &["8"]),
    kernel("fluid.c", &["4"]),
    kernel("fluid.c", &["8"]),
    kernel("frames.c", &["4"]),
    kernel("frames.c", &["8"]),
    kernel("dedup.cpp", &["4"]),
    kernel("dedup.cpp", &["8"]),
    kernel("chameneos.c", &["4"]),
    kernel("chameneos.c", &["8"]),
    racing("barnes.c", &["4", "2000"]),
    racing("ocean.c", &["4", "200"]),
    racing("radix.c", &["4", "400000"]),
    racing("volrend.c", &["4", "96"]),
    racing("raytrace.rs", &["4", "60"]),
    racing("water.c", &["4", "500"]),
    racing("streamcluster.c", &["4", "4000"]),
    racing("fluid.c", &["4", "4000"]),
    racing("frames.c", &["4", "30"]),
    racing("dedup.cpp", &["4", "400000"]),
];
