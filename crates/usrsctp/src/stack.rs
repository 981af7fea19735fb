//! The stack: a thread that the first socket starts.

use crate::link::{Output, Wire};
use crate::table::{self, lock};
use crate::tuning;
use io::{Carrier, HostOptions};
use libc::{c_char, c_int};
use sock::{LocalServer, ServerError};
use std::ffi::CString;
use std::net::Ipv4Addr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// `printf` for messages of the stack.
type Debug = unsafe extern "C" fn(format: *const c_char, ...);

/// Longest time for which a call waits for the stack.
const LAST_PACKETS: Duration = Duration::from_millis(200);
/// The environment variable with options of associations, separated by semicolons (docs/scenarios.md).
const OPTIONS: &str = "ANABRANCH_OPTIONS";

/// What the program gave to `usrsctp_init`.
#[derive(Clone, Copy)]
struct Setup {
    udp_port: u16,
    output: Option<Output>,
    debug: Option<Debug>,
    threads: bool,
}

static SETUP: Mutex<Option<Setup>> = Mutex::new(None);
/// The running stack; true if it carries links only.
static SERVER: Mutex<Option<(LocalServer, bool)>> = Mutex::new(None);
/// The process that started the stack.
static STARTED_BY: AtomicU32 = AtomicU32::new(0);

#[unsafe(no_mangle)]
pub extern "C" fn usrsctp_init(udp_port: u16, output: Option<Output>, debug: Option<Debug>) {
    *lock(&SETUP) = Some(Setup { udp_port, output, debug, threads: true });
}

#[unsafe(no_mangle)]
pub extern "C" fn usrsctp_init_nothreads(udp_port: u16, output: Option<Output>, debug: Option<Debug>) {
    *lock(&SETUP) = Some(Setup { udp_port, output, debug, threads: false });
}

/// Ends the stack if no socket is open, after at most 10 s in which associations end. Returns -1 if the
/// program must try again.
#[unsafe(no_mangle)]
pub extern "C" fn usrsctp_finish() -> c_int {
    if table::any().is_some() {
        return -1;
    }
    let running = lock(&SERVER).take();
    let Some((server, _)) = running else { return 0 };
    // If the thread failed, it has reported this already.
    let _ = server.stop();
    0
}

/// True if the thread of the stack, and one for callbacks, may call the program.
pub fn has_threads() -> bool {
    lock(&SETUP).is_none_or(|setup| setup.threads)
}

/// What carries packets, in a program without threads of the stack.
pub fn output_without_threads() -> Option<Output> {
    (*lock(&SETUP)).filter(|setup| !setup.threads)?.output
}

/// Starts the stack unless it runs. The first socket decides what it carries: links only (`AF_CONN`), or UDP
/// and IP, too.
///
/// # Errors
/// An errno.
pub fn start(conn: bool) -> Result<(), c_int> {
    let setup = (*lock(&SETUP)).ok_or(libc::EINVAL)?;
    let mut running = lock(&SERVER);
    if let Some((_, only_links)) = &*running {
        return if *only_links && !conn { Err(libc::EPROTONOSUPPORT) } else { Ok(()) };
    }
    let only_links = conn && setup.udp_port == 0;
    let server = started(&setup, only_links).map_err(|error| {
        setup.report(&error.to_string());
        if matches!(error, ServerError::PortInUse(_)) { libc::EADDRINUSE } else { libc::EPROTONOSUPPORT }
    })?;
    client::attach(server.path().as_os_str().as_encoded_bytes());
    *running = Some((server, only_links));
    STARTED_BY.store(std::process::id(), Ordering::Relaxed);
    // SAFETY: the function has no conditions.
    unsafe { libc::atexit(forget) };
    Ok(())
}

/// Removes the file of a stack that the program did not end.
extern "C" fn forget() {
    if !is_ours() {
        return;
    }
    if let Ok(Some((server, _))) = SERVER.try_lock().as_deref() {
        // If it is gone, nothing is left to do.
        let _ = std::fs::remove_file(server.path());
    }
}

/// Starts the stack: in IP, too, if this process may, and at least at a port of the loopback interface.
fn started(setup: &Setup, only_links: bool) -> Result<LocalServer, ServerError> {
    let base = io::sctp::Config { pmtud: true, ..io::sctp::Config::recommended() };
    let lines = std::env::var(OPTIONS).unwrap_or_default().replace(';', "\n");
    let config = scenario::sctp_options_over(base, &lines, OPTIONS)
        .map_err(|error| ServerError::Other(error.to_string()))?;
    let host = |carrier, udp_port| HostOptions {
        carrier,
        udp_port,
        link: setup
            .output
            .map(|output| Box::new(Wire { output, threads: setup.threads }) as Box<dyn io::Link>),
        tap: Some(Box::new(tuning::Counter)),
        ..HostOptions::default()
    };
    let loopback = || HostOptions { locals: vec![Ipv4Addr::LOCALHOST.into()], ..host(Carrier::Udp, 0) };
    if only_links {
        return LocalServer::start(loopback(), config);
    }
    match setup.udp_port {
        0 => {
            let in_ip = LocalServer::start(host(Carrier::Ip, 0), config.clone());
            in_ip.or_else(|error| {
                setup.report(&error.to_string());
                LocalServer::start(loopback(), config)
            })
        }
        port => LocalServer::start(host(Carrier::Udp, port), config),
    }
}

impl Setup {
    /// Tells the program of a failure, if it gave a function for that.
    fn report(&self, sentence: &str) {
        if let (Some(debug), Ok(sentence)) = (self.debug, CString::new(sentence)) {
            // SAFETY: the format has one string, which ends with NUL.
            unsafe { debug(c"%s\n".as_ptr(), sentence.as_ptr()) };
        }
    }
}

/// False in the child of a fork: the stack is that of its parent.
pub fn is_ours() -> bool {
    STARTED_BY.load(Ordering::Relaxed) == std::process::id()
}

/// Waits until the stack has handled what the program did, and has sent the packets that this caused, but not
/// longer than [`LAST_PACKETS`]: the stack may wait for a lock of the program in `conn_output`, which the
/// caller has.
pub fn wait() {
    // The stack may call the program, which may then call `wake`.
    let rounds = lock(&SERVER).as_ref().map(|(server, _)| server.rounds());
    if let Some(rounds) = rounds.filter(|_| is_ours()) {
        rounds.wait(LAST_PACKETS);
    }
}

/// Tells the stack that packets arrived.
pub fn wake() {
    if let Some((server, _)) = &*lock(&SERVER) {
        server.wake();
    }
}
