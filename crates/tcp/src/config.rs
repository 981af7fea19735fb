//! Options of a connection.

use transport::{BufferBudget, BufferSize, named, options};
use units::{ByteCount, Span};

options! {
    /// Options of a connection: loss recovery, congestion control, timers, buffers. The defaults are those of
    /// [`Config::modern`].
    pub struct Config {
        /// How losses are detected and repaired.
        variant: Variant = Variant::Sack;
        /// The congestion control. A coupled control behaves as on a single path, since TCP has only one.
        control: cc::Algorithm = cc::Algorithm::Standard;
        /// Spreads segments over the round-trip time under every congestion control.
        /// The rate is that of the control or, if it has none, cwnd/SRTT times 2 below
        /// half of ssthresh and times 1.2 above, as in Linux. In congestion avoidance
        /// it is at most 5/4 of the highest delivery rate of the last ten round trips.
        pacing: bool = false;
        /// Options of the congestion controls, a table for each.
        knobs: cc::Knobs = cc::Knobs::default();
        /// Appropriate byte counting (`rfc3465`) with this limit L, in segments per acknowledgement in slow
        /// start. None: cwnd grows by the number of acknowledgements (`rfc2581#section-3.1`).
        abc: Option<u32> = Some(2), "at least 1 segment, or none" if |limit| limit != Some(0);
        /// cwnd grows only if less than a segment of it was unused (`rfc7661#section-4.1`).
        grow_full_only: bool = true;
        /// Initial cwnd in segments (`rfc6928#section-2` for 10).
        initial_window: u32 = 10, "at least 1 segment" if |segments| segments > 0;
        /// Largest segment received and sent: user bytes and TCP options, without the 20 bytes of the TCP
        /// header. The value of the MSS option (`rfc9293#section-3.7.1`, `rfc6691`).
        // 88 bytes leave room for the options, and 65475 fit the length field of IP.
        mss: u16 as bytes = 1460, "88 to 65475 bytes" if |size| (88..=65_475).contains(&size);
        /// Retransmission timeout.
        rto: Rto = Rto::default();
        /// Delayed acknowledgements.
        delayed_ack: DelayedAck = DelayedAck::default();
        /// The timestamps option (`rfc7323#section-3`), if the peer has it too; it takes 12 bytes of each
        /// segment.
        timestamps: bool = true;
        /// The window scale option (`rfc7323#section-2`), if the peer has it too. The shift is the least with
        /// which the whole receive buffer can be advertised.
        window_scale: bool = true;
        /// Explicit congestion notification (`rfc3168#section-6.1`), if the peer has it too.
        ecn: bool = false;
        /// The SACK option (`rfc2018`) for the variant `sack`, if the peer has it too; otherwise
        /// the variant `sack` behaves as `newreno`. The other variants never offer the option.
        sack: bool = true;
        /// Reports segments that arrived twice (`rfc2883`).
        dsack: bool = true;
        /// Proportional rate reduction (`rfc6937`) in recovery, for the variant `sack`.
        prr: bool = true;
        /// RACK detects losses by time, and tail loss probes detect losses
        /// of the last segments (`rfc8985`). For the variant `sack`.
        rack_tlp: bool = true;
        /// Restores the window after a recovery or timeout that was spurious: the acknowledgement echoes the
        /// timestamp of the original segment (`rfc3522`). Needs `timestamps`.
        undo: bool = false;
        /// Sends a new segment for each of the first two duplicate acknowledgements (`rfc3042`).
        limited_transmit: bool = true;
        /// Send buffer: bytes not yet sent plus bytes not yet acknowledged. `auto`: twice the bytes that are
        /// sent and not acknowledged, within the budget of the endpoint.
        send_buffer: BufferSize = BufferSize::fixed(1 << 20), "at least `mss`, or auto"
            if |size, all| size.first().get() >= all.mss.into();
        /// Receive buffer, advertised as the window. `auto`: twice the sum of the bytes that the user read
        /// and the most bytes that waited in the last round-trip time, within the budget of the endpoint.
        receive_buffer: BufferSize = BufferSize::fixed(6 << 20),
            "at least `mss`, at most 65535 bytes, or 1073725440 with `window_scale`, or auto with `window_scale`"
            if |size, all| size.first().get() >= all.mss.into() && size.most().get() <= all.most_window();
        /// Bytes by which all buffers of an endpoint with the size `auto` may grow together beyond the 1 MiB
        /// with which each of them begins. No buffer takes more of the budget than it leaves for the others.
        buffer_budget: ByteCount = BufferBudget::USUAL;
        /// The last segment of a train has PSH, and a segment with PSH is acknowledged
        /// at once, as in Linux from 6.6 on. A train is a group of segments that are
        /// sent together, as with TSO: two, or as many as the pacing rate sends in
        /// 1/1024 s. Otherwise only the segment that empties the send buffer has PSH.
        push_trains: bool = false;
        /// Nagle's algorithm: while data is in flight only full segments are sent (`rfc9293#section-3.7.4`).
        nagle: bool = false;
        /// Duration of TIME-WAIT: twice the maximum segment lifetime (`rfc9293#section-3.4.2`).
        time_wait: Span = Span::from_secs(60);
        /// Consecutive retransmission timeouts after which the connection is given up (R2,
        /// `rfc9293#section-3.8.3`).
        max_retransmissions: u32 = 12, "at least 1" if |timeouts| timeouts > 0;
        /// Retransmissions of a SYN after which the connection is given up.
        max_syn_retransmissions: u32 = 6;
    }
}

options! {
    /// Bounds of the retransmission timeout (`rfc6298#section-2`).
    ///
    /// The default minimum of 200 ms is below the second of `rfc6298#section-2.4`, as in the stacks in use.
    #[derive(Copy, Eq)]
    pub struct Rto in "rto" {
        /// RTO before the first measurement.
        initial: Span = Span::from_secs(1), "more than zero, at most `max`"
            if |initial, all| !initial.is_zero() && initial <= all.max;
        /// Lower bound.
        min: Span = Span::from_millis(200), "more than zero" if |min| !min.is_zero();
        /// Upper bound.
        max: Span = Span::from_secs(60), "at least `min`" if |max, all| max >= all.min;
        /// Clock granularity G: 4 RTTVAR counts for at least one
        /// tick of G, and the RTO is a whole number of ticks.
        granularity: Span = Span::from_millis(1), "more than zero" if |tick| !tick.is_zero();
    }
}

options! {
    /// When data is acknowledged (`rfc5681#section-4.2`).
    #[derive(Copy, Eq)]
    pub struct DelayedAck in "delayed_ack" {
        /// Number of data segments after which an acknowledgement is sent at once.
        every: u32 = 2, "at least 1 segment" if |segments| segments > 0;
        /// Longest delay of an acknowledgement.
        // rfc5681#section-4.2
        timeout: Span = Span::from_millis(40), "at most 500 ms" if |delay| delay <= Span::from_millis(500);
    }
}

/// Largest receive buffer that can be advertised with the largest shift (`rfc7323#section-2.3`).
const MAX_WINDOW: u64 = 65_535 << 14;

named! {
    /// How losses are found and repaired.
    "TCP variant" Variant {
        /// Three duplicate acknowledgements: slow start from the hole on (Jacobson, SIGCOMM 1988).
        Tahoe = "tahoe",
        /// Fast retransmit and fast recovery; the first new acknowledgement ends it (`rfc2001`).
        Reno = "reno",
        /// As Reno, but recovery goes on until everything sent before it is acknowledged (`rfc6582`).
        NewReno = "newreno",
        /// Recovery with selective acknowledgements (`rfc6675`).
        Sack = "sack",
    }
}

impl Config {
    /// The largest window that can be advertised.
    fn most_window(&self) -> u64 {
        if self.window_scale { MAX_WINDOW } else { 65_535 }
    }

    /// True if the SYN offers selective acknowledgements.
    pub(crate) fn speaks_sack(&self) -> bool {
        self.sack && self.variant == Variant::Sack
    }

    /// TCP as in QualNet 4.5, which paper 003 (Dreibholz et al., 2012) used: no byte counting, an initial
    /// window of 2 segments, a clock of 500 ms, acknowledgements for every second segment or after 200 ms,
    /// window scaling, timestamps and selective acknowledgements. User data of 1200 bytes fills a segment.
    pub fn qualnet() -> Self {
        Config {
            abc: None,
            grow_full_only: false,
            initial_window: 2,
            mss: 1212,
            rto: Rto {
                initial: Span::from_secs(3),
                min: Span::from_secs(1),
                max: Span::from_secs(60),
                granularity: Span::from_millis(500),
            },
            delayed_ack: DelayedAck { every: 2, timeout: Span::from_millis(200) },
            dsack: false,
            prr: false,
            rack_tlp: false,
            limited_transmit: false,
            receive_buffer: BufferSize::fixed(MAX_WINDOW),
            ..Config::default()
        }
    }

    /// TCP of today, the default: appropriate byte counting with L = 2, an initial window of 10 segments
    /// (`rfc6928`), proportional rate reduction, RACK-TLP.
    pub fn modern() -> Self {
        Config::default()
    }
}
