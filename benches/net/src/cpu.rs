//! CPU time of this process, and the core on which it runs.

use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use nix::unistd::Pid;

/// User and system time of this process so far, in seconds.
pub fn used() -> f64 {
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
    getrusage(UsageWho::RUSAGE_SELF)
        .map_or(0.0, |usage| seconds(usage.user_time()) + seconds(usage.system_time()))
}

/// Binds this process to one core, so that the two ends do not compete.
pub fn pin(core: usize) {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let mut set = CpuSet::new();
    if set.set(core % cores).is_ok() {
        let _ = sched_setaffinity(Pid::from_raw(0), &set);
    }
}
