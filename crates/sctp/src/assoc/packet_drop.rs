//! Reports of packets that arrived damaged (draft-stewart-sctp-pktdrprep-16).
//!
//! A report proves little: anybody who sees the packets of an association can forge a report. So only a
//! report from a middlebox reduces cwnd, and data is sent again only if the report repeats its payload.

use super::Association;
use super::control::Pending;
use super::damaged::Damaged;
use super::phase::Phase;
use crate::ext::Ext;
use crate::path::PathId;
use crate::rx::Receiver;
use transport::Datagram;
use units::{Instant, Span};
use wire::{
    Asconf, Chunk, CookieEcho, DroppedChunk, ForwardTsn, Heartbeat, IForwardTsn, NrSack, Packet, PacketDrop,
    ReConfig, Sack, Shutdown, ShutdownAck,
};

/// Largest number of reports per second on a path.
const REPORTS: u8 = 10;

/// Start of the current second and number of reports in it, by path.
#[derive(Debug, Default)]
pub(super) struct ReportLimit {
    paths: Vec<(Instant, u8)>,
}

impl ReportLimit {
    /// Counts a report on path `p`; true if it may be sent.
    fn allow(&mut self, now: Instant, p: PathId) -> bool {
        if self.paths.len() <= p.index() {
            self.paths.resize(p.index() + 1, (Instant::ZERO, 0));
        }
        let (since, count) = &mut self.paths[p.index()];
        if now.since(*since) >= Span::from_secs(1) {
            (*since, *count) = (now, 0);
        }
        *count = count.saturating_add(1);
        *count <= REPORTS
    }
}

impl Association {
    /// Reports to the source of a packet that its checksum was wrong; false if it may not be reported.
    pub(crate) fn report_damaged(
        &mut self,
        now: Instant,
        datagram: &Datagram<'_>,
        packet: &Packet<'_>,
    ) -> bool {
        if !self.extensions.has(Ext::PacketDrop) || !self.phase.is_open() || !may_be_reported(packet) {
            return false;
        }
        let Some(p) = self.paths.of(datagram).filter(|&p| !self.paths[p].is_unconfirmed()) else {
            return false;
        };
        if !self.reports.allow(now, p) {
            return false;
        }
        let sack = self.receiver.as_ref().map_or(0, Receiver::least_sack_len);
        let limit = self.paths[p].packet_limit().saturating_sub(sack);
        self.control.push(p, Pending::PacketDrop(Damaged::of(datagram.bytes, limit)));
        true
    }

    /// Processes a report that arrived on path `from`. Chunks of a packet with a wrong checksum are sent
    /// again. Any other report counts only if it is from a middlebox, which reports the rate of its link.
    pub(super) fn on_packet_drop(&mut self, now: Instant, from: PathId, report: &PacketDrop<'_>) {
        if report.bad_checksum {
            for chunk in report.chunks() {
                match chunk {
                    DroppedChunk::Data { tsn, payload } if self.phase.sends_data() => {
                        self.sender.on_damaged(now, tsn, payload, &mut self.paths);
                    }
                    DroppedChunk::Data { .. } => {}
                    DroppedChunk::Control { chunk_type } => self.repeat(now, from, chunk_type),
                }
            }
        } else if report.from_middlebox && self.phase.sends_data() {
            let (rate, on_queue) = (report.max_rate, report.on_queue);
            self.sender.on_bandwidth_report(now, from, rate, on_queue, &mut self.paths);
        }
    }

    /// Repeats a control chunk of a packet that arrived damaged at the peer, if the chunk is still needed.
    fn repeat(&mut self, now: Instant, from: PathId, chunk_type: u8) {
        match (chunk_type, &self.phase) {
            (Sack::TYPE | NrSack::TYPE, phase) if phase.is_open() => {
                if let Some(receiver) = &mut self.receiver {
                    receiver.sack_now();
                }
            }
            (Heartbeat::TYPE, _) if self.paths[from].heartbeat.is_awaited() => {
                self.control.push(from, Pending::Heartbeat);
            }
            (Shutdown::TYPE, Phase::ShutdownSent { .. }) => self.control.push(from, Pending::Shutdown),
            (ShutdownAck::TYPE, Phase::ShutdownAckSent { .. }) => {
                self.control.push(from, Pending::ShutdownAck);
            }
            (ReConfig::TYPE, _) => {
                let request = self.re_config.as_deref().and_then(|config| config.request());
                if let Some(request) = request {
                    self.control.push(from, Pending::ReConfig(request.to_vec()));
                }
            }
            (Asconf::TYPE, _) => {
                if let Some(t4) = &mut self.t4 {
                    t4.repeat();
                }
            }
            (ForwardTsn::TYPE | IForwardTsn::TYPE, _) => self.sender.repeat_forward(now),
            (CookieEcho::TYPE, Phase::CookieEchoed { .. }) => {
                self.control.push_first(from, Pending::CookieEcho)
            }
            _ => {}
        }
    }
}

/// False if a report could cause another report, or if the packet may belong to no association.
fn may_be_reported(packet: &Packet<'_>) -> bool {
    !packet.chunks().map_while(Result::ok).any(|chunk| {
        matches!(chunk, Chunk::Abort(_) | Chunk::Init(_) | Chunk::InitAck(_) | Chunk::PacketDrop(_))
    })
}
