//! Whose connection was accepted: the end of it in this process, if there is one.
//!
//! TCP: both ends have the same two addresses, and there is only one connection with these at a time. So the end that is connected *now*, with
//! the accepted one's addresses the other way round, is it. Unix: the kernel says which inode the other end has, to those who ask by netlink.

use core::ffi::c_int;
use core::mem::MaybeUninit;

use super::channel::Behind;
use super::ends;
use crate::sys;

/// An address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Address {
    Unix,
    /// With its port, of IPv4 as IPv6 has it.
    Internet(u128, u16),
}

/// Asks for an address of a socket.
fn ask(call: libc::c_long, fd: c_int) -> Option<Address> {
    let mut space = MaybeUninit::<libc::sockaddr_storage>::uninit();
    let mut size = size_of::<libc::sockaddr_storage>() as u32;
    let place = space.as_mut_ptr();
    let args = [fd as usize, place as usize, &raw mut size as usize, 0, 0, 0];
    if sys::call(call, args) != 0 {
        return None;
    }
    // SAFETY: filled in by the system, as the family says.
    unsafe {
        match c_int::from((*place).ss_family) {
            libc::AF_UNIX => Some(Address::Unix),
            libc::AF_INET => {
                let address = &*place.cast::<libc::sockaddr_in>();
                let mapped = 0xFFFF << 32 | u128::from(u32::from_be(address.sin_addr.s_addr));
                Some(Address::Internet(mapped, address.sin_port))
            }
            libc::AF_INET6 => {
                let address = &*place.cast::<libc::sockaddr_in6>();
                let number = u128::from_be_bytes(address.sin6_addr.s6_addr);
                Some(Address::Internet(number, address.sin6_port))
            }
            _ => None,
        }
    }
}

fn own(fd: c_int) -> Option<Address> {
    ask(libc::SYS_getsockname, fd)
}

fn other(fd: c_int) -> Option<Address> {
    ask(libc::SYS_getpeername, fd)
}

/// The end that has connected to the accepted one; `None` if it is not known, or not here.
pub fn of_accepted(fd: c_int) -> Option<u64> {
    let here = own(fd)?;
    if here == Address::Unix {
        let behind = Behind::number(fd)?;
        let inode = unix::other_end(behind.inode as u32)?;
        let end = ends::identity(inode.into(), behind.device);
        return unmatched_end(|identity, _| identity == end);
    }
    let there = other(fd)?;
    unmatched_end(|_, number| own(number) == Some(there) && other(number) == Some(here))
}

/// The end without another that is of this kind, and still has the number that it was made with.
fn unmatched_end(is_it: impl Fn(u64, c_int) -> bool) -> Option<u64> {
    let has_number = |identity: u64, number: c_int| {
        Behind::number(number).is_some_and(|behind| behind.identity() == identity)
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

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::super::ends::tests::alone;
    use super::*;

    fn know(end: &impl AsRawFd) -> u64 {
        let fd = end.as_raw_fd();
        let identity = Behind::number(fd).unwrap().identity();
        ends::keep(identity, 0, 8, fd, ends::quiet());
        identity
    }

    #[test]
    fn tcp_by_addresses() {
        let _alone = alone();
        for address in ["127.0.0.1:0", "[::]:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let to = ("127.0.0.1", listener.local_addr().unwrap().port());
            // Nobody here knows of the first one.
            let clients: [_; 3] = core::array::from_fn(|_| TcpStream::connect(to).unwrap());
            let known = clients[1..].iter().map(know).collect::<Vec<_>>();
            let found: Vec<_> = (0..3)
                .map(|_| of_accepted(listener.accept().unwrap().0.as_raw_fd()))
                .collect();
            assert_eq!(found, [None, Some(known[0]), Some(known[1])], "{address}");
        }
    }

    #[test]
    fn unix_by_inodes() {
        let _alone = alone();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let clients: [_; 3] = core::array::from_fn(|_| UnixStream::connect(&path).unwrap());
        let known = clients[1..].iter().map(know).collect::<Vec<_>>();
        let found: Vec<_> = (0..3)
            .map(|_| of_accepted(listener.accept().unwrap().0.as_raw_fd()))
            .collect();
        assert_eq!(found, [None, Some(known[0]), Some(known[1])]);
    }

    /// A number that is another's now says nothing.
    #[test]
    fn not_by_a_number_alone() {
        let _alone = alone();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let identity = 1 << 63 | 12345;
        ends::keep(identity, 0, 8, client.as_raw_fd(), ends::quiet());
        let accepted = listener.accept().unwrap().0;
        assert_eq!(of_accepted(accepted.as_raw_fd()), None);
    }
}
