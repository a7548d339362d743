//! The text of programs: many in one file, the first argument says which one runs.

use std::fmt::Write;

use super::catalogue::Language;
use super::program::{Payload, Program, Use};

/// The text of a file with these programs.
pub fn text(language: Language, programs: &[Program]) -> String {
    match language {
        Language::C => c_like(include_str!("pieces/prelude.c"), programs),
        Language::Cpp => c_like(include_str!("pieces/prelude.cpp"), programs),
        Language::Rust => rust(programs),
    }
}

/// A piece's text with its number for `$`.
fn used(text: &str, program: usize, at: usize) -> String {
    text.replace("SIGNAL$", &format!("(SIGRTMIN + {at})"))
        .replace('$', &format!("_{program}_{at}"))
}

fn c_like(prelude: &str, programs: &[Program]) -> String {
    let mut out = prelude.to_owned();
    // Writing to a string does not fail.
    for (number, program) in programs.iter().enumerate() {
        let _ = c_program(&mut out, number, program);
    }
    out.push_str("\nint main(int count, char **arguments) {\n    keep_signals_out();\n");
    out.push_str("    switch (count > 1 ? atoi(arguments[1]) : 0) {\n");
    for number in 0..programs.len() {
        let _ = writeln!(
            out,
            "    case {number}:\n        return program_{number}();"
        );
    }
    out.push_str("    }\n    return 2;\n}\n");
    out
}

fn c_program(out: &mut String, number: usize, program: &Program) -> std::fmt::Result {
    writeln!(out, "\n/* {} */", program.title())?;
    for (at, one) in program.uses.iter().enumerate() {
        out.push_str(&used(&c_payload(one), number, at));
        out.push_str(&used(&one.piece.text, number, at));
        out.push('\n');
    }
    let threads = program.threads();
    for (thread, calls) in threads.iter().enumerate() {
        writeln!(out, "static void *part_{number}_{thread}(void *arg) {{")?;
        for call in calls {
            let id = format!("_{number}_{}", call.piece);
            match call.is_result {
                true => writeln!(out, "    result{id} = {}{id}();", call.function)?,
                false => writeln!(out, "    {}{id}();", call.function)?,
            }
        }
        writeln!(out, "    return arg;\n}}")?;
    }
    let first = usize::from(program.main_takes_part);
    writeln!(out, "static int program_{number}(void) {{")?;
    writeln!(out, "    pthread_t threads[{}];", threads.len())?;
    around(out, number, program, "setup")?;
    for thread in first..threads.len() {
        writeln!(
            out,
            "    must(pthread_create(&threads[{thread}], NULL, part_{number}_{thread}, NULL) == 0);"
        )?;
    }
    if program.main_takes_part {
        writeln!(out, "    part_{number}_0(NULL);")?;
    }
    for thread in first..threads.len() {
        writeln!(out, "    must(pthread_join(threads[{thread}], NULL) == 0);")?;
    }
    around(out, number, program, "finish")?;
    for at in 0..program.uses.len() {
        if program.is_read_at_the_end(at) {
            writeln!(out, "    result_{number}_{at} = read_{number}_{at}();")?;
        }
    }
    let form = vec!["%ld"; program.uses.len()].join(" ");
    let results: Vec<String> = (0..program.uses.len())
        .map(|at| format!("result_{number}_{at}"))
        .collect();
    writeln!(out, "    printf(\"{form}\\n\", {});", results.join(", "))?;
    writeln!(out, "    return 0;\n}}")
}

/// The calls of `setup$` or `finish$` of all pieces that have it.
fn around(out: &mut String, number: usize, program: &Program, name: &str) -> std::fmt::Result {
    for (at, one) in program.uses.iter().enumerate() {
        if one.piece.has(name) {
            writeln!(out, "    {name}_{number}_{at}();")?;
        }
    }
    Ok(())
}

fn c_payload(one: &Use) -> String {
    let functions = match one.payload {
        Payload::Plain => {
            "static long data$;\n\
             static void write$(void) { data$ = VALUE; }\n\
             static void bump$(void) { data$ += VALUE; }\n\
             static long read$(void) { return data$; }\n"
        }
        Payload::Fields => {
            "static struct { char low; short high; long sum; } data$;\n\
             static void write$(void) { data$.low = 1; data$.high = 2; data$.sum = VALUE; }\n\
             static void bump$(void) { data$.low = 1; data$.high = 2; data$.sum += VALUE; }\n\
             static long read$(void) { return data$.low - 1 + data$.high - 2 + data$.sum == \
             data$.sum || data$.sum == 0 ? data$.sum : -2; }\n"
        }
        Payload::Bytes => {
            "static char data$[24];\n\
             static long read$(void) { long value; memcpy(&value, data$ + 8, sizeof value); \
             return value; }\n\
             static void write$(void) { long value = VALUE; memcpy(data$ + 8, &value, \
             sizeof value); }\n\
             static void bump$(void) { long value = read$() + VALUE; memmove(data$ + 8, &value, \
             sizeof value); }\n"
        }
        Payload::Block => {
            "static long *data$;\n\
             static void write$(void) { data$ = (long *)malloc(sizeof *data$); *data$ = VALUE; }\n\
             static void bump$(void) { if (!data$) data$ = (long *)calloc(1, sizeof *data$); \
             *data$ += VALUE; }\n\
             static long read$(void) { return data$ ? *data$ : 0; }\n"
        }
    };
    format!(
        "{}static long result$;\n\
         static long good$(int is) {{ return is ? VALUE : -1; }}\n",
        functions
    )
    .replace("VALUE", &one.value.to_string())
}

fn rust(programs: &[Program]) -> String {
    let mut out = include_str!("pieces/prelude.rs.txt").to_owned();
    // Writing to a string does not fail.
    for (number, program) in programs.iter().enumerate() {
        let _ = rust_program(&mut out, number, program);
    }
    out.push_str("\nfn main() {\n    let number = std::env::args().nth(1);\n");
    out.push_str("    match number.as_deref().unwrap_or(\"0\") {\n");
    for number in 0..programs.len() {
        let _ = writeln!(out, "        \"{number}\" => program_{number}(),");
    }
    out.push_str("        _ => std::process::exit(2),\n    }\n}\n");
    out
}

fn rust_program(out: &mut String, number: usize, program: &Program) -> std::fmt::Result {
    writeln!(out, "\n// {}", program.title())?;
    for (at, one) in program.uses.iter().enumerate() {
        out.push_str(&used(&rust_payload(one), number, at));
        out.push_str(&used(&one.piece.text, number, at));
        out.push('\n');
    }
    let threads = program.threads();
    for (thread, calls) in threads.iter().enumerate() {
        writeln!(out, "fn part_{number}_{thread}() {{")?;
        for call in calls {
            let id = format!("_{number}_{}", call.piece);
            match call.is_result {
                true => writeln!(
                    out,
                    "    unsafe {{ RESULT{id} = {}{id}() }};",
                    call.function
                )?,
                false => writeln!(out, "    {}{id}();", call.function)?,
            }
        }
        writeln!(out, "}}")?;
    }
    writeln!(out, "fn program_{number}() {{")?;
    around(out, number, program, "setup")?;
    let first = usize::from(program.main_takes_part);
    for thread in first..threads.len() {
        writeln!(
            out,
            "    let t{thread} = std::thread::spawn(part_{number}_{thread});"
        )?;
    }
    if program.main_takes_part {
        writeln!(out, "    part_{number}_0();")?;
    }
    for thread in first..threads.len() {
        writeln!(out, "    t{thread}.join().unwrap();")?;
    }
    around(out, number, program, "finish")?;
    let results: Vec<String> = (0..program.uses.len())
        .map(|at| match program.is_read_at_the_end(at) {
            true => format!("read_{number}_{at}()"),
            false => format!("unsafe {{ RESULT_{number}_{at} }}"),
        })
        .collect();
    let form = vec!["{}"; results.len()].join(" ");
    writeln!(out, "    println!(\"{form}\", {});\n}}", results.join(", "))
}

fn rust_payload(one: &Use) -> String {
    let functions = match one.payload {
        Payload::Plain | Payload::Bytes => {
            "static mut DATA$: i64 = 0;\n\
             fn write$() { unsafe { DATA$ = VALUE } }\n\
             fn bump$() { unsafe { DATA$ += VALUE } }\n\
             fn read$() -> i64 { unsafe { DATA$ } }\n"
        }
        Payload::Fields => {
            "static mut DATA$: (u8, i64) = (0, 0);\n\
             fn write$() { unsafe { DATA$ = (1, VALUE) } }\n\
             fn bump$() { unsafe { DATA$.0 = 1; DATA$.1 += VALUE } }\n\
             fn read$() -> i64 { unsafe { DATA$.1 } }\n"
        }
        Payload::Block => {
            "static mut DATA$: Option<Box<i64>> = None;\n\
             fn write$() { unsafe { DATA$ = Some(Box::new(VALUE)) } }\n\
             fn bump$() { unsafe { let was = read$(); DATA$ = Some(Box::new(was + VALUE)) } }\n\
             fn read$() -> i64 { unsafe { (*&raw const DATA$).as_ref().map_or(0, |it| **it) } }\n"
        }
    };
    format!(
        "{functions}static mut RESULT$: i64 = 0;\n\
         fn good$(is: bool) -> i64 {{ if is {{ VALUE }} else {{ -1 }} }}\n"
    )
    .replace("VALUE", &one.value.to_string())
}
