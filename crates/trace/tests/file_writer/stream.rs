//! From acts to the words of blocks.

use deadheat_trace::{Op, Order};
use deadheat_wire::word::{self, ext};
use deadheat_wire::{BlockHeader, BlockKind};

use super::{Act, What, sealed};

/// The blocks of one stream as they are being written.
pub struct StreamWriter {
    header: BlockHeader,
    words: Vec<u64>,
    pc: u64,
    addrs: [u64; word::PC_SLOTS],
    /// How many words there are if the last one is a pair whose upper half is empty.
    open_pair: usize,
    /// The full pairs at the end of the words.
    pairs: std::ops::Range<usize>,
    /// Where a REPEAT record stands, how far it reaches back and how many words it stands for.
    repeat: Option<(usize, usize, usize)>,
    thread: u32,
    seq: u64,
    pub blocks: Vec<Vec<u64>>,
}

impl StreamWriter {
    pub fn new(stream: u32, values: bool) -> Self {
        let mut header = BlockHeader::new(BlockKind::Events, stream);
        header.flags = if values { BlockHeader::VALUES } else { 0 };
        StreamWriter {
            header,
            words: Vec::new(),
            pc: 0,
            addrs: [0; word::PC_SLOTS],
            open_pair: 0,
            pairs: 0..0,
            repeat: None,
            thread: stream,
            seq: 0,
            blocks: Vec::new(),
        }
    }

    /// Closes the block, if there is anything in it.
    pub fn cut(&mut self) {
        if self.words.is_empty() {
            return;
        }
        self.header.seq_last = self.seq;
        self.blocks.push(sealed(self.header, &self.words));
        self.header.ordinal += 1;
        self.header.thread = self.thread;
        self.header.pc = self.pc;
        self.header.seq_before = self.seq;
        self.words.clear();
        self.addrs = [0; word::PC_SLOTS];
        self.open_pair = 0;
        self.pairs = 0..0;
        self.repeat = None;
    }

    /// Says who acts from here on (serial recordings).
    pub fn switch(&mut self, thread: u32) {
        if thread != self.thread {
            self.words
                .push(word::tagged(word::EXT, ext::SWITCH, thread.into()));
            self.thread = thread;
        }
    }

    /// The stream and the ordinal of the block that is being written.
    pub fn place(&self) -> (u32, u32) {
        (self.header.stream, self.header.ordinal)
    }

    /// A word as it is.
    pub fn raw(&mut self, word: u64) {
        self.words.push(word);
    }

    fn delta(&mut self, pc: u64, bias: u64, span: u64) -> u64 {
        let mut delta = pc.wrapping_sub(self.pc).wrapping_add(bias);
        if delta >= span {
            self.words.push(word::tagged(word::PC, 0, pc));
            delta = bias;
        }
        self.pc = pc;
        delta
    }

    fn numbered(&mut self, tag: u64, detail: u64, addr: u64, number: u64, pc: u64) {
        let delta = self.delta(pc, word::WIDE_PC_BIAS, word::WIDE_PC_SPAN);
        self.words.push(word::tagged(tag, detail, addr));
        self.words.push(word::numbered(number, delta));
    }

    fn half(&mut self, half: u64) {
        if self.open_pair == self.words.len()
            && let Some(pair) = self.words.last_mut()
        {
            *pair |= half << word::HALF_BITS;
            self.open_pair = 0;
            self.fold();
        } else {
            self.words.push(half);
            self.open_pair = self.words.len();
        }
    }

    /// Leaves the full pair at the end out, if it repeats one before.
    fn fold(&mut self) {
        let at = self.words.len() - 1;
        let pair = self.words[at];
        if let Some((place, distance, count)) = self.repeat.filter(|repeat| repeat.0 + 1 == at)
            && self.words[place - distance + count % distance] == pair
            && count < 65535
        {
            self.words.pop();
            self.words[place] += 1;
            self.repeat = Some((place, distance, count + 1));
            return;
        }
        if self.pairs.end != at {
            self.pairs = at..at;
        }
        let same = self.pairs.clone().rfind(|place| self.words[*place] == pair);
        if let Some(place) = same {
            self.words[at] = word::repeat((at - place) as u64, 1);
            self.repeat = Some((at, at - place, 1));
        } else {
            self.pairs.end = at + 1;
        }
    }

    /// Writes an act down; `seq` counts if it synchronises.
    pub fn act(&mut self, act: &Act, seq: u64) {
        let (pc, values) = (act.pc, self.header.has_values());
        if act.what.is_sync() {
            self.seq = seq;
        }
        match &act.what {
            What::Access {
                write,
                addr,
                size,
                values: contents,
            } => {
                let kind = if *write { word::WRITE1 } else { word::READ1 };
                let code = word::size_code(*size as usize);
                let last = std::mem::replace(&mut self.addrs[word::pc_slot(pc)], *addr);
                let near = addr.wrapping_sub(last).wrapping_add(word::HALF_ADDR_BIAS);
                let delta = pc.wrapping_sub(self.pc).wrapping_add(word::HALF_PC_BIAS);
                let fits = near < word::HALF_ADDR_SPAN && delta < word::HALF_PC_SPAN;
                if fits && !values {
                    self.pc = pc;
                    return self.half(word::half(kind + code, delta, near));
                }
                let delta = self.delta(pc, word::PC_BIAS, word::PC_SPAN);
                self.words.push(word::access(kind + code, delta, *addr));
                if values {
                    self.words.extend(&contents[..word::value_words(code)]);
                }
            }
            What::Range {
                write,
                addr,
                bytes,
                contents,
            } => {
                let kind = if *write {
                    ext::RANGE_WRITE
                } else {
                    ext::RANGE_READ
                };
                let contents = contents.as_deref().filter(|_| values);
                let flag = if contents.is_some() { ext::VALUES } else { 0 };
                self.numbered(word::EXT, kind | flag, *addr, *bytes, pc);
                for chunk in contents.unwrap_or_default().chunks(8) {
                    let mut word = [0; 8];
                    word[..chunk.len()].copy_from_slice(chunk);
                    self.words.push(u64::from_le_bytes(word));
                }
            }
            What::Sync {
                op,
                object,
                kind,
                operand,
            } => {
                let detail = word::sync_detail(*op, Order::Relaxed, *kind, operand.is_some());
                self.numbered(word::SYNC, detail, *object, seq, pc);
                self.words.extend(operand);
            }
            What::Atomic {
                op,
                addr,
                size,
                order,
                read,
                written,
            } => {
                let code = word::size_code(*size as usize);
                let detail = word::sync_detail(*op, *order, code, false);
                self.numbered(word::SYNC, detail, *addr, seq, pc);
                let count = if values { word::value_words(code) } else { 0 };
                if *op != Op::AtomicWrite {
                    self.words.extend(&read[..count]);
                }
                if *op != Op::AtomicRead {
                    self.words.extend(&written[..count]);
                }
            }
            What::Fence(order) => {
                let detail = word::sync_detail(Op::Fence, *order, 0, false);
                self.numbered(word::SYNC, detail, 0, seq, pc);
            }
            What::Enter { callee } => {
                let delta = callee.wrapping_sub(pc).wrapping_add(word::PC_BIAS);
                let near = delta < word::PC_SPAN && delta != 0;
                self.words
                    .push(word::tagged(word::ENTER, if near { delta } else { 0 }, pc));
                self.pc = if near { *callee } else { pc };
            }
            What::Leave => {
                self.words.push(word::tagged(word::LEAVE, 0, pc));
                self.pc = pc;
            }
            What::Lost(count) => self.words.push(word::tagged(word::EXT, ext::LOST, *count)),
        }
    }
}
