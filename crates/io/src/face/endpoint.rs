use super::{Builder, Connection, Listener};
use crate::shared::wait::wait;
use crate::shared::{Command, Hub};
use crate::stats::EndpointStats;
use crate::types::{ConnectError, ConnectionError, EndpointClosed, Peer};
use futures_channel::oneshot;
use sctp::{Config, Discarded};
use std::net::IpAddr;
use std::sync::Arc;

/// An SCTP port on one or several local addresses, driven by a thread of its own.
///
/// Clones are handles to the same endpoint. The driver ends when the last handle, the last [`Listener`] and the last
/// [`Connection`] are gone and the associations have ended.
#[derive(Clone, Debug)]
pub struct Endpoint {
    pub(super) hold: Arc<Hold>,
}

/// Keeps the driver running.
#[derive(Debug)]
pub(super) struct Hold {
    pub(super) hub: Arc<Hub>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.hub.tell(Command::Leave);
    }
}

impl Endpoint {
    /// Begins to describe an endpoint.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn new(hub: Arc<Hub>) -> Self {
        Endpoint { hold: Arc::new(Hold { hub }) }
    }

    /// Connects to a peer. Dropping the future gives the attempt up.
    ///
    /// # Errors
    /// [`ConnectError`].
    pub async fn connect(&self, to: impl Into<Peer>) -> Result<Connection, ConnectError> {
        self.begin(to.into(), None).await
    }

    /// As [`Self::connect`], with options of its own in place of those of the endpoint.
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
        let (answer, receiver) = oneshot::channel();
        self.hold.hub.tell(Command::Connect(to, config, answer));
        let handle = receiver.await.map_err(|_| ConnectError::Failed(ConnectionError::Driver))??;
        let connection = Connection::new(handle);
        connection.opened().await.map_err(ConnectError::Failed)?;
        Ok(connection)
    }

    /// Lets peers connect. At most `backlog` connections wait to be accepted; more are refused with ABORT.
    pub fn listen(&self, backlog: usize) -> Listener {
        Listener::new(self.hold.clone(), backlog)
    }

    /// The local addresses.
    pub fn local_addresses(&self) -> &[IpAddr] {
        &self.hold.hub.names.addresses
    }

    /// The SCTP port.
    pub fn port(&self) -> u16 {
        self.hold.hub.names.port
    }

    /// The UDP port.
    pub fn udp_port(&self) -> u16 {
        self.hold.hub.names.udp_port
    }

    /// Counters of the sockets.
    pub fn stats(&self) -> EndpointStats {
        EndpointStats::read(&self.hold.hub.counters, &crate::net::dropped(self.udp_port()))
    }

    /// The packets discarded so far, by cause.
    ///
    /// # Errors
    /// [`EndpointClosed`].
    pub async fn discarded(&self) -> Result<Discarded, EndpointClosed> {
        self.hold.hub.ask(|endpoint, _| endpoint.discarded()).await.ok_or(EndpointClosed)
    }

    /// Shuts all connections down, and waits until they have ended and the driver with them. A connection is aborted if its
    /// peer takes nothing for five times RTO.Max. Dropping the future does not stop that.
    pub async fn close(&self) {
        self.hold.hub.tell(Command::Close);
        let hub = &self.hold.hub;
        wait(|cx, place| hub.poll_ended(cx, place), |place| hub.stop_waiting(place)).await;
    }
}
