use sctp::Message;
use std::fmt;

/// Messages that an application keeps until the stack has room for them.
pub(crate) struct Source(Box<dyn FnMut() -> Option<Message> + Send>);

impl Source {
    pub(crate) fn new(next: impl FnMut() -> Option<Message> + Send + 'static) -> Self {
        Source(Box::new(next))
    }

    /// Removes and returns the next message; `None` if there is none.
    pub(crate) fn next(&mut self) -> Option<Message> {
        self.0()
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Source")
    }
}
