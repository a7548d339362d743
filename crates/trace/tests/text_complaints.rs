//! What the reader says about text that is no trace: what, where, and what was expected.

use deadheat_trace::text::{self, Flavor};

fn complaint(line: &str, flavor: Flavor) -> String {
    let text = format!("T0|w(x)|1\n{line}\n");
    let parsed = match flavor {
        Flavor::Std => text::parse_std(&text),
        Flavor::Full => text::parse(&text),
    };
    match parsed {
        Ok(_) => format!("{line}\n    fine\n"),
        Err(error) => format!("{line}\n    {error}\n"),
    }
}

#[test]
fn complaints_say_what_where_and_what_was_expected() {
    let lines = [
        "T0|r(x)",
        "T0|r(x)|1|2",
        "|r(x)|1",
        "T0|read(x)|1",
        "T0|forks(T1)|1",
        "T0|xyzzy(x)|1",
        "T0|r|1",
        "T0|r()|1",
        "T0|r(x|1",
        "T0|r(x=)|1",
        "T0|r(x=5z)|1",
        "T0|r(x:0)|1",
        "T0|r(x:1=256)|1",
        "T0|r(x:1=-129)|1",
        "T0|r(x:70000)|1",
        "T0|ar(x:17)|1",
        "T0|r(x,acq)|1",
        "T0|ar(x,strong)|1",
        "T0|rmw(x=1)|1",
        "T0|r(x+8:1)|1",
        "T0|r(0x800000000000:1)|1",
        "T0|r(a:b)|1",
        "T0|r(\"a)|1",
        "T0|init(m)|1",
        "T0|init(mutex:m)|1",
        "T0|acq(a b)|1",
        "T0|fork()|1",
        "T0|fence(acq|1",
        "T0|free(p:8)|1",
        "T0|branch()|1",
        "T0|r(x)|main.c",
        "T0|r(x)|99999999999",
        "#! deadheat-trace 1 serial",
        "#! module x",
        "#! thread",
        "#! thread T1 age=5",
        "#! thread T1 at=nowhere",
        "#! variable x 64",
        "#! variable y 2000000000000",
        "#! note no quotes",
        "#! lock m addr=here",
    ];
    let complaints: String = lines.iter().map(|l| complaint(l, Flavor::Full)).collect();
    insta::assert_snapshot!(complaints, @r#"
    T0|r(x)
        line 2, column 8: expected three fields, `thread|op(target)|location`, found 2
    T0|r(x)|1|2
        line 2, column 10: expected three fields, `thread|op(target)|location`, found 4
    |r(x)|1
        line 2, column 1: expected a thread's name such as T1, found nothing
    T0|read(x)|1
        line 2, column 4: `read` is no operation; did you mean `r`?
    T0|forks(T1)|1
        line 2, column 4: `forks` is no operation; did you mean `fork`?
    T0|xyzzy(x)|1
        line 2, column 4: `xyzzy` is no operation; the operations are listed in docs/trace-text.md
    T0|r|1
        line 2, column 5: expected what it is done to, in parentheses, found nothing
    T0|r()|1
        line 2, column 6: expected a variable or an address, found nothing
    T0|r(x|1
        line 2, column 7: expected a closing `)` at the field's end, found nothing
    T0|r(x=)|1
        line 2, column 8: expected a value such as 5, -1 or 0xff, found nothing
    T0|r(x=5z)|1
        line 2, column 8: expected a value such as 5, -1 or 0xff, found `5z`
    T0|r(x:0)|1
        line 2, column 8: expected a size from 1 to 65535 bytes, found `0`
    T0|r(x:1=256)|1
        line 2, column 10: 256 does not fit into 1 byte
    T0|r(x:1=-129)|1
        line 2, column 10: -129 does not fit into 1 byte
    T0|r(x:70000)|1
        line 2, column 8: expected a size from 1 to 65535 bytes, found `70000`
    T0|ar(x:17)|1
        line 2, column 9: expected a size from 1 to 16 bytes, found `17`
    T0|r(x,acq)|1
        line 2, column 7: expected the closing `)` (only ar, aw, rmw and fence have an order), found `,acq`
    T0|ar(x,strong)|1
        line 2, column 9: expected a memory order: rlx, con, acq, rel, acqrel or seqcst, found `strong`
    T0|rmw(x=1)|1
        line 2, column 11: expected `->` and the value written, as in rmw(x=1->2), found nothing
    T0|r(x+8:1)|1
        line 2, column 6: the variable `x` has 8 bytes, this needs 9; write `#! variable x 9` before its first use
    T0|r(0x800000000000:1)|1
        line 2, column 6: expected an address that ends below 2^47, found `0x800000000000`
    T0|r(a:b)|1
        line 2, column 8: expected a number of bytes such as 4 (quote names that contain a `:`), found `b`
    T0|r("a)|1
        line 2, column 6: expected a string in quotes, with \" \\ \n \r \t \u{7c} as escapes, found `"a`
    T0|init(m)|1
        line 2, column 9: expected a kind and a name such as lock:l; the kinds are lock, cond, barrier, sem, chan and futex, found `m`
    T0|init(mutex:m)|1
        line 2, column 9: expected a kind and a name such as lock:l; the kinds are lock, cond, barrier, sem, chan and futex, found `mutex:m`
    T0|acq(a b)|1
        line 2, column 8: expected a lock's name without white space, found `a b`
    T0|fork()|1
        line 2, column 9: expected a thread's name such as T1, found nothing
    T0|fence(acq|1
        line 2, column 13: expected a closing `)` at the field's end, found nothing
    T0|free(p:8)|1
        line 2, column 10: expected the closing `)`, found `:`
    T0|branch()|1
        line 2, column 11: expected a number, found nothing
    T0|r(x)|main.c
        line 2, column 9: expected a location: a number (32 bits), file:line, file:line:column, module+0xoffset or -, found `main.c`
    T0|r(x)|99999999999
        line 2, column 9: expected a location: a number (32 bits), file:line, file:line:column, module+0xoffset or -, found `99999999999`
    #! deadheat-trace 1 serial
        line 2, column 4: the header must come before everything but comments
    #! module x
        line 2, column 4: expected deadheat-trace, thread, variable, note, lock, cond, barrier, sem, chan or futex, found `module`
    #! thread
        line 2, column 10: expected a thread's name such as T1, found nothing
    #! thread T1 age=5
        line 2, column 14: expected name=, unnamed, parent= or at=, found `age=`
    #! thread T1 at=nowhere
        line 2, column 17: expected a location: a number (32 bits), file:line, file:line:column, module+0xoffset or -, found `nowhere`
    #! variable x 64
        line 2, column 13: the variable `x` has 8 bytes already; declare it before its first use
    #! variable y 2000000000000
        line 2, column 13: no more than 1099511627776 bytes in a variable are possible
    #! note no quotes
        line 2, column 9: expected a string in quotes, with \" \\ \n \r \t \u{7c} as escapes, found `no quotes`
    #! lock m addr=here
        line 2, column 16: expected an address such as 0x7f001000, found `here`
    "#);
}

#[test]
fn std_is_strict() {
    let lines = [
        "T0|begin(anything)|1",
        "T0|end|-7",
        "T0|w(a=b:c,d)|+7",
        "T0|branch|1",
        "T0|wat(x)|1",
        "T0|w(x y)|1",
        "T0|w()|1",
        "T0|w|1",
        "T0|w(x)|",
        "T0|w(x)|main.c:1",
        "T0|w(x)|2147483648",
        "T0 |w(x)|1",
        "T0|w(x)|1 ",
        "# no comments",
        "",
    ];
    let complaints: String = lines.iter().map(|l| complaint(l, Flavor::Std)).collect();
    insta::assert_snapshot!(complaints, @r"
    T0|begin(anything)|1
        fine
    T0|end|-7
        fine
    T0|w(a=b:c,d)|+7
        fine
    T0|branch|1
        line 2, column 4: `branch` is no operation of STD (acq, rel, r, w, fork, join, begin, end); read the file as a full text trace
    T0|wat(x)|1
        line 2, column 4: `wat` is no operation of STD (acq, rel, r, w, fork, join, begin, end)
    T0|w(x y)|1
        line 2, column 6: expected a name without white space in parentheses, found `x y`
    T0|w()|1
        line 2, column 6: expected a name without white space in parentheses, found nothing
    T0|w|1
        line 2, column 6: expected a name without white space in parentheses, found nothing
    T0|w(x)|
        line 2, column 9: expected a location: a number from -2147483648 to 2147483647, found nothing
    T0|w(x)|main.c:1
        line 2, column 9: expected a location: a number from -2147483648 to 2147483647, found `main.c:1`
    T0|w(x)|2147483648
        line 2, column 9: expected a location: a number from -2147483648 to 2147483647, found `2147483648`
    T0 |w(x)|1
        line 2, column 1: expected a thread's name such as T1, found `T0 `
    T0|w(x)|1 
        line 2, column 9: expected a location: a number from -2147483648 to 2147483647, found `1 `
    # no comments
        line 2, column 14: expected three fields, `thread|op(target)|location`, found 1

        line 2, column 1: expected three fields, `thread|op(target)|location`, found 1
    ");
}

#[test]
fn files_that_are_no_text_traces_are_told_so() {
    let error = |bytes: &[u8]| match text::Reader::new(bytes, Flavor::Full) {
        Ok(reader) => deadheat_trace::Steps::collect_trace(reader).unwrap_err(),
        Err(error) => error,
    };
    let long = vec![b'x'; 3 << 20];
    let complaints = [
        error(b"DEADHEAT\x01\0\0\0"),
        error(b"# fine\nT0|r(\xFF)|1\n"),
        error(&long),
        error(b"#! deadheat-trace 2 serial\n"),
        error(b"#! deadheat-trace x serial\n"),
        error(b"#! deadheat-trace 1\n"),
        error(b"#! deadheat-trace 1 serial fast\n"),
    ];
    let complaints = complaints.map(|error| error.to_string()).join("\n");
    insta::assert_snapshot!(complaints, @r"
    line 1, column 1: this is a recording, not a text trace; convert it with `deadheat trace convert`
    line 2, column 6: the line is not UTF-8 text; is this a text trace?
    line 1, column 1: the line is longer than 1048576 bytes; is this a text trace?
    line 1, column 19: the trace has format version 2, this Deadheat knows 1; use a newer Deadheat
    line 1, column 19: expected the format's version, 1, found `x`
    line 1, column 20: expected serial or parallel, found nothing
    line 1, column 28: expected the end of the line, found `fast`
    ");
    assert_eq!(text::parse("").unwrap().steps.len(), 0);
}
