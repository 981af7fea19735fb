use super::Tape;
use sctp::{
    Accounting, AllowReset, BufferSide, Cmt, Config, Cuc, EcnMode, LossDetection, PathSelection, PathSet,
    Reinjection, Resume, RtxPolicy, SackPath, SplitBy, StreamScheduler, Timestamps,
};
use units::{ByteCount, Span};

/// A random valid configuration. Its retransmission limits are so high that losses do not end an association.
pub fn any_config(tape: &mut Tape<'_>) -> Config {
    let recommended = tape.once_in(3);
    let config = if recommended { Config::recommended() } else { Config::default() };
    let buffer = |tape: &mut Tape<'_>| ByteCount::new(tape.between(4_000, 200_000));
    let path_max_retrans = tape.below(4) as u32;
    let mut config = Config {
        rto_min: Span::from_millis(tape.between(50, 1000)),
        // T5 expires after five times RTO.Max. RTO.Max is large so that T5 does not end an association.
        rto_max: Span::from_secs(400),
        association_max_retrans: 10_000,
        max_init_retransmits: 10_000,
        path_max_retrans,
        send_buffer: buffer(tape.past(1)).into(),
        receive_buffer: buffer(tape).into(),
        hb_interval: tape.flag().then_some(Span::from_secs(5)),
        ..config
    };
    // These options consume no byte of the tape: a new byte would change the meaning of stored fuzz inputs.
    let bits = config.send_buffer.most().get();
    let bit = |n: u32| bits >> n & 1 == 1;
    let (pmtud, ecn, reports) = (bit(0), bit(1), bit(2));
    config.pmtud = pmtud;
    config.ecn = if ecn { EcnMode::On } else { EcnMode::Off };
    config.packet_drop_reports = reports;
    config.auth = bit(5);
    config.asconf = bit(5) && bit(6);
    config.auth_chunks = if bit(7) { vec![0, 3, 4, 10, 0x40] } else { Vec::new() };
    config.nat_friendly = bit(8) && bit(9);
    config.pr_sctp = bit(10);
    config.fill_packets = bit(11);
    if !recommended {
        config.loss_detection = if bit(14) { LossDetection::Rack } else { LossDetection::MissingReports };
        config.lean_sacks = bit(15);
    }
    config.pacing = bit(12) && bit(13);
    config.resume = Resume::ALL[(bits >> 16) as usize % Resume::ALL.len()];
    let streams = config.receive_buffer.most().get();
    config.interleaving = streams & 1 == 1;
    config.stream_scheduler = StreamScheduler::ALL[(streams >> 1) as usize % StreamScheduler::ALL.len()];
    config.stream_values = if streams & 0x100 == 0 { vec![2, 1, 5] } else { Vec::new() };
    config.stream_reset = streams >> 4 & 1 == 1;
    config.allow_reset = AllowReset::ALL[(streams >> 5) as usize % AllowReset::ALL.len()];
    if recommended {
        return Config { potentially_failed: Some(0), paths: tape.pick(PathSet::ALL), ..config };
    }
    let potentially_failed = tape.flag().then(|| (tape.below(3) as u32).min(path_max_retrans));
    let switchover = tape.flag().then(|| tape.below(4) as u32);
    Config {
        potentially_failed,
        primary_switchover: switchover.map(|most| most.max(potentially_failed.unwrap_or(0))),
        sack_path: tape.past(1).pick(SackPath::ALL),
        receive_accounting: tape.pick(Accounting::ALL),
        timestamps: tape.pick(Timestamps::ALL),
        reneging: tape.flag(),
        nr_sack: tape.flag(),
        idle_threshold: tape.past(1).pick(cc::IdleThreshold::ALL),
        accounting: tape.past(1).pick(Accounting::ALL),
        growth: tape.pick(cc::GrowthRule::ALL),
        congestion_control: tape.pick(cc::Algorithm::ALL).into(),
        sws_limit: ByteCount::new(tape.past(1).pick(&[0, 1500, 3000])),
        mtu: ByteCount::new(tape.between(600, 1500)),
        initial_window: tape.flag().then(|| tape.between(1, 20) as u32),
        max_burst: tape.between(1, 8) as u32,
        sack_frequency: tape.between(1, 4) as u32,
        send_queue: tape.flag().then(|| tape.between(2, 40) as u32),
        bundling: tape.flag(),
        nagle: tape.flag(),
        cmt: any_cmt(tape),
        paths: tape.pick(PathSet::ALL),
        ..config
    }
}

fn any_cmt(tape: &mut Tape<'_>) -> Cmt {
    Cmt {
        enabled: tape.flag(),
        sfr: tape.flag(),
        dac: tape.flag(),
        cuc: tape.pick(Cuc::ALL),
        rtx: tape.pick(RtxPolicy::ALL),
        path_selection: tape.pick(PathSelection::ALL),
        smart_t3: tape.flag(),
        smart_fast_rtx: tape.flag(),
        rtt_heuristic: tape.flag(),
        recovery_by_cuc: tape.flag(),
        groups: if tape.past(2).flag() { vec![1, 2] } else { Vec::new() },
        buffer_split: tape.pick(BufferSide::ALL),
        split_by: tape.pick(SplitBy::ALL),
        rescheduling: tape.pick(BufferSide::ALL),
        detect_bottlenecks: tape.flag(),
        keep_room: tape.flag(),
        reinjection: tape.pick(Reinjection::ALL),
    }
}
