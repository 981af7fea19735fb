use sctp::{AssocId, Event, MessageId};
use std::collections::BTreeMap;

/// The reported outcomes of the tracked messages of each association. Each message must have one outcome.
#[derive(Debug, Default)]
pub(super) struct Reports(BTreeMap<AssocId, BTreeMap<u64, bool>>);

impl Reports {
    /// Records that the endpoint accepted a message, or a further piece of a message. With interleaving
    /// several messages may be incomplete. Message ids have no gaps.
    pub(super) fn taken(&mut self, association: AssocId, MessageId(id): MessageId) {
        let all = self.0.entry(association).or_default();
        let next = all.last_key_value().map_or(0, |(last, _)| last + 1);
        assert!(id <= next, "message {id} comes after {next} others");
        // A message whose outcome was reported must not get another piece.
        assert!(!*all.entry(id).or_insert(false), "a piece of message {id}, whose outcome was told");
    }

    pub(super) fn told(&mut self, association: AssocId, event: &Event) {
        match *event {
            Event::Delivered { first, last } => {
                (first.0..=last.0).for_each(|id| self.decided(association, id));
            }
            Event::SendFailed { id: Some(MessageId(id)), .. } => self.decided(association, id),
            Event::Closed { .. } | Event::Restarted => {
                let open = self.0.get(&association).into_iter().flatten().find(|(_, decided)| !**decided);
                assert_eq!(open, None, "{association:?} ended without an outcome of a message");
            }
            _ => {}
        }
    }

    fn decided(&mut self, association: AssocId, id: u64) {
        let before = self.0.get_mut(&association).and_then(|all| all.insert(id, true));
        assert_eq!(before, Some(false), "outcome of message {id} of {association:?}");
    }
}
