//! The progress of handshakes, the ends of associations, and how many of their paths and causes are kept.

use super::*;
use wire::{
    Abort, Cause, CauseList, CookieAck, CookieEcho, Encode, Heartbeat, Init, InitAck, Shutdown, ShutdownAck,
    ShutdownComplete,
};

const OUT: [u16; 2] = [1, 2];

impl File {
    /// Appends a packet of one chunk with the tag `tag`.
    fn chunk(&mut self, millis: u32, back: bool, tag: u32, chunk: &impl Encode) {
        let begin = self.0.len();
        self.packet(millis, back, |w| assert!(w.push(chunk)));
        self.0[begin + 16 + 20 + 4..][..4].copy_from_slice(&tag.to_be_bytes());
    }

    fn init(&mut self, millis: u32, tag: u32, first: u32) {
        self.chunk(millis, false, 0, &init(tag, first));
    }

    fn handshake(&mut self) {
        self.init(0, 22, 1);
        self.chunk(10, true, 22, &InitAck(init(11, 1)));
        self.chunk(20, false, 11, &CookieEcho { cookie: &[1, 2, 3] });
        self.chunk(30, true, 22, &CookieAck);
    }

    fn report(&self) -> CaptureReport {
        read_capture(self.0.as_slice()).expect("a capture")
    }

    /// The report on the only association of the file.
    fn association(&self) -> AssociationReport {
        let report = self.report();
        let [one] = report.associations.as_slice() else { panic!("{report:?}") };
        one.clone()
    }
}

fn init(tag: u32, first: u32) -> Init<'static> {
    Init {
        initiate_tag: tag,
        a_rwnd: 100_000,
        outbound_streams: 10,
        inbound_streams: 10,
        initial_tsn: Tsn(first),
        parameters: wire::Parameters::default(),
    }
}

#[test]
fn an_association_tells_how_far_its_handshake_came() {
    let mut file = File::new();
    let mut stages = vec![];
    file.init(0, 22, 1);
    stages.push(file.association().handshake);
    file.chunk(10, true, 22, &InitAck(init(11, 1)));
    stages.push(file.association().handshake);
    file.chunk(20, false, 11, &CookieEcho { cookie: &[1, 2, 3] });
    stages.push(file.association().handshake);
    file.chunk(30, true, 22, &CookieAck);
    stages.push(file.association().handshake);
    assert_eq!(stages, [Handshake::Init, Handshake::InitAck, Handshake::CookieEcho, Handshake::Established]);
    let found = file.association();
    assert_eq!((found.end, found.sides), (End::NotCaptured, [(A.into(), OUT[0]), (B.into(), OUT[1])]));
    let mut late = File::new();
    late.data(0, &[1]);
    late.sack(1, 1, 1000, &[], &[]);
    assert_eq!(late.association().handshake, Handshake::NotCaptured);
}

#[test]
fn a_handshake_and_a_shutdown_without_data_are_an_association() {
    let mut file = File::new();
    file.handshake();
    file.chunk(40, true, 22, &Shutdown { cumulative_tsn_ack: Tsn(0) });
    assert_eq!(file.association().end, End::Shutdown { by: Some(1), complete: false });
    file.chunk(50, false, 11, &ShutdownAck);
    file.chunk(60, true, 22, &ShutdownComplete { reflected_tag: false });
    let found = file.association();
    assert_eq!(found.handshake, Handshake::Established);
    assert_eq!(found.end, End::Shutdown { by: Some(1), complete: true });
    assert!(file.report().directions.is_empty());
}

#[test]
fn an_abort_tells_its_side_and_its_causes() {
    let mut list = CauseList::new();
    assert!(list.push(&Cause::UserInitiatedAbort(b"bye")) && list.push(&Cause::OutOfResource));
    let abort = |reflected_tag| Abort { reflected_tag, causes: list.as_causes() };
    let mut file = File::new();
    file.handshake();
    file.chunk(40, false, 11, &abort(false));
    let found = file.association();
    assert_eq!(found.end, End::Abort { by: 0 });
    assert_eq!(found.causes, ["User-Initiated Abort", "Out of Resource"]);
    // With the T bit, the verification tag of an ABORT is that of the other direction.
    let mut file = File::new();
    file.handshake();
    file.chunk(40, true, 11, &abort(true));
    assert_eq!(file.association().end, End::Abort { by: 1 });
    // An ABORT that answers an INIT.
    let mut file = File::new();
    file.init(0, 22, 1);
    file.chunk(1, true, 22, &Abort { reflected_tag: true, causes: Default::default() });
    let found = file.association();
    assert_eq!((found.handshake, found.end, found.causes), (Handshake::Init, End::Abort { by: 1 }, vec![]));
}

#[test]
fn paths_whose_heartbeats_are_not_answered_are_unconfirmed() {
    let mut file = File::new();
    file.handshake();
    let heartbeat = Heartbeat { info: &[1, 2, 3, 4] };
    file.chunk(40, false, 11, &heartbeat);
    file.chunk(1040, false, 11, &heartbeat);
    assert_eq!(file.association().unconfirmed, [(A.into(), B.into(), 2)]);
    file.chunk(1050, true, 22, &wire::HeartbeatAck { info: heartbeat.info });
    assert_eq!(file.association().unconfirmed, []);
}

#[test]
fn associations_with_equal_ports_and_tags_are_told_apart_by_their_init() {
    let mut file = File::new();
    file.handshake();
    file.data(40, &[1]);
    file.sack(50, 1, 10_000, &[], &[]);
    file.init(3000, 22, 1);
    assert_eq!(file.report().associations.len(), 1, "an INIT that was sent again");
    file.init(4000, 22, 77);
    file.chunk(4010, true, 22, &InitAck(init(11, 1)));
    file.data(4020, &[1]);
    let report = file.report();
    assert_eq!(report.associations.len(), 2);
    let again: u64 = report.directions.iter().map(|one| one.sum(|path| path.retransmissions)).sum();
    assert_eq!((report.directions.len(), again), (2, 0));
}

/// Twenty chunks, each acknowledged after 20 ms, one every `gap` milliseconds.
fn transfer(gap: u32, a_rwnd: u32) -> File {
    let mut file = File::new();
    for n in 0..20 {
        file.data(gap * n, &[n]);
        file.sack(gap * n + 20, n, a_rwnd, &[], &[]);
    }
    file
}

#[test]
fn the_largest_share_of_the_time_is_the_verdict() {
    assert_eq!(transfer(100, 10_000).only().verdict(), Verdict::Application);
    assert_eq!(transfer(100, 50).only().verdict(), Verdict::ReceiveWindow);
    let full = transfer(20, 10_000).only();
    assert_eq!((full.verdict(), full.most_outstanding), (Verdict::WindowOrPath, 100));
    let mut file = transfer(20, 10_000);
    // The chunk is lost twice.
    file.data(400, &[20]);
    file.data(1400, &[20]);
    file.data(3400, &[20]);
    file.sack(3420, 20, 10_000, &[], &[]);
    let found = file.only();
    assert_eq!((found.verdict(), found.timeouts), (Verdict::Timeouts, 2));
    assert_eq!(found.timeout_time, Span::from_secs(3));
    // Fast retransmissions.
    let mut file = File::new();
    for n in 0..20 {
        file.data(20 * n, &[2 * n, 2 * n + 1]);
        file.sack(20 * n + 10, 2 * n, 10_000, &[], &[]);
        file.data(20 * n + 11, &[2 * n + 1]);
        file.sack(20 * n + 20, 2 * n + 1, 10_000, &[], &[]);
    }
    assert_eq!(file.only().verdict(), Verdict::Losses);
}

#[test]
fn a_capture_that_shows_too_little_says_so() {
    let mut file = File::new();
    file.data(0, &[1]);
    file.data(0, &[2]);
    let found = file.only();
    assert_eq!((found.verdict(), found.has_rate()), (Verdict::TooShort, false));
    let mut one_way = File::new();
    for n in 0..20 {
        one_way.data(10 * n, &[n]);
    }
    assert_eq!(one_way.only().verdict(), Verdict::NoSacks);
}
