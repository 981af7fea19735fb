//! Paths that start with the rate of an earlier path between the same addresses (`rfc9959`).

use super::Sender;
use crate::config::Resume;
use crate::path::{PathId, Paths};
use crate::saved::{Pair, Saved};
use cc::SavedPath;
use units::Instant;

impl Sender {
    /// Lets paths save their rates in `saved` and resume them from there, unless [`Resume::Off`] is set. Must
    /// be called before [`Self::establish`].
    pub(crate) fn resume_from(&mut self, saved: &Saved) {
        self.saved = (self.config.resume != Resume::Off).then(|| saved.clone());
    }

    /// Lets path `p`, which is new, start with the rate of the last path between its addresses.
    pub(crate) fn resume(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        let Some(saved) = self.saved.as_ref().filter(|_| self.control.is_some()) else { return };
        let set = saved.take(now, (paths[p].local, paths[p].remote));
        self.control(now, paths, |control, views, windows| {
            control.resume(now, views, p.index(), set, windows);
        });
    }

    /// Lets path `p`, which answers again after a failure, resume its earlier rate.
    pub(crate) fn on_return(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        if self.saved.is_some() {
            self.control(now, paths, |control, views, windows| {
                control.on_return(now, views, p.index(), windows);
            });
        }
    }

    /// Saves the rate of path `p` before the path is removed.
    pub(super) fn save(&self, p: PathId, paths: &Paths) {
        if let (Some(saved), Some((pair, set))) = (&self.saved, self.carried(p, paths)) {
            saved.put(pair, set);
        }
    }

    /// Saves the rates of all paths at the end of the association.
    pub(crate) fn save_all(&self, paths: &Paths) {
        for p in paths.ids().filter(|&p| !paths[p].removed) {
            self.save(p, paths);
        }
    }

    /// The addresses of path `p` and its rate; `None` if rates are not saved or that of `p` is not known.
    pub(crate) fn carried(&self, p: PathId, paths: &Paths) -> Option<(Pair, SavedPath)> {
        let control = self.control.as_ref().filter(|_| self.saved.is_some())?;
        Some(((paths[p].local, paths[p].remote), control.saved(p.index())?))
    }
}
