//! The progress of an association's handshake, how it ended, and the paths that did not answer.

use super::sending::Seen;
use std::collections::BTreeMap;
use std::net::IpAddr;
use wire::{Cause, Chunk};

/// Beginning and end of one association, as its packets in the capture show them.
#[derive(Clone, Debug, PartialEq)]
pub struct AssociationReport {
    /// Number of the association in the capture, from 0.
    pub association: usize,
    /// Address and port of both sides. Side 0 sent the first packet.
    pub sides: [(IpAddr, u16); 2],
    /// The last step of the handshake.
    pub handshake: Handshake,
    /// The end of the association.
    pub end: End,
    /// Names of the error causes in the ABORT, or in ERROR chunks if there was no ABORT.
    pub causes: Vec<&'static str>,
    /// Paths without an answer to any heartbeat: source, destination, number of heartbeats.
    pub unconfirmed: Vec<(IpAddr, IpAddr, u64)>,
}

/// The last captured step of a handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Handshake {
    /// The capture contains no part of the handshake.
    #[default]
    NotCaptured,
    /// INIT was sent, but no INIT ACK.
    Init,
    /// INIT ACK was sent, but no COOKIE ECHO.
    InitAck,
    /// COOKIE ECHO was sent, but no COOKIE ACK.
    CookieEcho,
    /// COOKIE ACK was sent, or data followed.
    Established,
}

/// How an association ended. Sides are 0 and 1, as in [`AssociationReport::sides`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// The capture does not contain the end.
    #[default]
    NotCaptured,
    /// A side began the shutdown.
    Shutdown {
        /// The side that sent SHUTDOWN first; `None` if only the answers were captured.
        by: Option<usize>,
        /// True if the shutdown was completed.
        complete: bool,
    },
    /// A side sent ABORT.
    Abort {
        /// The side that sent ABORT.
        by: usize,
    },
}

/// Largest number of paths, and of causes, that are kept.
const MOST_PATHS: usize = 64;
const MOST_CAUSES: usize = 8;

/// State of an association in the part of the capture read so far.
#[derive(Default)]
pub(super) struct Life {
    sides: Option<[(IpAddr, u16); 2]>,
    handshake: Handshake,
    end: End,
    causes: Vec<&'static str>,
    /// Numbers of heartbeats and of answers, by source and destination of the heartbeats.
    heartbeats: BTreeMap<(IpAddr, IpAddr), (u64, u64)>,
}

impl Life {
    /// Records a packet that `side` sent between these ports.
    pub(super) fn on_packet(&mut self, seen: &Seen, side: usize, [from, to]: [u16; 2]) {
        let (sender, receiver) = ((seen.src, from), (seen.dst, to));
        self.sides.get_or_insert(if side == 0 { [sender, receiver] } else { [receiver, sender] });
    }

    /// Records a chunk that `side` sent.
    pub(super) fn on_chunk(&mut self, seen: &Seen, side: usize, chunk: &Chunk<'_>) {
        let begun = self.handshake > Handshake::NotCaptured;
        let mut reach = |stage: Handshake| self.handshake = self.handshake.max(stage);
        match chunk {
            Chunk::Init(_) => reach(Handshake::Init),
            Chunk::InitAck(_) => reach(Handshake::InitAck),
            Chunk::CookieEcho(_) => reach(Handshake::CookieEcho),
            Chunk::CookieAck(_) => reach(Handshake::Established),
            Chunk::Sack(_) | Chunk::NrSack(_) if begun => reach(Handshake::Established),
            Chunk::Shutdown(_) => self.shuts_down(Some(side), false),
            Chunk::ShutdownAck(_) => self.shuts_down(None, false),
            Chunk::ShutdownComplete(_) => self.shuts_down(None, true),
            Chunk::Abort(abort) => {
                if !matches!(self.end, End::Abort { .. }) {
                    self.end = End::Abort { by: side };
                    self.causes.clear();
                }
                self.learn(abort.causes.iter().flatten());
            }
            Chunk::Error(error) if !matches!(self.end, End::Abort { .. }) => {
                self.learn(error.causes.iter().flatten());
            }
            Chunk::Heartbeat(_) => self.beat((seen.src, seen.dst), |(sent, _)| *sent += 1),
            Chunk::HeartbeatAck(_) => self.beat((seen.dst, seen.src), |(_, answered)| *answered += 1),
            _ => {}
        }
    }

    fn shuts_down(&mut self, side: Option<usize>, completes: bool) {
        self.end = match self.end {
            End::NotCaptured => End::Shutdown { by: side, complete: completes },
            End::Shutdown { by, complete } => {
                End::Shutdown { by: by.or(side), complete: complete || completes }
            }
            end @ End::Abort { .. } => end,
        };
    }

    fn learn<'a>(&mut self, causes: impl Iterator<Item = Cause<'a>>) {
        for name in causes.map(|cause| name_of(&cause)) {
            if self.causes.len() < MOST_CAUSES && !self.causes.contains(&name) {
                self.causes.push(name);
            }
        }
    }

    fn beat(&mut self, path: (IpAddr, IpAddr), count: impl FnOnce(&mut (u64, u64))) {
        if self.heartbeats.len() < MOST_PATHS || self.heartbeats.contains_key(&path) {
            count(self.heartbeats.entry(path).or_default());
        }
    }

    /// The report; `None` if no packet was recorded.
    pub(super) fn into_report(self, association: usize) -> Option<AssociationReport> {
        let silent = self.heartbeats.into_iter().filter(|(_, (_, answered))| *answered == 0);
        Some(AssociationReport {
            association,
            sides: self.sides?,
            handshake: self.handshake,
            end: self.end,
            causes: self.causes,
            unconfirmed: silent.map(|((src, dst), (sent, _))| (src, dst, sent)).collect(),
        })
    }
}

/// The name that the RFC gives to a cause (rfc9260#section-3.3.10, rfc5061#section-4.3, rfc4895#section-4.1).
fn name_of(cause: &Cause<'_>) -> &'static str {
    match cause {
        Cause::InvalidStream { .. } => "Invalid Stream Identifier",
        Cause::MissingMandatoryParameter(_) => "Missing Mandatory Parameter",
        Cause::StaleCookie { .. } => "Stale Cookie",
        Cause::OutOfResource => "Out of Resource",
        Cause::UnresolvableAddress(_) => "Unresolvable Address",
        Cause::UnrecognizedChunk(_) => "Unrecognized Chunk Type",
        Cause::InvalidMandatoryParameter => "Invalid Mandatory Parameter",
        Cause::UnrecognizedParameters(_) => "Unrecognized Parameters",
        Cause::NoUserData { .. } => "No User Data",
        Cause::CookieInShutdown => "Cookie Received While Shutting Down",
        Cause::RestartWithNewAddresses(_) => "Restart of an Association with New Addresses",
        Cause::UserInitiatedAbort(_) => "User-Initiated Abort",
        Cause::ProtocolViolation(_) => "Protocol Violation",
        Cause::RestartWithNewPort { .. } => "Restart of an Association with New Encapsulation Port",
        Cause::DeleteLastAddress(_) => "Request to Delete Last Remaining IP Address",
        Cause::ResourceShortage(_) => "Operation Refused Due to Resource Shortage",
        Cause::DeleteSourceAddress(_) => "Request to Delete Source IP Address",
        Cause::IllegalAsconfAck => "Association Aborted Due to Illegal ASCONF-ACK",
        Cause::NoAuthorization(_) => "Request Refused - No Authorization",
        Cause::UnsupportedHmac { .. } => "Unsupported HMAC Identifier",
        Cause::Unknown { .. } => "a cause that is not known",
    }
}
