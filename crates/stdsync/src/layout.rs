//! Where things lie in the library's objects, as the probe found them.

/// Of a thread's record, where its parking word lies.
pub const PARKER: usize = number(option_env!("DEADHEAT_PARKER"));
/// Of a scope's record, where the number of running threads lies.
pub const SCOPE_RUNNING: usize = number(option_env!("DEADHEAT_SCOPE_RUNNING"));
/// Of a scope's record, where it stands that a thread panicked.
pub const SCOPE_PANICKED: usize = number(option_env!("DEADHEAT_SCOPE_PANICKED"));
/// Of a scope's record, where the thread is that waits.
pub const SCOPE_MAIN: usize = number(option_env!("DEADHEAT_SCOPE_MAIN"));

const fn number(text: Option<&str>) -> usize {
    let Some(text) = text else { return 0 };
    let digits = text.as_bytes();
    let (mut value, mut at) = (0, 0);
    while at < digits.len() {
        assert!(digits[at].is_ascii_digit());
        value = value * 10 + (digits[at] - b'0') as usize;
        at += 1;
    }
    value
}

#[test]
fn numbers_are_read() {
    assert_eq!(number(Some("120")), 120);
    assert_eq!(number(None), 0);
}
