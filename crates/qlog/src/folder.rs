//! A folder of logs: one file for each association and side.

use crate::log::{Log, Marker, Title};
use crate::sink::Sink;
use sctp::{Observed, Observer, Observers};
use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use units::Instant;

/// A folder that gets the log of each association of the endpoints that it observes
/// ([`sctp::Endpoint::observe`]). All clones are the same folder.
///
/// The name of a file is that of its flow, or the ports of client and server, then the side of the
/// association: `bulk-client.sqlog`. Later associations of the same name get a number. A file of an
/// earlier run is replaced.
#[derive(Clone, Debug)]
pub struct Folder {
    dir: PathBuf,
    /// Flows by address and port of the client.
    flows: Arc<BTreeMap<(IpAddr, u16), String>>,
    scenario: Option<String>,
    markers: Arc<[Marker]>,
    /// The wall-clock time of [`Instant::ZERO`], in a real run.
    began: Option<String>,
    /// The number of files of each name.
    names: Arc<Mutex<BTreeMap<String, u32>>>,
    warned: Arc<AtomicBool>,
}

impl Folder {
    /// Creates the folder, if it does not exist, for logs of a real run. Their times count from now.
    ///
    /// # Errors
    /// The system's error if the folder cannot be created.
    pub fn create(dir: impl AsRef<Path>) -> io::Result<Folder> {
        std::fs::create_dir_all(&dir)?;
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Folder {
            dir: dir.as_ref().to_owned(),
            flows: Arc::default(),
            scenario: None,
            markers: Arc::new([]),
            began: Some(rfc3339(since_1970.as_millis() as u64)),
            names: Arc::default(),
            warned: Arc::default(),
        })
    }

    /// Marks the folder as that of a simulated scenario, with its title, its flows by address and port of the
    /// client, and the changes of the network.
    #[must_use]
    pub fn simulated(
        mut self,
        title: &str,
        flows: BTreeMap<(IpAddr, u16), String>,
        mut markers: Vec<Marker>,
    ) -> Folder {
        markers.sort_by_key(|marker| marker.at);
        (self.scenario, self.flows, self.markers) = (Some(title.to_owned()), Arc::new(flows), markers.into());
        self.began = None;
        self
    }

    /// The flow of an association.
    fn flow(&self, association: &Observed<'_>) -> String {
        let ([local, remote], client) = (association.ports(), association.is_client());
        let address = association.paths().next().map(|path| if client { path.local } else { path.remote });
        let [client, server] = if client { [local, remote] } else { [remote, local] };
        let named = address.and_then(|address| self.flows.get(&(address, client)));
        named.cloned().unwrap_or_else(|| format!("{client}-{server}"))
    }

    fn begin(&self, now: Instant, association: &Observed<'_>) -> io::Result<Log> {
        let flow = self.flow(association);
        let side = if association.is_client() { "client" } else { "server" };
        let mut name = format!("{}-{side}", file_name(&flow));
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let number = names.entry(name.clone()).and_modify(|number| *number += 1).or_insert(1);
        if *number > 1 {
            name += &format!("-{number}");
        }
        let sink = Sink::create(self.dir.join(name + ".sqlog"))?;
        let title = Title {
            group: &flow,
            scenario: self.scenario.as_deref(),
            began: self.began.as_deref(),
            markers: &self.markers,
        };
        Ok(Log::begin(sink, now, association, &title))
    }
}

impl Observers for Folder {
    fn observer(&mut self, now: Instant, association: &Observed<'_>) -> Option<Box<dyn Observer>> {
        match self.begin(now, association) {
            Ok(log) => Some(Box::new(log)),
            Err(error) => {
                if !self.warned.swap(true, Ordering::Relaxed) {
                    eprintln!("qlog: cannot write a log to {}: {error}", self.dir.display());
                }
                None
            }
        }
    }
}

/// The characters of a name that are safe in a file name on any system; `-` in place of others.
fn file_name(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '-' };
    name.chars().map(safe).collect()
}

/// A time in milliseconds since 1970 as text (`rfc3339`).
fn rfc3339(millis: u64) -> String {
    let (days, rest) = (millis / 86_400_000, millis % 86_400_000);
    // Years begin in March, so that the leap day is the last day of a year.
    let from_march = days + 719_468;
    let (era, day) = (from_march / 146_097, from_march % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let [hour, minute, second, milli] = [rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60, rest % 1000];
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_clock_times_are_calendar_dates() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(951_782_400_123), "2000-02-29T00:00:00.123Z");
        assert_eq!(rfc3339(1_795_996_799_999), "2026-11-29T23:59:59.999Z");
        assert_eq!(rfc3339(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
    }

    #[test]
    fn file_names_have_no_separators() {
        assert_eq!(file_name("a/b c..é"), "a-b-c..-");
    }
}
