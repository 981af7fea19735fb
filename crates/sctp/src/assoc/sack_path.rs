//! Selection of the path of a SACK (paper 001, section 4.1; `rfc9260#section-6.4`).

use super::Association;
use crate::config::SackPath;
use crate::path::PathId;
use crate::rx::Receiver;
use units::Span;

impl Association {
    /// The path for the next SACK. If the selected path is not active, the SACK is sent on the path that the data
    /// arrived on.
    #[inline]
    pub(super) fn sack_path(&self, receiver: &Receiver) -> PathId {
        let source = receiver.sack_path();
        // The path of the data may have been removed.
        let source = if self.paths[source].is_unconfirmed() { self.paths.default_path() } else { source };
        match self.config().sack_path {
            SackPath::Standard => source,
            choice => self.chosen_sack_path(choice).unwrap_or(source),
        }
    }

    fn chosen_sack_path(&self, choice: SackPath) -> Option<PathId> {
        let paths = &self.paths;
        let active = paths.ids().filter(|&p| paths[p].is_active());
        match choice {
            SackPath::Standard => None,
            SackPath::Primary => active.into_iter().find(|&p| p == paths.primary),
            SackPath::RoundRobin => active.min_by_key(|&p| paths[p].last_sack),
            SackPath::SmallestSrtt => active.min_by_key(|&p| paths[p].rto.srtt().unwrap_or(Span::MAX)),
        }
    }
}
