//! Races by happens-before: the turns up to the later access are recorded, the detector of
//! recordings has to find the race in that run, and then the run is enforced.
//!
//! A race is one of two instructions *and* of the program's own lines that these belong to: one
//! instruction of a library may race once for each of the lines that call it. So the detector is
//! told of an instruction with the calls that led there as one place.

use std::path::Path;

use deadheat_analysis::unseen::Unseen;
use deadheat_detect::{Detector, Hb, Races};
use deadheat_explore::search::{DataRace, Manner};
use deadheat_report::{Contexts, Explain, Finding, Names, Rung};
use deadheat_run::input;
use deadheat_session::error::Result;
use deadheat_trace::{Event, EventIndex, Pc, Steps};
use rustc_hash::FxHashMap;

use super::copies::Copies;
use super::evidence::{Archive, Evidence, METHOD, Seen, is_about, latest, repeating};
use crate::confirm;

/// Numbers from here on are no places of recordings.
const FIRST_OF_OURS: u32 = 1 << 31;

/// Records and enforces the run that shows a race by happens-before.
pub fn unordered(
    copies: &mut Copies,
    archive: &Archive,
    race: &DataRace,
    manner: &Manner,
) -> Result<Evidence> {
    let manner = repeating(&race.turns, manner);
    let (_, recorded) = archive.record(copies, &race.turns, &manner)?;
    let trace = &recorded.traces[0];
    let seen = Seen::read(trace)?;
    let own = [race.first, race.second].map(|deed| copies.told(deed.site()));
    let mut wanted = [race.first.pc, race.second.pc];
    wanted.sort_unstable();
    let pairs = pairs(trace, &seen, wanted)?;
    let Some(mut finding) = explained(trace, &pairs, &own)? else {
        let sides = [
            (race.first_thread, race.first),
            (race.second_thread, race.second),
        ];
        return Ok(match latest(&seen, sides) {
            Some(_) => Evidence::Ordered,
            None => Evidence::Gone,
        });
    };
    confirm::unordered::settle(&mut finding, seen.trace.clone())?;
    Ok(Evidence::Found(Box::new(finding)))
}

/// All pairs of events of these two instructions that nothing orders.
fn pairs(trace: &Path, seen: &Seen, wanted: [u64; 2]) -> Result<Vec<[EventIndex; 2]>> {
    let (mut hb, mut unseen) = (Hb::of_all_places(), Unseen::of(&seen.tables));
    let (mut contexts, mut numbers) = (Contexts::default(), FxHashMap::default());
    let place = |event: &Event| seen.place(event.pc()).unwrap_or_default();
    let mut found = Vec::new();
    let mut input = input::open(trace)?;
    let mut index = EventIndex(0);
    while let Some(mut step) = input
        .next_step()
        .map_err(|error| input::broken(trace, &error))?
    {
        contexts.step(index, &step);
        if !unseen.is_unseen(&step.event, &seen.tables) {
            if wanted.contains(&place(&step.event)) {
                let calls: Vec<Pc> = contexts.now(&step).stack.calls().collect();
                let next = FIRST_OF_OURS + numbers.len() as u32;
                let number = *numbers.entry((step.event.pc(), calls)).or_insert(next);
                step.event = step.event.with_pc(Pc(number));
            }
            let mut races = Races::new();
            hb.step(index, &step, &seen.tables, &mut races);
            let pairs = races.found().iter().map(|found| found.race);
            found.extend(pairs.map(|race| [race.first.index, race.second.index]));
        }
        index.0 += 1;
    }
    found.retain(|pair| {
        let mut places = pair.map(|index| place(&seen.events[index.0 as usize]));
        places.sort_unstable();
        places == wanted
    });
    Ok(found)
}

/// The last one of these pairs whose own lines are these, as a finding.
fn explained(
    trace: &Path,
    pairs: &[[EventIndex; 2]],
    own: &[String; 2],
) -> Result<Option<Finding>> {
    let mut contexts = Contexts::of(pairs.iter().flatten().copied());
    let mut steps = input::open(trace)?;
    let mut index = 0;
    while let Some(step) = steps
        .next_step()
        .map_err(|error| input::broken(trace, &error))?
    {
        contexts.step(EventIndex(index), &step);
        index += 1;
    }
    let names = Names::of(steps.tables());
    let with = Explain {
        names: &names,
        tables: steps.tables(),
        contexts: &contexts,
    };
    let mut findings = pairs
        .iter()
        .rev()
        .filter_map(|pair| with.race(*pair, Rung::Observed, METHOD));
    Ok(findings.find(|finding| is_about(finding, own.clone())))
}
