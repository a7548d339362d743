//! Programs that are unlike those that people write: empty, huge, endless, deep.

use std::fmt::Write as _;

use deadheat_scan::found::{self, Scanned};
use deadheat_scan::ir::Program;
use deadheat_scan::model::Model;
use deadheat_scan::{llvm, roots, source};

/// What a scan finds in a program's text.
fn scan(text: &str) -> Scanned {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("program.c");
    std::fs::write(&path, text).expect("a file");
    let flags = ["-w".to_owned()];
    let bitcode = source::bitcode(&[path], None, &flags).expect("it compiles");
    let program = llvm::read(bitcode.paths()).expect("it is read");
    scan_program(&program)
}

fn scan_program(program: &Program) -> Scanned {
    let model = Model::user().expect("own models are right");
    let roots = roots::of(program, &model);
    found::scan(program, &model, &roots)
}

#[test]
fn nothing_at_all() {
    assert!(scan_program(&Program::default()).findings.is_empty());
    assert!(scan("int main(void) { for (;;) ; }").findings.is_empty());
}

#[test]
fn a_huge_function() {
    let mut text = String::from("#include <pthread.h>\nint x[100]; pthread_mutex_t m;\n");
    text.push_str("static void *run(void *p) { int *a = p;\n");
    for number in 0..500 {
        let _ = writeln!(
            text,
            "if (a[{number}]) {{ pthread_mutex_lock(&m); x[{}]++; pthread_mutex_unlock(&m); }}",
            number % 100
        );
    }
    text.push_str("x[7] = 1; return 0; }\nint main(void) { pthread_t t; int own[500];\n");
    text.push_str("pthread_create(&t, 0, run, own); pthread_create(&t, 0, run, own); }\n");
    assert!(!scan(&text).findings.is_empty());
}

#[test]
fn calls_that_are_deep_and_in_circles() {
    let mut text = String::from("#include <pthread.h>\nint x; pthread_mutex_t m;\n");
    for number in 0..200 {
        let _ = writeln!(text, "void f{number}(int n);");
    }
    for number in 0..200 {
        let (next, other) = ((number + 1) % 200, (number * 7 + 3) % 200);
        let _ = writeln!(
            text,
            "void f{number}(int n) {{ if (n) f{next}(n - 1); else f{other}(n); x++; }}"
        );
    }
    text.push_str("void *run(void *p) { pthread_mutex_lock(&m); f0(3); return 0; }\n");
    text.push_str("int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); f1(2); }\n");
    assert!(!scan(&text).findings.is_empty());
}

#[test]
fn structures_that_hold_themselves_in_every_way() {
    let text = "
        #include <pthread.h>
        struct a { struct b *b; struct a *a[4]; void *any; };
        struct b { struct a *a; struct b **all; int n; } *root;
        void *run(void *p) {
            struct b *at = root;
            while (at->a->b) { at = at->a->b; at->all[at->n] = at; at->a->any = &at->a; at = *(struct b **)at->a->any; }
            at->n++;
            return p;
        }
        int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); run(0); }";
    assert!(!scan(text).findings.is_empty());
}

#[test]
fn memory_that_is_copied_in_circles() {
    let text = "
        #include <pthread.h>
        #include <string.h>
        struct node { struct node *next, *other; } a[64], b[64];
        void *run(void *p) {
            for (int i = 0; i < 9; i++) {
                memcpy((char *)a + 8, b, 64);
                memcpy((char *)b + 16, a, 64);
                a[0].next = b[3].other;
                b[1].next = &a[7];
            }
            return p;
        }
        int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); run(0); }";
    assert!(!scan(text).findings.is_empty());
}

/// Twelve places create a thread of any of twelve functions, as far as anybody can tell: there are millions of ways from one to the next.
#[test]
fn threads_that_may_create_each_other_in_every_order() {
    let mut text = String::from("#include <pthread.h>\nint x; extern int which;\n");
    text.push_str("typedef void *work(void *);\nwork *all[12];\n");
    for number in 0..12 {
        let _ = writeln!(
            text,
            "void *run{number}(void *p) {{ pthread_t t; x++;
                pthread_create(&t, 0, all[which], p); return 0; }}"
        );
    }
    text.push_str("int main(void) { pthread_t t;\n");
    for number in 0..12 {
        let _ = writeln!(text, "all[{number}] = run{number};");
    }
    text.push_str("pthread_create(&t, 0, all[which], 0); pthread_join(t, 0); }\n");
    let places: std::collections::BTreeSet<String> = scan(&text)
        .findings
        .iter()
        .map(|finding| finding.signature.clone())
        .collect();
    // `x++` of each function races with that of each.
    assert_eq!(places.len(), 12 * 13 / 2);
}
