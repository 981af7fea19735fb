//! Echoes of ECN marks: each SACK carries an ECNE until a CWR answers it (draft-stewart-tsvwg-sctpecn-07).

use crate::path::PathId;
use wire::{Cwr, Ecne, Encode, PacketWriter, Tsn};

/// ECN marks that no CWR has answered yet, at most one entry for each path.
#[derive(Debug, Default)]
pub(super) struct Echoes {
    waiting: Vec<Echo>,
}

/// ECN marks of one path that no CWR has answered yet.
#[derive(Debug)]
struct Echo {
    path: PathId,
    /// The first TSN of the latest marked packet.
    tsn: Tsn,
    packets: u32,
}

impl Echoes {
    /// Records a marked packet that arrived on `path`. `tsn` is the first TSN in the packet.
    pub(super) fn note(&mut self, path: PathId, tsn: Tsn) {
        match self.waiting.iter_mut().find(|echo| echo.path == path) {
            Some(echo) => {
                echo.packets = echo.packets.saturating_add(1);
                if echo.tsn.precedes(tsn) {
                    echo.tsn = tsn;
                }
            }
            None => self.waiting.push(Echo { path, tsn, packets: 1 }),
        }
    }

    /// Processes a CWR of the peer, which arrived on `path`. The CWR answers marks of TSNs up to its own TSN:
    /// those of this path, or those of all paths if the CWR has that flag. A mark with exactly the TSN of the
    /// CWR is answered on any path.
    pub(super) fn answered(&mut self, path: PathId, cwr: &Cwr) {
        self.waiting.retain(|echo| {
            let covered = (cwr.all_paths || echo.path == path) && !cwr.tsn.precedes(echo.tsn);
            !covered && echo.tsn != cwr.tsn
        });
        if self.waiting.is_empty() {
            self.waiting = Vec::new(); // marks are rare; free the memory
        }
    }

    /// Length in bytes of the ECNE chunks.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.waiting.len() * Ecne::LEN
    }

    /// Writes ECNE chunks, but leaves room for a SACK of `sack` bytes.
    pub(super) fn write(&self, w: &mut PacketWriter<'_>, sack: usize) {
        for echo in &self.waiting {
            let ecne = Ecne { lowest_tsn: echo.tsn, packets: echo.packets };
            if ecne.encoded_len() + sack > w.room() {
                break;
            }
            w.push(&ecne);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: PathId = PathId(0);
    const B: PathId = PathId(1);

    fn told(echoes: &Echoes) -> Vec<(u8, u32, u32)> {
        echoes.waiting.iter().map(|echo| (echo.path.0, echo.tsn.0, echo.packets)).collect()
    }

    fn cwr(tsn: u32) -> Cwr {
        Cwr { all_paths: false, same_window: false, tsn: Tsn(tsn) }
    }

    // rfc3168#section-6.1.3: a receiver sends ECN echoes until a CWR reports a reduced cwnd.
    #[test]
    fn marks_of_a_path_are_counted_until_a_cwr_for_the_latest_of_them() {
        let mut echoes = Echoes::default();
        echoes.note(A, Tsn(u32::MAX));
        echoes.note(A, Tsn(4));
        echoes.note(A, Tsn(2));
        echoes.note(B, Tsn(3));
        assert_eq!(told(&echoes), [(0, 4, 3), (1, 3, 1)]);
        echoes.answered(A, &cwr(2));
        assert_eq!(told(&echoes), [(0, 4, 3), (1, 3, 1)], "an answer to an earlier mark");
        echoes.answered(A, &cwr(5));
        assert_eq!(told(&echoes), [(1, 3, 1)], "those of another path wait");
        echoes.answered(A, &cwr(3));
        assert_eq!(told(&echoes), [], "an answer to that very mark, on whichever path");
    }

    #[test]
    fn an_answer_for_all_paths_ends_all_marks_up_to_its_tsn() {
        let mut echoes = Echoes::default();
        for (path, tsn) in [(A, 4), (B, 3), (PathId(2), 9)] {
            echoes.note(path, Tsn(tsn));
        }
        echoes.answered(PathId(3), &Cwr { all_paths: true, ..cwr(4) });
        assert_eq!(told(&echoes), [(2, 9, 1)]);
    }
}
