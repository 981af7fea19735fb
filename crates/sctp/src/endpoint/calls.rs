//! Calls of the user for an existing association.

use super::Endpoint;
use super::names::enter;
use crate::assoc::{AssocOptions, AssocStats, Association, PathInfo, State};
use crate::event::{AssocId, ResetDirection, ResetError};
use crate::message::{AbandonedByPolicy, Message, MessageId, Received, SendError, Unread};
use crate::path::PathOptions;
use std::collections::BTreeMap;
use std::net::IpAddr;
use transport::ConfigError;
use units::{ByteCount, Instant};
use wire::StreamId;

impl Endpoint {
    /// Queues a message, also during the handshake. Returns the number of a [tracked](Message::tracked) one.
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
    pub fn receive(&mut self, _now: Instant, id: AssocId, max: usize) -> Option<Received> {
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
    pub fn abort(&mut self, _now: Instant, id: AssocId, reason: &[u8]) {
        self.change(id, |association| association.abort(reason));
    }

    /// Begins to reset streams of an association: the listed ones, or all if the list is empty (`rfc6525`).
    /// Their next messages are numbered from 0. Earlier messages on our streams are delivered first; later
    /// ones wait. [`Event::StreamsReset`](crate::Event::StreamsReset) reports the outcome for each direction.
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

    /// Sends a heartbeat to an address of the peer now (`rfc9260#section-11.1`); false if the association has
    /// no path to it or sends no heartbeats in its state.
    pub fn heartbeat(&mut self, now: Instant, id: AssocId, address: IpAddr) -> bool {
        self.change(id, |association| association.heartbeat(now, address)).unwrap_or(false)
    }

    /// Makes an address of the peer the primary one, to which new data goes while it works. False if the
    /// address has no path, or is not confirmed.
    pub fn set_primary(&mut self, id: AssocId, address: IpAddr) -> bool {
        self.change(id, |association| association.set_primary(address)).unwrap_or(false)
    }

    /// Sets the options of all paths of an association from `local`, a local address that may be added later.
    /// The peer is informed. False if the association has ended.
    pub fn set_path_options(
        &mut self,
        now: Instant,
        id: AssocId,
        local: IpAddr,
        options: PathOptions,
    ) -> bool {
        self.change(id, |association| association.set_path_options(now, local, options)).is_some()
    }

    /// Adds a local address to an association, for example when an interface comes up. The peer is asked by
    /// ASCONF (`rfc5061#section-4.2.1`), and [`Event::AddressChange`](crate::Event::AddressChange) reports
    /// its answer. Then the address gets paths, which carry data once a heartbeat confirms them. Packets may
    /// arrive at the address from now on. Behind a NAT [`Config::nat_friendly`](crate::Config::nat_friendly)
    /// must be on. False if the association has the address already or has 16 addresses, is not established,
    /// or its peer does not support ASCONF.
    pub fn add_local_address(&mut self, now: Instant, id: AssocId, address: IpAddr) -> bool {
        self.change(id, |association| association.add_local(now, address)).unwrap_or(false)
    }

    /// Asks the peer by ASCONF to send to this local address whenever it sends on one path only
    /// (`rfc5061#section-4.2.4`). An address that is being added counts, too. False if the
    /// association does not have the address, is not established, or its peer does not support ASCONF.
    pub fn set_peer_primary(&mut self, now: Instant, id: AssocId, address: IpAddr) -> bool {
        self.change(id, |association| association.set_peer_primary(now, address)).unwrap_or(false)
    }

    /// Adds or replaces an endpoint pair shared key for AUTH (`rfc4895#section-6.1`). Both ends need it
    /// before either activates it; key 0 is empty until it is set. False if the association has ended or has
    /// 64 keys.
    pub fn set_auth_key(&mut self, id: AssocId, key_id: u16, key: &[u8]) -> bool {
        self.change(id, |association| association.set_auth_key(key_id, key)).unwrap_or(false)
    }

    /// Authenticates packets with this key from now on. False if the association has ended or lacks the key.
    pub fn activate_auth_key(&mut self, id: AssocId, key_id: u16) -> bool {
        self.change(id, |association| association.activate_auth_key(key_id)).unwrap_or(false)
    }

    /// Retires a key that is not active. [`Event::AuthKeyUnused`](crate::Event::AuthKeyUnused) reports when
    /// no chunk that was sent with it is outstanding. Packets of the peer with this key are accepted until
    /// [`Self::remove_auth_key`]. False if there is no key with this identifier, or it is active.
    pub fn deactivate_auth_key(&mut self, id: AssocId, key_id: u16) -> bool {
        self.change(id, |association| association.deactivate_auth_key(key_id)).unwrap_or(false)
    }

    /// Removes a key; false if there is no key with this identifier, or it is active.
    pub fn remove_auth_key(&mut self, id: AssocId, key_id: u16) -> bool {
        self.change(id, |association| association.remove_auth_key(key_id)).unwrap_or(false)
    }

    /// Removes a local address from an association, for example when an interface goes down. Its paths get
    /// another source address or end, and their chunks in flight are retransmitted elsewhere. A peer with
    /// ASCONF is asked to delete the address (`rfc5061#section-4.2.2`), any other is not informed. False,
    /// without a change, if the association has ended, does not use the address, or would have no path left.
    pub fn remove_local_address(&mut self, now: Instant, id: AssocId, address: IpAddr) -> bool {
        self.change(id, |association| association.remove_local(now, address)).unwrap_or(false)
    }

    /// Undoes [`Self::remove_local_address`]; a peer with ASCONF is asked to add the address again. False if
    /// the association has ended, or the address was not removed.
    pub fn restore_local_address(&mut self, now: Instant, id: AssocId, address: IpAddr) -> bool {
        self.change(id, |association| association.restore_local(now, address)).unwrap_or(false)
    }

    /// Sets the path MTU, IP header included, towards an address of the peer (`SCTP_PEER_ADDR_PARAMS` of
    /// `rfc6458#section-8.1.12`). Longer chunks with a TSN leave with
    /// [`may_fragment`](transport::Transmit::may_fragment). False if the address has no path, or the MTU is
    /// not 576 to 65535 bytes.
    pub fn set_path_mtu(&mut self, now: Instant, id: AssocId, address: IpAddr, mtu: ByteCount) -> bool {
        self.change(id, |association| association.set_path_mtu(now, address, mtu)).unwrap_or(false)
    }

    /// Sets the priority of a stream for the [stream scheduler](crate::Config::stream_scheduler) `priority`,
    /// or its weight for `wfq` (`SCTP_STREAM_SCHEDULER_VALUE` of `rfc8260#section-4.3.3`). Other schedulers
    /// ignore the value. It counts from the next turn of the stream. False if the association has ended or
    /// lacks the stream, or if the weight is 0.
    pub fn set_stream_value(&mut self, id: AssocId, stream: StreamId, value: u16) -> bool {
        self.change(id, |association| association.set_stream_value(stream, value)).unwrap_or(false)
    }

    /// Bytes of the next message that [`Self::receive`] would return, or of its part that has arrived; none
    /// if there is nothing to read.
    pub fn next_message_len(&self, id: AssocId) -> Option<usize> {
        self.get(id)?.next_message_len()
    }

    /// The messages that [`Self::receive`] would return, by stream, without those that wait for earlier
    /// messages. The cost is proportional to the number of waiting messages.
    pub fn unread(&self, id: AssocId) -> BTreeMap<StreamId, Unread> {
        self.get(id).map(Association::unread).unwrap_or_default()
    }

    /// The options of an association that can change while it exists; none if it has ended.
    pub fn options(&self, id: AssocId) -> Option<AssocOptions> {
        self.get(id).map(Association::options)
    }

    /// Changes options of one association. Running timers keep their deadlines unless the new ones are
    /// earlier. False if the association has ended.
    ///
    /// # Errors
    /// [`ConfigError`] names an option with an invalid value; nothing changes then.
    pub fn set_options(
        &mut self,
        now: Instant,
        id: AssocId,
        options: &AssocOptions,
    ) -> Result<bool, ConfigError> {
        self.change(id, |association| association.set_options(now, options))
            .transpose()
            .map(|set| set.is_some())
    }

    /// The state of an association; none if it has ended.
    pub fn state(&self, id: AssocId) -> Option<State> {
        self.get(id)?.state()
    }

    /// The paths of an association in order of their [`PathId`](crate::PathId); none if it has ended.
    pub fn paths(&self, id: AssocId) -> Option<impl Iterator<Item = PathInfo>> {
        self.get(id).map(Association::path_infos)
    }

    /// As [`Self::paths`], including paths whose addresses were deleted: their counters stay, and the path at
    /// place `n` has the number `n`.
    pub fn all_paths(&self, id: AssocId) -> Option<impl Iterator<Item = PathInfo>> {
        self.get(id).map(Association::all_path_infos)
    }

    /// The counters and state of an association; none if it has ended and all data was read.
    pub fn stats(&self, id: AssocId) -> Option<AssocStats> {
        self.get(id).map(Association::stats)
    }

    /// The messages that an association abandoned, by stream and policy (`SCTP_PR_STREAM_STATUS` of
    /// `rfc7496#section-4.3`); none if it has ended.
    pub fn abandoned(&self, id: AssocId) -> Option<BTreeMap<StreamId, AbandonedByPolicy>> {
        self.get(id).map(Association::abandoned)
    }

    /// The SCTP port of an association's peer; none if the association has ended.
    pub fn peer_port(&self, id: AssocId) -> Option<u16> {
        self.get(id).map(Association::peer_port)
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

    pub(super) fn change<T>(&mut self, id: AssocId, f: impl FnOnce(&mut Association) -> T) -> Option<T> {
        let slot = self.associations.slot(id)?;
        let result = f(self.associations.get_mut(slot)?);
        self.schedule(slot);
        Some(result)
    }
}
