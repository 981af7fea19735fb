//! Explains why a flow is not faster: what held its sender back in a run, and which changes of the scenario
//! are worth trying.

mod alternatives;
pub mod capture;

pub use alternatives::{Alternative, Kind, alternatives, size};

use crate::metrics::quantity as q;
use crate::output::Scalar;
use transport::Limit;

/// Measurements of one direction of a flow in a run, from its `reset_time` to its `stop_time`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnosis {
    /// Payload received per second, bit/s.
    pub throughput: f64,
    /// The throughput divided by the sum of the rates of the tightest links of its paths; `None` if the links
    /// are unknown, as in a measurement between real hosts.
    pub share_of_links: Option<f64>,
    /// The reasons that held the sender back, with the share of the time in which each did, the largest share
    /// first. Empty if this was not measured.
    pub limits: Vec<(Limit, f64)>,
    /// Paths of the flow, by their numbers.
    pub paths: Vec<PathDiagnosis>,
}

/// Measurements of one path in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathDiagnosis {
    /// As [`Diagnosis::limits`], for this path.
    pub limits: Vec<(Limit, f64)>,
    /// Share of the time in which a chunk of this path blocked the whole flow.
    pub blocks: f64,
    /// Payload sent per second, retransmissions included, bit/s.
    pub sent: f64,
    /// `sent` divided by the rate of the path's tightest link.
    pub sent_share: f64,
    /// Smoothed round-trip time at the end, in seconds; zero without a sample.
    pub srtt: f64,
    /// Packets with data sent.
    pub packets: f64,
    /// Chunks or segments retransmitted.
    pub retransmissions: f64,
    /// Expiries of the retransmission timer.
    pub timeouts: f64,
}

/// One result of a run: the path, the quantity and its value.
type Row<'a> = (Option<u8>, &'a str, f64);

impl Diagnosis {
    /// Reads the scalars of a flow in a run; `back` selects the direction from the server to the client.
    pub fn of(scalars: &[Scalar], flow: &str, back: bool) -> Self {
        let own = scalars.iter().filter(|s| s.window.is_empty() && s.flow == flow);
        Self::of_rows(own.map(|s| (s.path, s.quantity, s.value)), back)
    }

    /// As [`Self::of`], from rows of results of this flow that belong to no named window.
    pub fn of_rows<'a>(rows: impl Iterator<Item = Row<'a>>, back: bool) -> Self {
        let mut found = Diagnosis::default();
        for (path, quantity, value) in rows {
            let Some(name) = direction_of(quantity, back) else { continue };
            match path {
                None => found.take(name, value),
                Some(path) => {
                    let path = usize::from(path);
                    found.paths.resize_with(found.paths.len().max(path + 1), PathDiagnosis::default);
                    found.paths[path].take(name, value);
                }
            }
        }
        sort(&mut found.limits);
        found.paths.iter_mut().for_each(|path| sort(&mut path.limits));
        found
    }

    fn take(&mut self, name: &str, value: f64) {
        match name {
            _ if name == q::THROUGHPUT.forward => self.throughput = value,
            _ if name == q::GOODPUT_SHARE.forward => self.share_of_links = Some(value),
            _ => self.limits.extend(limit_of(name).map(|limit| (limit, value))),
        }
    }

    /// The reason that held the sender back for the largest share of the time; `None` if this was not
    /// measured.
    pub fn main_limit(&self) -> Option<(Limit, f64)> {
        self.limits.first().copied()
    }

    /// The share of the time in which `limit` held the sender back.
    pub fn share(&self, limit: Limit) -> f64 {
        share(&self.limits, limit)
    }

    /// The path that blocked the others for the longest time, and its share of the time.
    pub fn blocking_path(&self) -> Option<(usize, f64)> {
        let blocks = self.paths.iter().map(|path| path.blocks).enumerate();
        blocks.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|&(_, share)| share > 0.0)
    }
}

impl PathDiagnosis {
    fn take(&mut self, name: &str, value: f64) {
        let place = match name {
            _ if name == q::BLOCKS.forward => &mut self.blocks,
            _ if name == q::SENT_THROUGHPUT.forward => &mut self.sent,
            _ if name == q::SENT_SHARE.forward => &mut self.sent_share,
            _ if name == q::SRTT.forward => &mut self.srtt,
            _ if name == q::DATA_PACKETS.forward => &mut self.packets,
            _ if name == q::RETRANSMISSIONS.forward => &mut self.retransmissions,
            _ if name == q::TIMEOUTS.forward => &mut self.timeouts,
            _ => return self.limits.extend(limit_of(name).map(|limit| (limit, value))),
        };
        *place = value;
    }

    /// The share of the time in which `limit` held the sender back on this path.
    pub fn share(&self, limit: Limit) -> f64 {
        share(&self.limits, limit)
    }
}

/// The name of a quantity in the forward direction; `None` if the quantity is of the other direction.
fn direction_of(quantity: &str, back: bool) -> Option<&str> {
    match quantity.strip_prefix("back_") {
        Some(name) => back.then_some(name),
        None => (!back).then_some(quantity),
    }
}

fn limit_of(name: &str) -> Option<Limit> {
    let place = q::LIMITED_BY.iter().position(|quantity| quantity.forward == name)?;
    Some(Limit::ALL[place])
}

fn share(limits: &[(Limit, f64)], limit: Limit) -> f64 {
    limits.iter().find(|(one, _)| *one == limit).map_or(0.0, |&(_, share)| share)
}

fn sort(limits: &mut [(Limit, f64)]) {
    limits.sort_by(|a, b| b.1.total_cmp(&a.1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_come_by_their_shares_and_the_directions_apart() {
        let rows = [
            (None, "throughput_bps", 5e6),
            (None, "limited_by_cwnd_share", 0.25),
            (None, "limited_by_peer_window_share", 0.75),
            (None, "back_limited_by_cwnd_share", 1.0),
            (None, "back_throughput_bps", 7e6),
            (Some(1), "blocks_share", 0.5),
            (Some(1), "limited_by_timeout_share", 1.0),
            (Some(1), "data_packets", 12.0),
        ];
        let forward = Diagnosis::of_rows(rows.into_iter(), false);
        assert_eq!(forward.limits, [(Limit::PeerWindow, 0.75), (Limit::Cwnd, 0.25)]);
        assert_eq!((forward.throughput, forward.share(Limit::Pacing)), (5e6, 0.0));
        assert_eq!(forward.blocking_path(), Some((1, 0.5)));
        assert_eq!((forward.paths[1].share(Limit::Timeout), forward.paths[1].packets), (1.0, 12.0));
        let back = Diagnosis::of_rows(rows.into_iter(), true);
        assert_eq!((back.main_limit(), back.throughput), (Some((Limit::Cwnd, 1.0)), 7e6));
    }

    #[test]
    fn each_limit_has_a_quantity_of_its_name() {
        for (limit, quantity) in Limit::ALL.iter().zip(q::LIMITED_BY) {
            let name = limit.name().replace('-', "_");
            assert_eq!(quantity.forward, format!("limited_by_{name}_share"));
            assert_eq!(quantity.back, format!("back_limited_by_{name}_share"));
            assert_eq!(limit_of(quantity.forward), Some(*limit));
        }
    }
}
