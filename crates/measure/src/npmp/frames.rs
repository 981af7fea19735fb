use super::{HEADER, Malformed, length};

/// Cuts a stream of bytes into messages.
#[derive(Debug)]
pub struct Frames {
    buffer: Vec<u8>,
    /// The bytes from here to `end` have not been read yet.
    start: usize,
    end: usize,
    /// Messages longer than this are refused.
    longest: usize,
}

impl Frames {
    /// Takes at most `room` bytes at once, and messages of at most `longest` bytes.
    pub fn new(room: usize, longest: usize) -> Self {
        Frames { buffer: vec![0; room.max(longest).max(HEADER)], start: 0, end: 0, longest }
    }

    /// Where the next bytes of the stream are to be written; [`Self::written`] tells how many there were.
    /// Never empty after [`Self::complete`] found no message.
    pub fn space(&mut self) -> &mut [u8] {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        &mut self.buffer[self.end..]
    }

    /// Notes that `bytes` bytes were written.
    pub fn written(&mut self, bytes: usize) {
        self.end = self.buffer.len().min(self.end + bytes);
    }

    /// The length of the next message; none if it is not complete.
    ///
    /// # Errors
    /// [`Malformed::Length`]: what follows cannot be read.
    pub fn complete(&self) -> Result<Option<usize>, Malformed> {
        let bytes = &self.buffer[self.start..self.end];
        match length(bytes)? {
            Some(length) if length > self.longest => Err(Malformed::Length { kind: bytes[0] }),
            length => Ok(length.filter(|&length| length <= bytes.len())),
        }
    }

    /// Takes the next message, of the length that [`Self::complete`] found.
    pub fn take(&mut self, length: usize) -> &[u8] {
        let message = &self.buffer[self.start..self.end.min(self.start + length)];
        self.start += message.len();
        message
    }
}
