//! Everything a user may choose about a connection.

use transport::named;
use units::{ByteCount, Span};

/// Options of a connection: loss recovery, congestion control, timers, buffers.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// How losses are found and repaired.
    pub variant: Variant,
    /// Which congestion control.
    pub control: cc::Algorithm,
    /// What congestion controls leave open.
    pub knobs: cc::Knobs,
    /// Appropriate byte counting (`rfc3465`) with this limit L, in segments an acknowledgement in slow start; none:
    /// windows grow by the number of acknowledgements (`rfc2581#section-3.1`).
    pub abc: Option<u32>,
    /// Only a window that was used grows (`rfc7661#section-4.1`).
    pub grow_full_only: bool,
    /// Initial window in segments (`rfc6928#section-2` for 10).
    pub initial_window: u32,
    /// Initial slow start threshold; none: slow start goes on until the first loss.
    pub initial_ssthresh: Option<ByteCount>,
    /// Largest segment we receive and send: user bytes and options, without the 20 bytes of the header. The value of
    /// the MSS option (`rfc9293#section-3.7.1`, `rfc6691`).
    pub mss: u16,
    /// Retransmission timeout.
    pub rto: Rto,
    /// Delayed acknowledgements.
    pub delayed_ack: DelayedAck,
    /// The timestamps option (`rfc7323#section-3`), if the peer has it, too.
    pub timestamps: bool,
    /// The window scale option (`rfc7323#section-2`), if the peer has it, too. The shift is the least that lets the
    /// whole receive buffer be advertised.
    pub window_scale: bool,
    /// Explicit congestion notification (`rfc3168#section-6.1`), if the peer has it, too.
    pub ecn: bool,
    /// The SACK option (`rfc2018`) for [`Variant::Sack`], if the peer has it, too: else that is
    /// [`Variant::NewReno`]. The other variants never ask for it.
    pub sack: bool,
    /// Most blocks in a SACK option, 1 to 4; with timestamps there is room for 3.
    pub max_sack_blocks: u8,
    /// Reports segments that arrived twice (`rfc2883`).
    pub dsack: bool,
    /// Proportional rate reduction (`rfc6937`) paces [`Variant::Sack`] in recovery.
    pub prr: bool,
    /// RACK finds losses by time and a probe finds those at the tail (`rfc8985`): for [`Variant::Sack`].
    pub rack_tlp: bool,
    /// Sends a new segment for each of the first two duplicate acknowledgements (`rfc3042`).
    pub limited_transmit: bool,
    /// Bytes not yet sent plus bytes not yet acknowledged.
    pub send_buffer: ByteCount,
    /// Receive buffer, advertised as the window.
    pub receive_buffer: ByteCount,
    /// Nagle's rule: no segment that is not full while data is in flight (`rfc9293#section-3.7.4`).
    pub nagle: bool,
    /// The restart window after idle time (`rfc5681#section-4.1`).
    pub idle_restart: bool,
    /// How long a connection that we ended first stays known: twice the lifetime of a segment
    /// (`rfc9293#section-3.4.2`).
    pub time_wait: Span,
    /// Expiries of the retransmission timer in a row that end the connection (R2, `rfc9293#section-3.8.3`).
    pub max_retransmissions: u32,
    /// Retransmissions of a SYN before it is given up.
    pub max_syn_retransmissions: u32,
}

/// Bounds of the retransmission timeout (`rfc6298#section-2`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rto {
    /// Before the first measurement.
    pub initial: Span,
    /// Never less.
    pub min: Span,
    /// Never more.
    pub max: Span,
    /// The clock G: the variation counts for at least one tick, and the timeout is a whole number of them.
    pub granularity: Span,
}

/// When data is acknowledged (`rfc5681#section-4.2`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAck {
    /// At the latest with every so many segments with data; 1: at once.
    pub every: u32,
    /// At the latest after this time.
    pub timeout: Span,
}

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
    /// True if the handshake asks for selective acknowledgements.
    pub(crate) fn speaks_sack(&self) -> bool {
        self.sack && self.variant == Variant::Sack
    }

    /// TCP as in QualNet 4.5, which paper 003 (Dreibholz et al., 2012) used: growth by the acknowledgement, an initial
    /// window of 2 segments, a clock of 500 ms, acknowledgements for every second segment or after 200 ms, window
    /// scaling and timestamps, selective acknowledgements. User data of 1200 bytes fills a segment.
    pub fn qualnet() -> Self {
        Config {
            variant: Variant::Sack,
            control: cc::Algorithm::Standard,
            knobs: cc::Knobs::default(),
            abc: None,
            grow_full_only: false,
            initial_window: 2,
            initial_ssthresh: None,
            mss: 1212,
            rto: Rto {
                initial: Span::from_secs(3),
                min: Span::from_secs(1),
                max: Span::from_secs(60),
                granularity: Span::from_millis(500),
            },
            delayed_ack: DelayedAck { every: 2, timeout: Span::from_millis(200) },
            timestamps: true,
            window_scale: true,
            ecn: false,
            sack: true,
            max_sack_blocks: 4,
            dsack: false,
            prr: false,
            rack_tlp: false,
            limited_transmit: false,
            send_buffer: ByteCount::new(1 << 20),
            receive_buffer: ByteCount::new(65_535 << 14),
            nagle: false,
            idle_restart: true,
            time_wait: Span::from_secs(60),
            max_retransmissions: 12,
            max_syn_retransmissions: 6,
        }
    }

    /// TCP of today: appropriate byte counting with L = 2, an initial window of 10 segments (`rfc6928`), proportional
    /// rate reduction, RACK-TLP. The least timeout is 200 ms, below the second of `rfc6298#section-2.4`, as in the
    /// stacks in use.
    pub fn modern() -> Self {
        Config {
            abc: Some(2),
            grow_full_only: true,
            initial_window: 10,
            mss: 1460,
            rto: Rto {
                initial: Span::from_secs(1),
                min: Span::from_millis(200),
                max: Span::from_secs(60),
                granularity: Span::from_millis(1),
            },
            delayed_ack: DelayedAck { every: 2, timeout: Span::from_millis(40) },
            dsack: true,
            prr: true,
            rack_tlp: true,
            limited_transmit: true,
            receive_buffer: ByteCount::new(6 << 20),
            ..Config::qualnet()
        }
    }
}
