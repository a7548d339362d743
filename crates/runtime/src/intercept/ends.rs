//! Ends of sockets and pipes: which two are one connection, with both ends in this process.
//!
//! Every send counts on the channel of all, and on the sending end's own. A receive takes from the own channel of the *other* end if that is
//! certain to be all that can have led to it, and from the channel of all otherwise. So a wrong "not known" orders more than it must, and
//! only a wrong "known" could lose an order. An end is known by its inode, whatever numbers it has. It is certain what has led to a receive if
//!
//! * the ends were seen when they were made (`socket`, `socketpair`, `accept`, `pipe`), so that no send was missed; an end that a stream is made of,
//!   which writes unseen, is forgotten;
//! * the two are each other's: made together, or connected and accepted here and found to be the same connection by the kernel ([`super::peer`]).
//!   One that connects again, or is forgotten, is no longer the other's;
//! * nobody can send to one but the other: they are streams. Datagrams come from anybody;
//! * no other process can have the other end. A process that is started has all that is open then, and a message can carry descriptors away: what was
//!   made before that is not certain any more ([`letting_out`]). So what goes to another process and comes back by another way is always sent and received on the
//!   channel of all. Where it cannot be seen when processes are started ([`nothing_is_certain`]), nothing is certain from then on.
//!
//! A connection with both ends closed is forgotten, to make room; where there is none, an end is not known. Names are made of the thread and of how many
//! ends it has made, so they do not depend on the schedule; two with the same name are one channel. A pipe's ends have one inode: it is its own other end,
//! and its name is the inode's channel.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::channel::{self, Behind};
use super::peer;
use crate::local::local;
use crate::{sys, threads};

/// What is known of an end. All zero: nothing.
struct End {
    /// Which it is: see [`identity`].
    identity: AtomicU64,
    /// The other end's, which must say the same of this one; 0 if not known.
    other: AtomicU64,
    /// The channel that it sends on.
    name: AtomicUsize,
    /// How many times something was let out when it was made.
    made: AtomicU32,
    /// The number that it was made with.
    fd: AtomicI32,
    is_closed: AtomicBool,
}

const MOST: usize = 4096;
/// How far from its place an end is looked for.
const REACH: usize = 32;
/// Stand where an end was forgotten, and where one is being written down.
const FORGOTTEN: u64 = 1;
const UNFINISHED: u64 = 2;

static ENDS: [End; MOST] = [const {
    End {
        identity: AtomicU64::new(0),
        other: AtomicU64::new(0),
        name: AtomicUsize::new(0),
        made: AtomicU32::new(0),
        fd: AtomicI32::new(-1),
        is_closed: AtomicBool::new(false),
    }
}; MOST];

/// How many times something was begun that may give other processes ends, and how many times that was over.
static BEGUN: AtomicU32 = AtomicU32::new(0);
static OVER: AtomicU32 = AtomicU32::new(0);

/// A time at which nothing is being let out.
#[derive(Clone, Copy)]
pub struct Quiet(u32);

/// Now, if it is such a time. What is `OVER` has `BEGUN`, so if both are the same nothing was under way when the second was read.
pub fn quiet() -> Option<Quiet> {
    let over = OVER.load(Ordering::SeqCst);
    (BEGUN.load(Ordering::SeqCst) == over).then_some(Quiet(over))
}

/// Does something that may give other processes the ends that there are.
pub fn letting_out<R>(action: impl FnOnce() -> R) -> R {
    BEGUN.fetch_add(1, Ordering::SeqCst);
    let result = action();
    OVER.fetch_add(1, Ordering::SeqCst);
    result
}

/// From now on, other processes may be given ends at any time.
pub fn nothing_is_certain() {
    BEGUN.fetch_add(1, Ordering::SeqCst);
}

/// What tells an end from all others: its inode, and the device of that.
pub fn identity(inode: u64, device: u64) -> u64 {
    inode ^ device << 40 | 1 << 63
}

/// The places where an end may stand.
fn places(identity: u64) -> impl Iterator<Item = &'static End> {
    const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
    let first = (identity.wrapping_mul(SPREAD) >> 40) as usize;
    (0..REACH).map(move |step| &ENDS[(first + step) % MOST])
}

fn find(identity: u64) -> Option<&'static End> {
    // Behind a place that never was taken nothing was put.
    places(identity)
        .take_while(|end| end.identity.load(Ordering::SeqCst) != 0)
        .find(|end| end.is(identity))
}

impl End {
    fn is(&self, identity: u64) -> bool {
        self.identity.load(Ordering::SeqCst) == identity
    }

    fn forget(&self) {
        self.other.store(0, Ordering::SeqCst);
        self.identity.store(FORGOTTEN, Ordering::SeqCst);
    }
}

/// The channel of the next end that the running thread makes.
fn next_name() -> usize {
    /// Far enough apart for the ends of two threads, with a gap that is no divisor of the range.
    const APART: usize = 613;
    // SAFETY: the caller has found the thread visible, so it has a record, which is its own.
    let number = unsafe {
        let thread = &mut *(*local()).thread;
        thread.ends += 1;
        thread.id as usize * APART + thread.ends as usize
    };
    channel::of_end(number)
}

/// What tells a socket from others.
fn socket(fd: c_int) -> Option<u64> {
    let behind = Behind::number(fd)?;
    behind.is_socket().then(|| behind.identity())
}

/// The same if only its other end can send to it.
fn stream_identity(fd: c_int) -> Option<u64> {
    let [family, kind, protocol] =
        [libc::SO_DOMAIN, libc::SO_TYPE, libc::SO_PROTOCOL].map(|option| ask(fd, option));
    let is_stream = match family? {
        libc::AF_UNIX => matches!(kind?, libc::SOCK_STREAM | libc::SOCK_SEQPACKET),
        libc::AF_INET | libc::AF_INET6 => protocol? == libc::IPPROTO_TCP,
        _ => false,
    };
    is_stream.then(|| socket(fd)).flatten()
}

/// What kind of socket it is.
pub fn ask(fd: c_int, option: c_int) -> Option<c_int> {
    let mut answer: c_int = 0;
    let mut size = size_of::<c_int>() as u32;
    let args = [
        fd as usize,
        libc::SOL_SOCKET as usize,
        option as usize,
        &raw mut answer as usize,
        &raw mut size as usize,
        0,
    ];
    (sys::call(libc::SYS_getsockopt, args) == 0).then_some(answer)
}

/// An end of a socket was made, while nothing was let out from `before` on.
pub fn made(fd: c_int, before: Option<Quiet>) {
    if let Some(identity) = stream_identity(fd)
        && threads::visible()
    {
        let name = next_name();
        keep(identity, 0, name, fd, before);
    }
}

/// The same of a pipe, by either end.
pub fn made_pipe(fd: c_int, before: Option<Quiet>) {
    if let Some(behind) = Behind::number(fd)
        && threads::visible()
    {
        let identity = behind.identity();
        keep(identity, identity, channel::channel_of(behind), fd, before);
    }
}

pub(super) fn keep(identity: u64, other: u64, name: usize, fd: c_int, before: Option<Quiet>) {
    let Some(Quiet(made)) = before else {
        return;
    };
    // The kernel has counted once around.
    find(identity).inspect(|old| old.forget());
    let is_free = |end: &&End| {
        let there = end.identity.load(Ordering::SeqCst);
        there <= FORGOTTEN
            && end
                .identity
                .compare_exchange(there, UNFINISHED, Ordering::SeqCst, Ordering::SeqCst)
                .is_ok()
    };
    if let Some(end) = places(identity).find(is_free) {
        end.other.store(other, Ordering::SeqCst);
        end.name.store(name, Ordering::SeqCst);
        end.made.store(made, Ordering::SeqCst);
        end.fd.store(fd, Ordering::SeqCst);
        end.is_closed.store(false, Ordering::SeqCst);
        end.identity.store(identity, Ordering::SeqCst);
    }
}

/// Two ends are one connection.
pub fn connected(one: c_int, other: c_int) {
    if let [Some(one), Some(other)] = [one, other].map(socket) {
        connect(one, other);
    }
}

fn connect(one: u64, other: u64) {
    if let (Some(first), Some(second)) = (find(one), find(other)) {
        first.other.store(other, Ordering::SeqCst);
        second.other.store(one, Ordering::SeqCst);
    }
}

/// An end was accepted: the channel of the one that has connected to it, if that is known. What it did before comes before.
pub fn accepted(fd: c_int, before: Option<Quiet>) -> Option<usize> {
    made(fd, before);
    let identity = socket(fd)?;
    connect(identity, peer::of_accepted(fd)?);
    receives_from(identity)
}

/// An end is about to be connected, perhaps not for the first time.
pub fn connecting(fd: c_int) {
    if let Some(end) = socket(fd).and_then(find) {
        end.other.store(0, Ordering::SeqCst);
    }
}

/// Somebody may write to it unseen.
pub fn forget(fd: c_int) {
    if let Some(end) = socket(fd).and_then(find) {
        end.forget();
    }
}

/// A number of it is given back, perhaps its last.
pub fn closed(identity: u64) {
    let Some(end) = find(identity) else {
        return;
    };
    let was_closed = end.is_closed.swap(true, Ordering::SeqCst);
    let other = end.other.load(Ordering::SeqCst);
    match find(other) {
        // A pipe, which is given back twice.
        Some(_) if other == identity && !was_closed => {}
        Some(other) if !other.is_closed.load(Ordering::SeqCst) => {}
        Some(other) => {
            other.forget();
            end.forget();
        }
        None => end.forget(),
    }
}

/// The channel that a known end sends on beside that of all.
pub fn sends_on(identity: u64) -> Option<usize> {
    let end = find(identity)?;
    let name = end.name.load(Ordering::SeqCst);
    end.is(identity).then_some(name)
}

/// The channel on which everything was sent that arrives at an end, if that is certain.
pub fn receives_from(identity: u64) -> Option<usize> {
    let Quiet(now) = quiet()?;
    let at = find(identity)?.other.load(Ordering::SeqCst);
    let other = find(at)?;
    let name = other.name.load(Ordering::SeqCst);
    let is_certain = other.made.load(Ordering::SeqCst) == now
        && other.other.load(Ordering::SeqCst) == identity
        && other.is(at);
    is_certain.then_some(name)
}

/// The ends that may have been connected and whose other end is not known: what they are, and the numbers they were made with.
pub fn unmatched() -> impl Iterator<Item = (u64, c_int)> {
    let all = ENDS.iter().map(|end| {
        let (identity, other) = (
            end.identity.load(Ordering::SeqCst),
            end.other.load(Ordering::SeqCst),
        );
        (identity, other, end.fd.load(Ordering::SeqCst))
    });
    all.filter(|(identity, other, _)| *identity >> 63 != 0 && *other == 0)
        .map(|(identity, _, fd)| (identity, fd))
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::{Mutex, MutexGuard};

    use super::*;

    static ALONE: Mutex<()> = Mutex::new(());

    /// Whoever has it is the only test that knows ends.
    pub fn alone() -> MutexGuard<'static, ()> {
        let alone = ALONE.lock().unwrap_or_else(|failed| failed.into_inner());
        ENDS.iter().for_each(End::forget);
        OVER.store(BEGUN.load(Ordering::SeqCst), Ordering::SeqCst);
        alone
    }

    const ONE: u64 = 1 << 63 | 10;
    const OTHER: u64 = 1 << 63 | 20;
    const THIRD: u64 = 1 << 63 | 30;

    fn pair(names: [usize; 2]) {
        keep(ONE, 0, names[0], 3, quiet());
        keep(OTHER, 0, names[1], 4, quiet());
        connect(ONE, OTHER);
    }

    #[test]
    fn only_what_is_certain_is_known() {
        let _alone = alone();
        assert_eq!((sends_on(ONE), receives_from(ONE)), (None, None));
        pair([100, 200]);
        assert_eq!((sends_on(ONE), receives_from(ONE)), (Some(100), Some(200)));
        assert_eq!(receives_from(OTHER), Some(100));

        // Another process may have it, while one is started and then: what was made before is not certain, what is made behind is.
        letting_out(|| assert_eq!(receives_from(ONE), None));
        assert_eq!((sends_on(ONE), receives_from(ONE)), (Some(100), None));
        pair([101, 201]);
        assert_eq!((sends_on(ONE), receives_from(ONE)), (Some(101), Some(201)));

        // One that is connected to another is no longer the first one's.
        keep(THIRD, 0, 300, 5, quiet());
        connect(ONE, THIRD);
        assert_eq!(receives_from(ONE), Some(300));
        assert_eq!(receives_from(OTHER), None);

        // Closed at one end, there is still something to read at the other.
        pair([102, 202]);
        closed(ONE);
        assert_eq!(receives_from(OTHER), Some(102));
        closed(OTHER);
        assert_eq!((sends_on(ONE), sends_on(OTHER)), (None, None));

        // A pipe has two numbers at least.
        keep(ONE, ONE, 400, 6, quiet());
        closed(ONE);
        assert_eq!((sends_on(ONE), receives_from(ONE)), (Some(400), Some(400)));
        closed(ONE);
        assert_eq!(sends_on(ONE), None);

        // What was made while another process was started may be in there.
        letting_out(|| pair([103, 203]));
        assert_eq!(sends_on(ONE), None);

        nothing_is_certain();
        pair([104, 204]);
        assert_eq!((quiet().is_none(), sends_on(ONE)), (true, None));
    }

    #[test]
    fn there_is_room_again() {
        let _alone = alone();
        for number in 0..3 * MOST as u64 {
            let identity = 1 << 63 | 1 << 20 | number;
            keep(identity, 0, 8, 3, Some(Quiet(0)));
            assert_eq!(sends_on(identity), Some(8), "end {number}");
            closed(identity);
        }
    }

    #[test]
    fn beyond_the_room_nothing_is_known() {
        let _alone = alone();
        let all = |number| 1 << 63 | 1 << 30 | number;
        (0..3 * MOST as u64).for_each(|number| keep(all(number), 0, 8, 3, Some(Quiet(0))));
        let known = (0..3 * MOST as u64).filter(|number| sends_on(all(*number)).is_some());
        assert!((MOST / 2..=MOST).contains(&known.count()));
    }
}
