//! The sockets of the program.

use crate::memory::fail;
use libc::{c_int, c_void, socklen_t};
use records::number::{ANB_OPTION, SCTP};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the program knows a socket by: `struct socket *`. It points to nothing, so that a socket which the
/// program has closed is `EBADF`.
pub type Handle = *mut c_void;

/// `union sctp_sockstore`.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub struct SockStore(pub [u8; 32]);

/// `struct sctp_rcvinfo`.
#[repr(C, align(4))]
#[derive(Clone, Copy)]
pub struct RcvInfo(pub [u8; 28]);

/// Takes a message, which it frees. A null message tells that the association has ended.
pub type Receive = unsafe extern "C" fn(
    socket: Handle,
    from: SockStore,
    data: *mut c_void,
    len: usize,
    info: RcvInfo,
    flags: c_int,
    ulp_info: *mut c_void,
) -> c_int;
/// Is told that the send buffer has room for `free` bytes.
pub type Send = unsafe extern "C" fn(socket: Handle, free: u32, ulp_info: *mut c_void) -> c_int;
/// Is told that the socket is ready.
pub type Upcall = unsafe extern "C" fn(socket: Handle, argument: *mut c_void, flags: c_int);

/// The functions that the program gave with a socket. An accepted socket has those of its listener.
#[derive(Clone, Copy, Default)]
pub struct Callbacks {
    pub receive: Option<Receive>,
    pub send: Option<Send>,
    /// Least room for which `send` is called, in bytes.
    pub threshold: u32,
}

pub struct Socket {
    pub handle: usize,
    pub fd: c_int,
    /// Family `AF_CONN`.
    pub conn: bool,
    pub many: bool,
    pub callbacks: Callbacks,
    pub ulp_info: AtomicPtr<c_void>,
    pub upcall: Mutex<Option<(Upcall, AtomicPtr<c_void>)>>,
    /// True until a one-to-one socket connects: the kernel takes its descriptor for writable.
    pub idle: AtomicBool,
    /// True while a blocking connect waits: it must find the error itself.
    pub connecting: AtomicBool,
    pub listens: AtomicBool,
    /// `SCTP_EXPLICIT_EOR`: a message ends with the call that has `SCTP_EOR`.
    pub explicit_eor: AtomicBool,
    /// The message that has not ended.
    pub unfinished: Mutex<Vec<u8>>,
    /// Number of messages and associations that the program took.
    pub taken: AtomicU32,
}

impl Drop for Socket {
    fn drop(&mut self) {
        // SAFETY: the descriptor is ours, and nobody uses it any more.
        unsafe { client::close(self.fd) };
    }
}

impl Socket {
    /// Adds a socket for a descriptor.
    pub fn add(
        fd: c_int,
        conn: bool,
        many: bool,
        callbacks: Callbacks,
        ulp_info: *mut c_void,
    ) -> Arc<Socket> {
        let mut table = lock(&TABLE);
        // Never null, and aligned as a pointer is.
        table.last += 16;
        let socket = Arc::new(Socket {
            handle: table.last,
            fd,
            conn,
            many,
            callbacks,
            ulp_info: AtomicPtr::new(ulp_info),
            upcall: Mutex::new(None),
            idle: AtomicBool::new(false),
            connecting: AtomicBool::new(false),
            listens: AtomicBool::new(false),
            explicit_eor: AtomicBool::new(false),
            unfinished: Mutex::new(Vec::new()),
            taken: AtomicU32::new(0),
        });
        table.sockets.insert(socket.handle, socket.clone());
        socket
    }

    pub fn ulp_info(&self) -> *mut c_void {
        self.ulp_info.load(Ordering::Relaxed)
    }

    pub fn handle(&self) -> Handle {
        self.handle as Handle
    }

    /// Sets an option with a value of Linux.
    pub fn set_bytes(&self, level: c_int, name: c_int, value: &[u8]) -> c_int {
        // SAFETY: the value outlives the call.
        unsafe { client::setsockopt(self.fd, level, name, value.as_ptr().cast(), value.len() as socklen_t) }
    }

    /// Sets an integer option.
    pub fn set(&self, level: c_int, name: c_int, value: c_int) {
        self.set_bytes(level, name, &value.to_ne_bytes());
    }

    /// Sets an option by its name in docs/scenarios.md.
    pub fn set_named(&self, name: &str, value: &str) {
        let lengths = [name, value].map(|text| (text.len() as u16).to_ne_bytes()).concat();
        let value = [&[0; 4], &lengths[..], name.as_bytes(), value.as_bytes()].concat();
        self.set_bytes(SCTP, ANB_OPTION, &value);
    }
}

#[derive(Default)]
struct Table {
    last: usize,
    sockets: BTreeMap<usize, Arc<Socket>>,
}

static TABLE: Mutex<Table> = Mutex::new(Table { last: 0, sockets: BTreeMap::new() });

/// Locks a mutex. It is never poisoned, because a panic ends the process.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The socket of a handle.
pub fn find(handle: Handle) -> Option<Arc<Socket>> {
    lock(&TABLE).sockets.get(&handle.addr()).cloned()
}

/// The socket of a handle; without one, sets errno to `EBADF`.
pub fn socket_of(handle: Handle) -> Option<Arc<Socket>> {
    let found = find(handle);
    if found.is_none() {
        fail(libc::EBADF);
    }
    found
}

/// Removes a socket from the table. Its descriptor is closed when no call uses the socket any more.
pub fn remove(handle: Handle) -> Option<Arc<Socket>> {
    lock(&TABLE).sockets.remove(&handle.addr())
}

/// Any socket, if there is one.
pub fn any() -> Option<Arc<Socket>> {
    lock(&TABLE).sockets.values().next().cloned()
}
