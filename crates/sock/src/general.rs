//! Socket options of level `SOL_SOCKET`, and options without effect, of which only the values are kept.

use crate::fields::{Fields, Written};
use crate::socket::Socket;
use nix::errno::Errno;
use nix::libc::{self, SOL_SOCKET};
use records::number::SCTP;
use units::ByteCount;

/// Largest number of options without effect that a socket keeps.
const KEPT: usize = 64;

pub fn keep(socket: &mut Socket, level: i32, name: i32, value: &[u8]) -> Result<(), Errno> {
    let kept = &mut socket.settings.kept;
    if kept.len() >= KEPT && !kept.contains_key(&(level, name)) {
        return Err(Errno::ENOPROTOOPT);
    }
    kept.insert((level, name), value.iter().take(256).copied().collect());
    Ok(())
}

pub fn set_general(socket: &mut Socket, name: i32, value: &Fields<'_>) -> Result<(), Errno> {
    const MOST: u64 = 64 << 20;
    match name {
        libc::SO_SNDBUF => {
            // The buffer must have room for the data of one record.
            let size = u64::from(value.u32(0)?).clamp(records::MAX_DATA as u64, MOST);
            socket.config.send_buffer = ByteCount::new(size).into();
            keep(socket, SOL_SOCKET, name, value.0)
        }
        libc::SO_RCVBUF => {
            let size = u64::from(value.u32(0)?).clamp(4096, MOST / 4);
            socket.config.receive_buffer = ByteCount::new(size).into();
            keep(socket, SOL_SOCKET, name, value.0)
        }
        libc::SO_REUSEADDR => {
            socket.settings.reuse = value.u32(0)? != 0;
            Ok(())
        }
        libc::SO_LINGER => {
            socket.settings.linger = (value.u32(0)? != 0).then_some(value.u32(4)?);
            Ok(())
        }
        libc::SO_BINDTODEVICE => Err(Errno::ENOPROTOOPT),
        _ => keep(socket, SOL_SOCKET, name, value.0),
    }
}

pub fn get_general(socket: &Socket, name: i32) -> Result<Vec<u8>, Errno> {
    let number = match name {
        // As in Linux, twice the value that was set.
        libc::SO_SNDBUF => twice(socket.config.send_buffer.first()),
        libc::SO_RCVBUF => twice(socket.config.receive_buffer.first()),
        libc::SO_LINGER => {
            let linger = socket.settings.linger;
            let on = Written::default().u32(u32::from(linger.is_some()));
            return Ok(on.u32(linger.unwrap_or(0)).0);
        }
        libc::SO_TYPE if socket.many => libc::SOCK_SEQPACKET,
        libc::SO_TYPE => libc::SOCK_STREAM,
        libc::SO_DOMAIN if socket.v6 => libc::AF_INET6,
        libc::SO_DOMAIN => libc::AF_INET,
        libc::SO_PROTOCOL => SCTP,
        libc::SO_REUSEADDR => socket.settings.reuse.into(),
        libc::SO_ACCEPTCONN => (socket.switches() & records::switches::LISTENS != 0).into(),
        _ => return Ok(socket.settings.kept.get(&(SOL_SOCKET, name)).cloned().unwrap_or(vec![0; 4])),
    };
    Ok(number.to_ne_bytes().to_vec())
}

fn twice(size: ByteCount) -> i32 {
    i32::try_from(size.get().saturating_mul(2)).unwrap_or(i32::MAX)
}
