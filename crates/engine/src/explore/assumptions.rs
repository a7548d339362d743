//! What a search assumes of a program before it says that it has seen all orders.
//!
//! A search tells orders apart by what it sees: accesses that hooks announce, and the C library's
//! functions. What else threads have in common may differ from order to order unseen. So every place
//! where a program can do something unseen is looked for, and what is there is named as left out:
//!
//! * functions of the program that were compiled without hooks,
//! * libraries without hooks, except those that come with the compilers (their functions are stood
//!   in for, or share nothing by themselves),
//! * atomic instructions and system calls in assembly,
//! * functions of the C library that change what it or the kernel keeps for all threads.
//!
//! What the search meets on its way (timers, joins that fail, the world outside) it says itself:
//! [`Copies::left_out`](super::copies::Copies::left_out).

use deadheat_analysis::assembly::{Assembly, is_understood};
use deadheat_explore::search::Cut;
use deadheat_report::{Binaries, Names, own_place};
use deadheat_trace::{Module, Tables};

/// How many places are named.
const SHOWN: usize = 3;

/// Libraries of the C library and the compilers, by the beginnings of their names.
const TOOLCHAIN: [&str; 13] = [
    "libc.so",
    "libc-",
    "ld-linux",
    "ld-2",
    "libm.so",
    "libm-",
    "libpthread",
    "libdl",
    "librt",
    "libutil",
    "libstdc++",
    "libgcc_s",
    "linux-vdso",
];

/// Functions of the C library by which a thread changes what others see by calls of their own: generators of
/// random numbers, the environment, the folder, positions in files and what files hold.
const COMMON_STATE: [&str; 32] = [
    "srand",
    "srandom",
    "srand48",
    "seed48",
    "lcong48",
    "initstate",
    "setstate",
    "setenv",
    "unsetenv",
    "putenv",
    "clearenv",
    "chdir",
    "fchdir",
    "umask",
    "setlocale",
    "strtok",
    "setrlimit",
    "setrlimit64",
    "setpriority",
    "lseek",
    "pwrite",
    "pwrite64",
    "pwritev",
    "ftruncate",
    "ftruncate64",
    "truncate",
    "truncate64",
    "open_memstream",
    "fmemopen",
    "tmpfile",
    "tmpfile64",
    "hcreate",
];

/// What a recorded program does that no search sees.
pub fn not_met(tables: &Tables) -> Vec<Cut> {
    let assembly = Assembly::of(tables).map(|assembly| Cut::Assembly(assembly.told()));
    let mut without_hooks = uninstrumented(tables);
    let more = without_hooks.len().saturating_sub(SHOWN);
    without_hooks.truncate(SHOWN);
    let mut told = without_hooks.join(", ");
    if more > 0 {
        told.push_str(&format!(" and {more} more"));
    }
    let uninstrumented = (!told.is_empty()).then_some(Cut::Uninstrumented(told));
    let common = common_state(tables);
    let common = (!common.is_empty()).then(|| Cut::CommonState(common.join(", ")));
    let all = [assembly, uninstrumented, common];
    all.into_iter().flatten().collect()
}

/// The functions that the program calls of [`COMMON_STATE`].
fn common_state(tables: &Tables) -> Vec<&'static str> {
    let binaries = Binaries::of(tables);
    let mut found = Vec::new();
    for module in &tables.modules {
        if is_of_toolchain(module) {
            continue;
        }
        if let Some((binary, _)) = binaries.find_address(module.start) {
            found.extend(binary.imported(&COMMON_STATE));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn is_of_toolchain(module: &Module) -> bool {
    let file = module.path.file_name().unwrap_or_default();
    let file = file.to_string_lossy();
    TOOLCHAIN.iter().any(|name| file.starts_with(name))
}

/// Functions and libraries without hooks, for people.
fn uninstrumented(tables: &Tables) -> Vec<String> {
    let names = Names::of(tables);
    let binaries = Binaries::of(tables);
    let mut found = Vec::new();
    for module in &tables.modules {
        if is_of_toolchain(module) {
            continue;
        }
        let Some((binary, _)) = binaries.find_address(module.start) else {
            continue;
        };
        if binary.hooked().is_empty() && !binary.has_main() {
            let file = module.path.file_name().unwrap_or_default();
            found.push(file.to_string_lossy().into_owned());
            continue;
        }
        let place = |start: u64| own_place(&names.frames_at(start.wrapping_add(module.bias) + 1));
        let is_understood = |start: u64| is_understood(binary, &names, module.bias, start);
        for start in binary.uninstrumented(is_understood) {
            let told = place(start).told();
            if !found.contains(&told) {
                found.push(told);
            }
        }
    }
    found
}
