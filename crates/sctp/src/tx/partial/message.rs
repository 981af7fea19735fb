//! Abandons a whole message: its chunks, and its pieces that were not sent yet.

use super::super::delivery::Failure;
use super::{Mark, Partial, Record, RecordId, Sender};
use crate::chunks::Fragment;
use crate::message::{Abandoned, Message, Payload, Reliability};
use crate::path::Paths;
use units::Instant;
use wire::DataFlags;

impl Sender {
    /// Abandons the message to which record `id` belongs (`rfc3758#section-3.5`, rule A3). The caller must
    /// then advance the Advanced.Peer.Ack.Point.
    #[cold]
    pub(super) fn abandon_message(&mut self, now: Instant, id: RecordId, paths: &mut Paths) {
        let Some(partial) = &mut self.partial else { return };
        let Some(record) = partial.records.remove(id) else { return };
        partial.forget(&record);
        partial.count(&record);
        let mut parts = self.abandon_chunks(id, &record, paths);
        let first = record.first_piece();
        let waiting = self.queue.abandon(id, record.stream, first);
        if record.tsns.is_some() && !record.ended {
            self.queue.give_up_begun(record.stream, !waiting.is_empty());
            self.burn(now, &record, paths);
        }
        parts.extend(waiting);
        if let (Some(id), Some(deliveries)) = (record.tag.id(), &mut self.deliveries) {
            deliveries.abandoned(id);
        }
        let payload = Payload::concat(parts);
        let failure = Failure {
            id: record.tag.id(),
            tsn: record.tsns.filter(|_| record.ended).map(|tsns| super::Outstanding::tsn(tsns.first)),
            sent: record.tsns.is_some(),
            abandoned: true,
            message: Message {
                stream: record.stream,
                ppid: record.ppid,
                unordered: record.unordered,
                tracked: record.tag.id().is_some(),
                reliability: record.reliability,
                context: record.context,
                ..Message::new(payload)
            },
        };
        if let Some(partial) = &mut self.partial {
            partial.untold.push_back(failure);
        }
    }

    /// Abandons the chunks of a message. Returns the bytes of each chunk that the peer did not acknowledge.
    fn abandon_chunks(&mut self, id: RecordId, record: &Record, paths: &mut Paths) -> Vec<Payload> {
        let Some(tsns) = record.tsns else { return Vec::new() };
        let mut parts = Vec::new();
        for i in tsns.first.max(self.out.first_index())..=tsns.last {
            if self.out.message_of(i) != id {
                continue;
            }
            self.out.take_message(i);
            self.out.take_tag(i);
            if !self.out[i].is_acked() {
                parts.push(self.out.payload_of(i));
            }
            self.abandon(i, paths);
        }
        parts
    }

    /// Ends an abandoned message that was sent in part. A FORWARD TSN must not end in the middle of a
    /// message. So the unsent rest gets one TSN, as an empty last fragment that is never sent.
    fn burn(&mut self, now: Instant, record: &Record, paths: &mut Paths) {
        let Some(last) = record.tsns.map(|tsns| tsns.last) else { return };
        let is_outstanding = self.out.indices().contains(&last);
        let path = if is_outstanding { self.out[last].path } else { paths.default_path() };
        let fragment = Fragment {
            payload: Payload::Filler(0),
            flags: DataFlags { unordered: record.unordered, ending: true, ..DataFlags::default() },
            stream: record.stream,
            number: record.number,
            fsn: 0,
            ppid: record.ppid,
            tag: Default::default(),
            record: RecordId::default(),
        };
        let i = self.out.push(fragment, 0, path);
        let chunk = &mut self.out[i];
        chunk.sent_at = now;
        chunk.state = super::ChunkState::Abandoned;
        chunk.mark(Mark::Abandoned);
        paths[path].cuc.forget();
    }
}

impl Partial {
    /// Counts an abandoned message (`rfc7496#section-4.3`).
    fn count(&mut self, record: &Record) {
        let sent = record.tsns.is_some();
        for counts in [self.counts.entry(record.stream.0).or_default(), &mut self.total] {
            let count = match record.reliability {
                Reliability::Until(_) => &mut counts.until,
                Reliability::Retransmissions(_) => &mut counts.retransmissions,
                Reliability::Priority(_) | Reliability::Reliable => &mut counts.priority,
            };
            *count += Abandoned { unsent: u64::from(!sent), sent: u64::from(sent) };
        }
    }
}
