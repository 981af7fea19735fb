//! Whether programs still need this host process.

use crate::server::Server;
use records::SOCKET_VARIABLE;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

impl Server {
    /// True if a process has a socket open, or runs with the path of this server in its environment, so that
    /// it may open one. A daemon may do so after its parent has ended.
    pub(crate) fn is_used(&self) -> bool {
        self.sockets.values().any(|socket| !socket.pair.is_closed()) || is_named(self.path())
    }
}

/// True if a process has this path in its environment.
fn is_named(path: &Path) -> bool {
    let variable = [SOCKET_VARIABLE.as_bytes(), b"=", path.as_os_str().as_bytes()].concat();
    // Entries without an environment, and those of processes of other users, cannot be read.
    let names = |entry: std::fs::DirEntry| {
        let all = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        all.split(|&byte| byte == 0).any(|each| each == variable)
    };
    std::fs::read_dir("/proc").into_iter().flatten().flatten().any(names)
}
