//! Observation of associations from inside: each packet, each lost chunk, and the state after each change.
//!
//! Without an observer, a packet costs one branch. An observer changes nothing in the association.

use super::{Association, State};
use crate::config::Config;
use crate::event::{AssocId, CloseReason};
use crate::path::{Loss, PathId, PathState};
use std::fmt::Debug;
use std::net::IpAddr;
use transport::{Datagram, Limit, Octets, Transmit};
use units::{BitRate, ByteCount, Instant, Span};
use wire::Tsn;

/// Chooses the associations of an endpoint that are observed
/// ([`Endpoint::observe`](crate::Endpoint::observe)).
pub trait Observers: Debug + Send {
    /// Returns the observer of a new association, or `None` if it is not observed.
    fn observer(&mut self, now: Instant, association: &Observed<'_>) -> Option<Box<dyn Observer>>;
}

/// Observes one association.
pub trait Observer: Debug + Send {
    /// A packet leaves the association.
    fn sent(&mut self, now: Instant, route: &Transmit, packet: Octets<'_>, association: &Observed<'_>);

    /// A packet arrived; the association processes it next.
    fn received(&mut self, now: Instant, datagram: &Datagram<'_>, association: &Observed<'_>);

    /// Chunks have just been counted as lost.
    fn lost(&mut self, now: Instant, losses: &[Loss]);

    /// The association may have changed.
    fn changed(&mut self, now: Instant, association: &Observed<'_>);

    /// The association ended. One packet may follow.
    fn closed(&mut self, reason: &CloseReason);
}

/// The state of an observed association.
#[derive(Debug)]
pub struct Observed<'a>(&'a Association);

/// The state of a path of an observed association.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ObservedPath {
    /// Number of the path.
    pub id: PathId,
    /// Our address.
    pub local: IpAddr,
    /// The peer's address.
    pub remote: IpAddr,
    /// The peer's UDP port; 0 if packets are not encapsulated.
    pub udp_port: u16,
    /// Active, potentially failed, inactive or unconfirmed.
    pub state: PathState,
    /// Congestion window.
    pub cwnd: ByteCount,
    /// Slow start threshold; `None` while nothing bounds slow start.
    pub ssthresh: Option<ByteCount>,
    /// Bytes in flight.
    pub flight: ByteCount,
    /// Smoothed round-trip time; `None` before the first measurement.
    pub srtt: Option<Span>,
    /// Variation of the round-trip time.
    pub rttvar: Span,
    /// Least round-trip time of the last 15 to 30 s.
    pub least_rtt: Option<Span>,
    /// Rate at which packets are paced; `None` without pacing.
    pub pacing_rate: Option<BitRate>,
    /// True in fast recovery.
    pub in_recovery: bool,
    /// True if T3-rtx expired, and nothing was acknowledged since.
    pub timed_out: bool,
    /// Path MTU, IP header included.
    pub mtu: ByteCount,
}

impl Observed<'_> {
    /// The identifier of the association.
    pub fn id(&self) -> AssocId {
        self.0.id
    }

    /// True if our user began the association.
    pub fn is_client(&self) -> bool {
        self.0.began
    }

    /// The state of the association; `None` once it has ended.
    pub fn state(&self) -> Option<State> {
        self.0.state()
    }

    /// Our SCTP port, and that of the peer.
    pub fn ports(&self) -> [u16; 2] {
        [self.0.port, self.0.peer_port]
    }

    /// Our verification tag, and that of the peer; zero while it is unknown.
    pub fn tags(&self) -> [u32; 2] {
        [self.0.local_tag(), self.0.peer_tag()]
    }

    /// The TSN of our first chunk.
    pub fn initial_tsn(&self) -> Tsn {
        self.0.initial_tsn()
    }

    /// Number of streams on which we may send, and of those on which the peer may send; zero in the
    /// handshake.
    pub fn streams(&self) -> (u16, u16) {
        self.0.streams
    }

    /// The options of the association.
    pub fn config(&self) -> &Config {
        self.0.config()
    }

    /// The names of the extensions that both ends support.
    pub fn extensions(&self) -> impl Iterator<Item = &'static str> {
        self.0.extensions.names()
    }

    /// The reason why the sender does not send more now; `None` before the first transmission and
    /// after the end.
    pub fn limit(&self) -> Option<Limit> {
        self.0.sender.limit()
    }

    /// All paths by number, including those whose addresses were deleted.
    #[inline]
    pub fn paths(&self) -> impl Iterator<Item = ObservedPath> {
        let paths = self.0.paths.ids().zip(self.0.paths.iter());
        paths.map(|(id, path)| ObservedPath {
            id,
            local: path.local,
            remote: path.remote,
            udp_port: path.udp_port,
            state: path.state,
            cwnd: path.window.cwnd,
            ssthresh: path.window.ssthresh,
            flight: path.flight,
            srtt: path.rto.srtt(),
            rttvar: path.rto.variation(),
            least_rtt: path.rto.base(),
            pacing_rate: self.0.sender.pacing_rate(id),
            in_recovery: path.recovery.is_some(),
            timed_out: path.timed_out,
            mtu: path.mtu,
        })
    }
}

impl Association {
    /// Tells the observer what changed.
    #[cold]
    pub(crate) fn tell_change(&mut self, now: Instant) {
        let Some(mut observer) = self.observer.take() else { return };
        if let Some(losses) = self.sender.losses()
            && !losses.is_empty()
        {
            observer.lost(now, losses);
            losses.clear();
        }
        observer.changed(now, &Observed(self));
        self.observer = Some(observer);
    }

    /// Tells the observer of a packet that leaves.
    #[cold]
    pub(crate) fn tell_sent(&mut self, now: Instant, route: &Transmit, packet: Octets<'_>) {
        let Some(mut observer) = self.observer.take() else { return };
        observer.sent(now, route, packet, &Observed(self));
        self.observer = Some(observer);
    }

    /// Tells the observer of a packet that arrived.
    #[cold]
    pub(crate) fn tell_received(&mut self, now: Instant, datagram: &Datagram<'_>) {
        let Some(mut observer) = self.observer.take() else { return };
        observer.received(now, datagram, &Observed(self));
        self.observer = Some(observer);
    }

    /// Begins the observation of this association, if `observers` returns an observer for it.
    pub(crate) fn observe(&mut self, now: Instant, observers: &mut dyn Observers) {
        self.observer = observers.observer(now, &Observed(self));
        self.sender.log_losses(self.observer.is_some());
        self.tell_change(now);
    }

    #[inline]
    pub(crate) fn is_observed(&self) -> bool {
        self.observer.is_some()
    }
}
