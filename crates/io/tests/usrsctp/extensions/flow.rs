//! Messages in both directions while a test changes something else.

use super::meeting::Meeting;

/// User data of a message in bytes; it fills a packet.
const LENGTH: usize = 1400;
/// Number of messages in one send command for usrsctp, which executes no other command meanwhile.
const PORTION: usize = 20;
/// The streams on which each side sends.
const STREAM_OF_OURS: u16 = 2;
const STREAM_OF_USRSCTP: u16 = 1;

/// A flow of messages in both directions, as fast as possible.
#[derive(Default)]
pub struct Flow {
    /// Messages that we queued, and messages that usrsctp was told to send.
    given: [usize; 2],
    /// Messages that usrsctp has sent.
    finished: usize,
}

impl Flow {
    /// Continues the flow until a condition holds.
    pub fn until(
        &mut self,
        meeting: &mut Meeting,
        what: &str,
        mut condition: impl FnMut(&mut Meeting) -> bool,
    ) {
        while !condition(meeting) {
            self.send(meeting);
            meeting.turn(what);
        }
    }

    /// Continues the flow for 100 messages in each direction: more than a full queue of a 10 Mbit/s link
    /// holds.
    pub fn go_on(&mut self, meeting: &mut Meeting, what: &str) {
        let arrived = |meeting: &Meeting| [meeting.theirs.heard.len(), meeting.ours.received.len()];
        let enough = arrived(meeting).map(|before| before + 100);
        self.until(meeting, what, |meeting| {
            arrived(meeting).iter().zip(&enough).all(|(now, enough)| now >= enough)
        });
    }

    fn send(&mut self, meeting: &mut Meeting) {
        self.given[0] += meeting.ours.send(PORTION, LENGTH, |message| message, STREAM_OF_OURS);
        while meeting.theirs.event("sent", |_| true).is_some() {
            self.finished += PORTION;
        }
        if self.finished == self.given[1] {
            meeting.theirs.tell(&format!("send {PORTION} {LENGTH} {STREAM_OF_USRSCTP} 0 none 0"));
            self.given[1] += PORTION;
        }
    }

    /// Ends the flow, and checks that all messages have arrived in order.
    pub fn finish(self, meeting: &mut Meeting) {
        meeting.until("all messages arrive", |ours, theirs| {
            [theirs.heard.len(), ours.received.len()] == self.given
        });
        let heard = meeting.theirs.heard.iter().map(|heard| heard.number);
        assert!(heard.eq(0..self.given[0] as u32), "usrsctp reads all messages in order");
        let numbers = meeting.ours.received.iter().map(|received| {
            let bytes = received.payload.to_bytes();
            u32::from_be_bytes(*bytes.first_chunk().expect("four bytes"))
        });
        assert!(numbers.eq(0..self.given[1] as u32), "we read all messages in order");
    }
}
