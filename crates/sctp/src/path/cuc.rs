/// The pseudo-cumulative TSNs of a path: the index of its earliest outstanding chunk that was sent once
/// (`pc`), and of its earliest retransmitted chunk (`rpc`). `None` until the next SACK searches for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CucState {
    pub(crate) pc: Option<u64>,
    pub(crate) rpc: Option<u64>,
}

impl CucState {
    /// Makes the next SACK search for both pseudo-cumulative TSNs: a chunk has moved to another path, or was
    /// removed from the lists of its path without a Gap Ack Block.
    pub(crate) fn forget(&mut self) {
        *self = CucState::default();
    }
}
