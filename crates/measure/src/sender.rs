//! Sends the data of a flow.

use crate::channel::{Channel, Service};
use crate::clock::micros;
use crate::flow::Flow;
use crate::npmp::{DATA_HEADER, Data};
use crate::short_queue::ShortQueue;
use des::Random;
use lab::traffic::{Generator, Schedule};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// If the sender is late, it sends at once the frames that it missed within this time, and skips older ones.
const LATE: Duration = Duration::from_secs(1);

/// Starts the thread that sends on a flow; `None` if the flow sends nothing in this direction. The
/// thread ends when `flow.stop` closes, or once it has sent `limit` bytes. If `queue` is given, the
/// thread keeps the send queue of the association short.
///
/// # Errors
/// A readable text, if the flow cannot send with these options.
pub fn start(
    flow: &Arc<Flow>,
    channel: Channel,
    limit: Option<u64>,
    queue: Option<ShortQueue>,
) -> Result<Option<JoinHandle<()>>, String> {
    let Some(traffic) = flow.spec.traffic().map_err(|error| error.to_string())? else { return Ok(None) };
    let longest = traffic.max_msg_size.get() as usize;
    let seed = u128::from(flow.id.measurement) << 32 | u128::from(flow.id.flow);
    let schedule = Schedule::new(traffic.changes.clone(), Random::new(seed, 1));
    let sender = Sender {
        flow: flow.clone(),
        channel,
        generator: Generator::new(traffic, Random::new(seed, 0)),
        buffer: pattern(longest.max(DATA_HEADER)),
        data: Data { id: flow.id, ..Data::default() },
        limit: limit.unwrap_or(u64::MAX),
        queue,
    };
    let name = format!("flow {}", flow.id.flow);
    let run = move || Paced { sender, schedule }.run();
    thread::Builder::new().name(name).spawn(run).map(Some).map_err(|error| error.to_string())
}

/// The payload that NetPerfMeter uses.
fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|i| 30 + (i % 98) as u8).collect()
}

/// Sends the frames of a flow, each as soon as the transport accepts it.
struct Sender {
    flow: Arc<Flow>,
    channel: Channel,
    generator: Generator,
    /// Buffer for the longest message, filled with payload.
    buffer: Vec<u8>,
    /// Header of the next message.
    data: Data,
    limit: u64,
    queue: Option<ShortQueue>,
}

impl Sender {
    /// Sends the next message. Returns false if the flow is over.
    fn message(&mut self) -> bool {
        if let Some(queue) = &mut self.queue {
            queue.wait(&self.channel, &self.flow.stop);
        }
        let begin = self.generator.frame_is_complete();
        let draft = self.generator.draft();
        let end = self.generator.frame_is_complete();
        let length = (draft.length as usize).max(DATA_HEADER);
        self.data = Data { begin, end, time: micros(), ..self.data };
        let message = &mut self.buffer[..length];
        self.data.write(message);
        let service = Service { unordered: draft.unordered, reliability: draft.reliability };
        match self.channel.send(message, service, &self.flow.stop) {
            Ok(true) => {}
            Ok(false) => return false,
            Err(why) => {
                self.flow.fail(why);
                return false;
            }
        }
        self.flow.sent(length, end);
        self.data.sequence += 1;
        self.data.position += length as u64;
        self.data.frame = self.data.frame.wrapping_add(end.into());
        self.data.position < self.limit
    }

    /// Sends the next frame. Returns false if the flow is over.
    fn frame(&mut self) -> bool {
        while self.message() {
            if self.generator.frame_is_complete() {
                return true;
            }
        }
        false
    }
}

/// Sends each frame at its scheduled time.
struct Paced {
    sender: Sender,
    schedule: Schedule,
}

impl Paced {
    /// Time since the start when the flow is next turned on or off.
    fn next_change(&mut self) -> Option<Duration> {
        self.schedule.next_change().map(|at| Duration::from_nanos(at.as_nanos()))
    }

    fn run(mut self) {
        let started = Instant::now();
        let mut on = self.schedule.starts_on();
        let mut change = self.next_change();
        // Time of the next frame, since the start.
        let mut due = Duration::ZERO;
        while !self.sender.flow.stop.is_closed() {
            let now = started.elapsed();
            if let Some(at) = change
                && at <= now
            {
                on = !on;
                due = due.max(at);
                change = self.next_change();
                continue;
            }
            if !on || (due > now && !self.sender.generator.is_saturated()) {
                let until =
                    if on { change.map_or(due, |at| at.min(due)) } else { change.unwrap_or(Duration::MAX) };
                self.sender.flow.stop.wait_until(started.checked_add(until));
                continue;
            }
            let go_on = if self.sender.generator.is_saturated() {
                self.sender.message()
            } else {
                self.sender.frame()
            };
            if !go_on {
                return;
            }
            if let Some(wait) = self.sender.generator.wait(units::Instant::ZERO) {
                due = (due + Duration::from_nanos(wait.as_nanos())).max(now.saturating_sub(LATE));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npmp::{FlowId, Message};
    use crate::spec::{FlowSpec, Transport};
    use std::net::UdpSocket;

    /// Sends 2000 bytes on a flow and returns its messages.
    fn messages(spec: &str) -> Vec<(Data, usize)> {
        let receiver = UdpSocket::bind("127.0.0.1:0").expect("a port");
        receiver.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let to = receiver.local_addr().expect("it is bound");
        let spec = FlowSpec::parse(spec, Transport::Udp).expect("a flow");
        let flow = Arc::new(Flow::new(FlowId { measurement: 7, flow: 1, stream: 0 }, spec, None));
        let channel = Channel::Udp(Arc::new(socket), Some(to));
        let thread = start(&flow, channel, Some(2_000), None).expect("it starts").expect("it sends");
        let mut buffer = [0; 65_536];
        let mut messages = Vec::new();
        while messages.iter().map(|(_, length)| length).sum::<usize>() < 2_000 {
            let length = receiver.recv(&mut buffer).expect("a datagram");
            let Ok(Message::Data(data, _)) = Message::decode(&buffer[..length]) else { panic!("no DATA") };
            messages.push((data, length));
        }
        thread.join().expect("it ends by itself");
        assert_eq!(flow.counters().sent.amount.packets, messages.len() as u64);
        messages
    }

    #[test]
    fn frames_are_cut_into_numbered_messages() {
        let found = messages("const0:const1000:maxmsgsize=600");
        let seen: Vec<_> = found
            .iter()
            .map(|(data, length)| (data.frame, data.sequence, data.position, data.begin, data.end, *length))
            .collect();
        assert_eq!(
            seen,
            [
                (0, 0, 0, true, false, 600),
                (0, 1, 600, false, true, 400),
                (1, 2, 1000, true, false, 600),
                (1, 3, 1600, false, true, 400)
            ]
        );
    }

    #[test]
    fn a_message_is_never_shorter_than_its_header() {
        assert!(messages("const0:const1").iter().all(|(_, length)| *length == DATA_HEADER));
    }

    #[test]
    fn a_paced_flow_keeps_its_rate_and_sends_nothing_while_it_is_off() {
        let before = micros();
        let found = messages("const100:const400:onoff=0.3");
        let times: Vec<_> = found.iter().map(|(data, _)| data.time - before).collect();
        // A busy machine can delay frames, but no frame may be early.
        let early = times.iter().zip(0..).any(|(&time, n)| time < 300_000 + n * 10_000);
        assert!(!early && times.len() == 5, "{times:?}");
    }
}
