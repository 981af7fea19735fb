/// Who computes and verifies the checksum of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// This stack computes the checksum of each packet that it writes, and verifies it in each it parses.
    Computed,
    /// A network card or the simulator does this. The stack writes zero, and does not verify the checksum.
    Offloaded,
}
