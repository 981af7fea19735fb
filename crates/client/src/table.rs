//! What this process knows of its descriptors.

use libc::c_int;
use records::Header;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, AtomicUsize, Ordering};

const SIZE: usize = 65_536;
/// Number of attempts to take a lock. If it is still taken then, its holder was a thread that fork did not
/// copy.
const TURNS: usize = 100_000;

/// A socket of ours. All zero: the descriptor is not ours.
pub struct Entry {
    pub ours: AtomicBool,
    /// `records::switches`.
    pub switches: AtomicU16,
    /// Cookie of this end of the pair.
    pub cookie: AtomicU64,
    /// An association and its number of streams, as the host process told them.
    pub streams: AtomicU64,
    /// The thread that reads or sends a message in pieces; 0: none.
    owner: AtomicUsize,
    /// The record of which a part has been read.
    begun: UnsafeCell<Option<Header>>,
}

// SAFETY: `begun` is only used by the thread that has the lock.
unsafe impl Sync for Entry {}

#[expect(clippy::declare_interior_mutable_const, reason = "the initial value of each entry")]
const FREE: Entry = Entry {
    ours: AtomicBool::new(false),
    switches: AtomicU16::new(0),
    cookie: AtomicU64::new(0),
    streams: AtomicU64::new(0),
    owner: AtomicUsize::new(0),
    begun: UnsafeCell::new(None),
};

static TABLE: [Entry; SIZE] = [FREE; SIZE];
/// No entry above this one was ever used.
static HIGHEST: AtomicUsize = AtomicUsize::new(0);

/// The entry of a descriptor that is ours.
#[inline]
pub fn find(fd: c_int) -> Option<&'static Entry> {
    let entry = TABLE.get(usize::try_from(fd).ok()?)?;
    entry.ours.load(Ordering::Acquire).then_some(entry)
}

/// Enters a descriptor; false if the table has no place for its number.
pub fn insert(fd: c_int, switches: u16, cookie: u64) -> bool {
    let Some(entry) = usize::try_from(fd).ok().and_then(|fd| TABLE.get(fd)) else { return false };
    entry.owner.store(0, Ordering::Relaxed);
    entry.switches.store(switches, Ordering::Relaxed);
    entry.cookie.store(cookie, Ordering::Relaxed);
    entry.streams.store(0, Ordering::Relaxed);
    // SAFETY: the descriptor is new, so that no other thread uses its entry.
    unsafe { *entry.begun.get() = None };
    HIGHEST.fetch_max(fd as usize, Ordering::Relaxed);
    entry.ours.store(true, Ordering::Release);
    true
}

/// Copies the entry of a descriptor to its duplicate. Without an entry, clears the duplicate's.
pub fn copy(from: c_int, to: c_int) {
    match find(from) {
        Some(entry) => {
            let begun = entry.lock().begun();
            insert(to, entry.switches.load(Ordering::Relaxed), entry.cookie.load(Ordering::Relaxed));
            if let Some(copy) = find(to) {
                copy.lock().set_begun(begun);
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

/// Sets the switches of a socket at all its descriptors.
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
    /// A signal handler interrupted the thread while it held the lock.
    nested: bool,
}

impl Entry {
    pub fn has(&self, switch: u16) -> bool {
        self.switches.load(Ordering::Relaxed) & switch != 0
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
    pub fn begun(&self) -> Option<Header> {
        // SAFETY: this thread has the lock.
        unsafe { *self.entry.begun.get() }
    }

    pub fn set_begun(&self, header: Option<Header>) {
        // SAFETY: this thread has the lock.
        unsafe { *self.entry.begun.get() = header };
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        if !self.nested {
            self.entry.owner.store(0, Ordering::Release);
        }
    }
}
