//! A congestion control of your own: two formulas, driven by hand through a few round trips over two paths.
//!
//! `cargo run -p anabranch --example own_control`
//!
//! To give it a name in scenarios, see the documentation of the crate `anabranch-cc`.

use anabranch::cc::{
    CongestionControl, CongestionWindow, Growth, GrowthRule, LossBased, LossKind, PathAck, PathView, Setup,
    Snapshot, WindowPolicy,
};
use anabranch::{ByteCount, Instant, Span};

/// All paths together grow as fast as one flow; a loss takes a third of the window of its path.
#[derive(Debug)]
struct Thirds;

impl WindowPolicy for Thirds {
    fn name(&self) -> &'static str {
        "thirds"
    }

    fn increase(&mut self, growth: Growth, at: &Snapshot<'_>) -> f64 {
        growth.standard / at.coupled().count() as f64
    }

    fn decrease(&mut self, _kind: LossKind, at: &Snapshot<'_>) -> ByteCount {
        at.reduced_by(1.0 / 3.0)
    }
}

/// A path as an association describes it to its controller. Its window is full.
fn view(window: CongestionWindow, rtt: Span) -> PathView {
    PathView {
        window,
        flight: window.cwnd,
        mtu: ByteCount::new(1500),
        srtt: Some(rtt),
        rto: Span::from_secs(1),
        active: true,
        group: 0,
        in_recovery: false,
    }
}

fn main() {
    let (ip_header, peer_rwnd) = (ByteCount::new(20), ByteCount::new(1_000_000));
    let setup = Setup::sctp(GrowthRule::Rfc9260, ip_header, peer_rwnd, 2);
    let mut control = LossBased::new(Thirds, &setup);

    let rtts = [Span::from_millis(10), Span::from_millis(40)];
    let mut views: Vec<PathView> = rtts.iter().map(|rtt| view(CongestionWindow::default(), *rtt)).collect();
    let mut windows: Vec<CongestionWindow> = (0..2).map(|path| control.on_path_added(&views, path)).collect();

    for round in 1..=8 {
        let now = Instant::ZERO + Span::from_millis(40 * round);
        views = windows.iter().zip(&rtts).map(|(window, rtt)| view(*window, *rtt)).collect();
        if round == 5 {
            control.on_loss(now, &views, 0, LossKind::FastRetransmit, &mut windows);
        } else {
            let acked: Vec<PathAck> =
                (0..2).map(|path| whole_window(path, &views[path], rtts[path])).collect();
            control.on_sack(now, &views, &acked, &mut windows);
        }
        let [first, second] = [windows[0].cwnd.get(), windows[1].cwnd.get()];
        println!("round {round}: cwnd {first:>6} and {second:>6} bytes");
    }
    assert!(windows[0].cwnd < windows[1].cwnd, "the path with the loss has the smaller window");
}

/// A SACK that acknowledges all that is in flight on a path.
fn whole_window(path: usize, view: &PathView, rtt: Span) -> PathAck {
    PathAck {
        path,
        acked: view.flight,
        advanced: true,
        flight_before: view.flight,
        flight_after: ByteCount::ZERO,
        rtt: Some(rtt),
        owd: None,
        lost: ByteCount::ZERO,
        rate: None,
    }
}

#[test]
fn the_window_of_the_path_with_a_loss_is_the_smaller_one() {
    main();
}
