//! The process or thread that runs the stack of SCTP sockets.
//!
//! A caller promises for each pointer what the header says.
#![allow(clippy::missing_safety_doc, reason = "the promise is the same for all: see above")]

use crate::calls::explained;
use crate::fault::Fault;
use crate::handle::guarded;
use crate::inner::address;
use crate::memory::{array, read, text};
use crate::types::{ANB_ABI, ANB_RECOMMENDED, ANB_RFC9260, anb_host_setup, anb_why};
use libc::{EALREADY, EINVAL, EPROTO};
use sock::LocalServer;
use std::ffi::{c_char, c_int};
use std::net::IpAddr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Mutex;

/// Default path at which a host process (`anabranch sctpd`) listens.
const USUAL: &str = "/run/anabranch/sctp";
/// Largest number of addresses of a host.
const ADDRESSES: usize = 16;

/// The thread that [`anb_host_start`] started; `None` if none runs.
static HOST: Mutex<Option<LocalServer>> = Mutex::new(None);

fn failed(errno: c_int) -> c_int {
    // SAFETY: errno of this thread is always valid.
    unsafe { *libc::__errno_location() = errno };
    -1
}

fn host() -> std::sync::MutexGuard<'static, Option<LocalServer>> {
    HOST.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Uses a host process, `anabranch sctpd`, for the sockets of this process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_host_attach(path: *const c_char) -> c_int {
    let environment = std::env::var("ANABRANCH_SOCKET").ok().filter(|path| !path.is_empty());
    let path = match path.is_null() {
        true => environment.unwrap_or_else(|| USUAL.to_owned()),
        // SAFETY: as the caller promises.
        false => match unsafe { text(path) } {
            Ok(text) => text.to_owned(),
            Err(fault) => return failed(fault.errno),
        },
    };
    if !client::attach(path.as_bytes()) {
        return failed(EINVAL);
    }
    // Making a socket shows whether a host process serves at this path. SAFETY: the calls have no conditions.
    unsafe {
        let probe = client::socket(libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_SCTP);
        if probe < 0 { -1 } else { client::close(probe) }
    }
}

/// Runs the stack in a thread of this process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_host_start(setup: *const anb_host_setup, why: *mut anb_why) -> c_int {
    // SAFETY: as the caller promises.
    let started = guarded(|| unsafe { read(setup).and_then(|setup| start(&setup)) });
    let started = started.unwrap_or_else(|| Err(libc::EIO.into())).map(|()| 0);
    // SAFETY: as the caller promises.
    let result = unsafe { explained(started, why) };
    if result < 0 { failed(-result) } else { result }
}

/// # Safety
/// As for the caller of [`anb_host_start`].
unsafe fn start(setup: &anb_host_setup) -> Result<(), Fault> {
    if setup.abi != ANB_ABI {
        return Err(EPROTO.into());
    }
    let mut running = host();
    if running.is_some() {
        return Err(Fault::new(EALREADY, "the host is running: stop it first"));
    }
    // SAFETY: as the caller promises.
    let ips = unsafe { array(setup.addresses, setup.n_addresses, ADDRESSES)? };
    let locals = ips.iter().map(address).collect::<Result<Vec<IpAddr>, Fault>>()?;
    let base = match setup.profile {
        ANB_RECOMMENDED => sctp::Config { pmtud: true, ..sctp::Config::recommended() },
        ANB_RFC9260 => sctp::Config::default(),
        _ => return Err(Fault::new(EINVAL, "profile: expected ANB_RECOMMENDED or ANB_RFC9260")),
    };
    let options = match setup.options.is_null() {
        true => "",
        // SAFETY: as the caller promises.
        false => unsafe { text(setup.options)? },
    };
    let config =
        scenario::sctp_options_over(base, options, "options").map_err(|error| Fault::new(EINVAL, error))?;
    let mut host = io::HostOptions { locals, udp_port: setup.udp_port, ..io::HostOptions::default() };
    if setup.remote_udp_port != 0 {
        host.remote_udp_port = setup.remote_udp_port;
    }
    let server = LocalServer::start(host, config).map_err(|error| {
        let in_use = matches!(error, sock::ServerError::PortInUse(_));
        Fault::new(if in_use { libc::EADDRINUSE } else { EINVAL }, error)
    })?;
    client::attach(server.path().as_os_str().as_bytes());
    *running = Some(server);
    Ok(())
}

/// Waits until the associations of closed sockets have ended, 10 s at most, and ends the thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_host_stop() -> c_int {
    let Some(server) = host().take() else { return failed(libc::ESRCH) };
    server.stop().map_or_else(|_| failed(libc::EIO), |()| 0)
}
