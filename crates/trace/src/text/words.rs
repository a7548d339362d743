//! The words of the text format: one per operation, order and kind of object.

use crate::{Op, Order, SyncKind};

/// The word of every operation, in the order of [`Op::ALL`].
const OPS: [(&str, Op); 47] = [
    ("r", Op::Read),
    ("w", Op::Write),
    ("ar", Op::AtomicRead),
    ("aw", Op::AtomicWrite),
    ("rmw", Op::AtomicRmw),
    ("fence", Op::Fence),
    ("acq", Op::Acquire),
    ("rel", Op::Release),
    ("rdlock", Op::ReadAcquire),
    ("rdunlock", Op::ReadRelease),
    ("req", Op::Request),
    ("rdreq", Op::ReadRequest),
    ("fork", Op::Fork),
    ("begin", Op::Begin),
    ("end", Op::End),
    ("join", Op::Join),
    ("wait", Op::Wait),
    ("wake", Op::Wake),
    ("timeout", Op::Timeout),
    ("notify", Op::Notify),
    ("notifyall", Op::NotifyAll),
    ("benter", Op::BarrierEnter),
    ("bexit", Op::BarrierExit),
    ("post", Op::Post),
    ("take", Op::Take),
    ("send", Op::Send),
    ("recv", Op::Receive),
    ("fwait", Op::FutexWait),
    ("fwoken", Op::FutexWoken),
    ("fwake", Op::FutexWake),
    ("init", Op::Init),
    ("destroy", Op::Destroy),
    ("alloc", Op::Alloc),
    ("free", Op::Free),
    ("enter", Op::Enter),
    ("leave", Op::Leave),
    ("branch", Op::Branch),
    ("extern", Op::ExternalWrite),
    ("lost", Op::Lost),
    ("refused", Op::Refused),
    ("rdrefused", Op::ReadRefused),
    ("takerefused", Op::TakeRefused),
    ("joinreq", Op::JoinRequest),
    ("takereq", Op::TakeRequest),
    ("wakereq", Op::WakeRequest),
    ("exit", Op::Exit),
    ("receiverefused", Op::ReceiveRefused),
];

const ORDERS: [(&str, Order); 6] = [
    ("rlx", Order::Relaxed),
    ("con", Order::Consume),
    ("acq", Order::Acquire),
    ("rel", Order::Release),
    ("acqrel", Order::AcqRel),
    ("seqcst", Order::SeqCst),
];

const KINDS: [(&str, SyncKind); 6] = [
    ("lock", SyncKind::Lock),
    ("cond", SyncKind::Condition),
    ("barrier", SyncKind::Barrier),
    ("sem", SyncKind::Semaphore),
    ("chan", SyncKind::Channel),
    ("futex", SyncKind::Futex),
];

fn look_up<T: Copy>(table: &[(&str, T)], word: &str) -> Option<T> {
    let (_, found) = table.iter().find(|(name, _)| *name == word)?;
    Some(*found)
}

fn word_of<T: PartialEq>(table: &[(&'static str, T)], wanted: &T) -> &'static str {
    let found = table.iter().find(|(_, value)| value == wanted);
    found.map_or("?", |(word, _)| word)
}

/// The operation with this word.
pub(super) fn op(word: &str) -> Option<Op> {
    look_up(&OPS, word)
}

/// The word of an operation.
pub(super) fn op_word(op: Op) -> &'static str {
    OPS[op as usize - 1].0
}

/// The order with this word.
pub(super) fn order(word: &str) -> Option<Order> {
    look_up(&ORDERS, word)
}

/// The word of an order.
pub(super) fn order_word(order: Order) -> &'static str {
    word_of(&ORDERS, &order)
}

/// The kind of object with this word.
pub(super) fn kind(word: &str) -> Option<SyncKind> {
    look_up(&KINDS, word)
}

/// The word of a kind of object.
pub(super) fn kind_word(kind: SyncKind) -> &'static str {
    word_of(&KINDS, &kind)
}

/// The kind of object that an operation is done to, where the operation alone says it.
pub(super) fn kind_of(op: Op) -> Option<SyncKind> {
    Some(match op {
        Op::Acquire
        | Op::Release
        | Op::ReadAcquire
        | Op::ReadRelease
        | Op::Request
        | Op::ReadRequest
        | Op::Refused
        | Op::ReadRefused => SyncKind::Lock,
        Op::Wait | Op::Wake | Op::WakeRequest | Op::Timeout | Op::Notify | Op::NotifyAll => {
            SyncKind::Condition
        }
        Op::BarrierEnter | Op::BarrierExit => SyncKind::Barrier,
        Op::Post | Op::Take | Op::TakeRefused | Op::TakeRequest => SyncKind::Semaphore,
        Op::Send | Op::Receive | Op::ReceiveRefused => SyncKind::Channel,
        Op::FutexWait | Op::FutexWoken | Op::FutexWake => SyncKind::Futex,
        _ => return None,
    })
}

/// The word that was probably meant by one that is none.
pub(super) fn nearest_op(word: &str) -> Option<&'static str> {
    const LONG_NAMES: [(&str, &str); 14] = [
        ("read", "r"),
        ("write", "w"),
        ("acquire", "acq"),
        ("lock", "acq"),
        ("release", "rel"),
        ("unlock", "rel"),
        ("load", "ar"),
        ("store", "aw"),
        ("cas", "rmw"),
        ("signal", "notify"),
        ("broadcast", "notifyall"),
        ("barrier", "benter"),
        ("receive", "recv"),
        ("malloc", "alloc"),
    ];
    let lower = word.to_ascii_lowercase();
    if let Some(short) = look_up(&LONG_NAMES, &lower) {
        return Some(short);
    }
    let close = |(name, _): &&(&'static str, Op)| one_edit_apart(name, &lower);
    (lower.len() > 2).then(|| OPS.iter().find(close).map(|(name, _)| *name))?
}

/// Whether one inserted, deleted or replaced letter turns one word into the other.
fn one_edit_apart(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let same_start = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[same_start..], &b[same_start..]);
    let same_end = a
        .iter()
        .rev()
        .zip(b.iter().rev())
        .take_while(|(x, y)| x == y)
        .count();
    a.len() - same_end <= 1 && b.len() - same_end <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_operations_agree() {
        for (i, op_here) in Op::ALL.into_iter().enumerate() {
            assert_eq!(OPS[i].1, op_here);
            assert_eq!(op(op_word(op_here)), Some(op_here));
        }
        for (word, order_here) in ORDERS {
            assert_eq!(
                (order(word), order_word(order_here)),
                (Some(order_here), word)
            );
        }
        for (word, kind_here) in KINDS {
            assert_eq!((kind(word), kind_word(kind_here)), (Some(kind_here), word));
        }
    }

    #[test]
    fn typos_are_recognised() {
        assert_eq!(nearest_op("frok"), None);
        assert_eq!(nearest_op("forks"), Some("fork"));
        assert_eq!(nearest_op("Unlock"), Some("rel"));
        assert_eq!(nearest_op("notifyal"), Some("notifyall"));
        assert_eq!(nearest_op("x"), None);
    }
}
