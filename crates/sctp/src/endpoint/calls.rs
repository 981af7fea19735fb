//! Calls of the user for an existing association.

use super::Endpoint;
use super::names::enter;
use crate::assoc::{AssocOptions, AssocStats, Association, PathInfo, State};
use crate::error::{AddressError, KeyError, OptionsError, PathError, StreamError};
use crate::event::{AssocId, ResetDirection, ResetError};
use crate::message::{AbandonedByPolicy, Message, MessageId, Received, SendError, Unread};
use crate::path::PathOptions;
use std::collections::BTreeMap;
use std::net::IpAddr;
use transport::Channel;
use units::{ByteCount, Instant};
use wire::StreamId;

impl Endpoint {
    /// Queues a message, also during the handshake. Returns its identifier if it is
    /// [tracked](Message::tracked).
    ///
    /// # Errors
    /// [`SendError`]; the message is not queued then.
    pub fn send(
        &mut self,
        now: Instant,
        id: AssocId,
        message: Message,
    ) -> Result<Option<MessageId>, SendError> {
        let (slot, association) = self.associations.find_mut(id).ok_or(SendError::Closed)?;
        let id = association.send(now, message)?;
        if enter(&mut self.agenda, slot, association) {
            self.rename(slot);
        }
        Ok(id)
    }

    /// Reads the next message, or at most `max` bytes of it; none if there is nothing to read. Messages that
    /// arrived before the end of the association can be read after [`Event::Closed`](crate::Event::Closed).
    pub fn receive(&mut self, id: AssocId, max: usize) -> Option<Received> {
        let (slot, association) = self.associations.find_mut(id)?;
        let received = association.receive(max)?;
        if enter(&mut self.agenda, slot, association) {
            self.rename(slot);
        }
        Some(received)
    }

    /// Ends an association once all data is delivered (`rfc9260#section-9.2`).
    #[inline(never)]
    pub fn shutdown(&mut self, now: Instant, id: AssocId) {
        self.change(id, |association| association.shutdown(now));
    }

    /// Aborts an association and tells the peer the reason (`rfc9260#section-9.1`). Unread messages are lost.
    pub fn abort(&mut self, id: AssocId, reason: &[u8]) {
        self.change(id, |association| association.abort(reason));
    }

    /// Begins to reset the listed streams of an association, or all streams if the list is empty (`rfc6525`).
    /// The next messages on the streams are numbered from 0. On our streams earlier messages are delivered
    /// first, and later messages wait. [`Event::StreamsReset`](crate::Event::StreamsReset) reports the
    /// outcome for each direction.
    ///
    /// # Errors
    /// [`ResetError`]; nothing changes then.
    pub fn reset_streams(
        &mut self,
        now: Instant,
        id: AssocId,
        direction: ResetDirection,
        streams: &[StreamId],
    ) -> Result<(), ResetError> {
        self.change(id, |association| association.reset_streams(now, direction, streams))
            .unwrap_or(Err(ResetError::Closed))
    }

    /// Begins to add streams on which we send, and streams on which the peer sends (`rfc6525`).
    /// [`Event::StreamsAdded`](crate::Event::StreamsAdded) reports the outcome for each direction.
    ///
    /// # Errors
    /// [`ResetError`]; nothing changes then.
    pub fn add_streams(
        &mut self,
        now: Instant,
        id: AssocId,
        outgoing: u16,
        incoming: u16,
    ) -> Result<(), ResetError> {
        self.change(id, |association| association.add_streams(now, outgoing, incoming))
            .unwrap_or(Err(ResetError::Closed))
    }

    /// Begins to reset an association: all its streams in both directions, and its TSNs (`rfc6525`). The
    /// reset waits until both ends have acknowledged all data; later messages wait for the reset.
    /// [`Event::StreamsReset`](crate::Event::StreamsReset) reports the outcome.
    ///
    /// # Errors
    /// [`ResetError`]; nothing changes then.
    pub fn reset_association(&mut self, now: Instant, id: AssocId) -> Result<(), ResetError> {
        self.change(id, |association| association.reset_association(now)).unwrap_or(Err(ResetError::Closed))
    }

    /// Sends a heartbeat to an address of the peer now (`rfc9260#section-11.1`).
    ///
    /// # Errors
    /// [`PathError`].
    pub fn heartbeat(&mut self, now: Instant, id: AssocId, address: IpAddr) -> Result<(), PathError> {
        self.call(id, PathError::Closed, |association| association.heartbeat(now, address))
    }

    /// Makes the path to an address of the peer the primary path: new data goes there as long as it works.
    ///
    /// # Errors
    /// [`PathError`].
    pub fn set_primary(&mut self, id: AssocId, address: IpAddr) -> Result<(), PathError> {
        self.call(id, PathError::Closed, |association| association.set_primary(address))
    }

    /// Sets the options of all paths of an association from the local address `local`, which may also be
    /// added later. The options are reported to the peer.
    ///
    /// # Errors
    /// [`PathError::Closed`].
    pub fn set_path_options(
        &mut self,
        now: Instant,
        id: AssocId,
        local: IpAddr,
        options: PathOptions,
    ) -> Result<(), PathError> {
        self.call(id, PathError::Closed, |association| {
            association.set_path_options(now, local, options);
            Ok(())
        })
    }

    /// Adds a local address to an association, for example when an interface comes up. An ASCONF requests
    /// that the peer adds the address (`rfc5061#section-4.2.1`), and
    /// [`Event::AddressChange`](crate::Event::AddressChange) reports the answer. Then the address gets its
    /// paths, which carry data once a heartbeat confirms them. Packets may arrive at the address from now on.
    /// Behind a NAT [`Config::nat_friendly`](crate::Config::nat_friendly) must be on.
    ///
    /// # Errors
    /// [`AddressError`].
    pub fn add_local_address(
        &mut self,
        now: Instant,
        id: AssocId,
        address: IpAddr,
    ) -> Result<(), AddressError> {
        self.call(id, AddressError::Closed, |association| association.add_local(now, address))
    }

    /// Requests by ASCONF that the peer sends to this local address whenever it sends on one path only
    /// (`rfc5061#section-4.2.4`). The address may still wait for the peer to add it.
    ///
    /// # Errors
    /// [`AddressError`].
    pub fn set_peer_primary(
        &mut self,
        now: Instant,
        id: AssocId,
        address: IpAddr,
    ) -> Result<(), AddressError> {
        self.call(id, AddressError::Closed, |association| association.set_peer_primary(now, address))
    }

    /// Adds or replaces an endpoint pair shared key for AUTH (`rfc4895#section-6.1`). Both ends must have the
    /// key before either end activates it; key 0 is empty unless it is set.
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn set_auth_key(&mut self, id: AssocId, key_id: u16, key: &[u8]) -> Result<(), KeyError> {
        self.call(id, KeyError::Closed, |association| association.set_auth_key(key_id, key))
    }

    /// Authenticates packets with this key from now on.
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn activate_auth_key(&mut self, id: AssocId, key_id: u16) -> Result<(), KeyError> {
        self.call(id, KeyError::Closed, |association| association.activate_auth_key(key_id))
    }

    /// Declares that a key, which must not be active, will not be activated again.
    /// [`Event::AuthKeyUnused`](crate::Event::AuthKeyUnused) reports when no chunk that was sent with the
    /// key is outstanding. Packets of the peer with this key are accepted until [`Self::remove_auth_key`].
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn deactivate_auth_key(&mut self, id: AssocId, key_id: u16) -> Result<(), KeyError> {
        self.call(id, KeyError::Closed, |association| association.deactivate_auth_key(key_id))
    }

    /// Removes a key that is not active.
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn remove_auth_key(&mut self, id: AssocId, key_id: u16) -> Result<(), KeyError> {
        self.call(id, KeyError::Closed, |association| association.remove_auth_key(key_id))
    }

    /// The types of chunks that the peer requires to be authenticated (`SCTP_PEER_AUTH_CHUNKS` of
    /// `rfc6458#section-8.2.3`); none without AUTH.
    pub fn peer_auth_chunks(&self, id: AssocId) -> Option<Vec<u8>> {
        self.get(id)?.peer_auth_chunks()
    }

    /// Stops the use of a local address by an association, for example when an interface goes down. Its paths
    /// get another local address or end, and their data in flight is retransmitted elsewhere. A peer with
    /// ASCONF gets a request to delete the address (`rfc5061#section-4.2.2`); any other gets none.
    ///
    /// # Errors
    /// [`AddressError`].
    pub fn remove_local_address(
        &mut self,
        now: Instant,
        id: AssocId,
        address: IpAddr,
    ) -> Result<(), AddressError> {
        self.call(id, AddressError::Closed, |association| association.remove_local(now, address))
    }

    /// Undoes [`Self::remove_local_address`]; a peer with ASCONF gets a request to add the address again.
    ///
    /// # Errors
    /// [`AddressError`].
    pub fn restore_local_address(
        &mut self,
        now: Instant,
        id: AssocId,
        address: IpAddr,
    ) -> Result<(), AddressError> {
        self.call(id, AddressError::Closed, |association| association.restore_local(now, address))
    }

    /// Sets the path MTU, IP header included, towards an address of an association's peer
    /// (`SCTP_PEER_ADDR_PARAMS` of `rfc6458#section-8.1.12`). Longer chunks that already have a TSN are sent
    /// with [`may_fragment`](transport::Transmit::may_fragment).
    ///
    /// # Errors
    /// [`PathError`].
    pub fn set_path_mtu(
        &mut self,
        now: Instant,
        id: AssocId,
        address: IpAddr,
        mtu: ByteCount,
    ) -> Result<(), PathError> {
        self.call(id, PathError::Closed, |association| association.set_path_mtu(now, address, mtu))
    }

    /// Sets the priority of a stream for the [stream scheduler](crate::Config::stream_scheduler) `priority`,
    /// or its weight for `wfq`; the other schedulers ignore the value (`SCTP_STREAM_SCHEDULER_VALUE` of
    /// `rfc8260#section-4.3.3`). The value takes effect when the scheduler next chooses the stream.
    ///
    /// # Errors
    /// [`StreamError`].
    pub fn set_stream_value(&mut self, id: AssocId, stream: StreamId, value: u16) -> Result<(), StreamError> {
        self.call(id, StreamError::Closed, |association| association.set_stream_value(stream, value))
    }

    /// The priority or weight of a stream ([`Self::set_stream_value`]); 0 with a stream scheduler that has
    /// neither, none if the association has ended or has no such stream.
    pub fn stream_value(&self, id: AssocId, stream: StreamId) -> Option<u16> {
        self.get(id)?.stream_value(stream)
    }

    /// Length in bytes of the next message that [`Self::receive`] would return, or of the part of it that has
    /// arrived; none if there is nothing to read.
    pub fn next_message_len(&self, id: AssocId) -> Option<usize> {
        self.get(id)?.next_message_len()
    }

    /// Counts, by stream, the messages and bytes that [`Self::receive`] would return now. Messages that wait
    /// for earlier ones do not count. The cost is proportional to the number of counted messages.
    pub fn unread(&self, id: AssocId) -> BTreeMap<StreamId, Unread> {
        self.get(id).map(Association::unread).unwrap_or_default()
    }

    /// The options of an association that can change while it exists; none if it has ended and all data was
    /// read.
    pub fn options(&self, id: AssocId) -> Option<AssocOptions> {
        self.get(id).map(Association::options)
    }

    /// Changes options of one association. A running timer keeps its deadline, unless the new options give an
    /// earlier deadline.
    ///
    /// # Errors
    /// [`OptionsError`] names an option whose value cannot work; nothing changes then.
    pub fn set_options(
        &mut self,
        now: Instant,
        id: AssocId,
        options: &AssocOptions,
    ) -> Result<(), OptionsError> {
        self.call(id, OptionsError::Closed, |association| Ok(association.set_options(now, options)?))
    }

    /// The state of an association; none if it has ended.
    pub fn state(&self, id: AssocId) -> Option<State> {
        self.get(id)?.state()
    }

    /// The paths of an association in order of their [`PathId`](crate::PathId); none if it has ended and all
    /// data was read.
    pub fn paths(&self, id: AssocId) -> Option<impl Iterator<Item = PathInfo>> {
        self.get(id).map(Association::path_infos)
    }

    /// As [`Self::paths`], but includes paths whose addresses were deleted, with their counters. The path at
    /// index `n` has the number `n`.
    pub fn all_paths(&self, id: AssocId) -> Option<impl Iterator<Item = PathInfo>> {
        self.get(id).map(Association::all_path_infos)
    }

    /// Calls `show` with the inner quantities of the congestion control of path number `path`
    /// ([`CongestionControl::inspect`](cc::CongestionControl::inspect)).
    pub fn inspect(&self, id: AssocId, path: usize, show: &mut dyn FnMut(&'static str, f64)) {
        if let Some(association) = self.get(id) {
            association.inspect(path, show);
        }
    }

    /// The counters and state of an association; none if it has ended and all data was read.
    pub fn stats(&self, id: AssocId) -> Option<AssocStats> {
        self.get(id).map(Association::stats)
    }

    /// The messages that an association abandoned, by stream and policy (`SCTP_PR_STREAM_STATUS` of
    /// `rfc7496#section-4.3`); none if it has ended and all data was read.
    pub fn abandoned(&self, id: AssocId) -> Option<BTreeMap<StreamId, AbandonedByPolicy>> {
        self.get(id).map(Association::abandoned)
    }

    /// The SCTP port of an association's peer; none if the association has ended and all data was read.
    pub fn peer_port(&self, id: AssocId) -> Option<u16> {
        self.get(id).map(Association::peer_port)
    }

    /// The channel of an association's packets (the number of an authenticated peer); none if the
    /// association has ended and all data was read.
    pub fn channel(&self, id: AssocId) -> Option<Channel> {
        self.get(id).map(Association::channel)
    }

    /// The associations that have not ended.
    pub fn associations(&self) -> impl Iterator<Item = AssocId> {
        self.associations
            .iter()
            .filter(|association| !association.is_closed())
            .map(|association| association.id)
    }

    fn get(&self, id: AssocId) -> Option<&Association> {
        self.associations.get(self.associations.slot(id)?)
    }

    /// Applies a change to an association. Returns the error `closed` if the association has ended.
    pub(super) fn call<E>(
        &mut self,
        id: AssocId,
        closed: E,
        f: impl FnOnce(&mut Association) -> Result<(), E>,
    ) -> Result<(), E> {
        match self.get(id) {
            Some(association) if !association.is_closed() => self.change(id, f).unwrap_or(Err(closed)),
            _ => Err(closed),
        }
    }

    pub(super) fn change<T>(&mut self, id: AssocId, f: impl FnOnce(&mut Association) -> T) -> Option<T> {
        let slot = self.associations.slot(id)?;
        let result = f(self.associations.get_mut(slot)?);
        self.schedule(slot);
        Some(result)
    }
}
