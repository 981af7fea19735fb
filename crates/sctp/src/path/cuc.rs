/// The pseudo-cumulative TSNs of a path: the earliest outstanding chunk sent once, and the earliest one sent again; `None`
/// while it has to be looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CucState {
    pub(crate) pc: Option<u64>,
    pub(crate) rpc: Option<u64>,
}

impl CucState {
    /// A chunk of the path is retransmitted on another one, or leaves otherwise than by a gap block: look again for both.
    pub(crate) fn forget(&mut self) {
        *self = CucState::default();
    }
}
