//! Calls of the program when a socket is ready.

use crate::addresses::to_program;
use crate::memory::given;
use crate::receive::{MSG_NOTIFICATION, Message, receive};
use crate::stack;
use crate::table::{self, Handle, RcvInfo, SockStore, Socket, lock};
use libc::{EPOLLERR, EPOLLET, EPOLLHUP, EPOLLIN, EPOLLOUT, EPOLLRDHUP, c_int, epoll_event};
use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// Longest message, or part of one, that a callback gets at once.
const ROOM: usize = 262_144;
/// Events of which at most one call of [`wait_on`] takes note.
const EVENTS: usize = 64;
/// Calls for one socket, after which the others have their turn.
const TURN: usize = 64;

/// The epoll descriptor of all sockets with callbacks. The first one starts a thread that waits for it.
fn watcher() -> c_int {
    static WATCHER: OnceLock<c_int> = OnceLock::new();
    *WATCHER.get_or_init(|| {
        // SAFETY: the call has no conditions.
        let watcher = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if stack::has_threads() && watcher >= 0 {
            let run = move || {
                loop {
                    wait_on(watcher, -1);
                }
            };
            // Without a thread the program gets no calls, as without memory.
            let _ = std::thread::Builder::new().name("usrsctp".to_owned()).spawn(run);
        }
        watcher
    })
}

/// Begins to call the program when the socket becomes ready; also if it is ready now.
pub fn watch(socket: &Socket) {
    let events = (EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET) as u32;
    let mut event = epoll_event { events, u64: socket.handle as u64 };
    // SAFETY: the event outlives the calls.
    unsafe {
        let watcher = watcher();
        if libc::epoll_ctl(watcher, libc::EPOLL_CTL_ADD, socket.fd, &raw mut event) != 0 {
            // It is watched already: this tells its present state again.
            libc::epoll_ctl(watcher, libc::EPOLL_CTL_MOD, socket.fd, &raw mut event);
        }
    }
}

/// Watches a socket if the program wants calls for it.
pub fn watch_if_wanted(socket: &Socket) {
    let Socket { callbacks, upcall, .. } = socket;
    if callbacks.receive.is_some() || callbacks.send.is_some() || lock(upcall).is_some() {
        watch(socket);
    }
}

/// Makes the calls for all sockets that are ready. False if there were none.
pub fn run_ready() -> bool {
    wait_on(watcher(), 0)
}

/// Makes the calls for all sockets that are ready, or become so within a time in milliseconds (-1: any time).
/// False if there were none.
fn wait_on(watcher: c_int, limit: c_int) -> bool {
    let mut events = [epoll_event { events: 0, u64: 0 }; EVENTS];
    // SAFETY: the events outlive the call.
    let count = unsafe { libc::epoll_wait(watcher, events.as_mut_ptr(), EVENTS as c_int, limit) };
    let ready = events.iter().take(usize::try_from(count).unwrap_or(0));
    for &epoll_event { events, u64: handle } in ready {
        if let Some(socket) = table::find(handle as Handle) {
            dispatch(&socket, events as c_int);
        }
    }
    count > 0
}

fn dispatch(socket: &Socket, ready: c_int) {
    let idle = socket.idle.load(Ordering::Acquire) && !socket.listens.load(Ordering::Relaxed);
    if idle || socket.connecting.load(Ordering::Acquire) {
        return;
    }
    let upcall =
        lock(&socket.upcall).as_ref().map(|(upcall, argument)| (*upcall, argument.load(Ordering::Relaxed)));
    if let Some((upcall, argument)) = upcall {
        for _ in 0..TURN {
            let before = socket.taken.load(Ordering::Relaxed);
            // SAFETY: the program gave the function and its argument.
            unsafe { upcall(socket.handle(), argument, 0) };
            // Several messages may have come at once, and a program may take one in each call.
            let progress = socket.taken.load(Ordering::Relaxed) != before;
            if !progress || table::find(socket.handle()).is_none() || ready_of(socket.fd) & EPOLLIN == 0 {
                return;
            }
        }
        return watch(socket);
    }
    let readable = ready & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR) != 0;
    if readable && (socket.many || !socket.listens.load(Ordering::Relaxed)) {
        deliver(socket);
    }
    if let Some(send) = socket.callbacks.send.filter(|_| ready & EPOLLOUT != 0) {
        let free = free_of(socket);
        if free >= socket.callbacks.threshold && table::find(socket.handle()).is_some() {
            // SAFETY: the program gave the function and its argument.
            unsafe { send(socket.handle(), free, socket.ulp_info()) };
        }
    }
}

/// Gives the program the messages that the socket has.
fn deliver(socket: &Socket) {
    thread_local!(static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) });
    let Some(call) = socket.callbacks.receive else { return };
    for _ in 0..TURN {
        if table::find(socket.handle()).is_none() {
            return;
        }
        let received = BUFFER.with_borrow_mut(|buffer| {
            buffer.resize(ROOM, 0);
            receive(socket, buffer, libc::MSG_DONTWAIT)
        });
        let (data, Message { from, info, flags, .. }) = match received {
            Err(libc::EAGAIN | libc::EINTR) => return,
            Ok((data, message)) if !data.is_empty() => (Some(data), message),
            _ => (None, Message::default()),
        };
        let (len, memory) = match &data {
            Some(data) => (data.len(), given(data)),
            None => (0, std::ptr::null_mut()),
        };
        let flags = flags & (libc::MSG_EOR | MSG_NOTIFICATION);
        // SAFETY: the program gave the function and its argument, and frees the memory.
        unsafe { call(socket.handle(), store(&from), memory, len, rcvinfo(&info), flags, socket.ulp_info()) };
        if data.is_none() {
            return;
        }
    }
    watch(socket);
}

fn store(address: &[u8]) -> SockStore {
    let mut bytes = [0; 32];
    let address = to_program(address);
    bytes[..address.len().min(32)].copy_from_slice(&address[..address.len().min(32)]);
    SockStore(bytes)
}

fn rcvinfo(info: &[u8]) -> RcvInfo {
    RcvInfo(info.first_chunk().copied().unwrap_or([0; 28]))
}

/// What a descriptor is ready for.
pub fn ready_of(fd: c_int) -> c_int {
    let mut entry = libc::pollfd { fd, events: libc::POLLIN | libc::POLLOUT, revents: 0 };
    // SAFETY: the entry outlives the call.
    unsafe { libc::poll(&raw mut entry, 1, 0) };
    // The bits of poll and epoll are the same.
    entry.revents.into()
}

/// Room in the send buffer, in bytes.
fn free_of(socket: &Socket) -> u32 {
    let (mut size, mut len): (c_int, _) = (0, size_of::<c_int>() as libc::socklen_t);
    let mut queued: c_int = 0;
    // SAFETY: the values outlive the calls.
    unsafe {
        client::getsockopt(
            socket.fd,
            libc::SOL_SOCKET,
            libc::SO_SNDBUF,
            (&raw mut size).cast(),
            &raw mut len,
        );
        client::ioctl(socket.fd, libc::TIOCOUTQ, (&raw mut queued).cast());
    }
    u32::try_from(size / 2 - queued).unwrap_or(0)
}
