use crate::array;

/// "ANBC".
const MAGIC: u32 = u32::from_le_bytes(*b"ANBC");

/// A request of a program to its host process, which runs the SCTP stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Op {
    /// Get the switches of the socket ([`crate::switches`]), as the answer's value.
    Attach = 1,
    /// Bind to the address in the body.
    Bind = 2,
    /// Connect to the addresses in the body. The answer's value is the association.
    Connect = 3,
    /// Listen; [`Request::first`] is the backlog.
    Listen = 4,
    /// Set the option [`Request::second`] of level [`Request::first`].
    SetOption = 5,
    /// Get an option; the body is what the program passed.
    GetOption = 6,
    /// The local address.
    LocalName = 7,
    /// The peer's address.
    PeerName = 8,
    /// Check whether a message can be sent: its header is the body, its length is [`Request::first`]. The
    /// answer's value is the number of streams of the association, or 0 before the association is up.
    Check = 9,
    /// Ask whether a closed socket still has associations. The answer's value is 1 if it has, otherwise 0.
    Linger = 10,
    /// Begin to peel off the association [`Request::first`]. The answer carries the descriptor of its new
    /// socket, and its value has the switches. The host process writes nothing until [`Op::PeelEnd`].
    PeelBegin = 11,
    /// Return the record in the body, which the program has taken from its socket and not used.
    Return = 12,
    /// End what [`Op::PeelBegin`] began, after all records were returned.
    PeelEnd = 13,
    /// All sockets, associations and paths as JSON in the answer's body. The cookie is not used.
    Status = 14,
    /// Wait until the association [`Request::first`] of a one-to-many socket is up, or has failed: then the
    /// answer is the error. This is the only request that the host process does not answer at once.
    Outcome = 15,
}

/// A request to the host process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// What is requested.
    pub op: Op,
    /// Cookie (`SO_COOKIE`) of the program's end of the connection that carries the socket's records.
    pub cookie: u64,
    /// First argument.
    pub first: i32,
    /// Second argument.
    pub second: i32,
}

impl Request {
    /// Bytes before the body.
    pub const LEN: usize = 24;
    /// Largest body, except that of [`Op::Return`].
    pub const MAX_BODY: usize = 4096;

    /// The bytes before the body.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..4].copy_from_slice(&MAGIC.to_ne_bytes());
        bytes[4..6].copy_from_slice(&(self.op as u16).to_ne_bytes());
        bytes[8..16].copy_from_slice(&self.cookie.to_ne_bytes());
        bytes[16..20].copy_from_slice(&self.first.to_ne_bytes());
        bytes[20..].copy_from_slice(&self.second.to_ne_bytes());
        bytes
    }

    /// Reads a request and its body.
    pub fn parse(bytes: &[u8]) -> Option<(Self, &[u8])> {
        if array(bytes, 0).map(u32::from_ne_bytes)? != MAGIC {
            return None;
        }
        let op = match array(bytes, 4).map(u16::from_ne_bytes)? {
            1 => Op::Attach,
            2 => Op::Bind,
            3 => Op::Connect,
            4 => Op::Listen,
            5 => Op::SetOption,
            6 => Op::GetOption,
            7 => Op::LocalName,
            8 => Op::PeerName,
            9 => Op::Check,
            10 => Op::Linger,
            11 => Op::PeelBegin,
            12 => Op::Return,
            13 => Op::PeelEnd,
            14 => Op::Status,
            15 => Op::Outcome,
            _ => return None,
        };
        let request = Request {
            op,
            cookie: array(bytes, 8).map(u64::from_ne_bytes)?,
            first: array(bytes, 16).map(i32::from_ne_bytes)?,
            second: array(bytes, 20).map(i32::from_ne_bytes)?,
        };
        Some((request, bytes.get(Self::LEN..)?))
    }
}

/// The head of the answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The result of the request; after an error, the errno with a minus sign.
    pub value: i32,
    /// The switches of the socket after the request.
    pub switches: u16,
}

impl Answer {
    /// Bytes before the body.
    pub const LEN: usize = 8;

    /// The bytes before the body.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..4].copy_from_slice(&self.value.to_ne_bytes());
        bytes[4..6].copy_from_slice(&self.switches.to_ne_bytes());
        bytes
    }

    /// Reads an answer and its body.
    pub fn parse(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let value = array(bytes, 0).map(i32::from_ne_bytes)?;
        let switches = array(bytes, 4).map(u16::from_ne_bytes)?;
        Some((Answer { value, switches }, bytes.get(Self::LEN..)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_answers_survive_and_unknown_ones_are_refused() {
        let request = Request { op: Op::SetOption, cookie: 1 << 40, first: 132, second: -1 };
        let mut bytes = request.to_bytes().to_vec();
        bytes.extend(b"body");
        assert_eq!(Request::parse(&bytes), Some((request, &b"body"[..])));
        assert_eq!(Request::parse(&bytes[..23]), None);
        bytes[4] = 99;
        assert_eq!(Request::parse(&bytes), None);
        let answer = Answer { value: -22, switches: 9 };
        assert_eq!(Answer::parse(&answer.to_bytes()), Some((answer, &[][..])));
    }
}
