//! The sans-IO endpoint for Python: packet bytes in and out, the time as an argument.

use crate::arguments::{
    Address, Addresses, ArrivalNumber, Association, AuthKey, ByteString, Context, Direction, EcnField, Mtu,
    Now, PathNumber, PayloadProtocol, Policy, Port, Randomness, Stream, StreamCount, StreamValue,
};
use crate::arrivals::{Arrival, accept_error, connect_error, list, listen};
use crate::error::{AssociationClosedError, ConfigError, WouldBlockError};
use crate::event::{Event, event};
use crate::info::{Discarded, EndpointStats, Path, Stats, Traffic, state_name};
use crate::packet::{Received, Transmit};
use crate::{live, options};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sctp::{
    ArrivalId, AssocId, Config, Datagram, Encapsulation, EndpointConfig, Icmp, IcmpNews, Listen, Message,
    OptionsError, PathId, Payload, ResetDirection, ResetError, SendError,
};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use transport::{Channel, Checksum, Octets, PacketBuf};
use units::{ByteCount, Instant};
use wire::{Ppid, StreamId};

/// An SCTP endpoint without sockets, threads or a clock.
#[pyclass(subclass, module = "anabranch.endpoint")]
pub struct Endpoint {
    /// Python requires that objects can be shared between threads. The GIL serialises the calls, so the lock
    /// is never contended.
    inner: Mutex<sctp::Endpoint>,
    buffer: PacketBuf,
    config: Arc<Config>,
    listen: Listen,
    traffic: Traffic,
    /// The latest time that was passed to a call.
    latest: Instant,
    /// Addresses of the endpoint.
    #[pyo3(get)]
    addresses: Vec<IpAddr>,
    /// SCTP port of the endpoint.
    #[pyo3(get)]
    port: u16,
}

impl Endpoint {
    fn inner(&mut self) -> &mut sctp::Endpoint {
        self.inner.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the time of a call, and returns the endpoint.
    fn at(&mut self, now: Now) -> &mut sctp::Endpoint {
        self.latest = self.latest.max(now.instant());
        self.inner()
    }

    /// The time at which the times end that a reading call reports: `now`, or else the latest time that was
    /// passed to a call.
    fn time_of_reading(&self, now: Option<Now>) -> Instant {
        now.map_or(self.latest, Now::instant)
    }

    /// The options of the endpoint, overridden by those of one association.
    fn config_over(&self, options: &str) -> PyResult<Arc<Config>> {
        if options.is_empty() {
            return Ok(self.config.clone());
        }
        options::config_over(Config::clone(&self.config), options).map(Arc::new)
    }
}

/// Converts the result of an attempt to begin a reset.
fn begun(result: Result<(), ResetError>) -> PyResult<()> {
    result.map_err(|error| match error {
        ResetError::Closed => AssociationClosedError::new_err(error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    })
}

/// Converts the arguments that describe an ICMP message.
fn icmp(what: &str, mtu: Option<Mtu>) -> PyResult<Icmp> {
    match (what, mtu) {
        ("packet-too-big", Some(mtu)) => Ok(Icmp::PacketTooBig { mtu: ByteCount::new(mtu.0) }),
        ("packet-too-big", None) => Err(PyValueError::new_err(
            "what = \"packet-too-big\" needs mtu: the MTU of the next link, in bytes",
        )),
        ("port-unreachable" | "protocol-unreachable" | "unreachable", Some(_)) => {
            Err(PyValueError::new_err(format!("what = {what:?} has no mtu: only \"packet-too-big\" has one")))
        }
        ("port-unreachable", None) => Ok(Icmp::PortUnreachable),
        ("protocol-unreachable", None) => Ok(Icmp::ProtocolUnreachable),
        ("unreachable", None) => Ok(Icmp::Unreachable),
        _ => Err(PyValueError::new_err(format!(
            "what = {what:?}: expected \"packet-too-big\", \"port-unreachable\", \"protocol-unreachable\" or \"unreachable\""
        ))),
    }
}

impl Now {
    fn instant(self) -> Instant {
        Instant::from_nanos(self.0)
    }
}

impl Association {
    fn id(self) -> AssocId {
        AssocId(self.0)
    }
}

#[pymethods]
impl Endpoint {
    #[new]
    fn new(
        addresses: Addresses,
        port: Port,
        seed: Option<Randomness>,
        checksum: bool,
        max_associations: usize,
        encapsulation: Option<Port>,
        options: &str,
    ) -> PyResult<Self> {
        let config = Arc::new(options::config_over(Config::default(), options)?);
        let settings = EndpointConfig {
            port: port.0,
            addresses: addresses.0,
            seed: seed.map_or_else(Randomness::from_system, Ok)?.0,
            checksum: if checksum { Checksum::Computed } else { Checksum::Offloaded },
            max_associations,
            encapsulation: encapsulation.map(|port| Encapsulation { remote_port: port.0 }),
            config: config.clone(),
        };
        let addresses = settings.addresses.clone();
        let inner = sctp::Endpoint::new(settings).map_err(|error| ConfigError::new_err(error.to_string()))?;
        Ok(Endpoint {
            inner: Mutex::new(inner),
            buffer: PacketBuf::default(),
            config,
            listen: Listen::Off,
            traffic: Traffic::default(),
            latest: Instant::ZERO,
            addresses,
            port: port.0,
        })
    }

    fn __repr__(&mut self) -> String {
        let listen = match self.listen {
            Listen::Off => "does not listen",
            Listen::Accept => "accepts associations",
            Listen::Ask { .. } => "asks before it accepts associations",
        };
        let count = self.inner().associations().count();
        let plural = if count == 1 { "" } else { "s" };
        let (port, addresses) = (self.port, list(&self.addresses));
        format!("<Endpoint at {addresses} port {port}: {listen}, {count} association{plural}>")
    }

    /// Sets who may begin associations with this endpoint.
    ///
    /// ``"accept"`` or True: every peer. ``"off"`` or False: no peer; an INIT is answered with ABORT.
    /// ``"ask"``: each peer for which ``accept`` is called after ``poll_arrival`` returned it. At most
    /// ``waiting`` arrivals wait for that decision; further ones are not answered, and the peer asks again.
    #[pyo3(
        signature = (who = None, *, waiting = 64),
        text_signature = "($self, who=\"accept\", *, waiting=64)"
    )]
    fn listen(&mut self, who: Option<&Bound<'_, PyAny>>, waiting: usize) -> PyResult<()> {
        self.listen = who.map_or(Ok(Listen::Accept), |who| listen(who, waiting))?;
        let who = self.listen;
        self.inner().listen(who);
        Ok(())
    }

    fn _connect(&mut self, now: Now, port: Port, addresses: Addresses, options: &str) -> PyResult<u32> {
        let config = self.config_over(options)?;
        let id = self.at(now).connect_with(now.instant(), port.0, &addresses.0, config, Channel::NONE);
        id.map(|id| id.0).map_err(|error| connect_error(&error, &addresses))
    }

    /// The next peer that requests an association, or None.
    ///
    /// Each peer is returned once, and only after ``listen("ask")``.
    fn poll_arrival(&mut self) -> Option<Arrival> {
        self.inner().poll_arrival().map(Arrival::from)
    }

    fn _accept(&mut self, now: Now, arrival: ArrivalNumber, options: &str) -> PyResult<u32> {
        let config = self.config_over(options)?;
        let id = self.at(now).accept_with(now.instant(), ArrivalId(arrival.0), config);
        id.map(|id| id.0).map_err(|error| accept_error(&error))
    }

    /// Refuses an arrival: the peer gets an ABORT with ``reason``. False if the arrival is gone.
    #[pyo3(
        signature = (arrival, reason = ByteString::EMPTY),
        text_signature = "($self, arrival, reason=b\"\")"
    )]
    fn refuse(&mut self, arrival: ArrivalNumber, reason: ByteString<'_>) -> bool {
        self.inner().refuse(ArrivalId(arrival.0), reason.as_slice())
    }

    /// Processes a packet from the network; ignores and counts an invalid one.
    ///
    /// ``source`` and ``destination`` are the addresses of its IP header, ``ecn`` is the ECN field there (0
    /// to 3). ``udp_port`` is the source port of the UDP header that encapsulated it; 0: none. ``packet``
    /// begins with the SCTP common header.
    #[pyo3(
        signature = (now, source, destination, packet, *, udp_port = Port(0), ecn = EcnField::NOT_CAPABLE),
        text_signature = "($self, now, source, destination, packet, *, udp_port=0, ecn=0)"
    )]
    fn handle(
        &mut self,
        now: Now,
        source: Address,
        destination: Address,
        packet: ByteString<'_>,
        udp_port: Port,
        ecn: EcnField,
    ) {
        let bytes = Octets::from(packet.as_slice());
        self.traffic.on_received(bytes.len());
        let datagram =
            Datagram { udp_port: udp_port.0, ecn: ecn.0, ..Datagram::new(source.0, destination.0, bytes) };
        self.at(now).handle(now.instant(), datagram);
    }

    /// Processes an ICMP message about a packet that the endpoint sent. False if the message had no effect.
    ///
    /// ``source`` and ``destination`` are the addresses of that packet (``source`` None: unknown),
    /// ``udp_port`` is the destination port of its UDP header; 0: none. ``quoted`` is the part of that
    /// packet that the message quotes, from the SCTP common header on: at least 8 bytes with the
    /// verification tag of an association, or 20 bytes of an INIT. Anything else is ignored, since anybody
    /// can send such messages.
    ///
    /// ``what``: ``"packet-too-big"`` (with ``mtu``, that of the next link with the IP header; a hint
    /// with the option ``pmtud``), ``"port-unreachable"``, ``"protocol-unreachable"``, or
    /// ``"unreachable"`` for all else. If a UDP port or protocol is unreachable while the association
    /// waits for the INIT ACK, the address counts as refused. Later, and if anything else is unreachable,
    /// the message counts as an error of the path.
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    #[pyo3(
        signature = (now, source, destination, quoted, what, *, mtu = None, udp_port = Port(0)),
        text_signature = "($self, now, source, destination, quoted, what, *, mtu=None, udp_port=0)"
    )]
    fn on_icmp(
        &mut self,
        now: Now,
        source: Option<Address>,
        destination: Address,
        quoted: ByteString<'_>,
        what: &str,
        mtu: Option<Mtu>,
        udp_port: Port,
    ) -> PyResult<bool> {
        let news = IcmpNews {
            src: source.map(|source| source.0),
            dst: destination.0,
            udp_port: udp_port.0,
            quoted: quoted.as_slice(),
            what: icmp(what, mtu)?,
        };
        Ok(self.at(now).on_icmp(now.instant(), news))
    }

    /// The next packet to send now, or None. Any later call that changes the endpoint may produce more
    /// packets.
    fn poll_transmit(&mut self, py: Python<'_>, now: Now) -> PyResult<Option<Transmit>> {
        self.latest = self.latest.max(now.instant());
        let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(way) = inner.poll_transmit(now.instant(), &mut self.buffer) else { return Ok(None) };
        self.traffic.on_sent(self.buffer.len());
        Transmit::new(py, &way, &self.buffer).map(Some)
    }

    /// The time at which to call ``handle_timeout`` if nothing happens before; None for never.
    fn poll_timeout(&mut self) -> Option<u64> {
        self.inner().poll_timeout().map(Instant::as_nanos)
    }

    /// Runs the expired timers; does nothing if no timer has expired.
    fn handle_timeout(&mut self, now: Now) {
        self.at(now).handle_timeout(now.instant());
    }

    /// The next event, or None.
    fn poll_event(&mut self, py: Python<'_>) -> Option<Event> {
        self.inner().poll_event().map(|(id, what)| event(py, id, what))
    }

    /// Queues a message, or with ``end_of_record`` false the next part of one.
    ///
    /// Returns the number of a ``tracked`` message, counted from 0. One event ``delivered`` or
    /// ``send-failed`` will name it.
    ///
    /// ``stream``: number of the stream. ``ppid``: payload protocol identifier. ``unordered``: the peer
    /// may deliver it before earlier messages of the stream. ``immediate_sack``: asks the peer to
    /// acknowledge the message without delay. ``path``: the ``Path.id`` of the path for the first
    /// transmission; with None the endpoint chooses. ``urgent``: a user waits for the message, so that
    /// neither pacing nor Nagle's rule delays it. ``reliability``: when the message is abandoned, a dict with
    /// one of ``lifetime`` (in seconds), ``retransmissions`` and ``priority``; both ends need ``pr_sctp``.
    /// ``context``: a number that the event ``send-failed`` reports.
    ///
    /// Raises ``WouldBlockError`` when the send buffer is full, ``AssociationClosedError``, or ``ValueError``
    /// for a message that can never be sent.
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    #[pyo3(
        signature = (now, association, data, *, stream = Stream(0), ppid = PayloadProtocol(0), unordered = false,
            immediate_sack = false, end_of_record = true, path = None, urgent = false, tracked = false,
            reliability = Policy::RELIABLE, context = Context(0)),
        text_signature = "($self, now, association, data, *, stream=0, ppid=0, unordered=False, immediate_sack=False, \
                          end_of_record=True, path=None, urgent=False, tracked=False, reliability=None, context=0)"
    )]
    fn send(
        &mut self,
        now: Now,
        association: Association,
        data: ByteString<'_>,
        stream: Stream,
        ppid: PayloadProtocol,
        unordered: bool,
        immediate_sack: bool,
        end_of_record: bool,
        path: Option<PathNumber>,
        urgent: bool,
        tracked: bool,
        reliability: Policy,
        context: Context,
    ) -> PyResult<Option<u64>> {
        let payload = Payload::Bytes(data.into_bytes());
        let (stream, ppid) = (StreamId(stream.0), Ppid(ppid.0));
        let path = path.map(|path| PathId(path.0));
        let message = Message {
            stream,
            ppid,
            unordered,
            immediate_sack,
            end_of_record,
            path,
            urgent,
            tracked,
            reliability: reliability.0,
            context: context.0,
            payload,
        };
        let sent = self.at(now).send(now.instant(), association.id(), message);
        sent.map(|id| id.map(|id| id.0)).map_err(|error| {
            let text = error.to_string();
            match error {
                SendError::WouldBlock => WouldBlockError::new_err(text),
                SendError::Closed => AssociationClosedError::new_err(text),
                _ => PyValueError::new_err(text),
            }
        })
    }

    /// The next message, or at most ``limit`` bytes of it; None if there is none.
    ///
    /// Messages that arrived before the association ended can be read after the closed event.
    #[pyo3(signature = (now, association, limit = None))]
    fn receive(
        &mut self,
        py: Python<'_>,
        now: Now,
        association: Association,
        limit: Option<usize>,
    ) -> Option<Received> {
        let limit = limit.unwrap_or(usize::MAX);
        let message = self.at(now).receive(association.id(), limit)?;
        Some(Received::new(py, &message))
    }

    /// Bytes of the next message, or of what has arrived of a large one; None if there is nothing to read.
    fn next_message_length(&mut self, association: Association) -> Option<usize> {
        self.inner().next_message_len(association.id())
    }

    /// The options that can change while the association exists, by name; None when it is closed.
    fn options<'py>(
        &mut self,
        py: Python<'py>,
        association: Association,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let options = self.inner().options(association.id());
        options.map(|mut options| live::to_dict(py, &mut options)).transpose()
    }

    fn _set_options(&mut self, now: Now, association: Association, options: &str) -> PyResult<bool> {
        let Some(current) = self.inner().options(association.id()) else { return Ok(false) };
        let options = options::live_over(current, options)?;
        let set = self.at(now).set_options(now.instant(), association.id(), &options);
        match set {
            Ok(()) => Ok(true),
            Err(OptionsError::Invalid(error)) => Err(ConfigError::new_err(error.to_string())),
            Err(_) => Ok(false),
        }
    }

    /// The counters of an association, or without ``association`` those of the endpoint.
    ///
    /// The times in ``limited_by`` end at ``now``, or without it at the latest time that was passed to a
    /// call. None when the association is closed and everything was read.
    #[pyo3(signature = (association = None, *, now = None))]
    fn stats(&mut self, association: Option<Association>, now: Option<Now>) -> Option<AnyStats> {
        let now = self.time_of_reading(now);
        match association {
            Some(association) => {
                let stats = self.inner().stats(association.id());
                stats.map(|stats| AnyStats::Association(io::AssocStats::from(stats.until(now)).into()))
            }
            None => {
                let associations = self.inner().associations().count();
                Some(AnyStats::Endpoint(self.traffic.stats(associations)))
            }
        }
    }

    /// The packets discarded so far, by cause.
    fn discarded(&mut self) -> Discarded {
        self.inner().discarded().into()
    }

    /// The SCTP port of the peer; None when the association is closed.
    fn peer_port(&mut self, association: Association) -> Option<u16> {
        self.inner().peer_port(association.id())
    }

    /// Ends the association once everything is delivered.
    fn shutdown(&mut self, now: Now, association: Association) {
        self.at(now).shutdown(now.instant(), association.id());
    }

    /// Ends the association at once, and tells the peer ``reason``.
    ///
    /// Received messages that were not read are lost.
    #[pyo3(
        signature = (now, association, reason = ByteString::EMPTY),
        text_signature = "($self, now, association, reason=b\"\")"
    )]
    fn abort(&mut self, now: Now, association: Association, reason: ByteString<'_>) {
        self.at(now).abort(association.id(), reason.as_slice());
    }

    /// The state of the association; None when it is closed.
    fn state(&mut self, association: Association) -> Option<&'static str> {
        self.inner().state(association.id()).map(state_name)
    }

    /// The numbers of all associations that have not ended.
    fn associations(&mut self) -> Vec<u32> {
        self.inner().associations().map(|id| id.0).collect()
    }

    /// The paths of an association in the order of their numbers; empty when it is closed.
    ///
    /// Times end at ``now``, or without it at the latest time that was passed to a call.
    #[pyo3(signature = (association, *, now = None))]
    fn paths(&mut self, association: Association, now: Option<Now>) -> Vec<Path> {
        let now = self.time_of_reading(now);
        let paths = self.inner().paths(association.id());
        paths.map_or_else(Vec::new, |paths| {
            paths.map(|path| io::PathInfo::from(path.until(now)).into()).collect()
        })
    }

    /// Makes the path to ``address`` the primary path. False if there is no such path, or it is not
    /// confirmed.
    fn set_primary(&mut self, association: Association, address: Address) -> bool {
        self.inner().set_primary(association.id(), address.0).is_ok()
    }

    /// Sets the value of a stream for the stream scheduler.
    ///
    /// The value is the priority for the scheduler ``priority`` and the weight for ``wfq``. False if there is
    /// no such stream, or the weight is 0.
    fn set_stream_value(&mut self, association: Association, stream: Stream, value: StreamValue) -> bool {
        self.inner().set_stream_value(association.id(), StreamId(stream.0), value.0).is_ok()
    }

    /// Sends a HEARTBEAT on the path to ``address``; an event reports the answer. False
    /// if there is no such path.
    fn heartbeat(&mut self, now: Now, association: Association, address: Address) -> bool {
        self.at(now).heartbeat(now.instant(), association.id(), address.0).is_ok()
    }

    /// Begins to reset streams: all, or those listed. ``direction`` is ``outgoing``, ``incoming`` or
    /// ``both``.
    ///
    /// An event ``streams-reset`` reports the result for each direction. Messages queued meanwhile are sent
    /// after the reset. Raises ValueError, with an explanation, if nothing was begun.
    #[pyo3(
        signature = (now, association, direction = Direction(ResetDirection::Outgoing), streams = None),
        text_signature = "($self, now, association, direction=\"outgoing\", streams=None)"
    )]
    fn reset_streams(
        &mut self,
        now: Now,
        association: Association,
        direction: Direction,
        streams: Option<Vec<Stream>>,
    ) -> PyResult<()> {
        let streams: Vec<_> = streams.into_iter().flatten().map(|stream| StreamId(stream.0)).collect();
        begun(self.at(now).reset_streams(now.instant(), association.id(), direction.0, &streams))
    }

    /// Begins to add streams: ``outgoing`` on which the endpoint sends, ``incoming`` on which the peer sends.
    ///
    /// An event ``streams-added`` reports the result for each direction. Raises ValueError if nothing was
    /// begun.
    fn add_streams(
        &mut self,
        now: Now,
        association: Association,
        outgoing: StreamCount,
        incoming: StreamCount,
    ) -> PyResult<()> {
        begun(self.at(now).add_streams(now.instant(), association.id(), outgoing.0, incoming.0))
    }

    /// Begins to reset all streams of both directions, and the TSNs.
    ///
    /// An event ``streams-reset`` reports the result. Raises ValueError if nothing was begun.
    fn reset_association(&mut self, now: Now, association: Association) -> PyResult<()> {
        begun(self.at(now).reset_association(now.instant(), association.id()))
    }

    /// Sets the path MTU towards ``address``, in bytes with the IP header.
    ///
    /// False if there is no such path, or ``mtu`` is not 576 to 65535.
    fn set_path_mtu(&mut self, now: Now, association: Association, address: Address, mtu: Mtu) -> bool {
        self.at(now).set_path_mtu(now.instant(), association.id(), address.0, ByteCount::new(mtu.0)).is_ok()
    }

    /// Sets the UDP port to which packets for ``address`` of the peer are sent; 0: packets are not
    /// encapsulated.
    ///
    /// The port is used until a packet from the address has another source port. False if there is no such
    /// path, or the endpoint has no ``encapsulation``.
    fn set_remote_port(&mut self, association: Association, address: Address, udp_port: Port) -> bool {
        self.inner().set_remote_port(association.id(), address.0, udp_port.0).is_ok()
    }

    /// Asks the peer by ASCONF to add a local address to an association, for example when an interface comes
    /// up.
    ///
    /// An event reports the answer; then heartbeats confirm the new paths. False if the association has the
    /// address already, has 16 addresses, is not established, or its peer has no ASCONF.
    fn add_local_address(&mut self, now: Now, association: Association, address: Address) -> bool {
        self.at(now).add_local_address(now.instant(), association.id(), address.0).is_ok()
    }

    /// Asks the peer by ASCONF to use a local address as its primary path.
    ///
    /// An event reports the answer. False if the association does not have the address, is not established,
    /// or its peer has no ASCONF.
    fn set_peer_primary(&mut self, now: Now, association: Association, address: Address) -> bool {
        self.at(now).set_peer_primary(now.instant(), association.id(), address.0).is_ok()
    }

    /// Adds or replaces a key for AUTH. False if the association has ended or has 64 keys.
    fn set_auth_key(&mut self, association: Association, key: AuthKey, secret: ByteString<'_>) -> bool {
        self.inner().set_auth_key(association.id(), key.0, secret.as_slice()).is_ok()
    }

    /// Authenticates packets with this key from now on. False if there is no such key.
    fn activate_auth_key(&mut self, association: Association, key: AuthKey) -> bool {
        self.inner().activate_auth_key(association.id(), key.0).is_ok()
    }

    /// Declares that this key, which must not be active, will not be activated again.
    ///
    /// An event reports when no outstanding data needs the key.
    ///
    /// False if there is no such key, or it is active.
    fn deactivate_auth_key(&mut self, association: Association, key: AuthKey) -> bool {
        self.inner().deactivate_auth_key(association.id(), key.0).is_ok()
    }

    /// Removes a key. False if there is no such key, or it is active.
    fn remove_auth_key(&mut self, association: Association, key: AuthKey) -> bool {
        self.inner().remove_auth_key(association.id(), key.0).is_ok()
    }

    /// Ends the use of a local address by an association, for example when its interface goes down.
    ///
    /// The paths from the address use another local address or end; their chunks in flight are retransmitted
    /// on other paths. If the peer supports ASCONF, the endpoint asks it to delete the address; otherwise the
    /// peer is not informed. False, and nothing changes, if the association has ended, does not use the
    /// address, or would have no path left.
    fn remove_local_address(&mut self, now: Now, association: Association, address: Address) -> bool {
        self.at(now).remove_local_address(now.instant(), association.id(), address.0).is_ok()
    }

    /// Uses a local address again that ``remove_local_address`` removed.
    ///
    /// The address is used once a peer with ASCONF has added it again. False if it was not removed before.
    fn restore_local_address(&mut self, now: Now, association: Association, address: Address) -> bool {
        self.at(now).restore_local_address(now.instant(), association.id(), address.0).is_ok()
    }
}

/// The result of `stats`.
#[derive(IntoPyObject)]
enum AnyStats {
    Association(Stats),
    Endpoint(EndpointStats),
}
