//! What the user of the association has done: gave a message, gave one to a full send buffer, closed.

#[derive(Debug, Default)]
pub(super) struct User {
    gave: bool,
    blocked: bool,
    more: bool,
    closing: bool,
}

impl User {
    /// Notes a message that the send buffer took. `first` is true if no other message waits.
    #[inline]
    pub(super) fn gave(&mut self, first: bool) {
        self.gave = true;
        self.more &= !first;
    }

    /// Notes a message that the send buffer refused.
    pub(super) fn refused(&mut self) {
        (self.blocked, self.more) = (true, true);
    }

    /// Notes that the user is informed of room in the send buffer.
    pub(super) fn informed(&mut self) {
        self.blocked = false;
    }

    /// Notes that the user will give no more messages.
    pub(super) fn closes(&mut self) {
        self.closing = true;
    }

    /// True until the user gives the first message.
    #[inline]
    pub(super) fn is_new(&self) -> bool {
        !self.gave
    }

    /// True from a refused message until the user is informed that the send buffer has room again.
    #[inline]
    pub(super) fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// True if a message was refused since the queue was last empty: the user has more data to send.
    #[inline]
    pub(super) fn has_more(&self) -> bool {
        self.more
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing
    }
}
