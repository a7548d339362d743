//! Functions, lines and branches for the events of a recording, from the program's files.
//!
//! A [`Followed`] stream goes through all of a recording's events and notes what each passed; the
//! writers then ask [`Symbols`] about the step that they are about to write. Text traces, which
//! have no modules, are left as they are.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use deadheat_build::cache;
use deadheat_code::{Depends, Facts, Frame, Modules, Passed, Place, Walk};
use deadheat_predict::{AboutEvent, CodeNeeds, Left};
use deadheat_report::{Binaries, is_foreign, seen_from};
use deadheat_trace::{
    Annotate, Event, EventIndex, Function, Known, Mode, Op, Pc, Step, Steps, Tables, ThreadId,
};

/// What the files of a recording's modules tell about its events.
pub struct Symbols {
    binaries: Binaries,
    facts: Files,
    walks: HashMap<ThreadId, Walk>,
    /// Where each thread's functions were called from.
    calls: HashMap<ThreadId, Vec<Pc>>,
    lines: HashMap<(Pc, bool), Lines>,
    here: Option<PathBuf>,
    last: Last,
}

/// The lines of a place.
#[derive(Clone)]
struct Lines {
    /// The innermost that is the program's own.
    own: Option<Rc<str>>,
    /// The innermost.
    innermost: Option<Rc<str>>,
}

/// What is known of the step that was read last.
#[derive(Default)]
struct Last {
    pc: Option<Pc>,
    /// Its address in the file.
    site: Option<u64>,
    passed: Option<Passed>,
    /// What it is done to depends on this.
    address: Option<Depends>,
    /// An atomic access that does the same whatever it reads.
    is_steady: bool,
}

/// Facts by module, found when they are first needed.
#[derive(Default)]
struct Files {
    facts: HashMap<u32, Option<Facts>>,
    folder: Option<PathBuf>,
}

impl Modules for Files {
    fn facts(&self, module: u32) -> Option<&Facts> {
        self.facts.get(&module)?.as_ref()
    }
}

impl Symbols {
    /// For a recording with these tables.
    pub fn of(tables: &Tables) -> Self {
        Symbols {
            binaries: Binaries::of(tables),
            facts: Files {
                facts: HashMap::new(),
                folder: cache::folder("facts").ok(),
            },
            walks: HashMap::new(),
            calls: HashMap::new(),
            lines: HashMap::new(),
            here: std::env::current_dir().ok(),
            last: Last::default(),
        }
    }

    /// What the user should know of the files.
    pub fn remarks(&self) -> Vec<String> {
        self.binaries.remarks()
    }

    /// Goes on to the next step. Between two events of a parallel recording others may be left
    /// out, so that nothing can be said of branches.
    fn follow(&mut self, step: &Step, tables: &Tables, mode: Mode) {
        let event = &step.event;
        let calls = self.calls.entry(event.thread()).or_default();
        match event.op() {
            Op::Enter => calls.push(event.pc()),
            Op::Leave => drop(calls.pop()),
            Op::Lost => calls.clear(),
            _ => {}
        }
        let place = self.place(event.pc(), tables);
        let walk = self.walks.entry(event.thread()).or_default();
        let (passed, address) = match event.op() {
            Op::Enter => (Some(walk.enter(place, None, &self.facts)), None),
            Op::Leave => (Some(walk.leave(&self.facts)), None),
            Op::Lost => {
                walk.lost();
                (None, None)
            }
            Op::Begin | Op::End | Op::Exit => (None, None),
            _ => {
                let passed = walk.at(place, &self.facts);
                let facts = place.and_then(|place| self.facts.facts(place.module));
                let address = match (place, facts) {
                    (Some(place), Some(facts)) => facts.address(place.address),
                    _ => Depends::Everything,
                };
                (Some(passed), Some(address))
            }
        };
        let facts = place.and_then(|place| Some((place.address, self.facts.facts(place.module)?)));
        self.last = Last {
            pc: Some(event.pc()),
            site: place.map(|place| place.address),
            is_steady: facts.is_some_and(|(address, facts)| facts.is_steady(address)),
            passed: passed.filter(|_| mode == Mode::Serial && tables.left_out.is_none()),
            address,
        };
    }

    /// The place of a pc, with its module's facts at hand.
    fn place(&mut self, pc: Pc, tables: &Tables) -> Option<Place> {
        let (module, address) = tables.module_of(pc)?;
        let module = module.first_pc.0;
        let files = &mut self.facts;
        files.facts.entry(module).or_insert_with(|| {
            let (binary, _) = self.binaries.find(pc)?;
            Some(match &files.folder {
                Some(folder) => Facts::load_or_make(binary, folder),
                None => Facts::of(binary),
            })
        });
        Some(Place { module, address })
    }

    fn frames(&self, pc: Pc, at_function: bool) -> Vec<Frame> {
        match self.binaries.find(pc) {
            // A thread begins at a function; other pcs are where calls return to.
            Some((binary, address)) if at_function => binary.frames(address),
            _ => self.binaries.frames(pc),
        }
    }

    /// The file of a frame, from where we are.
    fn file(&self, frame: &Frame) -> Option<String> {
        let file = frame.file.as_deref()?;
        Some(seen_from(self.here.as_deref(), file))
    }

    fn line(&self, frame: &Frame) -> Option<String> {
        Some(format!("{}:{}", self.file(frame)?, frame.line?))
    }

    /// Where an event is, for people: if it is in a library that comes with the compiler, where
    /// the program's own code called that; if that is not known, where it is in the library.
    fn location(&mut self, event: &Event) -> Option<Rc<str>> {
        let at_function = event.op() == Op::Begin;
        let here = self.lines(event.pc(), at_function);
        if here.own.is_some() || here.innermost.is_none() {
            return here.own.or(here.innermost);
        }
        let calls = self.calls.remove(&event.thread()).unwrap_or_default();
        let outer = calls.iter().rev().find_map(|pc| self.lines(*pc, false).own);
        self.calls.insert(event.thread(), calls);
        outer.or(here.innermost)
    }

    /// The lines of a place, looked up once.
    fn lines(&mut self, pc: Pc, at_function: bool) -> Lines {
        if let Some(lines) = self.lines.get(&(pc, at_function)) {
            return lines.clone();
        }
        let frames = self.frames(pc, at_function);
        let line = |frame: &Frame| self.line(frame).map(Rc::from);
        let mut own = frames.iter().filter(|frame| !is_foreign(frame));
        let lines = Lines {
            own: own.find_map(line),
            innermost: frames.first().and_then(line),
        };
        self.lines.insert((pc, at_function), lines.clone());
        lines
    }

    /// What something depends on, for people.
    fn sources(&self, depends: &Depends) -> Vec<String> {
        let sources = match depends {
            Depends::Nothing => return Vec::new(),
            Depends::Everything => return vec!["everything".to_owned()],
            Depends::On(sources) => sources,
        };
        let place = |address: &u64| {
            let file = self.last.pc.and_then(|pc| self.binaries.find(pc));
            let frames = file.map(|(binary, _)| binary.frames(address - 1));
            let line = frames.and_then(|frames| {
                let mut own = frames.iter().filter(|frame| !is_foreign(frame));
                let frame = own.next().or(frames.first())?;
                self.line(frame)
            });
            line.unwrap_or_else(|| format!("{address:#x}"))
        };
        let mut names: Vec<String> = sources.reads.iter().map(place).collect();
        names.dedup();
        names.extend(sources.before.then(|| "before".to_owned()));
        names
    }
}

/// The same symbols for those who read and those who write.
#[derive(Clone)]
pub struct Shared(Rc<RefCell<Symbols>>);

impl Shared {
    /// For a recording with these tables.
    pub fn of(tables: &Tables) -> Self {
        Shared(Rc::new(RefCell::new(Symbols::of(tables))))
    }

    /// What the user should know of the files.
    pub fn remarks(&self) -> Vec<String> {
        self.0.borrow().remarks()
    }

    /// Tells who needs reads what is known of the step that was read last, and what becomes of it.
    pub fn tell_needs(&self, event: &Event, left: Left, needs: &mut CodeNeeds) {
        let symbols = self.0.borrow();
        let last = &symbols.last;
        let about = AboutEvent {
            site: last.site,
            passed: last.passed.as_ref(),
            done_to: last.address.as_ref(),
            is_steady: last.is_steady,
        };
        needs.sifted(event, &about, left);
    }
}

impl Annotate for Shared {
    fn location(&mut self, event: &Event, _tables: &Tables) -> Option<String> {
        self.0
            .borrow_mut()
            .location(event)
            .map(|line| line.to_string())
    }

    fn functions(&mut self, event: &Event, _tables: &Tables) -> Vec<Function> {
        let symbols = self.0.borrow();
        let frames = symbols.frames(event.pc(), event.op() == Op::Begin);
        let function = |frame: &Frame| Function {
            function: frame.function.as_deref().map(str::to_owned),
            file: symbols.file(frame),
            line: frame.line,
            column: frame.column,
            inlined: frame.inlined,
        };
        frames.iter().map(function).collect()
    }

    fn known(&mut self, event: &Event) -> Known {
        // What code without hooks wrote is no step of a thread's way.
        if event.op() == Op::ExternalWrite {
            return Known::default();
        }
        let symbols = self.0.borrow();
        let branch = match &symbols.last.passed {
            Some(Passed::Branched(depends)) => Some(match depends {
                Depends::Nothing => vec!["nothing that was read".to_owned()],
                depends => symbols.sources(depends),
            }),
            _ => None,
        };
        let address = symbols.last.address.as_ref();
        let address = address.filter(|_| event.op().is_access());
        let address = address.filter(|depends| **depends != Depends::Nothing);
        Known {
            branch,
            address: address.map(|depends| symbols.sources(depends)),
        }
    }
}

/// A stream whose steps are followed through the program's code.
pub struct Followed<S> {
    steps: S,
    symbols: Option<Shared>,
}

impl<S: Steps> Followed<S> {
    /// The same steps, followed if there are symbols.
    pub fn new(steps: S, symbols: Option<Shared>) -> Self {
        Followed { steps, symbols }
    }
}

impl<S: Steps> Steps for Followed<S> {
    type Error = S::Error;

    fn next_step(&mut self) -> Result<Option<Step>, S::Error> {
        let step = self.steps.next_step()?;
        if let (Some(step), Some(symbols)) = (&step, &self.symbols) {
            let (tables, mode) = (self.steps.tables(), self.steps.mode());
            symbols.0.borrow_mut().follow(step, tables, mode);
        }
        Ok(step)
    }

    fn tables(&self) -> &Tables {
        self.steps.tables()
    }

    fn mode(&self) -> Mode {
        self.steps.mode()
    }

    fn last_index(&self) -> Option<EventIndex> {
        self.steps.last_index()
    }
}
