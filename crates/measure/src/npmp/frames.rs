use super::{HEADER, Malformed, length};

/// Splits a stream of bytes into messages.
#[derive(Debug)]
pub struct Frames {
    buffer: Vec<u8>,
    /// The bytes from `start` to `end` have not been taken yet.
    start: usize,
    end: usize,
    /// Messages longer than this are an error.
    longest: usize,
}

impl Frames {
    /// Creates a buffer that reads at most `room` bytes at once, for messages of at most `longest` bytes.
    pub fn new(room: usize, longest: usize) -> Self {
        Frames { buffer: vec![0; room.max(longest).max(HEADER)], start: 0, end: 0, longest }
    }

    /// The part of the buffer for the next bytes of the stream. The caller reports their number to
    /// [`Self::written`]. Not empty if [`Self::complete`] has found no message.
    pub fn space(&mut self) -> &mut [u8] {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        &mut self.buffer[self.end..]
    }

    /// Records that `bytes` bytes were written to [`Self::space`].
    pub fn written(&mut self, bytes: usize) {
        self.end = self.buffer.len().min(self.end + bytes);
    }

    /// The length of the next message; `None` if the message is not complete.
    ///
    /// # Errors
    /// [`Malformed::Length`]: the rest of the stream cannot be read.
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
