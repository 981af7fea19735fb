//! Our answers to ASCONF chunks of the peer (`rfc5061#section-5.2`).

/// The serial number and the responses of the last ASCONF of the peer.
#[derive(Debug)]
pub(crate) struct Answered {
    last: u32,
    /// None before the first ASCONF.
    responses: Option<Vec<u8>>,
}

/// How to process an ASCONF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The next ASCONF, which is to be carried out.
    New,
    /// A repetition of the last ASCONF: these responses are sent again.
    Again(Vec<u8>),
    /// An ASCONF with an earlier serial number than the last, or with one after the next.
    Discard,
}

impl Answered {
    /// Creates the state before the first ASCONF; `first` is the serial number of the peer's first ASCONF.
    pub(crate) fn new(first: u32) -> Self {
        Answered { last: first.wrapping_sub(1), responses: None }
    }

    pub(crate) fn judge(&self, serial: u32) -> Verdict {
        match &self.responses {
            _ if serial == self.last.wrapping_add(1) => Verdict::New,
            Some(responses) if serial == self.last => Verdict::Again(responses.clone()),
            _ => Verdict::Discard,
        }
    }

    /// Stores the responses to the next ASCONF, in place of those to the last ASCONF.
    pub(crate) fn keep(&mut self, responses: Vec<u8>) {
        self.last = self.last.wrapping_add(1);
        self.responses = Some(responses);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rfc5061#section-5.2
    #[test]
    fn only_the_next_serial_number_is_new_and_the_last_is_answered_again() {
        let mut answered = Answered::new(u32::MAX);
        assert_eq!(answered.judge(u32::MAX - 1), Verdict::Discard);
        assert_eq!(answered.judge(u32::MAX), Verdict::New);
        answered.keep(vec![1]);
        assert_eq!(answered.judge(u32::MAX), Verdict::Again(vec![1]));
        assert_eq!(answered.judge(0), Verdict::New);
        assert_eq!(answered.judge(1), Verdict::Discard);
        answered.keep(vec![2]);
        assert_eq!(
            (answered.judge(u32::MAX), answered.judge(0)),
            (Verdict::Discard, Verdict::Again(vec![2]))
        );
    }
}
