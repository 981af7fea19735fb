/// Who computes and verifies the checksum of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// This stack computes the checksum when it writes a packet, and verifies the checksum when it parses one.
    Computed,
    /// A network card or the simulator does this. The stack writes zero, and does not verify the checksum.
    Offloaded,
}
