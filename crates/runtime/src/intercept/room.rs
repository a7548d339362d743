//! Room: who sends into something that is full waits for whoever receives.
//!
//! A pipe, a socket or a message queue holds only so much. A send that goes through although more was sent
//! than it holds comes after a receive: whoever receives sends on the *room's* channel, and such a send
//! receives from there.
//!
//! | | in all modes, in this order |
//! |---|---|
//! | a receive | leaves room; the call; receives; leaves room once more |
//! | a send | finds room; sends; the call; finds room once more |
//!
//! Room is left before the call, since whoever waits for it may go on before the receiver has written down
//! anything; and once more behind it, so that it comes behind what was received, too.
//! A send goes before its call, and another thread may receive it before the sender knows who made the room.
//! So in a scarce channel whoever leaves room sends on the messages' channel as well.
//!
//! Scarce is what has been sent more than it holds, over its whole life: in another order, all receives might
//! come later. Less than that fits whatever others do. How much a pipe or a socket takes
//! depends on how bytes are packed; the least that it takes counts. Which receive made
//! the room nobody says: all that came before count, which orders more than it must and never too little.

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use deadheat_wire::Op;

use super::channel::{self, Behind, Other};
use super::{connect, ends};
use crate::record::event;
use crate::{serial, sys, threads};

/// How much was sent into what has this identity. All zero: nothing.
struct Load {
    identity: AtomicU64,
    sent: AtomicU64,
}

const MOST: usize = 1024;
/// How far from its place one is looked for.
const REACH: usize = 16;
static LOADS: [Load; MOST] = [const {
    Load {
        identity: AtomicU64::new(0),
        sent: AtomicU64::new(0),
    }
}; MOST];

/// Whether a room's channel has become scarce.
static SCARCE: [AtomicBool; channel::MOST_CHANNELS + 1] =
    [const { AtomicBool::new(false) }; channel::MOST_CHANNELS + 1];

/// Counts what is sent; the sum. More than there is a place for is taken to be much. `before` is what was
/// there when it is seen for the first time.
fn count(identity: u64, more: u64, before: impl FnOnce() -> u64) -> u64 {
    const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
    let first = (identity.wrapping_mul(SPREAD) >> 40) as usize;
    for step in 0..REACH {
        let load = &LOADS[(first + step) % MOST];
        let free = load
            .identity
            .compare_exchange(0, identity, Ordering::AcqRel, Ordering::Acquire);
        match free {
            Ok(_) => {
                let more = more.wrapping_add(before());
                return load
                    .sent
                    .fetch_add(more, Ordering::SeqCst)
                    .wrapping_add(more);
            }
            Err(known) if known == identity => {
                return load
                    .sent
                    .fetch_add(more, Ordering::SeqCst)
                    .wrapping_add(more);
            }
            Err(_) => {}
        }
    }
    u64::MAX
}

/// What room is in.
#[derive(Clone, Copy)]
enum Holder {
    /// An end of a pipe.
    Pipe(c_int),
    /// The end of a socket that sends.
    Socket(c_int),
    /// A POSIX message queue.
    Queue(c_int),
    /// A System V message queue.
    Messages(c_int),
}

impl Holder {
    /// What a send takes of it, at the most.
    fn cost(self, bytes: usize) -> u64 {
        const PAGE: usize = 4096;
        /// What the kernel needs for a message, a quarter of it as of all that a socket holds.
        const MESSAGE: u64 = 256;
        match self {
            // What is written as a packet has pages of its own.
            Holder::Pipe(fd) if connect::flags(fd) & libc::O_DIRECT != 0 => {
                bytes.next_multiple_of(PAGE) as u64
            }
            Holder::Pipe(_) => bytes as u64,
            Holder::Socket(_) => bytes as u64 + MESSAGE,
            Holder::Queue(_) => 1,
            Holder::Messages(_) => bytes as u64 + 1,
        }
    }

    /// What any of its kind holds.
    fn floor(self) -> u64 {
        match self {
            Holder::Pipe(_) | Holder::Socket(_) => 1024,
            Holder::Queue(_) | Holder::Messages(_) => 0,
        }
    }

    /// What it holds now, and the least that it takes before somebody has to wait.
    fn holds(self) -> [u64; 2] {
        match self {
            Holder::Pipe(fd) => {
                let mut bytes: c_int = 0;
                let place = &raw mut bytes as usize;
                let args = [fd as usize, libc::FIONREAD as usize, place, 0, 0, 0];
                sys::call(libc::SYS_ioctl, args);
                let args = [fd as usize, libc::F_GETPIPE_SZ as usize, 0, 0, 0, 0];
                let most = sys::call(libc::SYS_fcntl, args).max(0) as u64;
                // What does not fit into the rest of a page goes to the next: two have one's bytes at least.
                [bytes.max(0) as u64, most / 2]
            }
            Holder::Socket(fd) => [0, of_socket(fd)],
            Holder::Queue(queue) => {
                let mut now = MaybeUninit::<libc::mq_attr>::zeroed();
                let place = now.as_mut_ptr() as usize;
                sys::call(libc::SYS_mq_getsetattr, [queue as usize, 0, place, 0, 0, 0]);
                // SAFETY: zero, or filled in by the system.
                let now = unsafe { now.assume_init() };
                [now.mq_curmsgs as u64, now.mq_maxmsg as u64]
            }
            Holder::Messages(queue) => {
                let mut now = MaybeUninit::<libc::msqid_ds>::zeroed();
                let place = now.as_mut_ptr() as usize;
                let command = libc::IPC_STAT as usize;
                sys::call(libc::SYS_msgctl, [queue as usize, command, place, 0, 0, 0]);
                // SAFETY: as above.
                let now = unsafe { now.assume_init() };
                [now.__msg_cbytes + now.msg_qnum, now.msg_qbytes]
            }
        }
    }
}

/// The least that a socket takes. The kernel counts what it needs for messages, too, up to four times as much.
fn of_socket(fd: c_int) -> u64 {
    /// Datagrams of Unix sockets are counted: ten are common, some may be with messages' cost.
    const DATAGRAMS: u64 = 2048;
    let ask = |option| ends::ask(fd, option);
    let is_local = ask(libc::SO_DOMAIN) == Some(libc::AF_UNIX);
    let is_stream = ask(libc::SO_TYPE) == Some(libc::SOCK_STREAM);
    let most = ask(libc::SO_SNDBUF).unwrap_or(0).max(0) as u64 / 4;
    match is_local && !is_stream {
        true => most.min(DATAGRAMS),
        false => most,
    }
}

/// The room in something bounded.
#[derive(Clone, Copy)]
pub struct Room {
    holder: Holder,
    identity: u64,
    channel: usize,
}

impl Room {
    /// What is behind a descriptor of the program's own, if it is bounded. The first three may be something
    /// else when the program is run again, and its events must not.
    pub fn behind(fd: c_int, behind: Option<Behind>) -> Option<Room> {
        let behind = behind.filter(|behind| fd > 2 && behind.has_other_end())?;
        let identity = behind.identity();
        let (holder, number) = match behind.is_socket() {
            // Whoever receives may not know the end that has sent: all sockets have one room.
            true => (Holder::Socket(fd), 0),
            false => (Holder::Pipe(fd), identity),
        };
        Room::new(holder, identity, number)
    }

    /// The room behind a descriptor of the program's own.
    pub fn of_descriptor(fd: c_int) -> Option<Room> {
        Room::behind(fd, Behind::number(fd))
    }

    /// The room in a POSIX message queue.
    pub fn of_queue(queue: c_int) -> Option<Room> {
        let identity = Behind::number(queue)?.identity();
        Room::new(Holder::Queue(queue), identity, identity)
    }

    /// The room in a System V message queue.
    pub fn of_messages(queue: c_int) -> Option<Room> {
        let identity = 1 << 40 | u64::from(queue as u32);
        Room::new(Holder::Messages(queue), identity, identity)
    }

    fn new(holder: Holder, identity: u64, number: u64) -> Option<Room> {
        threads::visible().then(|| Room {
            holder,
            identity,
            channel: channel::of_other(Other::Room, number),
        })
    }

    /// The channel that whoever leaves room sends on.
    pub fn channel(self) -> usize {
        self.channel
    }

    /// So many bytes are about to be sent.
    pub fn take(self, bytes: usize) -> Taken {
        let cost = self.holder.cost(bytes);
        let sum = count(self.identity, cost, || self.holder.holds()[0]);
        let is_scarce = sum > self.holder.floor() && sum > self.holder.holds()[1];
        if is_scarce {
            self.is_scarce().store(true, Ordering::SeqCst);
        }
        Taken {
            room: self,
            cost,
            is_scarce,
        }
    }

    /// It is known to have been full.
    pub fn was_full(self) {
        count(self.identity, FULL, || 0);
        self.is_scarce().store(true, Ordering::SeqCst);
    }

    fn is_scarce(self) -> &'static AtomicBool {
        &SCARCE[channel::place(self.channel)]
    }

    /// The running thread is about to receive, or has: what was sent on `messages`.
    pub fn leave(self, messages: usize, pc: usize) {
        event::sync(Op::Send, self.channel, pc);
        let also = match self.is_scarce().load(Ordering::SeqCst) {
            true => messages,
            false => self.channel,
        };
        event::sync(Op::Send, also, pc);
    }

    /// The running thread is about to receive what was sent on `messages`, from something bounded or not: it
    /// leaves room, if so.
    pub fn leaving(room: Option<Room>, messages: impl FnOnce() -> usize, pc: usize) {
        match room {
            None => serial::gate(Op::Receive, 0, 0, pc),
            Some(room) => {
                serial::gate(Op::Send, room.channel, 0, pc);
                room.leave(messages(), pc);
            }
        }
    }

    /// Somebody was told that there is room.
    pub fn is_told(self, pc: usize) {
        if self.is_scarce().load(Ordering::SeqCst) {
            event::sync(Op::Receive, self.channel, pc);
        }
    }
}

/// More than anything holds.
const FULL: u64 = 1 << 40;

/// A send into something bounded.
#[derive(Clone, Copy)]
pub struct Taken {
    room: Room,
    cost: u64,
    is_scarce: bool,
}

impl Taken {
    /// The channel that it receives from: the room's, or one that nobody sends on. The threads have different
    /// ones: a search would think that they meet there.
    pub fn channel(self) -> usize {
        match self.is_scarce {
            true => self.room.channel,
            // SAFETY: the thread is visible, so it has a record.
            false => channel::nowhere(unsafe { threads::my_id() }),
        }
    }

    /// There is room.
    pub fn find(self, pc: usize) {
        event::sync(Op::Receive, self.channel(), pc);
    }

    /// The send has failed, with this error number: it takes nothing.
    pub fn failed(self, error: c_int) {
        count(self.room.identity, self.cost.wrapping_neg(), || self.cost);
        if error == libc::EAGAIN {
            self.room.was_full();
        }
    }
}
