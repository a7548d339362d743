//! Modules of the Linux kernel: who calls them, and under which locks, is told by the model.

use std::path::PathBuf;

use deadheat_report::Finding;
use deadheat_scan::model::Model;
use deadheat_scan::{found, llvm, roots, source};

/// A driver: opened and closed under one lock of the network's, interrupted at any time, set up before everything else.
const DRIVER: &str = "
struct device;
typedef struct { int raw; } spinlock_t;
void _raw_spin_lock(spinlock_t *lock);
void _raw_spin_unlock(spinlock_t *lock);
int request_irq(int irq, int (*handler)(int, void *), void *data);

struct device {
    spinlock_t lock;
    int users;    /* under the network's lock only */
    int packets;  /* under the driver's lock */
    int errors;   /* under no lock */
};

struct net_device_ops {
    int (*ndo_open)(struct device *);
    int (*ndo_stop)(struct device *);
};

static int open_device(struct device *device) {
    for (;;) {
        device->users++;
        _raw_spin_lock(&device->lock);
        device->packets = 0;
        _raw_spin_unlock(&device->lock);
        device->errors = 0;
        return 0;
    }
}

static int stop_device(struct device *device) {
    device->users--;
    return 0;
}

static int interrupted(int irq, void *data) {
    struct device *device = data;
    _raw_spin_lock(&device->lock);
    device->packets++;
    _raw_spin_unlock(&device->lock);
    device->errors++;
    return irq;
}

const struct net_device_ops operations = {open_device, stop_device};
static struct device only;

__attribute__((section(\".init.text\"))) int init_driver(void) {
    only.errors = -1;
    return request_irq(1, interrupted, &only);
}
";

fn scanned(text: &str) -> Vec<Finding> {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("driver.c");
    std::fs::write(&path, text).unwrap();
    let made = source::bitcode(&[path], None, &[]).unwrap();
    let program = llvm::read(made.paths()).unwrap();
    let model = Model::linux().unwrap();
    found::scan(&program, &model, &roots::of(&program, &model)).findings
}

/// The functions of a warning, sorted.
fn functions(finding: &Finding) -> Vec<String> {
    let all = finding.accesses.iter();
    let mut all: Vec<String> = all
        .filter_map(|access| access.place.function.clone())
        .collect();
    all.sort();
    all
}

#[test]
fn callers_hold_locks_and_interrupts_come_at_any_time() {
    let findings = scanned(DRIVER);
    let told: Vec<(String, Vec<String>)> = findings
        .iter()
        .map(|finding| {
            let object = finding.object.as_ref();
            let name = object.map_or(String::new(), |object| object.name.clone());
            (name, functions(finding))
        })
        .collect();
    let is_about = |field: &str| told.iter().any(|(name, _)| name.contains(field));
    assert!(is_about("errors"), "{told:#?}");
    assert!(!is_about("packets"), "{told:#?}");
    assert!(!is_about("users"), "{told:#?}");
    let of_init = |(_, functions): &(String, Vec<String>)| {
        functions.iter().any(|name| name.contains("init_driver"))
    };
    assert!(!told.iter().any(of_init), "{told:#?}");
}
