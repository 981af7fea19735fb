//! Captures of the interfaces of a network.

use super::Network;
use crate::capture::{Capture, CaptureOptions, Sighting, Tap};
use crate::ids::{LinkId, NodeId};
use crate::packet::PacketId;
use crate::parcel::Parcel;
use std::io::{self, Write};
use units::Instant;

impl Network {
    /// Begins to capture interfaces in one pcapng file. Each interface is given by link, node, and its name
    /// in the file.
    ///
    /// The file has packets sent, packets received (by a host, after its processing time), and packets
    /// dropped on the way out, with the cause as a comment. A packet counts as sent when an
    /// [`Admission`](crate::Admission) accepts it, or when a [`Server`](crate::Server) selects it.
    ///
    /// # Errors
    /// Errors of `sink`; and [`io::ErrorKind::InvalidInput`] if a node is not at an end of its link, or the
    /// interface is already captured.
    pub fn capture(
        &mut self,
        interfaces: &[(LinkId, NodeId, &str)],
        sink: Box<dyn Write + Send>,
        options: CaptureOptions,
    ) -> io::Result<()> {
        let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what);
        let mut names = Vec::with_capacity(interfaces.len());
        let mut directions = Vec::with_capacity(interfaces.len());
        for &(link, node, name) in interfaces {
            let ends = [link.forward(), link.backward()];
            let inward = ends.into_iter().find(|direction| self.channels[direction.index()].to == node.0);
            let inward = inward.ok_or_else(|| invalid("the node is not at an end of the link"))?;
            let taps = &self.channels[inward.index()].taps;
            if taps.as_ref().is_some_and(|taps| taps.receiver.is_some()) || directions.contains(&inward) {
                return Err(invalid("the interface is captured already"));
            }
            names.push(name);
            directions.push(inward);
        }
        self.captures.push(Capture::new(sink, &names, options)?);
        for (interface, inward) in directions.into_iter().enumerate() {
            let tap = Some(Tap { capture: self.captures.len() as u16 - 1, interface: interface as u32 });
            self.channels[inward.index()].taps.get_or_insert_default().receiver = tap;
            self.channels[inward.reverse().index()].taps.get_or_insert_default().sender = tap;
        }
        Ok(())
    }

    /// Ends all captures and writes out their buffers. Returns for each capture the number of packets that
    /// were left out because of its limit.
    ///
    /// # Errors
    /// The first error of a sink.
    pub fn finish_captures(&mut self) -> io::Result<Vec<u64>> {
        for channel in &mut self.channels {
            if let Some(taps) = &mut channel.taps {
                (taps.sender, taps.receiver) = (None, None);
            }
        }
        let results: Vec<io::Result<u64>> = self.captures.drain(..).map(Capture::finish).collect();
        results.into_iter().collect()
    }

    #[cold]
    pub(super) fn record_sent(
        &mut self,
        now: Instant,
        direction: u32,
        packet: PacketId,
        parcel: Parcel,
        sighting: Sighting,
    ) {
        if let Some(tap) = self.channels[direction as usize].taps.as_ref().and_then(|taps| taps.sender) {
            self.record(now, tap, packet, parcel.hops(), sighting);
        }
    }

    #[cold]
    pub(super) fn record(&mut self, now: Instant, tap: Tap, packet: PacketId, hops: u8, sighting: Sighting) {
        let (stored, head) = (self.pool.get(packet), self.pool.head(packet));
        let capture = &mut self.captures[usize::from(tap.capture)];
        capture.record(now, tap.interface, sighting, &self.addresses, (stored, head), hops);
    }
}
