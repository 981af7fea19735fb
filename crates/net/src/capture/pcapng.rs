use std::io::{self, Write};
use units::Instant;

/// A writer of the pcapng format (draft-ietf-opsawg-pcapng): one section, packets of raw IP, time in
/// nanoseconds.
pub(super) struct PcapNg<W: Write> {
    sink: io::BufWriter<W>,
    block: Vec<u8>,
    /// The first write error; after it, nothing more is written.
    failed: Option<io::Error>,
    /// Bytes that may still be written.
    room: u64,
    /// Packets for which there was no room.
    left_out: u64,
}

/// Direction in which a packet passed the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The packet arrived.
    Inbound = 1,
    /// The packet left.
    Outbound = 2,
}

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// LINKTYPE_RAW: IPv4 or IPv6 packets; the version field tells which.
const RAW_IP: u16 = 101;

const OPT_END: u16 = 0;
const OPT_COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;

impl<W: Write> PcapNg<W> {
    /// Writes the section header and the descriptions of `interfaces`. Packets are written while the file has
    /// at most `limit` bytes.
    pub fn new(sink: W, interfaces: &[&str], limit: u64) -> io::Result<Self> {
        let sink = io::BufWriter::new(sink);
        let mut file = PcapNg { sink, block: Vec::new(), failed: None, room: limit, left_out: 0 };
        file.begin(SECTION_HEADER);
        file.word(BYTE_ORDER_MAGIC);
        file.half(1); // version 1.0
        file.half(0);
        file.block.extend(u64::MAX.to_le_bytes()); // length of the section: unknown
        file.option(SHB_USERAPPL, b"anabranch");
        file.option(OPT_END, &[]);
        file.end()?;
        for name in interfaces {
            file.begin(INTERFACE_DESCRIPTION);
            file.half(RAW_IP);
            file.half(0);
            file.word(0); // no limit on the captured length
            file.option(IF_NAME, name.as_bytes());
            file.option(IF_TSRESOL, &[9]); // 10^-9 s
            file.option(OPT_END, &[]);
            file.end()?;
        }
        Ok(file)
    }

    /// True once a packet was left out. Then all later packets are left out, too, so that no gap appears.
    pub fn is_full(&self) -> bool {
        self.left_out > 0
    }

    /// Counts a packet that is not written.
    pub fn leave_out(&mut self) {
        self.left_out += 1;
    }

    /// Writes one packet, or leaves it out. [`PcapNg::finish`] returns a write error.
    pub fn packet(
        &mut self,
        at: Instant,
        interface: u32,
        direction: Direction,
        bytes: &[u8],
        comment: Option<&str>,
    ) {
        if self.failed.is_some() {
            return;
        }
        self.begin(ENHANCED_PACKET);
        self.word(interface);
        self.word((at.as_nanos() >> 32) as u32);
        self.word(at.as_nanos() as u32);
        self.word(bytes.len() as u32);
        self.word(bytes.len() as u32);
        self.padded(bytes);
        self.option(EPB_FLAGS, &(direction as u32).to_le_bytes());
        if let Some(comment) = comment {
            self.option(OPT_COMMENT, comment.as_bytes());
        }
        self.option(OPT_END, &[]);
        // The block also ends with its length, in four bytes.
        if self.block.len() as u64 + 4 > self.room {
            return self.leave_out();
        }
        self.failed = self.end().err();
    }

    /// Writes out the buffer, and returns the number of packets that were left out.
    pub fn finish(mut self) -> io::Result<u64> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.sink.flush().map(|()| self.left_out),
        }
    }

    fn begin(&mut self, block_type: u32) {
        self.block.clear();
        self.word(block_type);
        self.word(0); // the length, once it is known
    }

    fn end(&mut self) -> io::Result<()> {
        let length = (self.block.len() as u32 + 4).to_le_bytes();
        self.block[4..8].copy_from_slice(&length);
        self.block.extend(length);
        self.room = self.room.saturating_sub(self.block.len() as u64);
        self.sink.write_all(&self.block)
    }

    fn half(&mut self, value: u16) {
        self.block.extend(value.to_le_bytes());
    }

    fn word(&mut self, value: u32) {
        self.block.extend(value.to_le_bytes());
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.half(code);
        self.half(value.len() as u16);
        self.padded(value);
    }

    /// Appends `bytes` and zeros up to a multiple of four.
    fn padded(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }
}
