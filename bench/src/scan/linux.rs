//! The kernel's sources, prepared as far as single files need it, and bitcode of the files that the paper looked at.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Cache;
use crate::debian::{self, run};

const PACKAGE: &str = "linux-source-6.1";
/// What the files need beyond the architecture's own configuration.
const OPTIONS: [&str; 13] = [
    "PARPORT",
    "PLIP",
    "INFINIBAND",
    "INFINIBAND_IPOIB",
    "AUTOFS_FS",
    "MD",
    "BLK_DEV_MD",
    "MD_RAID1",
    "HUGETLBFS",
    "PCI",
    "X86_64",
    "AMD_NB",
    "GART_IOMMU",
];

/// A file of the kernel.
pub struct Driver {
    /// As the paper calls it.
    pub name: &'static str,
    /// Where it is.
    pub source: &'static str,
}

/// The counterparts of the paper's drivers.
pub const DRIVERS: [&Driver; 9] = [
    &Driver {
        name: "hugetlb",
        source: "mm/hugetlb.c",
    },
    &Driver {
        name: "ipoibmulticast",
        source: "drivers/infiniband/ulp/ipoib/ipoib_multicast.c",
    },
    &Driver {
        name: "plip",
        source: "drivers/net/plip/plip.c",
    },
    &Driver {
        name: "sock",
        source: "net/core/sock.c",
    },
    &Driver {
        name: "autofs_expire",
        source: "fs/autofs/expire.c",
    },
    &Driver {
        name: "ptrace",
        source: "kernel/ptrace.c",
    },
    &Driver {
        name: "tty_io",
        source: "drivers/tty/tty_io.c",
    },
    &Driver {
        name: "raid",
        source: "drivers/md/raid1.c",
    },
    &Driver {
        name: "pci_gart",
        source: "arch/x86/kernel/amd_gart_64.c",
    },
];

/// The kernel's sources, ready to compile a file.
pub fn tree(cache: &Cache) -> Result<PathBuf, String> {
    let folder = cache.folder.join("linux");
    let tree = folder.join(PACKAGE);
    let ready = folder.join("ready");
    if ready.exists() {
        return Ok(tree);
    }
    let archive = folder.join(format!("usr/src/{PACKAGE}.tar.xz"));
    if !archive.exists() {
        eprintln!("bench: fetching {PACKAGE}");
        debian::binary(&cache.folder, PACKAGE, &folder)?;
    }
    eprintln!("bench: preparing {PACKAGE}");
    run(Command::new("tar")
        .arg("-C")
        .arg(&folder)
        .arg("-xf")
        .arg(&archive))?;
    run(make(&tree).arg("defconfig"))?;
    let mut config = Command::new("scripts/config");
    config.current_dir(&tree);
    for option in OPTIONS {
        config.args(["--enable", option]);
    }
    run(&mut config)?;
    run(make(&tree).arg("olddefconfig"))?;
    run(make(&tree).arg("modules_prepare"))?;
    std::fs::write(&ready, "").map_err(|error| error.to_string())?;
    Ok(tree)
}

/// A file as bitcode.
pub fn bitcode(tree: &Path, driver: &Driver) -> Result<PathBuf, String> {
    let source = tree.join(driver.source);
    let bitcode = source.with_extension("bc");
    if !bitcode.exists() {
        let text = Path::new(driver.source).with_extension("ll");
        run(make(tree)
            .arg("KCFLAGS=-g -Xclang -disable-llvm-passes")
            .arg(&text))?;
        run(Command::new("llvm-as-19")
            .arg(tree.join(&text))
            .arg("-o")
            .arg(&bitcode))?;
    }
    Ok(bitcode)
}

fn make(tree: &Path) -> Command {
    let mut make = Command::new("make");
    make.current_dir(tree).args(["-s", "-j2", "LLVM=-19"]);
    make
}
