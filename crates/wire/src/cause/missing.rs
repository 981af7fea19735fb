/// The types of the parameters that a chunk lacks (rfc9260#section-3.3.10.2).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+-------------------------------+
/// |        cause code = 2         |       length = 8 + 2 N        |
/// +-------------------------------+-------------------------------+
/// |                 number of missing parameters N                |
/// +-------------------------------+-------------------------------+
/// |        parameter type 1       |        parameter type 2       |
/// \                             ... N                             \
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingParameters<'a> {
    types: &'a [[u8; 2]],
}

impl<'a> MissingParameters<'a> {
    /// Takes the types, each in network byte order ([`u16::to_be_bytes`]).
    pub const fn new(types: &'a [[u8; 2]]) -> Self {
        MissingParameters { types }
    }

    /// Iterates over the types.
    pub fn types(&self) -> impl ExactSizeIterator<Item = u16> + use<'a> {
        self.types.iter().map(|&bytes| u16::from_be_bytes(bytes))
    }

    pub(super) fn decode(value: &'a [u8]) -> Option<Self> {
        let (count, types) = value.split_first_chunk()?;
        let (types, rest) = types.as_chunks();
        let whole = rest.is_empty() && u32::from_be_bytes(*count) as usize == types.len();
        whole.then_some(MissingParameters { types })
    }

    /// The encoded number of types, and the encoded types.
    pub(super) fn encode(&self) -> ([u8; 4], &'a [u8]) {
        ((self.types.len() as u32).to_be_bytes(), self.types.as_flattened())
    }
}
