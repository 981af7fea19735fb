//! The report that `anabranch sctpd --status` prints.

use crate::associations::Association;
use crate::server::{Server, pair_socket};
use records::{Answer, Op, Request};
use sctp::PathInfo;
use socket2::SockAddr;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::path::Path;
use std::time::Duration;

/// Length in bytes from which on a report only counts associations; `LIMIT`: time to wait for a report.
const MOST: usize = 100_000;
const LIMIT: Duration = Duration::from_secs(5);

/// Asks the host process at `path` for its sockets, associations and paths, as JSON.
///
/// # Errors
/// The system's error if no host process serves at `path`.
pub fn status(path: &Path) -> Result<String> {
    let mut control = pair_socket()?;
    control.connect(&SockAddr::unix(path)?)?;
    control.set_read_timeout(Some(LIMIT))?;
    let request = Request { op: Op::Status, cookie: 0, first: 0, second: 0 };
    control.write_all(&request.to_bytes())?;
    // The last description in the report may go beyond `MOST`, but only by a
    // few kilobytes, because an association has at most 16 paths.
    let mut bytes = vec![0; Answer::LEN + 2 * MOST];
    let length = control.read(&mut bytes)?;
    let wrong = || Error::new(ErrorKind::InvalidData, "it is not a host process of this version");
    let (_, text) = bytes.get(..length).and_then(Answer::parse).ok_or_else(wrong)?;
    String::from_utf8(text.to_vec()).map_err(|_| wrong())
}

impl Server {
    /// Sockets, associations and paths as JSON; associations for which there is no room are only counted.
    pub(crate) fn report(&self) -> String {
        let mut texts = Vec::new();
        let (mut length, mut left_out) = (0, 0);
        for (number, association) in self.associations.iter() {
            if length > MOST {
                left_out += 1;
                continue;
            }
            let text = self.describe(number, association);
            length += text.len();
            texts.push(text);
        }
        format!(
            "{{\"sockets\": {}, \"left_out\": {left_out}, \"associations\": [\n{}]}}",
            self.sockets.len(),
            texts.join(",\n")
        )
    }

    fn describe(&self, number: i32, association: &Association) -> String {
        let Association { port, peer_port, id, owner, .. } = association;
        let endpoint = self.host.endpoint(*port);
        let state = endpoint.and_then(|endpoint| endpoint.state(*id)).map_or("CLOSED", |state| state.name());
        let paths = endpoint.and_then(|endpoint| endpoint.paths(*id)).into_iter().flatten();
        let paths: Vec<String> = paths.map(|path| describe_path(&path)).collect();
        format!(
            "{{\"id\": {number}, \"port\": {port}, \"peer_port\": {peer_port}, \"state\": \"{state}\", \
             \"open\": {}, \"paths\": [\n{}]}}",
            owner.is_some(),
            paths.join(",\n")
        )
    }
}

fn describe_path(path: &PathInfo) -> String {
    let PathInfo { local, remote, is_primary, cwnd, mtu, stats, .. } = path;
    let srtt = path.srtt.map_or("null".to_owned(), |srtt| (srtt.as_nanos() / 1000).to_string());
    format!(
        "  {{\"local\": \"{local}\", \"remote\": \"{remote}\", \"state\": \"{}\", \"primary\": {is_primary}, \
         \"mtu\": {}, \"cwnd\": {}, \"srtt_us\": {srtt}, \"sent_bytes\": {}, \"retransmissions\": {}}}",
        path.state.name(),
        mtu.get(),
        cwnd.get(),
        stats.user_bytes.get(),
        stats.fast_retransmissions + stats.timer_retransmissions
    )
}
