//! Whose connection was accepted: the end of it in this process, if there is one.
//!
//! TCP: both ends have the same two addresses, and there is only one connection with these at a time. So the end that is connected *now*, with
//! the accepted one's addresses the other way round, is it. Unix: the kernel says which inode the other end has, to those who ask by netlink.

use core::ffi::c_int;

use super::{channel, ends};
use crate::sys;

/// An address and a port, of IPv4 as IPv6 has it.
type Address = ([u8; 16], u16);

/// Fits all addresses.
type Space = [u8; 128];

/// Asks for an address of a socket.
fn ask(call: libc::c_long, fd: c_int) -> Option<Space> {
    let mut space: Space = [0; 128];
    let mut size = space.len() as u32;
    let args = [
        fd as usize,
        space.as_mut_ptr() as usize,
        &raw mut size as usize,
        0,
        0,
        0,
    ];
    (sys::call(call, args) == 0).then_some(space)
}

fn family(space: &Space) -> c_int {
    u16::from_ne_bytes([space[0], space[1]]).into()
}

fn internet(space: &Space) -> Option<Address> {
    let mut address = [0; 16];
    match family(space) {
        libc::AF_INET => {
            address[10..12].fill(0xFF);
            address[12..].copy_from_slice(&space[4..8]);
        }
        libc::AF_INET6 => address.copy_from_slice(&space[8..24]),
        _ => return None,
    }
    Some((address, u16::from_be_bytes([space[2], space[3]])))
}

/// Both addresses of a connected socket, its own first.
fn addresses(fd: c_int) -> Option<[Address; 2]> {
    let own = internet(&ask(libc::SYS_getsockname, fd)?)?;
    let other = internet(&ask(libc::SYS_getpeername, fd)?)?;
    Some([own, other])
}

/// The end that has connected to the accepted one; `None` if it is not known, or not here.
pub fn of_accepted(fd: c_int) -> Option<u64> {
    let own = ask(libc::SYS_getsockname, fd)?;
    if family(&own) == libc::AF_UNIX {
        let status = channel::status(fd)?;
        let inode = unix::other_end(status.st_ino as u32)?;
        let other = ends::identity(inode.into(), status.st_dev);
        return unmatched_end(|identity, _| identity == other);
    }
    let [own, other] = addresses(fd)?;
    unmatched_end(|_, number| addresses(number) == Some([other, own]))
}

/// The end without another that is of this kind, and still has the number that it was made with.
fn unmatched_end(is_it: impl Fn(u64, c_int) -> bool) -> Option<u64> {
    let has_number = |identity: u64, number: c_int| {
        channel::status(number).is_some_and(|status| channel::identity(&status) == identity)
    };
    // Another may have the number before it is asked, or after.
    let found = ends::unmatched().find(|&(identity, number)| {
        has_number(identity, number) && is_it(identity, number) && has_number(identity, number)
    });
    found.map(|(identity, _)| identity)
}

/// What the kernel knows about Unix sockets.
mod unix {
    use super::sys;

    /// A header of a netlink message.
    #[repr(C)]
    #[derive(Default)]
    struct Header {
        length: u32,
        kind: u16,
        flags: u16,
        sequence: u32,
        port: u32,
    }

    const SOCK_DIAG_BY_FAMILY: u16 = 20;

    #[repr(C)]
    struct Question {
        header: Header,
        family: u8,
        protocol: u8,
        unused: u16,
        states: u32,
        inode: u32,
        show: u32,
        cookie: [u32; 2],
    }
    const _: () = assert!(size_of::<Question>() == 40);

    const SHOW_PEER: u32 = 4;

    #[repr(C)]
    #[derive(Default)]
    struct Answer {
        header: Header,
        family: u8,
        kind: u8,
        state: u8,
        unused: u8,
        inode: u32,
        cookie: [u32; 2],
        length: u16,
        attribute: u16,
        other: u32,
    }
    const _: () = assert!(size_of::<Answer>() == 40);

    const ATTRIBUTE_PEER: u16 = 2;

    /// The inode of the other end of a connected socket.
    pub fn other_end(inode: u32) -> Option<u32> {
        let args = [
            libc::AF_NETLINK as usize,
            (libc::SOCK_DGRAM | libc::SOCK_CLOEXEC) as usize,
            libc::NETLINK_SOCK_DIAG as usize,
            0,
            0,
            0,
        ];
        let netlink = sys::call(libc::SYS_socket, args);
        if netlink < 0 {
            return None;
        }
        let answer = ask(netlink as usize, inode);
        sys::close(netlink as i32);
        let is_it = |answer: &Answer| {
            answer.header.kind == SOCK_DIAG_BY_FAMILY
                && answer.inode == inode
                && answer.attribute == ATTRIBUTE_PEER
                && answer.other != 0
        };
        answer.filter(is_it).map(|answer| answer.other)
    }

    fn ask(netlink: usize, inode: u32) -> Option<Answer> {
        let question = Question {
            header: Header {
                length: size_of::<Question>() as u32,
                kind: SOCK_DIAG_BY_FAMILY,
                flags: libc::NLM_F_REQUEST as u16,
                ..Header::default()
            },
            family: libc::AF_UNIX as u8,
            protocol: 0,
            unused: 0,
            states: u32::MAX,
            inode,
            show: SHOW_PEER,
            cookie: [u32::MAX; 2],
        };
        let sent = sys::call(
            libc::SYS_sendto,
            [
                netlink,
                &raw const question as usize,
                size_of::<Question>(),
                0,
                0,
                0,
            ],
        );
        let mut answer = Answer::default();
        // What does not fit is cut off. The kernel has answered when the question is sent.
        let received = sys::call(
            libc::SYS_recvfrom,
            [
                netlink,
                &raw mut answer as usize,
                size_of::<Answer>(),
                libc::MSG_DONTWAIT as usize,
                0,
                0,
            ],
        );
        (sent > 0 && received as usize == size_of::<Answer>()).then_some(answer)
    }
}
