use crate::net::Sockets;
use crate::responder::Responder;
use transport::{Datagram, Octets, Transmit};

/// The responder of an endpoint (it answers datagrams of other protocols), with the buffer for its answers.
#[derive(Debug)]
pub(crate) struct Answering {
    responder: Box<dyn Responder>,
    answer: Vec<u8>,
}

impl Answering {
    pub(crate) fn new(responder: Box<dyn Responder>) -> Self {
        Answering { responder, answer: Vec::new() }
    }

    /// Passes a datagram to the responder, and its answer to the sockets. Returns false if the datagram is
    /// for the endpoint.
    pub(super) fn take(&mut self, datagram: &Datagram<'_>, sockets: &mut Sockets) -> bool {
        self.answer.clear();
        // Port 0 means that the packet came directly in IP.
        if datagram.udp_port == 0 || !self.responder.take(datagram, &mut self.answer) {
            return false;
        }
        // Answers that the sockets have no room for are dropped, so that a flood of datagrams queues nothing.
        if (1..=datagram.bytes.len()).contains(&self.answer.len()) && sockets.has_room() {
            let route = Transmit { udp_port: datagram.udp_port, ..Transmit::new(datagram.dst, datagram.src) };
            sockets.push(&route, Octets::from(&self.answer[..]));
        }
        true
    }
}
