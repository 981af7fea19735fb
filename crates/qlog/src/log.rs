//! The log of one association.

use crate::json::{Object, array, nanos, number, text};
use crate::packet;
use crate::sink::Sink;
use sctp::{CloseReason, Config, Limit, Loss, Observed, ObservedPath, Observer, PathId, State};
use std::sync::Arc;
use transport::{Datagram, Ecn, Octets, OptionValue, Options, Transmit};
use units::Instant;
use wire::Tsn;

/// The schema of the events whose names begin with `sctp:`.
const SCHEMA: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/112026/sctp");

/// The schema of the events whose names begin with `simulation:`.
const SIMULATION: &str = "urn:ietf:params:qlog:events:simulation";

/// A round-trip time or pacing rate is written again once it has changed by more than 1/64 of itself.
const COARSE: u64 = 64;

/// The log of one association, with the state that it last wrote.
#[derive(Debug)]
pub(crate) struct Log {
    sink: Sink,
    /// Time of the last record.
    now: Instant,
    state: Option<State>,
    limit: Option<Limit>,
    paths: Vec<ObservedPath>,
    reason: Option<&'static str>,
    markers: Arc<[Marker]>,
    /// The number of markers (changes of the network by the scenario) that are written.
    passed: usize,
}

/// Something that a scenario does to the network at a known time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Time of the change.
    pub at: Instant,
    /// Description of the change.
    pub what: String,
}

/// What is known of a log before its first event.
pub(crate) struct Title<'a> {
    pub(crate) group: &'a str,
    /// The title of a simulated scenario.
    pub(crate) scenario: Option<&'a str>,
    /// The wall-clock time of the reference time (`rfc3339`), in a real run.
    pub(crate) began: Option<&'a str>,
    pub(crate) markers: &'a Arc<[Marker]>,
}

impl Log {
    /// Begins the log of a new association.
    pub(crate) fn begin(mut sink: Sink, now: Instant, association: &Observed<'_>, title: &Title<'_>) -> Log {
        let side = if association.is_client() { "client" } else { "server" };
        sink.record(|file| {
            file.text("file_schema", "urn:ietf:params:qlog:file:sequential");
            file.text("serialization_format", "application/qlog+json-seq");
            file.text("title", &format!("{}, {side}", title.group));
            file.object("trace", |trace| {
                trace.object("common_fields", |common| {
                    common.text("group_id", title.group);
                    common.text("time_format", "relative_to_epoch");
                    common.object("reference_time", |reference| {
                        reference.text("clock_type", "monotonic");
                        reference.text("epoch", "unknown");
                        if let Some(began) = title.began {
                            reference.text("wall_clock_time", began);
                        }
                    });
                });
                trace.object("vantage_point", |point| point.text("type", side));
                trace.array("event_schemas", [SCHEMA, SIMULATION], text);
            });
        });
        let mut log = Log {
            sink,
            now,
            state: None,
            limit: None,
            paths: Vec::new(),
            reason: None,
            markers: title.markers.clone(),
            passed: 0,
        };
        if let Some(scenario) = title.scenario {
            log.event(now, "simulation:scenario", None, |data| data.text("name", scenario));
        }
        log.started(now, association);
        log
    }

    /// Adds an event, after the markers whose time has come.
    #[inline]
    fn event(&mut self, now: Instant, name: &str, path: Option<PathId>, data: impl FnOnce(&mut Object<'_>)) {
        if self.markers.get(self.passed).is_some_and(|next| next.at <= now) {
            self.mark(now);
        }
        self.now = now;
        self.sink.record(|event| {
            event.millis("time", nanos(now));
            event.text("name", name);
            if let Some(path) = path.filter(|path| path.0 > 0) {
                event.text("tuple", TUPLES[path.index()]);
            }
            event.object("data", data);
        });
    }

    #[cold]
    fn mark(&mut self, now: Instant) {
        let markers = self.markers.clone();
        while let Some(Marker { at, what }) = markers.get(self.passed).filter(|next| next.at <= now) {
            self.passed += 1;
            self.event(*at, "simulation:marker", None, |data| data.text("type", what));
        }
    }

    fn started(&mut self, now: Instant, association: &Observed<'_>) {
        let [local, remote] = association.ports();
        self.event(now, "sctp:association_started", None, |data| {
            data.object("local", |end| end.number("port", local));
            data.object("remote", |end| end.number("port", remote));
        });
        self.event(now, "sctp:parameters_set", None, |data| {
            data.text("initiator", "local");
            data.object("options", |options| options_of(options, association.config()));
        });
    }

    fn established(&mut self, now: Instant, association: &Observed<'_>) {
        let ([local, remote], (outbound, inbound)) = (association.tags(), association.streams());
        self.event(now, "sctp:parameters_set", None, |data| {
            data.text("initiator", "both");
            data.number("local_tag", local);
            data.number("remote_tag", remote);
            data.number("initial_tsn", association.initial_tsn().0);
            data.number("outbound_streams", outbound);
            data.number("inbound_streams", inbound);
            data.array("extensions", association.extensions(), text);
        });
    }

    fn packet(&mut self, now: Instant, name: &str, path: Option<PathId>, ecn: Ecn, packet: Octets<'_>) {
        self.event(now, name, path, |data| {
            let ecn = match ecn {
                Ecn::NotCapable => None,
                Ecn::Capable1 => Some("ECT(1)"),
                Ecn::Capable0 => Some("ECT(0)"),
                Ecn::CongestionExperienced => Some("CE"),
            };
            if let Some(ecn) = ecn {
                data.text("ecn", ecn);
            }
            packet::describe(data, packet);
        });
    }

    /// Writes what differs from the state that was last written.
    #[inline]
    fn update(&mut self, now: Instant, association: &Observed<'_>) {
        let state = association.state();
        if state != self.state {
            self.change_state(now, state, association);
        }
        for (n, path) in association.paths().enumerate() {
            match self.paths.get(n) {
                Some(shown) if *shown == path => {}
                Some(&shown) => self.update_path(now, &shown, &path),
                None => self.add_path(now, &path),
            }
        }
        let limit = association.limit();
        if limit != self.limit {
            let old = std::mem::replace(&mut self.limit, limit);
            self.changed_word(
                now,
                "sctp:data_blocked_updated",
                None,
                [old, limit].map(|it| it.map(Limit::name)),
            );
        }
        self.sink.write_due(now);
    }

    fn change_state(&mut self, now: Instant, state: Option<State>, association: &Observed<'_>) {
        let old = std::mem::replace(&mut self.state, state);
        let words = [old, state].map(|state| Some(state.map_or("CLOSED", State::name)));
        self.changed_word(now, "sctp:association_state_updated", None, words);
        if state == Some(State::Established) {
            self.established(now, association);
        }
    }

    fn add_path(&mut self, now: Instant, path: &ObservedPath) {
        self.assign(now, path);
        self.event(now, "sctp:recovery_metrics_updated", Some(path.id), |data| {
            data.number("congestion_window", path.cwnd.get());
            data.number("bytes_in_flight", path.flight.get());
        });
        let mut shown = *path;
        (shown.srtt, shown.least_rtt, shown.pacing_rate, shown.ssthresh) = (None, None, None, None);
        self.paths.push(shown);
        self.update_path(now, &shown, path);
    }

    /// Writes the addresses of a path.
    fn assign(&mut self, now: Instant, path: &ObservedPath) {
        self.event(now, "sctp:tuple_assigned", Some(path.id), |data| {
            data.text("tuple_id", TUPLES[path.id.index()]);
            data.object("tuple_local", |end| end.text("ip", &path.local.to_string()));
            data.object("tuple_remote", |end| {
                end.text("ip", &path.remote.to_string());
                if path.udp_port != 0 {
                    end.number("udp_port", path.udp_port);
                }
            });
            data.text("state", path.state.name());
            data.number("mtu", path.mtu.get());
        });
    }

    fn update_path(&mut self, now: Instant, old: &ObservedPath, new: &ObservedPath) {
        let id = Some(new.id);
        if (old.local, old.remote, old.udp_port) != (new.local, new.remote, new.udp_port) {
            self.assign(now, new);
        }
        if old.state != new.state {
            let words = [old.state, new.state].map(|state| Some(state.name()));
            self.changed_word(now, "sctp:path_state_updated", id, words);
        }
        if old.mtu != new.mtu {
            self.event(now, "sctp:mtu_updated", id, |data| {
                data.number("old", old.mtu.get());
                data.number("new", new.mtu.get());
            });
        }
        if congestion_state(old) != congestion_state(new) {
            let words = [old, new].map(|path| Some(congestion_state(path)));
            self.changed_word(now, "sctp:congestion_state_updated", id, words);
        }
        let shown = self.metrics(now, old, new);
        if let Some(place) = self.paths.get_mut(new.id.index()) {
            *place = shown;
        }
    }

    /// Writes the metrics that changed, and returns those that were last written.
    fn metrics(&mut self, now: Instant, old: &ObservedPath, new: &ObservedPath) -> ObservedPath {
        let mut shown = *new;
        let srtt = [old.srtt, new.srtt].map(|time| time.map(|time| time.as_nanos()));
        let timed = is_coarse(srtt) || (new.least_rtt != old.least_rtt && new.least_rtt < old.least_rtt);
        if !timed {
            (shown.srtt, shown.rttvar, shown.least_rtt) = (old.srtt, old.rttvar, old.least_rtt);
        }
        let paced = is_coarse([old, new].map(|path| path.pacing_rate.map(|rate| rate.as_bps())));
        if !paced {
            shown.pacing_rate = old.pacing_rate;
        }
        let windows = |path: &ObservedPath| (path.cwnd, path.flight, path.ssthresh);
        if !timed && !paced && windows(old) == windows(new) {
            return shown;
        }
        self.event(now, "sctp:recovery_metrics_updated", Some(new.id), |data| {
            if new.cwnd != old.cwnd {
                data.number("congestion_window", new.cwnd.get());
            }
            if new.flight != old.flight {
                data.number("bytes_in_flight", new.flight.get());
            }
            if let Some(ssthresh) = new.ssthresh.filter(|_| new.ssthresh != old.ssthresh) {
                data.number("ssthresh", ssthresh.get());
            }
            if let Some(srtt) = new.srtt.filter(|_| timed) {
                data.millis("smoothed_rtt", srtt.as_nanos());
                data.millis("rtt_variance", new.rttvar.as_nanos());
                data.millis("min_rtt", new.least_rtt.unwrap_or(srtt).as_nanos());
            }
            if let Some(rate) = new.pacing_rate.filter(|_| paced) {
                data.number("pacing_rate", rate.as_bps());
            }
        });
        shown
    }

    fn changed_word(
        &mut self,
        now: Instant,
        name: &str,
        path: Option<PathId>,
        [old, new]: [Option<&str>; 2],
    ) {
        self.event(now, name, path, |data| {
            if let Some(old) = old {
                data.text("old", old);
            }
            data.text("new", new.unwrap_or("none"));
        });
    }
}

impl Observer for Log {
    fn sent(&mut self, now: Instant, route: &Transmit, packet: Octets<'_>, association: &Observed<'_>) {
        if self.sink.is_open() {
            let path = association.paths().find(|path| (path.local, path.remote) == (route.src, route.dst));
            self.packet(now, "sctp:packet_sent", path.map(|path| path.id), route.ecn, packet);
            self.update(now, association);
        }
    }

    fn received(&mut self, now: Instant, datagram: &Datagram<'_>, association: &Observed<'_>) {
        if self.sink.is_open() {
            let (local, remote) = (datagram.dst, datagram.src);
            let path = association.paths().find(|path| (path.local, path.remote) == (local, remote));
            self.packet(now, "sctp:packet_received", path.map(|path| path.id), datagram.ecn, datagram.bytes);
        }
    }

    fn lost(&mut self, now: Instant, losses: &[Loss]) {
        if !self.sink.is_open() {
            return;
        }
        for alike in losses.chunk_by(|a, b| (a.path, a.trigger) == (b.path, b.trigger)) {
            let Some(first) = alike.first() else { continue };
            let ranges = alike.chunk_by(|a, b| b.tsn == Tsn(a.tsn.0.wrapping_add(1)));
            let ranges = ranges.filter_map(|range| Some([range.first()?.tsn.0, range.last()?.tsn.0]));
            self.event(now, "sctp:packet_lost", Some(first.path), |data| {
                data.array("tsn", ranges, |out, range| array(out, range, |out, tsn| number(out, tsn.into())));
                data.text("trigger", first.trigger.name());
            });
        }
    }

    fn changed(&mut self, now: Instant, association: &Observed<'_>) {
        if self.sink.is_open() {
            self.update(now, association);
        }
    }

    fn closed(&mut self, reason: &CloseReason) {
        self.reason = Some(reason.name());
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if self.sink.is_open() {
            let (now, reason) = (self.now, self.reason.unwrap_or("open"));
            self.event(now, "sctp:association_closed", None, |data| data.text("trigger", reason));
        }
    }
}

/// The names of the paths in events (`tuple_id`).
const TUPLES: [&str; 16] =
    ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"];

/// The phase of the congestion control: `open` without ssthresh, unless the path is in
/// recovery or has timed out.
fn congestion_state(path: &ObservedPath) -> &'static str {
    match path.ssthresh {
        _ if path.timed_out => "timeout",
        _ if path.in_recovery => "recovery",
        Some(ssthresh) if path.cwnd < ssthresh => "slow_start",
        Some(_) => "congestion_avoidance",
        None => "open",
    }
}

/// True if a value changed by more than 1/[`COARSE`] of itself, or appeared.
fn is_coarse(values: [Option<u64>; 2]) -> bool {
    match values {
        [Some(old), Some(new)] => old.abs_diff(new) > old / COARSE,
        [old, new] => old.is_none() && new.is_some(),
    }
}

/// The options that differ from their defaults.
fn options_of(options: &mut Object<'_>, config: &Config) {
    fn all(of: &mut dyn Options, list: &mut Vec<(&'static str, String)>) {
        of.each(&mut |setting| match setting.value {
            OptionValue::Group(group) => all(group, list),
            value => list.push((setting.path, value.text())),
        });
    }
    let (mut ours, mut defaults) = (Vec::new(), Vec::new());
    all(&mut config.clone(), &mut ours);
    all(&mut Config::default(), &mut defaults);
    for ((name, value), _) in ours.iter().zip(&defaults).filter(|(own, default)| own != default) {
        options.text(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sctp::LossTrigger;
    use units::Span;

    /// The records of a log without a header.
    fn records(name: &str, write: impl FnOnce(&mut Log)) -> Vec<u8> {
        let file = std::env::temp_dir().join(format!("anabranch-qlog-{name}-{}", std::process::id()));
        let mut log = Log {
            sink: Sink::create(file.clone()).unwrap(),
            now: Instant::ZERO,
            state: None,
            limit: None,
            paths: Vec::new(),
            reason: Some("graceful"),
            markers: Arc::new([Marker { at: at(20_400), what: "link a fails".into() }]),
            passed: 0,
        };
        write(&mut log);
        drop(log);
        let bytes = std::fs::read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        bytes
    }

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn lost_chunks_are_ranges_by_path_and_trigger_after_the_markers_before_them() {
        let loss = |path, tsn, trigger| Loss { path: PathId(path), tsn: Tsn(tsn), trigger };
        let losses = [
            loss(1, 7, LossTrigger::TimeThreshold),
            loss(1, 8, LossTrigger::TimeThreshold),
            loss(1, 9, LossTrigger::TimeThreshold),
            loss(0, u32::MAX, LossTrigger::T3),
            loss(0, 0, LossTrigger::T3),
            loss(0, 2, LossTrigger::T3),
        ];
        let written = records("lost", |log| log.lost(at(20_500), &losses));
        let expected = [
            r#"{"time":20.4,"name":"simulation:marker","data":{"type":"link a fails"}}"#,
            r#"{"time":20.5,"name":"sctp:packet_lost","tuple":"1","data":{"tsn":[[7,9]],"trigger":"time_threshold"}}"#,
            r#"{"time":20.5,"name":"sctp:packet_lost","data":{"tsn":[[4294967295,0],[2,2]],"trigger":"t3"}}"#,
            r#"{"time":20.5,"name":"sctp:association_closed","data":{"trigger":"graceful"}}"#,
        ];
        assert_eq!(
            String::from_utf8(written).unwrap(),
            expected.map(|line| format!("\x1e{line}\n")).concat()
        );
    }
}
