//! A thread's events, packed: a plan of a long run has one for nearly everything that the run did, and there are many
//! plans of the same events.
//!
//! Loops do the same again: what comes behind an event of a site is what came behind the last one, and an access is as far from
//! the last one of its site as that was from the one before. An event that is so takes a few bits, as stretches of them are
//! counted; another one takes what is different. Chunks are packed each by itself, so that any part can be read.

use deadheat_wire::plan::PlanEvent;

/// So many events are packed together.
const CHUNK: usize = 1 << 12;

/// Events, most of them packed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    chunks: Vec<Box<[u8]>>,
    /// Those behind, fewer than a chunk.
    rest: Vec<PlanEvent>,
}

impl Packed {
    /// One more event.
    #[inline]
    pub fn push(&mut self, event: PlanEvent, coder: &mut Coder) {
        self.rest.push(event);
        if self.rest.len() == CHUNK {
            self.pack(coder);
        }
    }

    fn pack(&mut self, coder: &mut Coder) {
        self.chunks.push(coder.pack(&self.rest));
        self.rest.clear();
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        (self.chunks.len() * CHUNK + self.rest.len()) as u64
    }

    /// One of them.
    pub fn get(&self, number: u64) -> Option<PlanEvent> {
        let number = usize::try_from(number).ok()?;
        let Some(chunk) = self.chunks.get(number / CHUNK) else {
            let behind = number - self.chunks.len() * CHUNK;
            return self.rest.get(behind).copied();
        };
        let mut events = Vec::new();
        Coder::default().unpack(chunk, &mut events);
        events.get(number % CHUNK).copied()
    }

    /// Shows the first so many of them, some at a time.
    pub fn each<E>(
        &self,
        count: u64,
        mut visit: impl FnMut(&[PlanEvent]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut coder, mut events) = (Coder::default(), Vec::new());
        let mut left = usize::try_from(count).unwrap_or(usize::MAX);
        for chunk in &self.chunks {
            if left == 0 {
                return Ok(());
            }
            coder.unpack(chunk, &mut events);
            let some = &events[..left.min(CHUNK)];
            visit(some)?;
            left -= some.len();
        }
        visit(&self.rest[..left.min(self.rest.len())])
    }

    /// How many bytes they take.
    #[cfg(test)]
    fn bytes(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }
}

/// Packs and unpacks chunks.
#[derive(Default)]
pub struct Coder {
    /// By site, and of which chunk that is.
    sites: Vec<(u32, Site)>,
    chunk: u32,
    before: u32,
}

/// What came of a site last.
#[derive(Clone, Copy, Default)]
struct Site {
    /// What came behind it.
    next: u32,
    region: u32,
    target: u64,
    stride: u64,
}

/// What is different from what was expected; or else the number of events that are as expected, less one.
const OTHER_SITE: u8 = 1;
const OTHER_REGION: u8 = 2;
const OTHER_TARGET: u8 = 4;
const RUN: u8 = 0x80;
const LONGEST_RUN: u8 = 0x80;

impl Coder {
    fn begin(&mut self) {
        self.chunk = self.chunk.wrapping_add(1);
        if self.chunk == 0 {
            self.sites.clear();
            self.chunk = 1;
        }
        self.before = 0;
    }

    fn site(&mut self, number: u32) -> &mut Site {
        let at = number as usize;
        if at >= self.sites.len() {
            self.sites.resize(at + 1, Default::default());
        }
        let (chunk, site) = &mut self.sites[at];
        if *chunk != self.chunk {
            (*chunk, *site) = (self.chunk, Site::default());
        }
        site
    }

    /// What comes next if all is as before.
    fn expected(&mut self) -> PlanEvent {
        let before = self.before;
        let site = self.site(before).next;
        self.at(site)
    }

    /// The same at a site.
    fn at(&mut self, number: u32) -> PlanEvent {
        let site = self.site(number);
        PlanEvent {
            site: number,
            region: site.region,
            target: site.target.wrapping_add(site.stride),
        }
    }

    /// This came.
    fn came(&mut self, event: &PlanEvent) {
        let before = self.before;
        self.site(before).next = event.site;
        self.before = event.site;
        let site = self.site(event.site);
        site.stride = event.target.wrapping_sub(site.target);
        (site.region, site.target) = (event.region, event.target);
    }

    fn pack(&mut self, events: &[PlanEvent]) -> Box<[u8]> {
        self.begin();
        let mut bytes: Vec<u8> = Vec::new();
        let mut run = 0;
        for event in events {
            if self.expected() == *event {
                self.came(event);
                run += 1;
                if run == LONGEST_RUN {
                    put_run(&mut bytes, &mut run);
                }
                continue;
            }
            put_run(&mut bytes, &mut run);
            let is_other_site = self.expected().site != event.site;
            let expected = self.at(event.site);
            let is_other_region = expected.region != event.region;
            let is_other_target = expected.target != event.target;
            bytes.push(
                (u8::from(is_other_site) * OTHER_SITE)
                    | (u8::from(is_other_region) * OTHER_REGION)
                    | (u8::from(is_other_target) * OTHER_TARGET),
            );
            if is_other_site {
                put(&mut bytes, u64::from(event.site));
            }
            if is_other_region {
                put(&mut bytes, u64::from(event.region));
            }
            if is_other_target {
                let by = event.target.wrapping_sub(self.site(event.site).target) as i64;
                put(&mut bytes, ((by << 1) ^ (by >> 63)) as u64);
            }
            self.came(event);
        }
        put_run(&mut bytes, &mut run);
        bytes.into_boxed_slice()
    }

    /// The events of a chunk.
    fn unpack(&mut self, mut bytes: &[u8], events: &mut Vec<PlanEvent>) {
        self.begin();
        events.clear();
        while let Some((what, rest)) = bytes.split_first() {
            bytes = rest;
            if what & RUN != 0 {
                for _ in 0..=what & !RUN {
                    let event = self.expected();
                    self.came(&event);
                    events.push(event);
                }
                continue;
            }
            let number = match what & OTHER_SITE != 0 {
                true => take(&mut bytes) as u32,
                false => self.expected().site,
            };
            let mut event = self.at(number);
            if what & OTHER_REGION != 0 {
                event.region = take(&mut bytes) as u32;
            }
            if what & OTHER_TARGET != 0 {
                let by = take(&mut bytes);
                let by = (by >> 1) ^ (by & 1).wrapping_neg();
                event.target = self.site(number).target.wrapping_add(by);
            }
            self.came(&event);
            events.push(event);
        }
    }
}

/// Puts down how many events were as expected.
fn put_run(bytes: &mut Vec<u8>, run: &mut u8) {
    if let Some(less) = run.checked_sub(1) {
        bytes.push(RUN | less);
        *run = 0;
    }
}

/// A number, seven bits at a time.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    while let Some((byte, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    fn packed(events: &[PlanEvent]) -> Packed {
        let (mut packed, mut coder) = (Packed::default(), Coder::default());
        events
            .iter()
            .for_each(|event| packed.push(*event, &mut coder));
        packed
    }

    fn unpacked(packed: &Packed, count: u64) -> Vec<PlanEvent> {
        let mut all = Vec::new();
        let shown: Result<(), Infallible> = packed.each(count, |some| {
            all.extend_from_slice(some);
            Ok(())
        });
        let Ok(()) = shown;
        all
    }

    fn event() -> impl Strategy<Value = PlanEvent> {
        let target = prop_oneof![any::<u64>(), 0u64..4, Just(u64::MAX)];
        (0u32..4, prop_oneof![0u32..3, any::<u32>()], target).prop_map(|(site, region, target)| {
            PlanEvent {
                site,
                region,
                target,
            }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_packed_is_unpacked(
            body in prop::collection::vec(event(), 1..20),
            odd in prop::collection::vec((0usize..9000, event()), 0..20),
            length in prop_oneof![0usize..300, 4090usize..4100, 8190usize..8200],
            upto in 0u64..9000,
        ) {
            let mut events: Vec<PlanEvent> = body.iter().cycle().take(length).copied().collect();
            for (at, other) in odd {
                if let Some(event) = events.get_mut(at) {
                    *event = other;
                }
            }
            let packed = packed(&events);
            prop_assert_eq!(packed.len(), events.len() as u64);
            prop_assert_eq!(&unpacked(&packed, u64::MAX), &events);
            let first = &events[..events.len().min(upto as usize)];
            prop_assert_eq!(&unpacked(&packed, upto), first);
            prop_assert_eq!(packed.get(upto), events.get(upto as usize).copied());
        }
    }

    #[test]
    fn loops_take_a_few_bits_an_event() {
        let looped = |number: u64| PlanEvent {
            site: (number % 3) as u32,
            region: 1,
            target: 0x1000 + number / 3 * 8 * (number % 3),
        };
        let events: Vec<PlanEvent> = (0..1 << 18).map(looped).collect();
        let packed = packed(&events);
        assert!(packed.bytes() < events.len() / 32, "{}", packed.bytes());
        assert_eq!(unpacked(&packed, u64::MAX), events);
    }

    #[test]
    fn what_never_repeats_takes_less_than_half() {
        let mut state = 1u64;
        let events: Vec<PlanEvent> = (0..1 << 16)
            .map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
                PlanEvent {
                    site: (state >> 60) as u32,
                    region: 0,
                    target: 0x7000_0000_0000 + (state >> 40 & 0xFF_FFFF),
                }
            })
            .collect();
        let packed = packed(&events);
        assert!(packed.bytes() < events.len() * 8, "{}", packed.bytes());
        assert_eq!(unpacked(&packed, u64::MAX), events);
    }
}
