use super::hold::Hold;
use super::{Connection, Listener};
use crate::shared::wait::wait;
use crate::shared::{Command, Hub, NewConnections};
use crate::stats::EndpointStats;
use crate::types::{AddressError, ConnectError, ConnectionError, Peer};
use futures_channel::oneshot;
use sctp::{AssocId, Config, Discarded, PathInfo, State};
use std::net::IpAddr;
use std::sync::Arc;

/// An SCTP port on one or several local addresses, driven by a thread of its own.
///
/// Clones are handles to the same endpoint. The driver ends when the last handle, [`Listener`] and
/// [`Connection`] are dropped and the associations have ended.
#[derive(Clone, Debug)]
pub struct Endpoint {
    pub(super) hold: Arc<Hold>,
}

impl Endpoint {
    pub(crate) fn new(hub: Arc<Hub>, new_connections: Arc<NewConnections>) -> Self {
        Endpoint { hold: Arc::new(Hold { hub, new_connections }) }
    }

    /// Connects to a peer. If the peer has several addresses, the next address is tried after 250 ms without
    /// an answer, or at once after a refusal. The attempt fails once all addresses have refused. Dropping the
    /// future aborts the attempt and its association.
    ///
    /// # Errors
    /// [`ConnectError`].
    pub async fn connect(&self, to: impl Into<Peer>) -> Result<Connection, ConnectError> {
        self.begin(to.into(), None).await
    }

    /// As [`Self::connect`], but with `config` in place of the options of the endpoint.
    ///
    /// # Errors
    /// [`ConnectError`].
    pub async fn connect_with(
        &self,
        to: impl Into<Peer>,
        config: impl Into<Arc<Config>>,
    ) -> Result<Connection, ConnectError> {
        self.begin(to.into(), Some(config.into())).await
    }

    async fn begin(&self, to: Peer, config: Option<Arc<Config>>) -> Result<Connection, ConnectError> {
        let opening = self.hold.new_connections.request(to, config);
        let attempt = opening.await.map_err(|_| ConnectError::Failed(ConnectionError::EndpointClosed))??;
        attempt.opened().await.map(Connection::new).map_err(ConnectError::Failed)
    }

    /// Lets peers connect. At most `backlog` connections wait to be accepted; more are refused with ABORT.
    pub fn listen(&self, backlog: usize) -> Listener {
        Listener::new(self.hold.clone(), backlog)
    }

    /// Adds a local address, for example when an uplink comes up: binds a UDP socket to it, and asks the
    /// peers of all connections by ASCONF to add it ([`Event::AddressChange`](sctp::Event::AddressChange)
    /// reports the answers). Later connections have the address from the beginning. An endpoint that was
    /// bound without addresses needs no new socket. Dropping the future does not stop the change.
    ///
    /// # Errors
    /// [`AddressError`]; nothing changes then.
    pub async fn add_local_address(&self, address: IpAddr) -> Result<(), AddressError> {
        self.add(address, None).await
    }

    /// As [`Self::add_local_address`], for packets that leave by one interface, regardless of the routes
    /// (`SO_BINDTODEVICE`, Linux only).
    ///
    /// # Errors
    /// [`AddressError`]; nothing changes then.
    pub async fn add_local_address_on_device(
        &self,
        address: IpAddr,
        device: impl Into<String>,
    ) -> Result<(), AddressError> {
        self.add(address, Some(device.into())).await
    }

    async fn add(&self, address: IpAddr, device: Option<String>) -> Result<(), AddressError> {
        let (answer, receiver) = oneshot::channel();
        self.hold.hub.tell(Command::AddAddress(address, device, answer));
        receiver.await.unwrap_or(Err(AddressError::Ended(ConnectionError::EndpointClosed)))
    }

    /// Removes a local address, for example when an uplink goes down. Connections at once retransmit the data
    /// in flight from this address on other paths, and connections with ASCONF ask their peers to delete the
    /// address. The socket of the address is closed after RTO.Max. A connection without another path keeps
    /// the address until another path exists. Dropping the future does not stop the change.
    ///
    /// # Errors
    /// [`AddressError`]; nothing changes then.
    pub async fn remove_local_address(&self, address: IpAddr) -> Result<(), AddressError> {
        let (answer, receiver) = oneshot::channel();
        self.hold.hub.tell(Command::RemoveAddress(address, answer));
        receiver.await.unwrap_or(Err(AddressError::Ended(ConnectionError::EndpointClosed)))
    }

    /// The current local addresses.
    pub fn local_addresses(&self) -> Vec<IpAddr> {
        self.hold.hub.places().addresses.clone()
    }

    /// The SCTP port.
    pub fn port(&self) -> u16 {
        self.hold.hub.ports.sctp
    }

    /// The UDP port.
    pub fn udp_port(&self) -> u16 {
        self.hold.hub.ports.udp
    }

    /// Counters of the sockets.
    pub fn stats(&self) -> EndpointStats {
        let counters = self.hold.hub.places().counters.clone();
        EndpointStats::read(&counters, &crate::net::dropped(self.udp_port()))
    }

    /// The associations that were established and have not ended, the oldest first, with their paths; none if
    /// the driver has ended.
    pub(crate) async fn associations(&self) -> Vec<(AssocId, Vec<PathInfo>)> {
        let all = self.hold.hub.ask(|endpoint, _| {
            let opening = |id| matches!(endpoint.state(id), Some(State::CookieWait | State::CookieEchoed));
            let mut all: Vec<_> = endpoint.associations().filter(|&id| !opening(id)).collect();
            all.sort_unstable();
            all.into_iter().map(|id| (id, endpoint.paths(id).into_iter().flatten().collect())).collect()
        });
        all.await.unwrap_or_default()
    }

    /// The packets discarded so far, by cause.
    ///
    /// # Errors
    /// [`ConnectionError::EndpointClosed`].
    pub async fn discarded(&self) -> Result<Discarded, ConnectionError> {
        let discarded = self.hold.hub.ask(|endpoint, _| endpoint.discarded()).await;
        discarded.ok_or(ConnectionError::EndpointClosed)
    }

    /// Shuts all connections down, and waits until they and the driver have ended. A connection is aborted if
    /// its peer acknowledges nothing for five times RTO.Max. Dropping the future does not stop the shutdown.
    pub async fn close(&self) {
        self.hold.hub.tell(Command::Close);
        let hub = &self.hold.hub;
        wait(|cx, place| hub.poll_ended(cx, place), |place| hub.stop_waiting(place)).await;
    }
}
