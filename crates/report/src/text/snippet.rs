//! Source lines with the sides of a finding marked in them.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

use super::Look;
use super::printable::printable;
use super::source::Source;
use crate::finding::{Access, Finding, Frame, Kind, Lock, Rung};

/// Lines further apart are shown by themselves.
const NEAR: u32 = 400;

/// A place that is marked, and what is said about it.
struct Mark {
    file: String,
    line: u32,
    column: Option<u32>,
    label: String,
    is_side: bool,
}

/// Marks in lines of a file that lie near each other.
struct Excerpt<'a> {
    file: &'a str,
    source: &'a Source,
    marks: Vec<&'a Mark>,
}

/// The source lines of a finding's sides, and which of the sides are among them.
pub fn snippets(finding: &Finding, look: &Look) -> (String, Vec<bool>) {
    let mut sources: Vec<(String, Option<Source>)> = Vec::new();
    let mut shown = Vec::new();
    let mut marks: Vec<Mark> = Vec::new();
    for side in &finding.accesses {
        let mark = mark(&side.place, label(side), true);
        let mark = mark.filter(|mark| can_show(mark, &mut sources));
        shown.push(mark.is_some());
        if mark.is_some() && finding.kind == Kind::Deadlock {
            let others: Vec<Mark> = side
                .locks
                .iter()
                .filter_map(|lock| taken(side, lock))
                .collect();
            let others = others
                .into_iter()
                .filter(|mark| can_show(mark, &mut sources));
            marks.extend(others.collect::<Vec<Mark>>());
        }
        marks.extend(mark);
    }
    let mut excerpts: Vec<Excerpt> = Vec::new();
    for mark in &marks {
        let is_near = |excerpt: &&mut Excerpt| {
            let lines = excerpt
                .marks
                .iter()
                .map(|other| other.line.abs_diff(mark.line));
            excerpt.file == mark.file && lines.min().is_some_and(|apart| apart <= NEAR)
        };
        let source = sources.iter().find(|(file, _)| *file == mark.file);
        let Some((file, Some(source))) = source else {
            continue;
        };
        match excerpts.iter_mut().find(is_near) {
            Some(excerpt) => excerpt.marks.push(mark),
            None => excerpts.push(Excerpt {
                file,
                source,
                marks: vec![mark],
            }),
        }
    }
    let level = match finding.rung {
        Rung::Warning => Level::WARNING,
        _ => Level::ERROR,
    };
    let texts: Vec<String> = excerpts
        .iter()
        .map(|excerpt| excerpt.rendered(level.clone(), look))
        .collect();
    (texts.concat(), shown)
}

/// What is said about a side.
fn label(side: &Access) -> String {
    let thread = &side.thread.name;
    let held: Vec<String> = side
        .locks
        .iter()
        .map(|lock| match (&side.waits_for, &lock.acquired_at[..]) {
            (None, [_, ..]) => {
                let place = crate::own_place(&lock.acquired_at);
                format!("{}, taken at {}", held(lock), place.at())
            }
            _ => held(lock),
        })
        .collect();
    let held = match held.is_empty() {
        true => "holding no lock".to_owned(),
        false => format!("holding {}", held.join(" and ")),
    };
    let what = match (&side.waits_for, side.size) {
        (Some(lock), _) => format!("{thread} waits for {}", lock.name),
        (None, 0) => format!("{} by {thread}", side.op),
        (None, 1) => format!("{} of 1 byte by {thread}", side.op),
        (None, size) => format!("{} of {size} bytes by {thread}", side.op),
    };
    match side.op == "panic" {
        true => what,
        false => format!("{what}, {held}"),
    }
}

fn held(lock: &Lock) -> String {
    match lock.read {
        true => format!("{} for reading", lock.name),
        false => lock.name.clone(),
    }
}

/// Where a lock was taken that others wait for.
fn taken(side: &Access, lock: &Lock) -> Option<Mark> {
    let place = crate::own_place(&lock.acquired_at);
    let label = format!("{} takes {}", side.thread.name, held(lock));
    mark(&place, label, false)
}

fn mark(place: &Frame, label: String, is_side: bool) -> Option<Mark> {
    Some(Mark {
        file: place.file.clone()?,
        line: place.line?,
        column: place.column,
        label,
        is_side,
    })
}

/// Whether the file has such a line. Files are read once.
fn can_show(mark: &Mark, sources: &mut Vec<(String, Option<Source>)>) -> bool {
    if !sources.iter().any(|(file, _)| *file == mark.file) {
        sources.push((mark.file.clone(), Source::read(&mark.file)));
    }
    let source = sources.iter().find(|(file, _)| *file == mark.file);
    let source = source.and_then(|(_, source)| source.as_ref());
    source.is_some_and(|source| source.line(mark.line, mark.column).is_some())
}

impl Excerpt<'_> {
    fn rendered(&self, level: Level<'_>, look: &Look) -> String {
        let lines = || self.marks.iter().map(|mark| mark.line);
        let (first, last) = (lines().min().unwrap_or(1), lines().max().unwrap_or(1));
        let mut text = String::new();
        let mut annotations: Vec<Annotation> = Vec::new();
        for number in first..=last {
            let start = text.len();
            let mut line_text = None;
            for mark in self.marks.iter().filter(|mark| mark.line == number) {
                let Some(line) = self.source.line(number, mark.column) else {
                    continue;
                };
                // Of a long line that is marked twice the part around the first mark is shown.
                let known = line_text.get_or_insert_with(|| line.text.clone());
                let span = match *known == line.text {
                    true => line.mark,
                    false => 0..known.len(),
                };
                let kind = match mark.is_side {
                    true => AnnotationKind::Primary,
                    false => AnnotationKind::Context,
                };
                let span = start + span.start..start + span.end;
                annotations.push(kind.span(span).label(printable(&mark.label)));
            }
            text.push_str(&line_text.unwrap_or_else(|| self.source.plain(number)));
            text.push('\n');
        }
        let snippet = Snippet::source(text)
            .line_start(first as usize)
            .path(printable(self.file))
            .annotations(annotations);
        let group = Group::with_level(level).element(snippet);
        let renderer = Renderer::styled().term_width(look.width);
        renderer.render(&[group]) + "\n"
    }
}
