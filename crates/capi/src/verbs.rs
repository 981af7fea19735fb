//! Requests by name that are no options: `heartbeat 10.0.0.1`.

use crate::fault::Fault;
use crate::inner::Inner;
use crate::options::unknown;
use libc::*;
use sctp::{AssocId, ResetDirection};
use std::fmt::Display;
use std::str::{FromStr, SplitAsciiWhitespace};
use units::{ByteCount, Instant};
use wire::StreamId;

/// The words of an argument that are not read yet.
struct Words<'a> {
    verb: &'a Verb,
    words: SplitAsciiWhitespace<'a>,
}

impl<'a> Words<'a> {
    fn wrong(&self) -> Fault {
        Fault::new(EINVAL, format!("{}: expected {}", self.verb.name, self.verb.expected))
    }

    fn word(&mut self) -> Result<&'a str, Fault> {
        self.words.next().ok_or_else(|| self.wrong())
    }

    fn read<T: FromStr>(&mut self) -> Result<T, Fault> {
        self.word()?.parse().map_err(|_| self.wrong())
    }

    /// Parses the next word, which must be the last one.
    fn last<T: FromStr>(&mut self) -> Result<T, Fault> {
        let value = self.read()?;
        self.nothing()?;
        Ok(value)
    }

    fn nothing(&mut self) -> Result<(), Fault> {
        self.words.next().map_or(Ok(()), |_| Err(self.wrong()))
    }

    /// Reads all words that are left: numbers with commas between them, in brackets or not.
    fn numbers(&mut self) -> Result<Vec<u16>, Fault> {
        let text: String = self.words.by_ref().collect();
        let inside = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(&text);
        if inside.is_empty() {
            return Ok(Vec::new());
        }
        inside.split(',').map(|number| number.parse().map_err(|_| self.wrong())).collect()
    }

    /// Parses the next word, which must be the last one, as pairs of hexadecimal digits.
    fn bytes(&mut self) -> Result<Vec<u8>, Fault> {
        let digits = self.word()?;
        self.nothing()?;
        if !digits.is_ascii() || digits.len() % 2 == 1 {
            return Err(self.wrong());
        }
        let pairs = (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16));
        pairs.collect::<Result<_, _>>().map_err(|_| self.wrong())
    }
}

type Perform = fn(&mut Inner, Instant, AssocId, &mut Words<'_>) -> Result<(), Fault>;

struct Verb {
    name: &'static str,
    expected: &'static str,
    perform: Perform,
}

const fn verb(name: &'static str, expected: &'static str, perform: Perform) -> Verb {
    Verb { name, expected, perform }
}

const ADDRESS: &str = "an IP address";
const KEY: &str = "the number of a key";

const VERBS: &[Verb] = &[
    verb("heartbeat", ADDRESS, |inner, now, id, words| {
        let address = words.last()?;
        done(inner.endpoint.heartbeat(now, id, address))
    }),
    verb("primary", ADDRESS, |inner, _, id, words| {
        let address = words.last()?;
        done(inner.endpoint.set_primary(id, address))
    }),
    verb("peer-primary", ADDRESS, |inner, now, id, words| {
        let address = words.last()?;
        done(inner.endpoint.set_peer_primary(now, id, address))
    }),
    verb("add-address", ADDRESS, |inner, now, id, words| {
        let address = words.last()?;
        done(inner.endpoint.add_local_address(now, id, address))
    }),
    verb("remove-address", ADDRESS, |inner, now, id, words| {
        let address = words.last()?;
        done(inner.endpoint.remove_local_address(now, id, address))
    }),
    verb("path-mtu", "an IP address and a number of bytes", |inner, now, id, words| {
        let (address, mtu) = (words.read()?, words.last()?);
        done(inner.endpoint.set_path_mtu(now, id, address, ByteCount::new(mtu)))
    }),
    verb("remote-port", "an IP address and a UDP port", |inner, _, id, words| {
        let (address, port) = (words.read()?, words.last()?);
        done(inner.endpoint.set_remote_port(id, address, port))
    }),
    verb("stream-value", "a stream and its value", |inner, _, id, words| {
        let (stream, value) = (StreamId(words.read()?), words.last()?);
        done(inner.endpoint.set_stream_value(id, stream, value))
    }),
    verb(
        "reset-streams",
        "in, out or both, and a list of streams such as [1, 2]",
        |inner, now, id, words| {
            let direction = match words.word()? {
                "in" => ResetDirection::Incoming,
                "out" => ResetDirection::Outgoing,
                "both" => ResetDirection::Both,
                _ => return Err(words.wrong()),
            };
            let streams: Vec<_> = words.numbers()?.into_iter().map(StreamId).collect();
            done(inner.endpoint.reset_streams(now, id, direction, &streams))
        },
    ),
    verb("add-streams", "two numbers of streams such as 4,0: out and in", |inner, now, id, words| {
        let [out, incoming] = words.numbers()?[..] else { return Err(words.wrong()) };
        done(inner.endpoint.add_streams(now, id, out, incoming))
    }),
    verb("reset-association", "nothing", |inner, now, id, words| {
        words.nothing()?;
        done(inner.endpoint.reset_association(now, id))
    }),
    verb("auth-key", "the number of a key and its bytes in hexadecimal digits", |inner, _, id, words| {
        let (number, key) = (words.read()?, words.bytes()?);
        done(inner.endpoint.set_auth_key(id, number, &key))
    }),
    verb("auth-activate", KEY, |inner, _, id, words| {
        let number = words.last()?;
        done(inner.endpoint.activate_auth_key(id, number))
    }),
    verb("auth-deactivate", KEY, |inner, _, id, words| {
        let number = words.last()?;
        done(inner.endpoint.deactivate_auth_key(id, number))
    }),
    verb("auth-remove", KEY, |inner, _, id, words| {
        let number = words.last()?;
        done(inner.endpoint.remove_auth_key(id, number))
    }),
];

fn done(result: Result<(), impl Display>) -> Result<(), Fault> {
    result.map_err(|error| Fault::new(EPERM, error))
}

impl Inner {
    /// Performs a request for an association.
    pub(crate) fn perform(&mut self, now: i64, assoc: u32, name: &str, argument: &str) -> Result<(), Fault> {
        let now = self.time(now);
        let Some(verb) = VERBS.iter().find(|verb| verb.name == name) else {
            let names = VERBS.iter().map(|verb| verb.name);
            return Err(unknown("verb", name, names, "the header lists all verbs"));
        };
        let id = self.known(assoc)?;
        (verb.perform)(self, now, id, &mut Words { verb, words: argument.split_ascii_whitespace() })
    }
}
