//! The table of the descriptors that are SCTP sockets.

use libc::c_int;
use records::{Header, switches};
use std::cell::UnsafeCell;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, AtomicUsize, Ordering};

const SIZE: usize = 65_536;
/// Number of attempts to take a lock. If the lock is still held then, its holder was a thread
/// that fork did not copy.
const TURNS: usize = 100_000;

/// What this process knows of a descriptor. If `ours` is false, the descriptor is no SCTP socket.
pub struct Entry {
    pub ours: AtomicBool,
    /// Flags of the socket (`records::switches`).
    pub switches: AtomicU16,
    /// Cookie (`SO_COOKIE`) of the kernel's socket behind the descriptor.
    pub cookie: AtomicU64,
    /// An association (upper half) and its number of streams (lower half); 0: unknown.
    pub streams: AtomicU64,
    /// The thread that reads or sends a message in pieces; 0: none.
    owner: AtomicUsize,
    /// True if the socket may have another descriptor, by which messages may have been read.
    shared: AtomicBool,
    /// How often the process had forked when the descriptor was added.
    forks: AtomicUsize,
    place: UnsafeCell<Place>,
}

/// What is at the peek offset (`SO_PEEK_OFF`), up to which a socket
/// has been read. All descriptors of the socket share this offset.
#[derive(Clone, Copy)]
pub struct Place {
    /// The message of which a part has been read, and the number of its unread bytes.
    pub begun: Option<(Header, usize)>,
    /// Length of the message at the peek offset, if the message before it announced this length; 0: the
    /// offset is at the beginning of a record with one message.
    pub announced: usize,
}

impl Place {
    /// The beginning of a record.
    pub const START: Place = Place { begun: None, announced: 0 };
}

/// Number of forks so far. Sockets that are older than the last fork belong to two processes.
static FORKS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn on_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Counts forks from now on.
fn watch_forks() {
    static WATCHED: Once = Once::new();
    // SAFETY: the handlers only count.
    WATCHED.call_once(|| unsafe {
        libc::pthread_atfork(None, Some(on_fork), Some(on_fork));
    });
}

// SAFETY: `place` is only used by the thread that has the lock.
unsafe impl Sync for Entry {}

#[expect(clippy::declare_interior_mutable_const, reason = "the initial value of each entry")]
const FREE: Entry = Entry {
    ours: AtomicBool::new(false),
    switches: AtomicU16::new(0),
    cookie: AtomicU64::new(0),
    streams: AtomicU64::new(0),
    owner: AtomicUsize::new(0),
    shared: AtomicBool::new(false),
    forks: AtomicUsize::new(0),
    place: UnsafeCell::new(Place::START),
};

static TABLE: [Entry; SIZE] = [FREE; SIZE];
/// No entry above this one was ever used.
static HIGHEST: AtomicUsize = AtomicUsize::new(0);

/// The entry of a descriptor; `None` if the descriptor is no SCTP socket.
#[inline]
pub fn find(fd: c_int) -> Option<&'static Entry> {
    let entry = TABLE.get(usize::try_from(fd).ok()?)?;
    entry.ours.load(Ordering::Acquire).then_some(entry)
}

/// Adds a descriptor; false if the table has no place for its number.
pub fn insert(fd: c_int, switches: u16, cookie: u64) -> bool {
    let Some(entry) = usize::try_from(fd).ok().and_then(|fd| TABLE.get(fd)) else { return false };
    entry.owner.store(0, Ordering::Relaxed);
    entry.switches.store(switches, Ordering::Relaxed);
    entry.cookie.store(cookie, Ordering::Relaxed);
    entry.streams.store(0, Ordering::Relaxed);
    watch_forks();
    entry.shared.store(false, Ordering::Relaxed);
    entry.forks.store(FORKS.load(Ordering::Relaxed), Ordering::Relaxed);
    // SAFETY: the descriptor is new, so that no other thread uses its entry.
    unsafe { *entry.place.get() = Place::START };
    HIGHEST.fetch_max(fd as usize, Ordering::Relaxed);
    entry.ours.store(true, Ordering::Release);
    true
}

/// Copies the entry of a descriptor to its duplicate. If the descriptor has no entry,
/// clears that of the duplicate.
pub fn copy(from: c_int, to: c_int) {
    match find(from) {
        Some(entry) => {
            let place = entry.lock().place();
            insert(to, entry.switches.load(Ordering::Relaxed), entry.cookie.load(Ordering::Relaxed));
            entry.share();
            if let Some(copy) = find(to) {
                copy.share();
                copy.lock().set_place(place);
            }
        }
        None => remove(to),
    }
}

pub fn remove(fd: c_int) {
    if let Some(entry) = find(fd) {
        entry.ours.store(false, Ordering::Release);
    }
}

pub fn remove_range(first: u32, last: u32) {
    for fd in first..=last.min(SIZE as u32 - 1) {
        remove(fd.cast_signed());
    }
}

/// Stores the switches (flags of the socket) in the entries of all descriptors of the socket.
pub fn set_switches(cookie: u64, switches: u16) {
    let of_socket =
        |entry: &&Entry| entry.ours.load(Ordering::Relaxed) && entry.cookie.load(Ordering::Relaxed) == cookie;
    for entry in TABLE.iter().take(HIGHEST.load(Ordering::Relaxed) + 1).filter(of_socket) {
        entry.switches.store(switches, Ordering::Relaxed);
    }
}

/// The lock of an entry, released at the end of its scope.
pub struct Locked<'a> {
    entry: &'a Entry,
    /// True if this thread had the lock already: a signal handler interrupted the thread.
    nested: bool,
}

impl Entry {
    pub fn has(&self, switch: u16) -> bool {
        self.switches.load(Ordering::Relaxed) & switch != 0
    }

    /// Records that the socket has another descriptor.
    pub fn share(&self) {
        self.shared.store(true, Ordering::Relaxed);
    }

    pub fn lock(&self) -> Locked<'_> {
        // SAFETY: the call has no conditions.
        let me = unsafe { libc::pthread_self() } as usize;
        for _ in 0..TURNS {
            match self.owner.compare_exchange_weak(0, me, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Locked { entry: self, nested: false },
                Err(owner) if owner == me => return Locked { entry: self, nested: true },
                // SAFETY: the call has no conditions.
                Err(_) => unsafe { libc::sched_yield() },
            };
        }
        self.owner.store(me, Ordering::Relaxed);
        Locked { entry: self, nested: false }
    }
}

impl Locked<'_> {
    pub fn place(&self) -> Place {
        // SAFETY: this thread has the lock.
        unsafe { *self.entry.place.get() }
    }

    pub fn set_place(&self, place: Place) {
        // SAFETY: this thread has the lock.
        unsafe { *self.entry.place.get() = place };
    }

    /// True if another descriptor may have moved the peek offset, and a record
    /// may have several messages, as the records of one-to-one sockets may.
    pub fn is_shared(&self) -> bool {
        let shared = self.entry.shared.load(Ordering::Relaxed)
            || self.entry.forks.load(Ordering::Relaxed) != FORKS.load(Ordering::Relaxed);
        shared && !self.entry.has(switches::MANY)
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        if !self.nested {
            self.entry.owner.store(0, Ordering::Release);
        }
    }
}
