//! The functions of the library. The header describes each for its callers.
//!
//! A caller promises for each pointer what the header says: it is NULL, or points to memory of the given size
//! that nobody else uses during the call. A struct has as many bytes as its field `size` says. A text ends
//! with a zero byte. An endpoint was made by [`anb_ep_new`] and has not been freed.
#![allow(clippy::missing_safety_doc, reason = "the promise is the same for all: see above")]

use crate::events::event;
use crate::fault::{Fault, cut, sentence};
use crate::handle::{anb_ep, enter, free, guarded};
use crate::inner::{ADDRESSES, Inner};
use crate::memory::{Output, Space, array, bytes, read, text};
use crate::types::*;
use libc::{EFAULT, EINVAL, EIO, ssize_t};
use std::ffi::{c_char, c_int, c_void};

/// A number that a function returns: a negative number of `errno.h` for an error.
trait Returned {
    fn from_errno(errno: c_int) -> Self;
}

impl Returned for c_int {
    fn from_errno(errno: c_int) -> Self {
        -errno
    }
}

impl Returned for ssize_t {
    fn from_errno(errno: c_int) -> Self {
        -errno as ssize_t
    }
}

impl Returned for i64 {
    fn from_errno(errno: c_int) -> Self {
        (-errno).into()
    }
}

fn returned<T: Returned>(result: Result<T, Fault>) -> T {
    result.unwrap_or_else(|fault| T::from_errno(fault.errno))
}

/// Converts a result to the number that the caller in C gets. Writes the sentence of an error to `why`,
/// unless `why` is null.
///
/// # Safety
/// `why` is null or points to an `anb_why`.
pub(crate) unsafe fn explained(result: Result<c_int, Fault>, why: *mut anb_why) -> c_int {
    if !why.is_null() {
        let told = result.as_ref().map_or_else(|fault| cut(fault.sentence(), ANB_WHY - 1), |_| "");
        // SAFETY: a pointer to `ANB_WHY` bytes, as the caller promises.
        if let Ok(space) = unsafe { Space::new(why.cast(), ANB_WHY) } {
            space.write_text(told);
        }
    }
    returned(result)
}

/// [`ANB_ABI`] of this library.
#[unsafe(no_mangle)]
pub extern "C" fn anb_abi() -> u32 {
    ANB_ABI
}

/// The version of this library.
#[unsafe(no_mangle)]
pub extern "C" fn anb_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Returns a sentence for an error number, negated (as the functions return it) or not.
#[unsafe(no_mangle)]
pub extern "C" fn anb_strerror(errno: c_int) -> *const c_char {
    sentence(errno).as_ptr()
}

/// Makes an endpoint.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_ep_new(
    setup: *const anb_setup,
    made: *mut *mut anb_ep,
    why: *mut anb_why,
) -> c_int {
    let make = || {
        if made.is_null() {
            return Err(EFAULT.into());
        }
        // SAFETY: a struct of the caller; its addresses are as many as it says.
        let inner = unsafe {
            let setup = read(setup)?;
            let ours = array(setup.addresses, setup.n_addresses, ADDRESSES)?;
            Inner::new(&setup, &ours)?
        };
        // SAFETY: a pointer of the caller to a pointer.
        unsafe { made.write_unaligned(anb_ep::new(inner)) };
        Ok(0)
    };
    let result = guarded(make).unwrap_or_else(|| Err(EIO.into()));
    // SAFETY: as the caller promises.
    unsafe { explained(result, why) }
}

/// Frees an endpoint.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_ep_free(ep: *mut anb_ep) {
    // SAFETY: as the caller promises.
    unsafe { free(ep) }
}

/// Sets an option by name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_ep_set(
    ep: *mut anb_ep,
    now: i64,
    assoc: u32,
    name: *const c_char,
    value: *const c_char,
    why: *mut anb_why,
) -> c_int {
    // SAFETY: as the caller promises of the endpoint and of both texts.
    let result = unsafe { enter(ep, |inner| inner.set(now, assoc, text(name)?, text(value)?)) };
    // SAFETY: as the caller promises.
    unsafe { explained(result.map(|()| 0), why) }
}

/// Gets the text of an option. Returns its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_ep_get(
    ep: *mut anb_ep,
    assoc: u32,
    name: *const c_char,
    value: *mut c_char,
    len: usize,
) -> c_int {
    let get = |inner: &mut Inner| {
        // SAFETY: as the caller promises of the name and of the memory for the value.
        let (name, space) = unsafe { (text(name)?, Space::new(value.cast(), len)?) };
        let found = inner.get(assoc, name)?;
        let told = if found.len() < len { found.as_str() } else { "" };
        space.write_text(told);
        c_int::try_from(found.len()).map_err(|_| EINVAL.into())
    };
    // SAFETY: as the caller promises.
    returned(unsafe { enter(ep, get) })
}

/// Performs a request given as text that sets no option, such as `heartbeat 10.0.0.1`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_ep_do(
    ep: *mut anb_ep,
    now: i64,
    assoc: u32,
    verb: *const c_char,
    argument: *const c_char,
    why: *mut anb_why,
) -> c_int {
    // SAFETY: as the caller promises of the endpoint and of both texts.
    let result = unsafe { enter(ep, |inner| inner.perform(now, assoc, text(verb)?, text(argument)?)) };
    // SAFETY: as the caller promises.
    unsafe { explained(result.map(|()| 0), why) }
}

/// Sets whether peers may begin associations.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_ep_listen(ep: *mut anb_ep, on: c_int) -> c_int {
    let listen = |inner: &mut Inner| {
        inner.endpoint.listen(on != 0);
        Ok(0)
    };
    // SAFETY: as the caller promises.
    returned(unsafe { enter(ep, listen) })
}

/// Begins an association.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_ep_connect(
    ep: *mut anb_ep,
    now: i64,
    peer: *const anb_peer,
    assoc: *mut u32,
    why: *mut anb_why,
) -> c_int {
    let connect = |inner: &mut Inner| {
        if assoc.is_null() {
            return Err(EFAULT.into());
        }
        // SAFETY: a struct of the caller; its addresses are as many as it says.
        let (peer, theirs) = unsafe {
            let peer = read(peer)?;
            (peer, array(peer.addresses, peer.n_addresses, ADDRESSES)?)
        };
        let begun = inner.connect(now, &peer, &theirs)?;
        // SAFETY: a pointer of the caller to a number.
        unsafe { assoc.write_unaligned(begun) };
        Ok(0)
    };
    // SAFETY: as the caller promises.
    unsafe { explained(enter(ep, connect), why) }
}

/// Queues a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_ep_send(
    ep: *mut anb_ep,
    now: i64,
    assoc: u32,
    msg: *const anb_msg,
    data: *const c_void,
    len: usize,
) -> c_int {
    let send = |inner: &mut Inner| {
        // SAFETY: a struct and bytes of the caller.
        let (msg, data) = unsafe { (read(msg)?, bytes(data.cast(), len)?) };
        inner.send(now, assoc, &msg, data).map(|()| 0)
    };
    // SAFETY: as the caller promises.
    returned(unsafe { enter(ep, send) })
}

/// Reads a message, or a part of one. Returns its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_ep_recv(
    ep: *mut anb_ep,
    now: i64,
    assoc: u32,
    data: *mut c_void,
    len: usize,
    info: *mut anb_info,
) -> ssize_t {
    let receive = |inner: &mut Inner| {
        // SAFETY: the caller promises that both pointers lead to memory that may be written.
        let (space, told) = unsafe { (Space::new(data.cast(), len)?, Output::new(info)?) };
        let (length, info) = inner.receive(now, assoc, space)?;
        told.write(&info);
        Ok(length as ssize_t)
    };
    // SAFETY: as the caller promises.
    returned(unsafe { enter(ep, receive) })
}

/// Ends an association.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_ep_end(
    ep: *mut anb_ep,
    now: i64,
    assoc: u32,
    abort: c_int,
    reason: *const c_void,
    len: usize,
) -> c_int {
    let end = |inner: &mut Inner| {
        // SAFETY: bytes of the caller.
        let reason = unsafe { bytes(reason.cast(), len)? };
        inner.end(now, assoc, abort != 0, reason).map(|()| 0)
    };
    // SAFETY: as the caller promises.
    returned(unsafe { enter(ep, end) })
}

/// Processes a packet that arrived.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_ep_handle(
    ep: *mut anb_ep,
    now: i64,
    route: *const anb_route,
    packet: *const c_void,
    len: usize,
) -> c_int {
    let handle = |inner: &mut Inner| {
        // SAFETY: a struct and bytes of the caller.
        let (route, packet) = unsafe { (read(route)?, bytes(packet.cast(), len)?) };
        inner.handle(now, &route, packet).map(|()| 0)
    };
    // SAFETY: as the caller promises.
    returned(unsafe { enter(ep, handle) })
}

/// Writes the next packet to send. Returns its length, or 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_ep_transmit(
    ep: *mut anb_ep,
    now: i64,
    packet: *mut c_void,
    len: usize,
    route: *mut anb_route,
) -> ssize_t {
    let transmit = |inner: &mut Inner| {
        // SAFETY: memory for a packet and a struct of the caller.
        let (space, told) = unsafe { (Space::new(packet.cast(), len)?, Output::new(route)?) };
        let (length, route) = inner.transmit(now, space)?;
        if length > 0 {
            told.write(&route);
        }
        Ok(length as ssize_t)
    };
    // SAFETY: as the caller promises.
    returned(unsafe { enter(ep, transmit) })
}

/// Gets the next event. Returns 1, or 0 if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_ep_event(ep: *mut anb_ep, to: *mut anb_event) -> c_int {
    let next = |inner: &mut Inner| {
        // SAFETY: a struct of the caller.
        let told = unsafe { Output::new(to)? };
        while let Some((id, happened)) = inner.endpoint.poll_event() {
            if let Some(happened) = event(id, &happened) {
                told.write(&happened);
                return Ok(1);
            }
        }
        Ok(0)
    };
    // SAFETY: as the caller promises.
    returned(unsafe { enter(ep, next) })
}

/// Time of the next call of [`anb_ep_on_timeout`], or [`ANB_NEVER`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_ep_timeout(ep: *mut anb_ep) -> i64 {
    // SAFETY: as the caller promises.
    returned(unsafe { enter(ep, |inner| Ok(inner.timeout())) })
}

/// Processes the expired timers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_ep_on_timeout(ep: *mut anb_ep, now: i64) -> c_int {
    let expire = |inner: &mut Inner| {
        inner.on_timeout(now);
        Ok(0)
    };
    // SAFETY: as the caller promises.
    returned(unsafe { enter(ep, expire) })
}

/// Gets the paths of an association. Returns their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_ep_paths(
    ep: *mut anb_ep,
    now: i64,
    assoc: u32,
    to: *mut anb_path,
    n: usize,
) -> c_int {
    let paths = |inner: &mut Inner| {
        let told = match n {
            0 => None,
            // SAFETY: an array of structs of the caller; the first has their size.
            _ => Some(unsafe { Output::new(to)? }),
        };
        let paths = inner.paths(now, assoc)?;
        let number = paths.len() as c_int;
        if let Some(told) = told {
            // SAFETY: the caller promises room for `n` elements of that size.
            unsafe { told.write_all(n, paths.into_iter()) }
        }
        Ok(number)
    };
    // SAFETY: as the caller promises.
    returned(unsafe { enter(ep, paths) })
}

/// Gets the state and the counters of an association.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_ep_stats(ep: *mut anb_ep, now: i64, assoc: u32, to: *mut anb_stats) -> c_int {
    let stats = |inner: &mut Inner| {
        // SAFETY: a struct of the caller.
        let told = unsafe { Output::new(to)? };
        told.write(&inner.stats(now, assoc)?);
        Ok(0)
    };
    // SAFETY: as the caller promises.
    returned(unsafe { enter(ep, stats) })
}
