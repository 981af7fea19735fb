//! ECNE and CWR (draft-stewart-tsvwg-sctpecn-07).

use super::Association;
use super::control::Pending;
use crate::path::PathId;
use crate::tx::Echoed;
use units::Instant;
use wire::{Cwr, Ecne};

impl Association {
    /// Processes an ECNE. Each ECNE is answered, since a CWR may be lost. The CWR is sent on the path of the
    /// marked packet, or on the default path if that path is not active.
    pub(super) fn on_ecne(&mut self, now: Instant, ecne: &Ecne) {
        if !self.phase.sends_data() {
            return;
        }
        let Echoed { path, cwr } = self.sender.on_ecne(now, ecne, &mut self.paths);
        let (path, cwr) = match path.filter(|&p| self.paths[p].is_active()) {
            Some(p) => (p, cwr),
            None => (self.paths.default_path(), Cwr { all_paths: true, ..cwr }),
        };
        self.control.push(path, Pending::Cwr(cwr));
    }

    /// Processes a CWR that arrived on `path`.
    pub(super) fn on_cwr(&mut self, path: PathId, cwr: &Cwr) {
        if let Some(receiver) = &mut self.receiver {
            receiver.on_cwr(path, cwr);
        }
    }
}
