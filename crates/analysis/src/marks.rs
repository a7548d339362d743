//! The functions that the user has marked as sending and receiving, found in a recording's places.

use deadheat_detect::{Mark, Marked};
use deadheat_report::Binaries;
use deadheat_trace::{Pc, Steps, Tables};
use rustc_hash::FxHashMap;

use crate::config::{Channel, Config};

/// Finds the mark of the function at a place.
pub type Finder = Box<dyn FnMut(Pc) -> Option<Mark>>;

/// The stream with messages where marked functions are called.
pub fn apply<S: Steps>(steps: S, config: &Config) -> Marked<S, Finder> {
    let finder = match config.channels.is_empty() {
        true => Box::new(|_| None) as Finder,
        false => finder(steps.tables(), config.channels.clone()),
    };
    Marked::new(steps, finder)
}

fn finder(tables: &Tables, channels: Vec<Channel>) -> Finder {
    let binaries = Binaries::of(tables);
    let mut known: FxHashMap<Pc, Option<Mark>> = FxHashMap::default();
    Box::new(move |pc| {
        *known.entry(pc).or_insert_with(|| {
            // The last frame is the function that was called; the others were inlined into it.
            let frames = binaries.frames(pc);
            let name = frames.last()?.function.as_deref()?;
            mark_of(name, &channels)
        })
    })
}

fn mark_of(function: &str, channels: &[Channel]) -> Option<Mark> {
    channels.iter().enumerate().find_map(|(pair, channel)| {
        let pair = pair as u32;
        let mark = |sends| Some(Mark { pair, sends });
        if is_named(function, &channel.send) {
            mark(true)
        } else if is_named(function, &channel.receive) {
            mark(false)
        } else {
            None
        }
    })
}

/// Whether a function has a name, with or without the namespaces, types and arguments around it.
pub fn is_named(function: &str, name: &str) -> bool {
    let bare = function.split('(').next().unwrap_or(function);
    if function == name || bare == name {
        return true;
    }
    let rest = bare.strip_suffix(name);
    rest.is_some_and(|rest| rest.ends_with("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_with_and_without_what_is_around_them() {
        assert!(is_named("queue_push", "queue_push"));
        assert!(is_named("Queue<int>::push(int&&)", "push"));
        assert!(is_named("Queue<int>::push(int&&)", "Queue<int>::push"));
        assert!(is_named("pool::Pool::recycle", "Pool::recycle"));
        assert!(!is_named("queue_push", "push"));
        assert!(!is_named("push_back", "push"));
    }
}
