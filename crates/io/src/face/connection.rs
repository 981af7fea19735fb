use super::sending::Sending;
use super::{Delivery, Events, MessageWriter, Messages, StreamReader};
use crate::guard::Identity;
use crate::info::{AssocStats, PathInfo};
use crate::shared::wait::wait;
use crate::shared::{Command, Handle, Mailbox, Parcel, Phase, Source};
use crate::types::{
    ConnectionError, Message, NotDelivered, OptionsError, PathError, Received, SendError, TrySendError,
};
use bytes::Bytes;
use futures_channel::oneshot;
use sctp::{AssocId, AssocOptions, Endpoint, PathOptions};
use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use units::Instant;
use wire::StreamId;

/// An association.
///
/// Clones are handles to the same association. When the last handle is dropped, all queued messages are
/// delivered in the background, arriving messages are discarded, and the association is shut down. The
/// association is aborted if meanwhile the peer acknowledges nothing for five times RTO.Max.
#[derive(Clone, Debug)]
pub struct Connection {
    handle: Arc<Handle>,
}

impl Connection {
    pub(super) fn new(handle: Handle) -> Self {
        Connection { handle: Arc::new(handle) }
    }

    pub(super) fn mailbox(&self) -> &Arc<Mailbox> {
        &self.handle.0
    }

    /// Waits until `wanted` returns a value for the phase of the connection (opening, open, ended).
    async fn phase<T>(&self, wanted: impl Fn(&Phase) -> Option<T>) -> T {
        let mailbox = self.mailbox();
        wait(|cx, place| mailbox.poll_phase(cx, place, &wanted), |place| mailbox.stop_watching(place)).await
    }

    /// Queues a message to send, and waits until there is room for it. Callers get room in the order of their
    /// calls. Dropping the future before it is ready sends nothing.
    ///
    /// # Errors
    /// [`SendError`]; then the message is not queued.
    pub fn send<M: Into<Message>>(
        &self,
        message: M,
    ) -> impl Future<Output = Result<(), SendError>> + Send + use<M> {
        Sending::new(self.handle.clone(), message.into().inner.into())
    }

    /// As [`Self::send`], and returns a future that is ready when the peer has the message.
    ///
    /// # Errors
    /// [`SendError`]; then the message is not queued.
    pub fn send_tracked<M: Into<Message>>(
        &self,
        message: M,
    ) -> impl Future<Output = Result<Delivery, SendError>> + Send + use<M> {
        let (receipt, receiver) = oneshot::channel();
        let message = sctp::Message { tracked: true, ..message.into().inner };
        let sending = Sending::new(self.handle.clone(), Parcel::new(message, Some(receipt)));
        let delivery = Delivery::new(self.mailbox().clone(), receiver);
        async move { sending.await.map(|()| delivery) }
    }

    /// Queues a message to send if there is room and no other caller waits.
    ///
    /// # Errors
    /// [`TrySendError`], with the message if there is no room.
    pub fn try_send(&self, message: impl Into<Message>) -> Result<(), TrySendError> {
        let offered = self.mailbox().try_send(message.into().inner)?;
        offered.map_err(|inner| TrySendError::Full(Message { inner }))
    }

    /// Lets the driver take messages from `source` while the send buffer has room and no message of other
    /// calls waits. So the program decides at the last moment what is sent next, and no thread waits for
    /// room. Replaces an earlier source.
    ///
    /// The driver calls `source` until it returns `None`, and again after [`Self::source_ready`]. It calls
    /// `source` in its own thread, so `source` must not wait for other calls of this crate. It drops `source`
    /// when the connection accepts no more messages. If `source` owned a handle to the connection, the
    /// connection would stay open.
    pub fn send_from(&self, mut source: impl FnMut() -> Option<Message> + Send + 'static) {
        let source = Source::new(move || source().map(|message| message.inner));
        self.mailbox().hub.tell(Command::Source(self.id(), source));
    }

    /// Tells the driver that the source of [`Self::send_from`], which had no message, has one again.
    pub fn source_ready(&self) {
        self.mailbox().tell_of_source();
    }

    /// Returns a writer for a message that is longer than the send buffer.
    pub fn writer(&self, stream: StreamId) -> MessageWriter {
        MessageWriter::new(self.handle.clone(), stream)
    }

    /// The next message of any stream without a reader of its own. `None` means that the peer or this end
    /// shut the connection down and everything was read: nothing is missing. Dropping the future loses
    /// nothing.
    ///
    /// # Errors
    /// [`ConnectionError`] once the connection has ended otherwise (an abort, no answer on any path) and
    /// everything that arrived was read.
    pub async fn recv(&self) -> Result<Option<Received>, ConnectionError> {
        let mailbox = self.mailbox();
        let received =
            wait(|cx, place| mailbox.poll_receive(cx, None, place), |place| mailbox.stop_reading(place))
                .await;
        Ok(received?.map(Received::from))
    }

    /// As [`Self::recv`], for all messages that have arrived: appends them to `messages` and returns their
    /// number. Zero means that the connection was shut down and everything was read.
    ///
    /// # Errors
    /// As [`Self::recv`].
    pub async fn recv_many(&self, messages: &mut Vec<Received>) -> Result<usize, ConnectionError> {
        let mailbox = self.mailbox();
        let received = wait(
            |cx, place| mailbox.poll_receive_many(cx, place, |message| messages.push(message.into())),
            |place| mailbox.stop_reading(place),
        );
        Ok(received.await?.unwrap_or(0))
    }

    /// The messages that [`Self::recv`] returns, as a stream.
    pub fn messages(&self) -> Messages {
        Messages::new(self.handle.clone())
    }

    /// Gives a stream a separate reader: [`Self::recv`] no longer returns its messages. All streams share one
    /// receive buffer, so that a reader that does not read finally stalls the others.
    pub fn read_stream(&self, stream: StreamId) -> StreamReader {
        StreamReader::new(self.handle.clone(), stream)
    }

    /// Number of unread messages of a stream. Messages that are still in the receive buffer, because 128 KiB
    /// of others are unread, are not counted.
    pub fn unread(&self, stream: StreamId) -> usize {
        self.mailbox().unread(stream)
    }

    /// Waits until the peer has acknowledged all messages queued so far. Messages may leave in another order
    /// than that of queueing if there is a stream scheduler other than `fcfs`, after an urgent message or a
    /// stream reset, and if the peer may reset streams. In these cases this call waits for a moment at which
    /// nothing is unacknowledged.
    ///
    /// # Errors
    /// [`NotDelivered`] if messages queued since the last flush were lost, or the connection failed.
    pub async fn flush(&self) -> Result<(), NotDelivered> {
        let (answer, receiver) = oneshot::channel();
        self.mailbox().hub.tell(Command::Flush(self.mailbox().id, answer));
        match receiver.await {
            Ok(true) => Ok(()),
            Ok(false) => Err(NotDelivered::Lost),
            Err(_) => match self.closed().await {
                reason if !reason.is_graceful() => Err(NotDelivered::Ended(reason)),
                _ if self.mailbox().take_lost() => Err(NotDelivered::Lost),
                _ => Ok(()),
            },
        }
    }

    /// Returns the events from now on.
    pub fn events(&self) -> Events {
        Events::new(self.handle.clone())
    }

    /// The number of the association at its endpoint.
    pub fn id(&self) -> AssocId {
        self.mailbox().id
    }

    /// The peer's addresses, in the order of the paths, and its SCTP port.
    ///
    /// # Errors
    /// [`ConnectionError`] once the connection has ended.
    pub fn peer(&self) -> Result<(Vec<IpAddr>, u16), ConnectionError> {
        match self.mailbox().phase() {
            Phase::Open { peer, peer_port, .. } => Ok((peer, peer_port)),
            // The application gets no handle in this phase.
            Phase::Opening => Ok((Vec::new(), 0)),
            Phase::Ended(reason) => Err(reason),
        }
    }

    /// The identity that the peer has proved to the [guard](crate::Builder::guard); `None` without a guard.
    /// The value is known at once, and does not change.
    pub fn peer_identity(&self) -> Option<Identity> {
        self.mailbox().identity
    }

    /// Streams that messages may be sent on.
    ///
    /// # Errors
    /// [`ConnectionError`] once the connection has ended.
    pub fn outbound_streams(&self) -> Result<u16, ConnectionError> {
        match self.mailbox().phase() {
            Phase::Open { streams, .. } => Ok(streams),
            // The application gets no handle in this phase.
            Phase::Opening => Ok(0),
            Phase::Ended(reason) => Err(reason),
        }
    }

    /// The paths as they are now.
    ///
    /// # Errors
    /// [`ConnectionError`] once the connection has ended.
    pub async fn paths(&self) -> Result<Vec<PathInfo>, ConnectionError> {
        let id = self.id();
        let paths = move |endpoint: &mut Endpoint, now| {
            Some(endpoint.paths(id)?.map(|path| path.until(now).into()).collect())
        };
        self.ask(paths).await
    }

    /// Counters and state of the association.
    ///
    /// # Errors
    /// [`ConnectionError`] once the connection has ended.
    pub async fn stats(&self) -> Result<AssocStats, ConnectionError> {
        let id = self.id();
        self.ask(move |endpoint, now| Some(endpoint.stats(id)?.until(now).into())).await
    }

    /// Makes an address of the peer the primary path: without CMT, new data goes there while it works.
    ///
    /// # Errors
    /// [`PathError`].
    pub async fn set_primary(&self, address: IpAddr) -> Result<(), PathError> {
        let id = self.id();
        self.change(sctp::PathError::Closed, move |endpoint, _| endpoint.set_primary(id, address)).await
    }

    /// Sends a heartbeat to an address of the peer, waits for the answer, and returns the round-trip time. A
    /// lost heartbeat is sent again. On a failed path, waits until the path works again.
    ///
    /// # Errors
    /// [`PathError`].
    pub async fn heartbeat(&self, address: IpAddr) -> Result<Duration, PathError> {
        let (answer, receiver) = oneshot::channel();
        self.mailbox().hub.tell(Command::Heartbeat(self.mailbox().id, address, answer));
        match receiver.await {
            Ok(answer) => answer,
            Err(_) => Err(PathError::Ended(self.closed().await)),
        }
    }

    /// The options that can change while the association lives.
    ///
    /// # Errors
    /// [`ConnectionError`] once the connection has ended.
    pub async fn options(&self) -> Result<AssocOptions, ConnectionError> {
        let id = self.id();
        self.ask(move |endpoint, _| endpoint.options(id)).await
    }

    /// Sets the options that [`Self::options`] returns.
    ///
    /// # Errors
    /// [`OptionsError`] names an option whose value cannot work; nothing changes then.
    pub async fn set_options(&self, options: AssocOptions) -> Result<(), OptionsError> {
        let id = self.id();
        let set = move |endpoint: &mut Endpoint, now| match endpoint.set_options(now, id, &options) {
            Err(sctp::OptionsError::Invalid(error)) => Some(Err(error)),
            set => set.ok().map(Ok),
        };
        Ok(self.ask(set).await??)
    }

    /// Sets the options of all paths from `local`, one of our addresses, which may be added later. The
    /// options are also sent to the peer.
    ///
    /// # Errors
    /// [`ConnectionError`] once the connection has ended.
    pub async fn set_path_options(&self, local: IpAddr, options: PathOptions) -> Result<(), ConnectionError> {
        let id = self.id();
        self.ask(move |endpoint, now| endpoint.set_path_options(now, id, local, options).ok()).await
    }

    /// Runs a call in the driver thread. The call returns `None` if the association has ended.
    ///
    /// # Errors
    /// The reason of the end.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        call: impl FnOnce(&mut Endpoint, Instant) -> Option<T> + Send + 'static,
    ) -> Result<T, ConnectionError> {
        match self.mailbox().hub.ask(call).await.flatten() {
            Some(answer) => Ok(answer),
            None => Err(self.closed().await),
        }
    }

    /// Makes a change in the driver thread. `closed` is the refusal that says that the association has ended.
    ///
    /// # Errors
    /// Any other refusal, or the reason of the end.
    pub(super) async fn change<R: PartialEq + Send + 'static, E: From<R> + From<ConnectionError>>(
        &self,
        closed: R,
        change: impl FnOnce(&mut Endpoint, Instant) -> Result<(), R> + Send + 'static,
    ) -> Result<(), E> {
        let changed = self.ask(move |endpoint, now| match change(endpoint, now) {
            Err(refusal) if refusal == closed => None,
            changed => Some(changed),
        });
        Ok(changed.await??)
    }

    /// Refuses further messages, delivers the queued ones, and waits for the end of the association. Dropping
    /// the future does not stop the shutdown.
    ///
    /// # Errors
    /// [`ConnectionError`] if the association did not end gracefully.
    pub async fn shutdown(&self) -> Result<(), ConnectionError> {
        if self.mailbox().shut() {
            self.mailbox().hub.tell(Command::Shutdown(self.mailbox().id));
        }
        self.closed().await.graceful()
    }

    /// Ends the association at once and sends the reason to the peer. Undelivered data is lost.
    pub fn abort(&self, reason: impl Into<Bytes>) {
        self.mailbox().hub.tell(Command::Abort(self.mailbox().id, reason.into()));
    }

    /// Waits for the end of the association, and returns its reason.
    pub async fn closed(&self) -> ConnectionError {
        self.phase(|phase| match phase {
            Phase::Ended(reason) => Some(reason.clone()),
            Phase::Opening | Phase::Open { .. } => None,
        })
        .await
    }
}
