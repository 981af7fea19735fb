//! What the paths of an association carried, and what held their sender back.

use io::blocking::Connection;
use io::{Limit, LimitTimes, PathInfo, PathState};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::net::IpAddr;

/// Seconds for which each reason (such as cwnd) kept a sender from sending more; order: [`Limit::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits([f64; Limit::ALL.len()]);

impl Limits {
    fn of(times: &LimitTimes) -> Self {
        Limits(std::array::from_fn(|i| times.of(Limit::ALL[i]).as_secs_f64()))
    }

    /// The seconds of each reason that were added since `before`.
    #[must_use]
    pub fn since(&self, before: &Limits) -> Self {
        Limits(std::array::from_fn(|i| (self.0[i] - before.0[i]).max(0.0)))
    }

    /// The share of each reason in the whole time; empty if no time passed.
    pub fn shares(&self) -> Vec<(Limit, f64)> {
        let total: f64 = self.0.iter().sum();
        let shares = Limit::ALL.iter().zip(self.0).map(|(&limit, time)| (limit, time / total));
        if total > 0.0 { shares.collect() } else { Vec::new() }
    }

    /// As JSON: the seconds of each reason whose seconds are above 0.
    fn to_json(self) -> Value {
        let all = Limit::ALL.iter().zip(self.0).filter(|(_, time)| *time > 0.0);
        Value::Object(all.map(|(limit, time)| (limit.name().to_owned(), json!(time))).collect::<Map<_, _>>())
    }

    /// Reads the seconds of each reason that a peer reported.
    fn of_json(value: &Value) -> Self {
        Limits(std::array::from_fn(|i| positive(&value[Limit::ALL[i].name()]).unwrap_or_default()))
    }

    /// The reason that held the sender back longest, and its share of the time.
    pub fn main(&self) -> Option<(Limit, f64)> {
        self.shares().into_iter().max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// A path at one time, or its change between two times.
#[derive(Clone, Debug, PartialEq)]
pub struct PathSample {
    /// Number of the path.
    pub id: u8,
    /// Our address.
    pub local: String,
    /// The peer's address.
    pub remote: String,
    /// State, such as `active`.
    pub state: &'static str,
    /// User bytes sent, with retransmissions.
    pub user_bytes: u64,
    /// Packets with DATA chunks that were sent.
    pub data_packets: u64,
    /// Chunks retransmitted.
    pub retransmissions: u64,
    /// Expiries of T3.
    pub timeouts: u64,
    /// Smoothed round-trip time in seconds; none before the first measurement.
    pub srtt: Option<f64>,
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Path MTU with the IP header, bytes.
    pub mtu: u64,
    /// How long each reason kept the sender from sending more on this path.
    pub limits: Limits,
}

/// An association at one time, or its change between two times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Association {
    /// How long each reason kept the sender of the association from sending more.
    pub limits: Limits,
    /// Paths of the association.
    pub paths: Vec<PathSample>,
}

/// Reads a number that a peer reported; `None` if it is no number, or negative.
fn positive(value: &Value) -> Option<f64> {
    value.as_f64().filter(|value| *value >= 0.0)
}

impl PathSample {
    /// The path as JSON. `limits` becomes the value of the key for the reasons that held the sender back.
    pub(crate) fn to_json(&self, limits: Value) -> Value {
        json!({
            "path": self.id,
            "local": self.local,
            "remote": self.remote,
            "state": self.state,
            "user_bytes": self.user_bytes,
            "data_packets": self.data_packets,
            "retransmissions": self.retransmissions,
            "timeouts": self.timeouts,
            "srtt_s": self.srtt,
            "cwnd_bytes": self.cwnd,
            "mtu_bytes": self.mtu,
            "limits": limits,
        })
    }

    /// Reads a path that a peer reported; `None` if its number, addresses or counters are missing.
    fn of_json(value: &Value) -> Option<Self> {
        let address = |name: &str| Some(value[name].as_str()?.parse::<IpAddr>().ok()?.to_string());
        let count = |name: &str| value[name].as_u64();
        let told = value["state"].as_str()?;
        Some(PathSample {
            id: u8::try_from(count("path")?).ok()?,
            local: address("local")?,
            remote: address("remote")?,
            state: PathState::ALL
                .map(PathState::name)
                .into_iter()
                .find(|state| *state == told)
                .unwrap_or("unknown"),
            user_bytes: count("user_bytes")?,
            data_packets: count("data_packets")?,
            retransmissions: count("retransmissions")?,
            timeouts: count("timeouts")?,
            srtt: positive(&value["srtt_s"]),
            cwnd: count("cwnd_bytes")?,
            mtu: count("mtu_bytes")?,
            limits: Limits::of_json(&value["limits"]),
        })
    }

    fn of(path: &PathInfo) -> Self {
        PathSample {
            id: path.id.0,
            local: path.local.to_string(),
            remote: path.remote.to_string(),
            state: path.state.name(),
            user_bytes: path.stats.user_bytes.get(),
            data_packets: path.stats.data_packets,
            retransmissions: path.stats.fast_retransmissions + path.stats.timer_retransmissions,
            timeouts: path.stats.timeouts,
            srtt: path.srtt.map(|srtt| srtt.as_secs_f64()),
            cwnd: path.cwnd.get(),
            mtu: path.mtu.get(),
            limits: Limits::of(&path.limits),
        }
    }

    fn since(&self, before: Option<&PathSample>) -> Self {
        let Some(before) = before else { return self.clone() };
        PathSample {
            user_bytes: self.user_bytes.saturating_sub(before.user_bytes),
            data_packets: self.data_packets.saturating_sub(before.data_packets),
            retransmissions: self.retransmissions.saturating_sub(before.retransmissions),
            timeouts: self.timeouts.saturating_sub(before.timeouts),
            limits: self.limits.since(&before.limits),
            ..self.clone()
        }
    }
}

impl Association {
    /// The present state of an association; `None` if the association has ended.
    pub fn of(connection: &Connection) -> Option<Self> {
        let limits = Limits::of(&connection.stats().ok()?.limits);
        let paths = connection.paths().ok()?.iter().map(PathSample::of).collect();
        Some(Association { limits, paths })
    }

    /// The change since `before`.
    #[must_use]
    pub fn since(&self, before: &Association) -> Self {
        let path = |path: &PathSample| path.since(before.paths.iter().find(|other| other.id == path.id));
        Association {
            limits: self.limits.since(&before.limits),
            paths: self.paths.iter().map(path).collect(),
        }
    }

    /// The association as JSON for the other side, which [`Self::of_json`] reads.
    pub(crate) fn to_json(&self) -> Value {
        let paths: Vec<_> = self.paths.iter().map(|path| path.to_json(path.limits.to_json())).collect();
        json!({ "limits": self.limits.to_json(), "paths": paths })
    }

    /// Reads the association that a peer reported. Leaves out paths with missing or invalid values.
    pub(crate) fn of_json(value: &Value) -> Self {
        let paths = value["paths"].as_array().map(Vec::as_slice).unwrap_or_default();
        // Paths have the numbers 0 to 255, so a valid report has at most 256 of them.
        let paths = paths.iter().take(1 << 8).filter_map(PathSample::of_json);
        Association { limits: Limits::of_json(&value["limits"]), paths: paths.collect() }
    }

    /// Writes what held the sender back, and the paths, as additional scalars of a flow of the passive side.
    /// NetPerfMeter's active side copies them to its file.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn write_scalars(&self, out: &mut impl Write, flow: u32) -> std::io::Result<()> {
        for (limit, time) in Limit::ALL.iter().zip(self.limits.0) {
            writeln!(out, "scalar \"netPerfMeter.passive.flow[{flow}]\" \"Limit {limit}\" {time:.6}")?;
        }
        for path in &self.paths {
            let object = format!("netPerfMeter.passive.flow[{flow}].path[{}]", path.id);
            let counts = [
                ("Transmitted User Bytes", path.user_bytes),
                ("Transmitted Packets", path.data_packets),
                ("Retransmissions", path.retransmissions),
                ("Timeouts", path.timeouts),
                ("Congestion Window", path.cwnd),
            ];
            for (name, value) in counts {
                writeln!(out, "scalar \"{object}\" \"{name}\" {value}")?;
            }
            if let Some(srtt) = path.srtt {
                writeln!(out, "scalar \"{object}\" \"Smoothed RTT\" {srtt:.6}")?;
            }
        }
        Ok(())
    }
}

/// Reads from the scalars of a flow how long each reason held back the
/// sender of the passive side; `None` if the scalars do not have this.
pub fn read_limits(scalars: &[(&str, f64)]) -> Option<Limits> {
    let mut limits = Limits::default();
    let mut told = false;
    for (name, value) in scalars {
        let limit = name.strip_prefix("Limit ").and_then(|name| name.parse::<Limit>().ok());
        if let Some(limit) = limit {
            limits.0[limit as usize] = value.max(0.0);
            told = true;
        }
    }
    told.then_some(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_the_passive_side_are_read_as_they_were_written() {
        let mut limits = Limits::default();
        limits.0[Limit::Cwnd as usize] = 1.5;
        limits.0[Limit::Application as usize] = 0.5;
        let association = Association { limits, paths: Vec::new() };
        let mut text = Vec::new();
        association.write_scalars(&mut text, 4).expect("memory");
        let text = String::from_utf8(text).expect("text");
        let read = read_limits(&crate::files::read_scalars(&text, "passive.flow[4]"));
        assert_eq!(read, Some(limits));
        assert_eq!(limits.main(), Some((Limit::Cwnd, 0.75)));
        assert_eq!(read_limits(&[("Received Bytes", 1.0)]), None);
    }
}
