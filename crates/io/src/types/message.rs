use bytes::Bytes;
use sctp::{PathId, Reliability};
use std::time::Duration;
use transport::Payload;
use wire::{Ppid, StreamId};

/// A message to send.
///
/// ```
/// use anabranch_io::{Message, StreamId};
///
/// let message = Message::from("hello").stream(StreamId(3)).unordered(true);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub(crate) inner: sctp::Message,
}

impl Message {
    /// Sets the stream, 0 unless set. Messages of one stream arrive in order.
    #[must_use]
    pub fn stream(mut self, stream: StreamId) -> Self {
        self.inner.stream = stream;
        self
    }

    /// Sets the payload protocol identifier, which the peer's application sees; 0 unless set.
    #[must_use]
    pub fn ppid(mut self, ppid: Ppid) -> Self {
        self.inner.ppid = ppid;
        self
    }

    /// Delivers the message as soon as it is complete, even before earlier ones (`rfc9260#section-6.6`).
    #[must_use]
    pub fn unordered(mut self, unordered: bool) -> Self {
        self.inner.unordered = unordered;
        self
    }

    /// Requests an acknowledgement without delay (the I bit, `rfc7053`).
    #[must_use]
    pub fn immediate_sack(mut self, immediate: bool) -> Self {
        self.inner.immediate_sack = immediate;
        self
    }

    /// Sets when the message is abandoned, [never](Reliability::Reliable) unless set. Both ends need
    /// [`pr_sctp`](sctp::Config::pr_sctp). The time of [`Reliability::Until`] begins with the call that sends
    /// the message, and includes the wait for room in the send buffer; see [`Self::lifetime`].
    #[must_use]
    pub fn reliability(mut self, reliability: Reliability) -> Self {
        self.inner.reliability = reliability;
        self
    }

    /// Abandons the message once this time has passed: [`Reliability::Until`].
    #[must_use]
    pub fn lifetime(self, lifetime: Duration) -> Self {
        self.reliability(Reliability::Until(lifetime.into()))
    }

    /// Sets the path of the first transmission, by its number ([`PathInfo::id`](sctp::PathInfo)). Without it,
    /// the protocol chooses the path. Later messages wait while the congestion window of that path is full.
    /// Ignored while the path is not active.
    #[must_use]
    pub fn path(mut self, path: PathId) -> Self {
        self.inner.path = Some(path);
        self
    }

    /// Marks a message as urgent. It overtakes messages and stream resets that wait for room in the send
    /// buffer. Urgent messages have separate room, of the same size as that of all other messages. See also
    /// [`sctp::Message::urgent`].
    #[must_use]
    pub fn urgent(mut self, urgent: bool) -> Self {
        self.inner.urgent = urgent;
        self
    }

    /// Sets a number that [`Event::SendFailed`](sctp::Event::SendFailed) reports with the message.
    #[must_use]
    pub fn context(mut self, context: u32) -> Self {
        self.inner.context = context;
        self
    }

    /// The user data.
    pub fn data(&self) -> Bytes {
        self.inner.payload.to_bytes()
    }
}

impl From<Bytes> for Message {
    fn from(data: Bytes) -> Self {
        Message { inner: sctp::Message::new(Payload::Bytes(data)) }
    }
}

impl From<Vec<u8>> for Message {
    fn from(data: Vec<u8>) -> Self {
        Bytes::from(data).into()
    }
}

impl From<&'static str> for Message {
    fn from(data: &'static str) -> Self {
        Bytes::from_static(data.as_bytes()).into()
    }
}

impl From<String> for Message {
    fn from(data: String) -> Self {
        data.into_bytes().into()
    }
}

/// The bytes are copied.
impl From<&[u8]> for Message {
    fn from(data: &[u8]) -> Self {
        Bytes::copy_from_slice(data).into()
    }
}

/// A message that arrived, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Received {
    /// Stream that the message arrived on.
    pub stream: StreamId,
    /// Payload protocol identifier as the peer set it.
    pub ppid: Ppid,
    /// True if the message was sent unordered (U bit).
    pub unordered: bool,
    /// The user data.
    pub data: Bytes,
    /// True if these bytes end the message. Otherwise more parts follow. A message arrives in parts if it is
    /// larger than the receive buffer, or if later data filled the buffer before the message was complete.
    pub end_of_record: bool,
    /// True if the message ends here, incomplete: the peer abandoned it after parts of it were read.
    pub aborted: bool,
}

impl From<sctp::Received> for Received {
    fn from(received: sctp::Received) -> Self {
        Received {
            stream: received.stream,
            ppid: received.ppid,
            unordered: received.unordered,
            // The bytes are moved: cloning the only handle of a `Bytes` would allocate memory.
            data: match received.payload {
                Payload::Bytes(data) => data,
                filler @ Payload::Filler(_) => filler.to_bytes(),
            },
            end_of_record: received.end_of_record,
            aborted: received.aborted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_vectors_and_strings_are_shared_with_the_stack_and_not_copied() {
        let bytes = Bytes::from(vec![7; 1000]);
        let vector = vec![7; 1000];
        let at = vector.as_ptr();
        let text = "7".repeat(1000);
        let text_at = text.as_ptr();
        assert_eq!(Message::from(text).inner.clone().payload.to_bytes().as_ptr(), text_at);
        assert_eq!(Message::from(vector).inner.clone().payload.to_bytes().as_ptr(), at);
        assert_eq!(Message::from(bytes.clone()).inner.clone().payload.to_bytes().as_ptr(), bytes.as_ptr());
    }
}
