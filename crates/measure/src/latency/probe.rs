//! The 64 bytes of a probe, on UDP and in a message of SCTP.

/// Bytes of a probe and of its answer.
pub const LENGTH: usize = 64;

/// The first bytes of each probe. No SCTP packet begins
/// so: its source port would be 0 (`rfc9260#section-3.1`).
const MAGIC: [u8; 8] = *b"\0\0\0\0ABLP";

/// A probe or its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Cookie that the server gave to the client over the control connection.
    pub cookie: u64,
    /// Number of the probe.
    pub sequence: u64,
    /// True for the answer of the server. Answers are never answered, so that nobody can make two servers
    /// exchange them without end.
    pub is_answer: bool,
}

impl Probe {
    /// The probe as bytes.
    pub fn encode(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..16].copy_from_slice(&self.cookie.to_be_bytes());
        bytes[16..24].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[24] = self.is_answer.into();
        bytes
    }

    /// Reads a probe; `None` if the bytes are not a probe.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; LENGTH] = bytes.try_into().ok()?;
        let number = |at: usize| bytes[at..at + 8].iter().fold(0, |all, &byte| all << 8 | u64::from(byte));
        (bytes[..8] == MAGIC && bytes[24] <= 1).then(|| Probe {
            cookie: number(8),
            sequence: number(16),
            is_answer: bytes[24] == 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_read_as_it_was_written_and_nothing_else_is_one() {
        for is_answer in [false, true] {
            let probe = Probe { cookie: 0x0102_0304_0506_0708, sequence: u64::MAX - 1, is_answer };
            let bytes = probe.encode();
            assert_eq!((bytes[..4].to_vec(), bytes[8]), (vec![0; 4], 1));
            assert_eq!(Probe::decode(&bytes), Some(probe));
            assert_eq!(Probe::decode(&bytes[..63]), None);
            assert_eq!(Probe::decode(&[&bytes[..], &[0]].concat()), None);
            for (at, value) in [(0, 1), (7, 0), (24, 2)] {
                let mut wrong = bytes;
                wrong[at] = value;
                assert_eq!(Probe::decode(&wrong), None, "byte {at}");
            }
        }
    }
}
