//! What a trace says about the program besides its events: modules, threads, names.

use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use deadheat_wire::{BlockHeader, BlockKind, meta};

use super::file;
use crate::local::Inside;
use crate::{sys, watch};

/// Whether facts go to the report of a watched program, and not to a trace.
static TO_REPORT: AtomicBool = AtomicBool::new(false);

/// Sends all facts from now on to the report, or to the trace.
pub fn go_to_report(report: bool) {
    TO_REPORT.store(report, Ordering::Relaxed);
}

fn to_report() -> bool {
    TO_REPORT.load(Ordering::Relaxed)
}

/// Writes one meta block of the records that `fill` makes, if there is a trace.
fn write(fill: impl FnOnce(&mut meta::Writer)) {
    if file::is_written() {
        write_block(fill);
    }
}

/// The buffer takes much of the stack, which others need not touch.
#[inline(never)]
fn write_block(fill: impl FnOnce(&mut meta::Writer)) {
    let _inside = Inside::enter(); // Filling the buffer is not the program's doing.
    let mut buffer = [0; 640];
    let mut writer = meta::Writer::new(&mut buffer);
    fill(&mut writer);
    let payload = writer.words();
    file::append(&BlockHeader::new(BlockKind::Meta, 0).seal(payload), payload);
}

/// A new thread, before its first event.
pub fn thread(id: u32, parent: u32, pc: usize) {
    if to_report() {
        return; // It says so itself when it begins.
    }
    write(|writer| {
        writer
            .begin(meta::THREAD)
            .u32(id)
            .u32(parent)
            .u64(pc as u64)
            .end();
    });
}

/// A thread's name.
pub fn thread_name(id: u32, name: &[u8]) {
    if to_report() {
        return watch::tell_name(id, name);
    }
    write(|writer| {
        writer
            .begin(meta::THREAD_NAME)
            .u32(id)
            .u32(name.len() as u32)
            .bytes(name)
            .end();
    });
}

/// Something that the user should be told about the run.
pub fn note(text: &str) {
    write(|writer| {
        writer.begin(meta::NOTE).bytes(text.as_bytes()).end();
    });
}

/// How many accesses were left out.
pub fn left_out(count: u64) {
    write(|writer| {
        writer.begin(meta::LEFT_OUT).u64(count).end();
    });
}

/// Modules known already: the bias, the start of the code and when it was seen, mixed.
const MOST_MODULES: usize = 1024;
static SEEN: [AtomicU64; MOST_MODULES] = [const { AtomicU64::new(0) }; MOST_MODULES];
static SEEN_COUNT: AtomicUsize = AtomicUsize::new(0);

/// In a forked process: its trace starts without any.
pub fn forget_modules() {
    SEEN_COUNT.store(0, Ordering::Relaxed);
}

/// Writes all modules that were loaded since the last call.
pub fn modules() {
    // SAFETY: the callback matches the C library's type and gets no data.
    unsafe { libc::dl_iterate_phdr(Some(visit_module), core::ptr::null_mut()) };
}

unsafe extern "C" fn visit_module(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    _data: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes valid info for the duration of the call.
    let info = unsafe { &*info };
    // SAFETY: as many program headers as it says.
    let headers = unsafe { core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) };
    let bias = info.dlpi_addr;
    let loads = || {
        headers
            .iter()
            .filter(|header| header.p_type == libc::PT_LOAD)
    };
    let start = loads()
        .map(|header| bias + header.p_vaddr)
        .min()
        .unwrap_or(0);
    let end = loads()
        .map(|header| bias + header.p_vaddr + header.p_memsz)
        .max()
        .unwrap_or(0);
    let identity = start ^ end.rotate_left(24);
    let count = SEEN_COUNT.load(Ordering::Relaxed);
    let known = SEEN[..count]
        .iter()
        .any(|seen| seen.load(Ordering::Relaxed) == identity);
    if known || start == end || count == MOST_MODULES {
        return 0;
    }
    SEEN[count].store(identity, Ordering::Relaxed);
    SEEN_COUNT.store(count + 1, Ordering::Relaxed);

    let build_id = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_NOTE)
        .find_map(|header| {
            let notes = (bias + header.p_vaddr) as *const u8;
            // SAFETY: a loaded note segment, as long as its header says.
            find_build_id(unsafe { core::slice::from_raw_parts(notes, header.p_memsz as usize) })
        })
        .unwrap_or(&[]);
    let mut own_path = [0; 2048];
    let name = if info.dlpi_name.is_null() {
        &[]
    } else {
        // SAFETY: the loader's name is a C string.
        unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes()
    };
    let path = if name.is_empty() {
        own_executable(&mut own_path)
    } else {
        name
    };
    if to_report() {
        let functions = headers
            .iter()
            .find(|header| header.p_type == libc::PT_GNU_EH_FRAME)
            .map_or(0, |header| bias + header.p_vaddr);
        watch::tell_module([start, end, bias], functions, build_id, path);
        return 0;
    }
    write(|writer| {
        writer.begin(meta::MODULE).u64(start).u64(end).u64(bias);
        writer
            .u32(build_id.len() as u32)
            .u32(path.len() as u32)
            .bytes(build_id)
            .bytes(path)
            .end();
    });
    0
}

fn own_executable(buffer: &mut [u8]) -> &[u8] {
    let path = c"/proc/self/exe".as_ptr() as usize;
    let got = sys::call(
        libc::SYS_readlink,
        [path, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0],
    );
    &buffer[..got.max(0) as usize]
}

/// The GNU build id among the notes of a segment.
fn find_build_id(mut notes: &[u8]) -> Option<&[u8]> {
    const NT_GNU_BUILD_ID: u32 = 3;
    loop {
        let name_len = meta::u32_at(notes, 0)? as usize;
        let desc_len = meta::u32_at(notes, 4)? as usize;
        let kind = meta::u32_at(notes, 8)?;
        let desc_at = 12 + name_len.next_multiple_of(4);
        let desc = notes.get(desc_at..desc_at.checked_add(desc_len)?)?;
        if kind == NT_GNU_BUILD_ID && notes.get(12..16) == Some(b"GNU\0") {
            return Some(desc);
        }
        notes = notes.get(desc_at + desc_len.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::find_build_id;

    #[test]
    fn the_build_id_is_found_among_notes() {
        let mut notes = vec![];
        for (kind, desc) in [(1u32, &[1u8, 2, 3, 4][..]), (3, &[0xAB; 20][..])] {
            notes.extend(4u32.to_le_bytes());
            notes.extend((desc.len() as u32).to_le_bytes());
            notes.extend(kind.to_le_bytes());
            notes.extend(b"GNU\0");
            notes.extend(desc);
        }
        assert_eq!(find_build_id(&notes), Some(&[0xAB; 20][..]));
        assert_eq!(find_build_id(&notes[..30]), None);
    }
}
