/// The pseudo-cumulative TSNs of a path: the index of its earliest outstanding chunk sent once (`pc`), and of
/// its earliest retransmitted one (`rpc`). `None` until the next search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CucState {
    pub(crate) pc: Option<u64>,
    pub(crate) rpc: Option<u64>,
}

impl CucState {
    /// Makes the next SACK search for both TSNs, because a chunk left the path, or left its lists without a
    /// Gap Ack Block.
    pub(crate) fn forget(&mut self) {
        *self = CucState::default();
    }
}
