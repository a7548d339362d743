//! The analysis against the obvious: random functions are assembled and looked at, and also run
//! along all their paths, with the set of reads that each register and slot comes from at hand.
//! What a path shows must be in the answer; where there is only one path it is the answer.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::code_asm::*;
use iced_x86::{Decoder, DecoderOptions, FlowControl};
use proptest::prelude::*;

use super::table_of_image;
use crate::callee::by_name;
use crate::facts::Facts;
use crate::image::Image;
use crate::{Depends, Passed, Point};

const CODE: u64 = 0x1000;
const GLOBALS: u64 = 0x20_0000;
const HOOKS: [(u64, &str); 4] = [
    (0x10_0000, "__tsan_func_entry"),
    (0x10_0010, "__tsan_func_exit"),
    (0x10_0020, "__tsan_read8"),
    (0x10_0030, "__tsan_write8"),
];
/// The last one is not kept by calls.
const REGISTERS: [AsmRegister64; 3] = [rbx, r12, rcx];
const LOST_BY_CALLS: usize = 2;
const LOW_BYTES: [AsmRegister8; 3] = [bl, r12b, cl];
const SLOTS: usize = 2;
/// Paths are followed so far, and so many.
const LONGEST_PATH: usize = 60;
const MOST_PATHS: usize = 3000;

#[derive(Clone, Copy, Debug)]
enum Act {
    Read { to: usize, global: u64 },
    ReadIndexed { to: usize, index: usize },
    Write { global: u64 },
    Constant { to: usize },
    Copy { to: usize, from: usize },
    Add { to: usize, from: usize },
    Select { to: usize, from: usize, on: usize },
    LowByte { to: usize, on: usize },
    Spill { slot: usize, from: usize },
    Fill { to: usize, slot: usize },
    Branch { on: usize, to: usize },
    Jump { to: usize },
}

fn act(length: usize, branches: bool) -> BoxedStrategy<Act> {
    let r = 0..REGISTERS.len();
    let (slot, global, place) = (0..SLOTS, 0..3u64, 0..length + 1);
    let plain = prop_oneof![
        (r.clone(), global.clone()).prop_map(|(to, global)| Act::Read { to, global }),
        (r.clone(), r.clone()).prop_map(|(to, index)| Act::ReadIndexed { to, index }),
        global.prop_map(|global| Act::Write { global }),
        r.clone().prop_map(|to| Act::Constant { to }),
        (r.clone(), r.clone()).prop_map(|(to, from)| Act::Copy { to, from }),
        (r.clone(), r.clone()).prop_map(|(to, from)| Act::Add { to, from }),
        (r.clone(), r.clone(), r.clone()).prop_map(|(to, from, on)| Act::Select { to, from, on }),
        (r.clone(), r.clone()).prop_map(|(to, on)| Act::LowByte { to, on }),
        (slot.clone(), r.clone()).prop_map(|(slot, from)| Act::Spill { slot, from }),
        (r.clone(), slot).prop_map(|(to, slot)| Act::Fill { to, slot }),
    ];
    if !branches {
        return plain.boxed();
    }
    prop_oneof![
        8 => plain,
        2 => (r, place.clone()).prop_map(|(on, to)| Act::Branch { on, to }),
        1 => place.prop_map(|to| Act::Jump { to }),
    ]
    .boxed()
}

fn acts(branches: bool) -> impl Strategy<Value = Vec<Act>> {
    (1usize..14).prop_flat_map(move |length| prop::collection::vec(act(length, branches), length))
}

fn assemble(acts: &[Act]) -> Result<Vec<u8>, IcedError> {
    let mut a = CodeAssembler::new(64)?;
    let mut labels: Vec<CodeLabel> = (0..=acts.len()).map(|_| a.create_label()).collect();
    let [enter, exit, read, write] = HOOKS.map(|(address, _)| address);
    let slot = |slot: usize| qword_ptr(rbp - 8 * (slot as i32 + 1));
    a.push(rbp)?;
    a.mov(rbp, rsp)?;
    a.sub(rsp, 64)?;
    a.call(enter)?;
    for (place, act) in acts.iter().enumerate() {
        a.set_label(&mut labels[place])?;
        a.nop()?;
        match *act {
            Act::Read { to, global } => {
                a.mov(rdi, GLOBALS + 8 * global)?;
                a.call(read)?;
                a.mov(rax, GLOBALS + 8 * global)?;
                a.mov(REGISTERS[to], qword_ptr(rax))?;
            }
            Act::ReadIndexed { to, index } => {
                a.mov(r15, GLOBALS)?;
                a.mov(qword_ptr(rbp - 64), REGISTERS[index])?;
                a.lea(rdi, ptr(r15 + REGISTERS[index] * 8))?;
                a.call(read)?;
                a.mov(rax, qword_ptr(rbp - 64))?;
                a.mov(REGISTERS[to], qword_ptr(r15 + rax * 8))?;
            }
            Act::Write { global } => {
                a.mov(rdi, GLOBALS + 8 * global)?;
                a.call(write)?;
            }
            Act::Constant { to } => a.mov(REGISTERS[to], 7u64)?,
            Act::Copy { to, from } => a.mov(REGISTERS[to], REGISTERS[from])?,
            Act::Add { to, from } => a.add(REGISTERS[to], REGISTERS[from])?,
            Act::Select { to, from, on } => {
                a.test(REGISTERS[on], REGISTERS[on])?;
                a.cmovne(REGISTERS[to], REGISTERS[from])?;
            }
            Act::LowByte { to, on } => {
                a.test(REGISTERS[on], REGISTERS[on])?;
                a.setne(LOW_BYTES[to])?;
            }
            Act::Spill { slot: to, from } => a.mov(slot(to), REGISTERS[from])?,
            Act::Fill { to, slot: from } => a.mov(REGISTERS[to], slot(from))?,
            Act::Branch { on, to } => {
                a.test(REGISTERS[on], REGISTERS[on])?;
                a.jne(labels[to])?;
            }
            Act::Jump { to } => a.jmp(labels[to])?,
        }
    }
    a.set_label(&mut labels[acts.len()])?;
    a.call(exit)?;
    a.leave()?;
    a.ret()?;
    a.assemble(CODE)
}

/// The pcs of the calls that acts make, by their places.
fn sites(acts: &[Act], code: &[u8]) -> BTreeMap<usize, u64> {
    let calls = Decoder::with_ip(64, code, CODE, DecoderOptions::NONE);
    let calls = calls.into_iter();
    let mut calls = calls.filter(|instruction| instruction.flow_control() == FlowControl::Call);
    calls.next();
    let makes_event = |act: &Act| {
        matches!(
            act,
            Act::Read { .. } | Act::ReadIndexed { .. } | Act::Write { .. }
        )
    };
    let places = acts.iter().enumerate().filter(|(_, act)| makes_event(act));
    places
        .zip(calls)
        .map(|((place, _), call)| (place, call.next_ip()))
        .collect()
}

/// The reads that something comes from; two members stand for what is no read.
type Taint = BTreeSet<u64>;
const BEFORE: u64 = 0;
const ANYTHING: u64 = 1;

/// What paths show of a way: whether a branch was passed on one of them, and on what.
#[derive(Debug, Default)]
struct Shown {
    branched: bool,
    on: Taint,
}

#[derive(Clone)]
struct Run {
    place: usize,
    steps: usize,
    registers: [Taint; REGISTERS.len()],
    slots: [Taint; SLOTS],
    last: Point,
    branched: bool,
    on: Taint,
}

#[derive(Default)]
struct Paths {
    ways: BTreeMap<String, (Point, Point, Shown)>,
    addresses: BTreeMap<u64, Taint>,
}

impl Paths {
    fn event(&mut self, run: &mut Run, to: Point) {
        let way = self.ways.entry(format!("{:?} {to:?}", run.last));
        let (_, _, shown) = way.or_insert((run.last, to, Shown::default()));
        shown.branched |= run.branched;
        shown.on.append(&mut run.on);
        run.branched = false;
        run.last = to;
        run.registers[LOST_BY_CALLS] = Taint::from([ANYTHING]);
    }

    fn follow(acts: &[Act], sites: &BTreeMap<usize, u64>) -> Paths {
        let mut paths = Paths::default();
        let before = || Taint::from([BEFORE]);
        let mut registers: [Taint; REGISTERS.len()] = std::array::from_fn(|_| before());
        registers[LOST_BY_CALLS] = Taint::from([ANYTHING]);
        let mut open = vec![Run {
            place: 0,
            steps: 0,
            registers,
            slots: std::array::from_fn(|_| Taint::from([ANYTHING])),
            last: Point::Entry(CODE),
            branched: false,
            on: Taint::new(),
        }];
        let mut count = 0;
        while let Some(mut run) = open.pop() {
            loop {
                run.steps += 1;
                let Some(act) = acts.get(run.place) else {
                    paths.event(&mut run, Point::Exit(CODE));
                    break;
                };
                if run.steps > LONGEST_PATH {
                    break;
                }
                let place = run.place;
                run.place += 1;
                let union = |to: usize, others: &[usize], run: &mut Run| {
                    let others: Vec<Taint> =
                        others.iter().map(|r| run.registers[*r].clone()).collect();
                    run.registers[to].extend(others.into_iter().flatten());
                };
                match *act {
                    Act::Read { to, .. } => {
                        paths.addresses.entry(sites[&place]).or_default();
                        paths.event(&mut run, Point::After(sites[&place]));
                        run.registers[to] = Taint::from([sites[&place]]);
                    }
                    Act::ReadIndexed { to, index } => {
                        let mut taint = run.registers[index].clone();
                        let address = paths.addresses.entry(sites[&place]).or_default();
                        address.extend(&taint);
                        paths.event(&mut run, Point::After(sites[&place]));
                        taint.insert(sites[&place]);
                        run.registers[to] = taint;
                    }
                    Act::Write { .. } => {
                        paths.addresses.entry(sites[&place]).or_default();
                        paths.event(&mut run, Point::After(sites[&place]));
                    }
                    Act::Constant { to } => run.registers[to].clear(),
                    Act::Copy { to, from } => run.registers[to] = run.registers[from].clone(),
                    Act::Add { to, from } => union(to, &[from], &mut run),
                    Act::Select { to, from, on } => union(to, &[from, on], &mut run),
                    Act::LowByte { to, on } => union(to, &[on], &mut run),
                    Act::Spill { slot, from } => run.slots[slot] = run.registers[from].clone(),
                    Act::Fill { to, slot } => run.registers[to] = run.slots[slot].clone(),
                    Act::Branch { on, to } => {
                        run.branched = true;
                        let taint = run.registers[on].clone();
                        run.on.extend(taint);
                        count += 1;
                        if count < MOST_PATHS {
                            open.push(Run {
                                place: to,
                                ..run.clone()
                            });
                        }
                    }
                    Act::Jump { to } => run.place = to,
                }
            }
        }
        paths
    }
}

fn covers(depends: &Depends, taint: &Taint) -> bool {
    taint.iter().all(|member| match *member {
        BEFORE => depends.has_before(),
        ANYTHING => *depends == Depends::Everything,
        read => depends.has(read),
    })
}

fn exactly(taint: &Taint) -> Depends {
    if taint.contains(&ANYTHING) {
        return Depends::Everything;
    }
    let reads = taint.iter().filter(|member| **member != BEFORE);
    Depends::on(reads.copied().collect(), taint.contains(&BEFORE))
}

fn look_at(acts: &[Act]) -> (Facts, Paths) {
    let code = assemble(acts).unwrap();
    let known = HOOKS.map(|(address, name)| (address, by_name(name).unwrap()));
    let image = Image::of_function(CODE, &code, &known);
    let facts = Facts::from_table(table_of_image(&image));
    let sites = sites(acts, &code);
    (facts, Paths::follow(acts, &sites))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_a_path_shows_is_in_the_answer(acts in acts(true)) {
        let (facts, paths) = look_at(&acts);
        for (from, to, shown) in paths.ways.values() {
            let passed = facts.between(*from, *to);
            match &passed {
                Passed::Straight => prop_assert!(!shown.branched, "{from:x?} {to:x?}"),
                Passed::Branched(depends) => {
                    prop_assert!(covers(depends, &shown.on), "{from:x?} {to:x?}: {passed:x?} {shown:x?}");
                }
            }
        }
        for (pc, taint) in &paths.addresses {
            let address = facts.address(*pc);
            prop_assert!(covers(&address, taint), "{pc:x}: {address:x?} {taint:x?}");
        }
    }

    #[test]
    fn the_only_path_is_the_answer(acts in acts(false)) {
        let (facts, paths) = look_at(&acts);
        for (from, to, _) in paths.ways.values() {
            prop_assert_eq!(facts.between(*from, *to), Passed::Straight);
        }
        for (pc, taint) in &paths.addresses {
            prop_assert_eq!(facts.address(*pc), exactly(taint));
        }
    }
}
