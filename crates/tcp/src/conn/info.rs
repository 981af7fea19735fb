use super::Connection;
use crate::{Info, State, Stats};
use units::ByteCount;

impl Connection {
    pub(crate) fn state(&self) -> State {
        self.phase.state()
    }

    pub(crate) fn stats(&self) -> Stats {
        self.sender.stats
    }

    pub(crate) fn inspect(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.sender.inspect(show);
    }

    pub(crate) fn info(&self) -> Info {
        let sender = &self.sender;
        Info {
            state: self.state(),
            cwnd: ByteCount::new(sender.cwnd()),
            ssthresh: sender.ssthresh(),
            flight: sender.flight(),
            srtt: sender.rto.srtt(),
            rto: sender.rto.current(),
            in_recovery: sender.in_recovery(),
            peer_rwnd: ByteCount::new(sender.peer_rwnd()),
            unsent: ByteCount::new(sender.unsent()),
            smss: ByteCount::new(u64::from(sender.smss())),
        }
    }
}
