/// Who takes care of the checksum of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// We do: it is computed when writing and checked when parsing.
    Computed,
    /// Somebody else does, as a network card would: written as zero, not checked.
    Offloaded,
}
