//! Makes a program smaller as long as the same thing is wrong with it.

use super::program::{Act, Node, Program};
use super::valid::is_valid;

/// Makes a program smaller as long as `still` says that it shows the same, with at most so many questions.
pub fn shrink(program: &Program, most: usize, still: &mut dyn FnMut(&Program) -> bool) -> Program {
    let mut best = program.clone();
    let mut asked = 0;
    'again: loop {
        for mut candidate in candidates(&best) {
            candidate.number();
            if !is_valid(&candidate) || candidate == best {
                continue;
            }
            if asked >= most {
                return best;
            }
            asked += 1;
            if still(&candidate) {
                best = candidate;
                continue 'again;
            }
        }
        return best;
    }
}

/// The next smaller programs, the smallest first.
fn candidates(program: &Program) -> Vec<Program> {
    let mut out = Vec::new();
    for thread in (1..program.threads.len()).rev() {
        out.extend(without_thread(program, thread));
    }
    let threads = program.threads.len();
    for thread in 0..threads {
        let body = program.threads.get(thread).map_or(&[][..], Vec::as_slice);
        for changed in smaller(body) {
            let mut candidate = program.clone();
            if let Some(place) = candidate.threads.get_mut(thread) {
                *place = changed;
            }
            out.push(candidate);
        }
    }
    for once in 0..program.onces.len() {
        let body = program.onces.get(once).map_or(&[][..], Vec::as_slice);
        for changed in smaller(body) {
            let mut candidate = program.clone();
            if let Some(place) = candidate.onces.get_mut(once) {
                *place = changed;
            }
            out.push(candidate);
        }
    }
    out
}

/// A program without one of its threads, if nobody is created by it.
fn without_thread(program: &Program, gone: usize) -> Option<Program> {
    let mut out = program.clone();
    out.threads.remove(gone);
    let mut whole = true;
    for body in &mut out.threads {
        body.retain(|node| !matches!(node.act, Act::Create { thread } | Act::Join { thread } | Act::Detach { thread } if thread == gone));
        for node in body {
            if let Act::Create { thread } | Act::Join { thread } | Act::Detach { thread } =
                &mut node.act
                && *thread > gone
            {
                *thread -= 1;
            }
        }
    }
    let created = |n: usize| {
        out.threads
            .iter()
            .flatten()
            .any(|node| matches!(node.act, Act::Create { thread } if thread == n))
    };
    for thread in 1..out.threads.len() {
        whole &= created(thread);
    }
    whole.then_some(out)
}

/// A body with less in it: without halves, without one or two statements, with a statement's body in its
/// place.
fn smaller(body: &[Node]) -> Vec<Vec<Node>> {
    let mut out = Vec::new();
    let half = body.len() / 2;
    if half > 1 {
        out.push(body.get(half..).unwrap_or_default().to_vec());
        out.push(body.get(..half).unwrap_or_default().to_vec());
    }
    for (at, node) in body.iter().enumerate() {
        let mut less = body.to_vec();
        less.remove(at);
        out.push(less.clone());
        if let Some(partner) = partner(body, at) {
            less.remove(partner - 1);
            out.push(less);
        }
        if let Some(inner) = node.act.body() {
            let mut spread = body.to_vec();
            spread.splice(at..=at, inner.iter().cloned());
            out.push(spread);
            // The last statement gives back what was taken for the body.
            let mut untaken = body.to_vec();
            let kept = inner.len().saturating_sub(1);
            untaken.splice(at..=at, inner.iter().take(kept).cloned());
            out.push(untaken);
            for changed in smaller(inner) {
                let mut deeper = body.to_vec();
                if let Some(place) = deeper.get_mut(at).and_then(|n| n.act.body_mut()) {
                    *place = changed;
                }
                out.push(deeper);
            }
        }
    }
    out
}

/// Where what a statement takes is given back.
fn partner(body: &[Node], at: usize) -> Option<usize> {
    let ends = |act: &Act| match (&body.get(at)?.act, act) {
        (Act::Lock { mutex: a }, Act::Unlock { mutex: b }) => Some(a == b),
        (Act::LockShared { rwlock: a }, Act::UnlockShared { rwlock: b }) => Some(a == b),
        (Act::LockExclusive { rwlock: a }, Act::UnlockExclusive { rwlock: b }) => Some(a == b),
        (Act::Acquire { semaphore: a }, Act::Post { semaphore: b }) => Some(a == b),
        (Act::Create { thread: a }, Act::Join { thread: b }) => Some(a == b),
        _ => None,
    };
    (at + 1..body.len()).find(|n| body.get(*n).and_then(|node| ends(&node.act)) == Some(true))
}

#[cfg(test)]
mod tests {
    use super::super::generate::generate;
    use super::super::program::Language;
    use super::*;

    #[test]
    fn what_must_stay_stays() {
        for seed in 0..30 {
            let program = generate(seed, Language::C);
            let writes = |p: &Program| {
                let mut any = false;
                p.visit(&mut |n| any |= matches!(n.act, Act::Write { .. }));
                any
            };
            if writes(&program) {
                let small = shrink(&program, 10_000, &mut |p| writes(p));
                assert!(writes(&small) && is_valid(&small));
                assert!(small.size() <= 3, "{small:?}");
            }
        }
    }
}
