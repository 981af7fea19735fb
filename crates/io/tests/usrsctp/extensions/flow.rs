//! Messages that flow both ways while something else happens.

use super::meeting::Meeting;

/// User data of a message, which fills a packet.
const LENGTH: usize = 1400;
/// Messages that usrsctp is told to send at a time: it obeys nothing else meanwhile.
const PORTION: usize = 20;
/// The streams on which each side sends.
const STREAM_OF_OURS: u16 = 2;
const STREAM_OF_USRSCTP: u16 = 1;

/// Both sides send as fast as they can.
#[derive(Default)]
pub struct Flow {
    /// Messages that we gave, and those that usrsctp was told to send.
    given: [usize; 2],
    /// Messages that usrsctp has sent.
    finished: usize,
}

impl Flow {
    /// Lets the messages flow until something holds.
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

    /// Lets 100 messages flow each way: on a link of 10 Mbit/s more than a full queue holds.
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

    /// Ends the flow. All messages have arrived, in order.
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
