/// Who computes and verifies the checksum of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// This stack: computed when a packet is written, verified when it is parsed.
    Computed,
    /// A network card or the simulator: written as zero, not verified.
    Offloaded,
}
