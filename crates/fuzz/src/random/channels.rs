//! Scenarios with pipes and sockets.

use super::generate::Builder;
use super::program::{Act, ChannelKind, Node};

/// One sends and closes, or several send; others read and use what was made before.
pub(super) fn channel(b: &mut Builder) {
    let kind = [ChannelKind::Pipe, ChannelKind::Pipe, ChannelKind::Socket];
    let kind = b.rng.pick(&kind).copied().unwrap_or(ChannelKind::Pipe);
    b.program.channels.push(kind);
    let channel = b.program.channels.len() - 1;
    let var = b.plain();
    let who = b.participants(2);
    let readers = 1 + usize::from(who.len() > 2 && b.rng.percent(50));
    let closes = b.rng.percent(40) && who.len() == readers + 1;
    for (n, thread) in who.into_iter().enumerate() {
        let mut acts = b.accesses(var);
        if n >= readers {
            let at = if b.rng.percent(80) { acts.len() } else { 0 };
            let sends = usize::from(!closes || b.rng.percent(70)) + usize::from(b.rng.percent(25));
            let mut sent = vec![Act::Send { channel }; sends];
            sent.extend(closes.then_some(Act::Close { channel }));
            acts.splice(at..at, sent);
        } else {
            let local = b.local();
            let receive = Act::Receive { channel, local };
            if b.rng.percent(50) {
                let equals = i16::from(b.rng.percent(70));
                let body: Vec<Node> = acts.into_iter().map(Node::from).collect();
                acts = vec![
                    receive,
                    Act::If {
                        local,
                        equals,
                        body,
                    },
                ];
            } else {
                acts.insert(0, receive);
            }
        }
        b.put(thread, acts);
    }
}
