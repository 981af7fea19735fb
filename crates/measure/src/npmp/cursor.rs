use super::{FlowId, HEADER};

/// Reads fields one after the other; each method returns `None` if too few bytes are left.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes }
    }

    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(*array)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_be_bytes)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// Four floating point numbers.
    pub(super) fn numbers(&mut self) -> Option<[f64; 4]> {
        let mut numbers = [0.0; 4];
        for number in &mut numbers {
            *number = f64::from_be_bytes(self.array()?);
        }
        Some(numbers)
    }

    /// Reads the numbers of flow, measurement and stream.
    pub(super) fn flow_id(&mut self) -> Option<FlowId> {
        Some(FlowId { flow: self.u32()?, measurement: self.u64()?, stream: self.u16()? })
    }

    /// Reads all bytes that are left.
    pub(super) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.bytes)
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// Writes fields one after the other.
pub(super) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(super) fn new(kind: u8, flags: u8) -> Self {
        Writer { bytes: vec![kind, flags, 0, 0] }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(super) fn u16(&mut self, value: u16) {
        self.bytes(&value.to_be_bytes());
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.bytes(&value.to_be_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.bytes(&value.to_be_bytes());
    }

    pub(super) fn numbers(&mut self, values: &[f64; 4]) {
        values.iter().for_each(|value| self.bytes(&value.to_be_bytes()));
    }

    pub(super) fn flow_id(&mut self, id: FlowId) {
        self.u32(id.flow);
        self.u64(id.measurement);
        self.u16(id.stream);
    }

    /// Fills in the length field, and returns the message.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let length = u16::try_from(self.bytes.len()).expect("a message of at most 65,535 bytes");
        self.bytes[2..HEADER].copy_from_slice(&length.to_be_bytes());
        self.bytes
    }
}
