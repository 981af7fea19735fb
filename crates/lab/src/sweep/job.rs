use super::store;
use crate::results::RunKey;
use crate::scenario::Variant;

/// A run that the store (the folder of finished runs) does not contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// [`Variant::number`](crate::scenario::Variant::number).
    pub variant: usize,
    /// Replica, from 0.
    pub replica: u32,
    /// Name of the run's folder in the store.
    pub hash: String,
}

/// One run of a sweep.
pub(super) struct Job<'s> {
    pub run: u32,
    pub variant: &'s Variant,
    pub replica: u32,
}

impl Job<'_> {
    pub fn key(&self) -> RunKey<'_> {
        RunKey { run: self.run, replica: self.replica, parameters: &self.variant.parameters }
    }

    /// The description of the run for another process.
    pub fn task(&self) -> Task {
        let hash = store::hash(&self.variant.scenario, self.replica);
        Task { variant: self.variant.number, replica: self.replica, hash }
    }

    /// The name of the run in messages.
    pub fn name(&self) -> String {
        let parameters: Vec<_> =
            self.variant.parameters.iter().map(|(axis, value)| format!(", {axis} = {value}")).collect();
        format!("replica {} (seed {}{})", self.replica, self.variant.scenario.seed, parameters.concat())
    }
}
