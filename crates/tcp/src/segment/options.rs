use super::SegmentError;
use crate::sequence::Seq;
use arrayvec::ArrayVec;

/// The known options of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size, in a SYN (`rfc9293#section-3.7.1`).
    pub mss: Option<u16>,
    /// Window scale, in a SYN (`rfc7323#section-2.2`).
    pub window_scale: Option<u8>,
    /// SACK is permitted, in a SYN (`rfc2018#section-2`).
    pub sack_permitted: bool,
    /// Timestamps (`rfc7323#section-3.2`).
    pub timestamps: Option<Timestamps>,
    /// Blocks of data that arrived out of order (`rfc2018#section-3`).
    pub sack: SackBlocks,
}

/// The blocks of a SACK option, at most four.
pub type SackBlocks = ArrayVec<SackBlock, 4>;

/// The value of a timestamps option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock (TSval).
    pub value: u32,
    /// The receiver's clock, sent back (TSecr).
    pub echo: u32,
}

/// Bytes from `left` to `right`, without `right`, have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackBlock {
    /// Sequence number of the first byte of the block.
    pub left: Seq,
    /// Sequence number after the last byte of the block.
    pub right: Seq,
}

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// Largest length of the options of a segment.
const ROOM: usize = 40;

impl Options {
    /// Length of a timestamps option with the usual alignment (`rfc7323#appendix-A`).
    pub const TIMESTAMPS_LEN: usize = 12;

    /// Length of the written options, a multiple of four.
    pub fn len(&self) -> usize {
        let sack = if self.sack.is_empty() { 0 } else { 4 + 8 * self.sack.len() };
        4 * usize::from(self.mss.is_some())
            + 4 * usize::from(self.window_scale.is_some())
            + 4 * usize::from(self.sack_permitted)
            + Self::TIMESTAMPS_LEN * usize::from(self.timestamps.is_some())
            + sack
    }

    /// True if there are no options.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of SACK blocks that fit beside these options.
    pub fn sack_room(&self) -> usize {
        (ROOM - self.len()).saturating_sub(4) / 8
    }

    /// Parses the options of a header. Bytes after the end of the option list are ignored.
    #[inline]
    pub(super) fn parse(bytes: &[u8]) -> Result<Options, SegmentError> {
        if bytes.is_empty() { Ok(Options::default()) } else { Self::parse_list(bytes) }
    }

    fn parse_list(mut bytes: &[u8]) -> Result<Options, SegmentError> {
        let mut options = Options::default();
        // Fast path for the options of nearly every segment (rfc7323#appendix-A).
        if let [NO_OPERATION, NO_OPERATION, TIMESTAMPS, 10, value @ ..] = bytes
            && value.len() == 8
        {
            options.take(TIMESTAMPS, value)?;
            return Ok(options);
        }
        while let Some((&kind, rest)) = bytes.split_first() {
            if kind == END {
                break;
            }
            if kind == NO_OPERATION {
                bytes = rest;
                continue;
            }
            // rfc9293#section-3.2, MUST-7: the length of a received option may be impossible.
            let length = usize::from(*rest.first().ok_or(SegmentError::Option)?);
            if length < 2 || length > bytes.len() {
                return Err(SegmentError::Option);
            }
            let (option, after) = bytes.split_at(length);
            options.take(kind, &option[2..])?;
            bytes = after;
        }
        options.drop_blocks_without_room();
        Ok(options)
    }

    /// Drops the last SACK blocks while the aligned options are too long for a header, so that every parsed
    /// segment can be written. Blocks are lost only in a segment that also has the options of a SYN.
    fn drop_blocks_without_room(&mut self) {
        while self.len() > ROOM {
            self.sack.pop();
        }
    }

    fn take(&mut self, kind: u8, value: &[u8]) -> Result<(), SegmentError> {
        let u32_at = |at: usize| u32::from_be_bytes([value[at], value[at + 1], value[at + 2], value[at + 3]]);
        match (kind, value.len()) {
            (MSS, 2) => self.mss = Some(u16::from_be_bytes([value[0], value[1]])),
            (WINDOW_SCALE, 1) => self.window_scale = Some(value[0]),
            (SACK_PERMITTED, 0) => self.sack_permitted = true,
            (TIMESTAMPS, 8) => self.timestamps = Some(Timestamps { value: u32_at(0), echo: u32_at(4) }),
            (SACK, length @ 8..) if length % 8 == 0 => {
                // A second SACK option, which no sender writes, replaces the first.
                self.sack = (0..length)
                    .step_by(8)
                    .map(|at| SackBlock { left: Seq(u32_at(at)), right: Seq(u32_at(at + 4)) })
                    .collect();
            }
            (MSS | WINDOW_SCALE | SACK_PERMITTED | TIMESTAMPS | SACK, _) => return Err(SegmentError::Option),
            _ => {}
        }
        Ok(())
    }

    /// Appends the options, each aligned to four bytes by no-operations before it.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        debug_assert!(self.len() <= ROOM);
        if let Some(mss) = self.mss {
            let [high, low] = mss.to_be_bytes();
            out.extend_from_slice(&[MSS, 4, high, low]);
        }
        if let Some(shift) = self.window_scale {
            out.extend_from_slice(&[NO_OPERATION, WINDOW_SCALE, 3, shift]);
        }
        if self.sack_permitted {
            out.extend_from_slice(&[NO_OPERATION, NO_OPERATION, SACK_PERMITTED, 2]);
        }
        if let Some(Timestamps { value, echo }) = self.timestamps {
            out.extend_from_slice(&[NO_OPERATION, NO_OPERATION, TIMESTAMPS, 10]);
            out.extend_from_slice(&value.to_be_bytes());
            out.extend_from_slice(&echo.to_be_bytes());
        }
        if !self.sack.is_empty() {
            out.extend_from_slice(&[NO_OPERATION, NO_OPERATION, SACK, 2 + 8 * self.sack.len() as u8]);
            for block in &self.sack {
                out.extend_from_slice(&block.left.0.to_be_bytes());
                out.extend_from_slice(&block.right.0.to_be_bytes());
            }
        }
    }
}
