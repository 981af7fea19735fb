//! How far the handshake of an association came, who ended it and why, and which paths did not answer.

use super::sending::Seen;
use std::collections::BTreeMap;
use std::net::IpAddr;
use wire::{Cause, Chunk};

/// Life of one association, as a capture shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct AssociationReport {
    /// Number of the association in the capture, from 0.
    pub association: usize,
    /// Address and port of both sides; the first is the one that sent the first packet.
    pub sides: [(IpAddr, u16); 2],
    /// How far its handshake came.
    pub handshake: Handshake,
    /// How it ended.
    pub end: End,
    /// Names of the error causes in its ABORT, or in ERROR chunks if there was none.
    pub causes: Vec<&'static str>,
    /// Paths on which heartbeats were sent and none was answered: source, destination, number of heartbeats.
    pub unconfirmed: Vec<(IpAddr, IpAddr, u64)>,
}

/// Last step of a handshake that was captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Handshake {
    /// The capture has none of it.
    #[default]
    NotCaptured,
    /// INIT was sent, and not answered by INIT ACK.
    Init,
    /// INIT ACK came, and COOKIE ECHO was not sent.
    InitAck,
    /// COOKIE ECHO was sent, and not answered.
    CookieEcho,
    /// COOKIE ACK was sent, or data followed.
    Established,
}

/// How an association ended. Sides are 0 and 1, as in [`AssociationReport::sides`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// The capture does not show its end.
    #[default]
    NotCaptured,
    /// A side began to shut it down; `complete`: SHUTDOWN COMPLETE was sent.
    Shutdown {
        /// The side that sent SHUTDOWN first; none if only the answers were captured.
        by: Option<usize>,
        /// It was completed.
        complete: bool,
    },
    /// A side sent ABORT.
    Abort {
        /// That side.
        by: usize,
    },
}

/// Most paths, and most causes, that are remembered.
const MOST_PATHS: usize = 64;
const MOST_CAUSES: usize = 8;

/// State of an association in the part of the capture read so far.
#[derive(Default)]
pub(super) struct Life {
    sides: Option<[(IpAddr, u16); 2]>,
    handshake: Handshake,
    end: End,
    causes: Vec<&'static str>,
    /// Heartbeats sent, and answers: by source and destination of the heartbeats.
    heartbeats: BTreeMap<(IpAddr, IpAddr), (u64, u64)>,
}

impl Life {
    /// `side` sent a packet from and to these ports.
    pub(super) fn on_packet(&mut self, seen: &Seen, side: usize, [from, to]: [u16; 2]) {
        let (sender, receiver) = ((seen.src, from), (seen.dst, to));
        self.sides.get_or_insert(if side == 0 { [sender, receiver] } else { [receiver, sender] });
    }

    /// `side` sent a chunk.
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

    /// What was found; none if no packet was seen.
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
