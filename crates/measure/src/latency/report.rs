//! Results of a measurement of latency.

use super::plan::Phase;
use super::statistics::{Confidence, Rounds, Spread, intervals};
use lab::statistics::grade;
use serde_json::{Map, Value, json};

/// The probes of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Probes {
    /// What was probed.
    pub kind: ProbeKind,
    /// Time of sending in seconds since START, and round-trip time in seconds; `None`: not answered.
    pub rtts: Vec<(f64, Option<f64>)>,
}

/// What a probe goes through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeKind {
    /// A UDP datagram and its echo: on the path of the load, but outside the loaded association.
    Path {
        /// Number of the path in the association.
        path: u8,
        /// Our address.
        local: String,
        /// The peer's address.
        remote: String,
    },
    /// A message and its echo in the loaded association, or a HEARTBEAT if the peer echoes nothing.
    Own,
    /// A round trip of the handshake of a new association.
    Handshake,
    /// A message and its echo in a new association.
    Message,
}

impl ProbeKind {
    /// Name of the probes in tables.
    pub fn name(&self) -> &'static str {
        match self {
            ProbeKind::Path { .. } => "probe:path",
            ProbeKind::Own => "probe:self",
            ProbeKind::Handshake => "probe:handshake",
            ProbeKind::Message => "probe:message",
        }
    }
}

/// A phase of a measurement of latency.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseLatency {
    /// The phase.
    pub phase: Phase,
    /// Beginning and end, in seconds since START.
    pub time: (f64, f64),
    /// Load from the server and to the server, in bit/s.
    pub load: [f64; 2],
}

/// Results of a measurement of latency.
#[derive(Clone, Debug, PartialEq)]
pub struct Latency {
    /// The complete phases.
    pub phases: Vec<PhaseLatency>,
    /// The probes of each kind.
    pub probes: Vec<Probes>,
    /// False if the server does not echo probes.
    pub echoes: bool,
}

/// The largest latency that a load added, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Worst {
    /// The phase.
    pub phase: Phase,
    /// What was probed.
    pub kind: ProbeKind,
    /// Added latency in seconds; infinite if no probe was answered under load.
    pub added: f64,
}

impl Latency {
    fn phase(&self, phase: Phase) -> Option<&PhaseLatency> {
        self.phases.iter().find(|one| one.phase == phase)
    }

    /// Percentiles, jitter and loss of the given probes in a phase.
    pub fn spread(&self, probes: &Probes, phase: Phase) -> Option<Spread> {
        Spread::of(&within(probes, self.phase(phase)?.time))
    }

    /// Added latency of the given probes in a phase with load: the 95th percentile
    /// in this phase minus the median of the idle phase, in seconds. Infinite if
    /// no probe was answered under load, `None` if none was in the idle phase.
    pub fn added(&self, probes: &Probes, phase: Phase) -> Option<f64> {
        self.phase(phase).filter(|_| phase != Phase::Idle)?;
        let idle = self.spread(probes, Phase::Idle)?;
        Some(self.spread(probes, phase).map_or(f64::INFINITY, |loaded| loaded.p95 - idle.p50))
    }

    /// The largest added latency of all paths and phases; of the association if no path was probed.
    pub fn worst(&self) -> Option<Worst> {
        let of = |wanted: fn(&ProbeKind) -> bool| {
            let all = self.probes.iter().filter(move |probes| wanted(&probes.kind));
            let added = all.flat_map(|probes| {
                self.phases.iter().filter_map(|one| {
                    let (phase, kind) = (one.phase, probes.kind.clone());
                    self.added(probes, phase).map(|added| Worst { phase, kind, added })
                })
            });
            added.max_by(|a, b| a.added.total_cmp(&b.added))
        };
        of(|kind| matches!(kind, ProbeKind::Path { .. })).or_else(|| of(|kind| *kind == ProbeKind::Own))
    }

    /// The grade of the largest added latency.
    pub fn grade(&self) -> Option<&'static str> {
        self.worst().map(|worst| grade(worst.added))
    }

    /// Responsiveness in round trips per minute in a phase with load.
    pub fn rpm(&self, phase: Phase) -> Option<f64> {
        let all = self.intervals(phase);
        self.rounds((all.first()?.0, all.last()?.1)).rpm()
    }

    /// How far the RPM can be trusted: the lowest confidence of all phases with load.
    pub fn confidence(&self) -> Confidence {
        let of = |one: &PhaseLatency| {
            let all = self.intervals(one.phase);
            Confidence::of(&all.into_iter().map(|time| self.rounds(time).rpm()).collect::<Vec<_>>())
        };
        let loaded = self.phases.iter().filter(|one| one.phase != Phase::Idle);
        loaded.map(of).min_by_key(|confidence| *confidence as u8).unwrap_or(Confidence::Low)
    }

    fn intervals(&self, phase: Phase) -> Vec<(f64, f64)> {
        self.phase(phase).filter(|_| phase != Phase::Idle).map(|one| intervals(one.time)).unwrap_or_default()
    }

    /// The round-trip times of the probes that were sent between two times, as needed for RPM.
    fn rounds(&self, time: (f64, f64)) -> Rounds {
        let of = |wanted: &ProbeKind| {
            let found = self.probes.iter().find(|probes| probes.kind == *wanted);
            found.map(|probes| within(probes, time).into_iter().flatten().collect()).unwrap_or_default()
        };
        // Without echoes, the probes of the association are heartbeats. These
        // do not wait behind the association's data, so they are left out here.
        let own = if self.echoes { of(&ProbeKind::Own) } else { Vec::new() };
        Rounds { handshake: of(&ProbeKind::Handshake), message: of(&ProbeKind::Message), own }
    }

    /// The results as JSON.
    pub fn to_json(&self) -> Value {
        let mut all: Map<String, Value> =
            self.phases.iter().map(|one| (one.phase.to_string(), self.phase_json(one))).collect();
        let loaded = self.phases.iter().filter(|one| one.phase != Phase::Idle);
        let rpm: Map<_, _> = loaded.map(|one| (one.phase.to_string(), json!(self.rpm(one.phase)))).collect();
        all.insert("rpm".to_owned(), rpm.into());
        all.insert("grade".to_owned(), json!(self.grade()));
        all.insert("confidence".to_owned(), json!(self.confidence().name()));
        all.insert("echoes".to_owned(), json!(self.echoes));
        all.into()
    }

    fn phase_json(&self, one: &PhaseLatency) -> Value {
        let of = |probes: &Probes| {
            let spread = self.spread(probes, one.phase);
            let mut value = spread.map_or_else(|| json!({}), Spread::to_json);
            value["added_s"] = json!(self.added(probes, one.phase));
            value
        };
        let of_kind = |kind: &ProbeKind| self.probes.iter().find(|probes| probes.kind == *kind).map(of);
        let paths = self.probes.iter().filter_map(|probes| {
            let ProbeKind::Path { path, local, remote } = &probes.kind else { return None };
            let mut value = of(probes);
            for (name, field) in [("path", json!(path)), ("local", json!(local)), ("remote", json!(remote))] {
                value[name] = field;
            }
            Some(value)
        });
        json!({
            "from_s": one.time.0,
            "to_s": one.time.1,
            "down_bits_per_second": one.load[0],
            "up_bits_per_second": one.load[1],
            "paths": paths.collect::<Vec<_>>(),
            "self": of_kind(&ProbeKind::Own),
            "foreign": of_kind(&ProbeKind::Handshake)
                .map(|handshake| json!({ "handshake": handshake, "message": of_kind(&ProbeKind::Message) })),
        })
    }
}

impl Spread {
    fn to_json(self) -> Value {
        json!({
            "p50_s": self.p50,
            "p95_s": self.p95,
            "p99_s": self.p99,
            "jitter_s": self.jitter,
            "sent": self.sent,
            "lost": self.lost,
        })
    }
}

/// The round-trip times of the probes that were sent between two times.
fn within(probes: &Probes, (from, to): (f64, f64)) -> Vec<Option<f64>> {
    probes.rtts.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, rtt)| *rtt).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(path: u8) -> ProbeKind {
        ProbeKind::Path { path, local: "10.0.0.1".to_owned(), remote: "10.0.0.2".to_owned() }
    }

    /// Two phases of 8 s, with a probe each 0.1 s.
    fn latency(probes: &[(ProbeKind, Option<f64>, Option<f64>)]) -> Latency {
        let phase = |phase, from| PhaseLatency { phase, time: (from, from + 8.0), load: [0.0; 2] };
        let rtts = |idle, loaded| {
            (0..160).map(|n| (f64::from(n) / 10.0 + 0.01, if n < 80 { idle } else { loaded })).collect()
        };
        let probes = probes
            .iter()
            .map(|(kind, idle, loaded)| Probes { kind: kind.clone(), rtts: rtts(*idle, *loaded) });
        Latency {
            phases: vec![phase(Phase::Idle, 0.0), phase(Phase::Down, 8.0)],
            probes: probes.collect(),
            echoes: true,
        }
    }

    #[test]
    fn the_grade_is_that_of_the_path_with_the_largest_added_latency() {
        let own = (ProbeKind::Own, Some(0.02), Some(0.8));
        let found =
            latency(&[(path(0), Some(0.02), Some(0.03)), (path(1), Some(0.02), Some(0.075)), own.clone()]);
        let worst = found.worst().expect("answers");
        assert!((worst.added - 0.055).abs() < 1e-9 && worst.kind == path(1) && worst.phase == Phase::Down);
        assert_eq!(found.grade(), Some("B"));
        let alone = latency(&[(path(0), None, None), own.clone()]);
        assert_eq!((alone.worst().map(|worst| worst.kind), alone.grade()), (Some(ProbeKind::Own), Some("F")));
        let silent = latency(&[(path(0), Some(0.02), None), own]);
        assert_eq!(silent.worst().map(|worst| worst.added), Some(f64::INFINITY));
    }

    #[test]
    fn rpm_needs_foreign_probes_and_echoes_of_the_association() {
        let foreign = [ProbeKind::Handshake, ProbeKind::Message].map(|kind| (kind, Some(0.04), Some(0.04)));
        let own = (ProbeKind::Own, Some(0.02), Some(0.12));
        let whole = latency(&[foreign.to_vec(), vec![own.clone()]].concat());
        assert_eq!(whole.rpm(Phase::Down).map(f64::round), Some(1000.0));
        assert_eq!((whole.rpm(Phase::Idle), whole.confidence()), (None, Confidence::High));
        let json = whole.to_json();
        assert_eq!((&json["grade"], &json["confidence"]), (&json!("C"), &json!("high")));
        assert_eq!(json["down"]["self"]["sent"], 80);
        assert_eq!(latency(&[own]).rpm(Phase::Down), None);
        assert_eq!(Latency { echoes: false, ..whole }.rpm(Phase::Down), None);
    }
}
