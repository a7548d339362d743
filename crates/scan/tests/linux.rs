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

/// What every driver below begins with.
const KERNEL: &str = "
typedef unsigned long size_t;
typedef struct { union { struct { int raw; } rlock; }; } spinlock_t;
struct mutex { int owner; };
struct work_struct { long data; void (*func)(struct work_struct *); };
struct timer_list { long expires; void (*function)(struct timer_list *); };
struct file;
struct file_operations { long (*read)(struct file *); long (*write)(struct file *); int (*open)(struct file *); };
void _raw_spin_lock(spinlock_t *lock);
void _raw_spin_unlock(spinlock_t *lock);
int _raw_spin_trylock(spinlock_t *lock);
void mutex_lock(struct mutex *lock);
int mutex_lock_interruptible(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
void *kmalloc(size_t size, int flags);
void *ERR_PTR(long error);
int request_irq(int irq, int (*handler)(int, void *), void *data);
void disable_irq(int irq);
void enable_irq(int irq);
void set_bit(long number, unsigned long *bits);
_Bool test_bit(long number, const unsigned long *bits);
void unknown(void *anything);
#define container_of(pointer, type, member) ((type *)((char *)(pointer) - __builtin_offsetof(type, member)))
";

/// The names of what a driver's warnings are about.
fn variables(text: &str) -> Vec<String> {
    let findings = scanned(&format!("{KERNEL}{text}"));
    let named = findings
        .iter()
        .filter_map(|finding| finding.object.as_ref());
    named.map(|object| object.name.clone()).collect()
}

/// Whether one of them ends so.
fn has(variables: &[String], field: &str) -> bool {
    variables.iter().any(|name| name.ends_with(field))
}

#[test]
fn work_is_handed_what_it_lies_in_and_locks_are_members() {
    let found = variables(
        "
struct port { struct work_struct work; spinlock_t lock; int locked; int bare; };
struct file { struct port *private_data; };
static void later(struct work_struct *work) {
    struct port *port = container_of(work, struct port, work);
    _raw_spin_lock(&port->lock);
    port->locked++;
    _raw_spin_unlock(&port->lock);
    port->bare++;
}
static long read_port(struct file *file) {
    struct port *port = file->private_data;
    port->bare = 0;
    _raw_spin_lock(&port->lock);
    port->locked = 0;
    _raw_spin_unlock(&port->lock);
    port->work.func = later;
    return 0;
}
const struct file_operations operations = {read_port};
",
    );
    assert!(has(&found, "bare"), "{found:?}");
    assert!(!has(&found, "locked"), "{found:?}");
    // The kernel's own concern.
    assert!(!has(&found, "func"), "{found:?}");
}

#[test]
fn a_lock_that_was_not_taken_is_not_held() {
    let found = variables(
        "
struct port { struct mutex lock; spinlock_t spin; int sure; int unsure; int tried; };
struct file { struct port *port; };
static long read_port(struct file *file) {
    struct port *port = file->port;
    if (mutex_lock_interruptible(&port->lock))
        return -1;
    port->sure++;
    mutex_unlock(&port->lock);
    if (__builtin_expect(!file || !_raw_spin_trylock(&port->spin), 0))
        return 0;
    port->tried++;
    _raw_spin_unlock(&port->spin);
    return 0;
}
static long write_port(struct file *file) {
    struct port *port = file->port;
    int error = mutex_lock_interruptible(&port->lock);
    port->unsure++;
    if (!error)
        mutex_unlock(&port->lock);
    return 0;
}
const struct file_operations operations = {read_port, write_port};
",
    );
    assert!(has(&found, "unsure"), "{found:?}");
    assert!(!has(&found, "->sure"), "{found:?}");
    assert!(!has(&found, "tried"), "{found:?}");
}

#[test]
fn global_locks_are_different_ones() {
    let found = variables(
        "
static spinlock_t one, other;
static int same, mixed;
struct file { int number; };
static long read_port(struct file *file) {
    _raw_spin_lock(&one);
    same++;
    mixed++;
    _raw_spin_unlock(&one);
    return 0;
}
static long write_port(struct file *file) {
    _raw_spin_lock(&one);
    same++;
    _raw_spin_unlock(&one);
    _raw_spin_lock(&other);
    mixed++;
    _raw_spin_unlock(&other);
    return 0;
}
const struct file_operations operations = {read_port, write_port};
",
    );
    assert!(has(&found, "mixed"), "{found:?}");
    assert!(!has(&found, "same"), "{found:?}");
}

#[test]
fn members_of_other_types_are_other_memory() {
    let found = variables(
        "
struct list_head { struct list_head *next, *prev; };
struct one { long written; struct list_head link; };
struct other { struct list_head link; long only_read; };
struct file { struct one *one; struct other *other; };
static struct list_head all;
static long read_port(struct file *file) {
    file->one->link.next = &all;
    all.next = &file->other->link;
    return file->other->only_read;
}
static long write_port(struct file *file) {
    struct one *one = container_of(all.next, struct one, link);
    one->written = 1;
    return container_of(all.next, struct other, link)->only_read;
}
const struct file_operations operations = {read_port, write_port};
",
    );
    assert!(has(&found, "written"), "{found:?}");
    assert!(!has(&found, "only_read"), "{found:?}");
}

#[test]
fn what_is_new_or_local_or_owned_is_nobody_elses() {
    let found = variables(
        "
struct sk_buff { int length; };
struct port { int users; int ready; };
struct file { struct port *port; };
struct net_ops { int (*xmit)(struct sk_buff *); };
static struct port *make(int is_large) {
    struct port *port;
    if (is_large < 0)
        return ERR_PTR(-12);
    if (is_large)
        port = kmalloc(64, 0);
    else
        port = kmalloc(32, 0);
    port->ready = 0;
    return port;
}
static long read_port(struct file *file) {
    int result;
    unknown(&result);
    result++;
    return file->port->ready + file->port->users + result;
}
static int open_port(struct file *file) {
    struct port *port = make(file->port != 0);
    port->ready = 1;
    file->port = port;
    port->users = 1;
    return 0;
}
static int xmit(struct sk_buff *buffer) {
    buffer->length++;
    return 0;
}
const struct file_operations operations = {read_port, 0, open_port};
const struct net_ops more = {xmit};
",
    );
    assert!(has(&found, "users"), "{found:?}");
    assert!(!has(&found, "ready"), "{found:?}");
    assert!(!has(&found, "length"), "{found:?}");
    assert!(!has(&found, "result"), "{found:?}");
}

#[test]
fn each_task_has_its_own() {
    let found = variables(
        "
struct task_struct { int own; int others; };
struct file { struct task_struct *owner; };
struct task_struct *get_current(void);
static long read_port(struct file *file) {
    get_current()->own++;
    get_current()->others++;
    return 0;
}
static long write_port(struct file *file) {
    file->owner->others = 0;
    return 0;
}
const struct file_operations operations = {read_port, write_port};
",
    );
    assert!(has(&found, "others"), "{found:?}");
    assert!(!has(&found, "own"), "{found:?}");
}

#[test]
fn a_table_of_its_own_is_called_under_its_own_locks() {
    let found = variables(
        "
struct port { spinlock_t lock; int state; };
struct file { struct port *port; };
static void idle(struct port *port) { port->state = 1; }
static void busy(struct port *port) { port->state = 0; }
static void (*const steps[])(struct port *) = {idle, busy};
static long read_port(struct file *file) {
    _raw_spin_lock(&file->port->lock);
    steps[file->port->state & 1](file->port);
    _raw_spin_unlock(&file->port->lock);
    return 0;
}
const struct file_operations operations = {read_port};
",
    );
    assert!(!has(&found, "state"), "{found:?}");
}

#[test]
fn a_call_through_a_table_calls_what_is_in_that_place() {
    let found = variables(
        "
struct port;
struct port_ops { void (*start)(struct port *); void (*stop)(struct port *); };
struct port { spinlock_t lock; const struct port_ops *ops; int started; int stopped; };
struct file { struct port *port; };
static void start(struct port *port) { port->started++; }
static void stop(struct port *port) { port->stopped++; }
extern void take(const struct port_ops *ops);
static const struct port_ops own = {start, stop};
static long read_port(struct file *file) {
    _raw_spin_lock(&file->port->lock);
    file->port->ops = &own;
    file->port->ops->start(file->port);
    _raw_spin_unlock(&file->port->lock);
    return 0;
}
const struct file_operations operations = {read_port};
",
    );
    // Both are in a table of operations, so others may call them; through this call only the first is reached.
    assert!(
        has(&found, "started") && has(&found, "stopped"),
        "{found:?}"
    );
}

#[test]
fn bits_are_atomic_and_interrupts_can_be_disabled() {
    let found = variables(
        "
struct port { unsigned long flags; int irq; int masked; int open; };
static struct port only;
struct file { int number; };
static int interrupted(int irq, void *data) {
    set_bit(1, &only.flags);
    only.masked++;
    only.open++;
    return irq;
}
static long read_port(struct file *file) {
    disable_irq(3);
    only.masked = 0;
    enable_irq(3);
    only.open = 0;
    return test_bit(1, &only.flags);
}
static int open_port(struct file *file) { return request_irq(3, interrupted, &only); }
const struct file_operations operations = {read_port, 0, open_port};
",
    );
    assert!(has(&found, "open"), "{found:?}");
    assert!(!has(&found, "flags"), "{found:?}");
    // Two readers are kept apart by nothing, but the interrupt is.
    let findings = scanned(&format!(
        "{KERNEL}
static int masked;
struct file {{ int number; }};
static int interrupted(int irq, void *data) {{ masked++; return irq; }}
static long read_port(struct file *file) {{
    disable_irq(3);
    int seen = masked;
    enable_irq(3);
    request_irq(3, interrupted, 0);
    return seen;
}}
const struct file_operations operations = {{read_port}};
"
    ));
    assert!(findings.is_empty(), "{findings:#?}");
}

#[test]
fn exceptions_from_the_rule_come_first() {
    let text = "
struct port { spinlock_t lock; int kept; int loose; };
struct file { struct port *port; };
static void set(struct port *port, int to) {
    _raw_spin_lock(&port->lock);
    port->kept = to;
    port->kept++;
    port->kept--;
    _raw_spin_unlock(&port->lock);
}
static long read_port(struct file *file) {
    set(file->port, 1);
    return file->port->loose;
}
static long write_port(struct file *file) {
    file->port->loose = 1;
    return file->port->kept;
}
const struct file_operations operations = {read_port, write_port};
";
    let findings = scanned(&format!("{KERNEL}{text}"));
    let first = &findings[0];
    let object = first.object.as_ref().map(|object| object.name.as_str());
    assert!(
        object.is_some_and(|name| name.ends_with("kept")),
        "{findings:#?}"
    );
    let rule = |reason: &String| reason.contains("accesses hold") && reason.contains("lock");
    assert!(first.reasons.iter().any(rule), "{:?}", first.reasons);
}
