//! Events as structs of C.

use crate::fault::cut;
use crate::inner::{ip, number, path_state};
use crate::types::{ANB_REASON, anb_event};
use sctp::{AddressChange, AssocId, CloseReason, Event, ResetResult};

/// Names of the kinds: the constants of the header without `ANB_`, numbered from 1.
#[derive(Clone, Copy)]
#[repr(u16)]
enum Kind {
    Connected = 1,
    Restarted,
    Readable,
    Writable,
    PathChanged,
    HeartbeatAnswered,
    PrimaryChanged,
    MtuChanged,
    Delivered,
    SendFailed,
    AddressAdded,
    AddressRemoved,
    AddressChange,
    KeyUnused,
    StreamsReset,
    StreamsAdded,
    PeerError,
    ShutdownReceived,
    Closed,
}

/// The event for the caller; `None` if this interface does not have the event.
pub(crate) fn event(id: AssocId, event: &Event) -> Option<anb_event> {
    let mut told = anb_event { assoc: number(id), ..anb_event::default() };
    let kind = match event {
        Event::Connected { outbound_streams, inbound_streams, peer_addresses, peer_port } => {
            told.a = streams(*outbound_streams, *inbound_streams);
            told.b = (*peer_port).into();
            told.ip = peer_addresses.first().map_or(told.ip, |&first| ip(first));
            Kind::Connected
        }
        Event::Restarted => Kind::Restarted,
        Event::Readable => Kind::Readable,
        Event::Writable => Kind::Writable,
        Event::PathChanged { address, state } => {
            (told.ip, told.a) = (ip(*address), path_state(*state).into());
            Kind::PathChanged
        }
        Event::HeartbeatAnswered { address, rtt } => {
            (told.ip, told.b) = (ip(*address), rtt.as_nanos());
            Kind::HeartbeatAnswered
        }
        Event::PrimaryChanged { path, address } => {
            (told.path, told.ip) = (path.0.into(), ip(*address));
            Kind::PrimaryChanged
        }
        Event::MtuChanged { path, address, mtu } => {
            (told.path, told.ip, told.a) = (path.0.into(), ip(*address), mtu.get() as u32);
            Kind::MtuChanged
        }
        Event::Delivered { first, last } => {
            (told.b, told.a) = (first.0, (last.0 - first.0 + 1).min(u32::MAX.into()) as u32);
            Kind::Delivered
        }
        Event::SendFailed { id, message, .. } => {
            (told.b, told.a) = (id.map_or(u64::MAX, |id| id.0), message.context);
            Kind::SendFailed
        }
        Event::PeerAddressAdded { address } => {
            told.ip = ip(*address);
            Kind::AddressAdded
        }
        Event::PeerAddressRemoved { address } => {
            told.ip = ip(*address);
            Kind::AddressRemoved
        }
        Event::AddressChange { change, address, accepted } => {
            (told.ip, told.a, told.b) = (ip(*address), (*accepted).into(), change_number(*change));
            Kind::AddressChange
        }
        Event::AuthKeyUnused { id } => {
            told.a = (*id).into();
            Kind::KeyUnused
        }
        Event::StreamsReset { incoming, outgoing, streams, result } => {
            told.a = u32::from(*outgoing) | u32::from(*incoming) << 1;
            told.b = result_number(*result);
            let numbers: Vec<u8> = streams.iter().flat_map(|stream| stream.0.to_ne_bytes()).collect();
            give(&mut told, &numbers);
            Kind::StreamsReset
        }
        Event::StreamsAdded { incoming, outgoing, result } => {
            (told.a, told.b) = (streams(*outgoing, *incoming), result_number(*result));
            Kind::StreamsAdded
        }
        Event::PeerError { causes } => {
            give(&mut told, causes);
            Kind::PeerError
        }
        Event::ShutdownReceived => Kind::ShutdownReceived,
        Event::Closed { reason } => {
            (told.a, told.b) = close_number(reason);
            let sentence = reason.to_string();
            give(&mut told, cut(&sentence, ANB_REASON - 2).as_bytes());
            Kind::Closed
        }
        _ => return None,
    };
    told.kind = kind as u16;
    Some(told)
}

fn streams(outbound: u16, inbound: u16) -> u32 {
    u32::from(outbound) << 16 | u32::from(inbound)
}

/// Copies as many bytes to `reason` as fit with a zero byte behind them.
fn give(told: &mut anb_event, bytes: &[u8]) {
    let length = bytes.len().min(ANB_REASON - 2);
    told.reason[..length].copy_from_slice(&bytes[..length]);
    told.reason_len = length as u32;
}

fn change_number(change: AddressChange) -> u64 {
    match change {
        AddressChange::Add => 1,
        AddressChange::Delete => 2,
        AddressChange::SetPrimary => 3,
    }
}

fn result_number(result: ResetResult) -> u64 {
    match result {
        ResetResult::Performed => 0,
        ResetResult::Denied => 1,
        ResetResult::WrongStream => 2,
        ResetResult::GivenUp => 4,
        // The interface has no number for other results: they count as a failure.
        _ => 3,
    }
}

/// The number of a reason (`ANB_GRACEFUL` and so on). For a duplicate also the number of the other
/// association, otherwise 0.
fn close_number(reason: &CloseReason) -> (u32, u64) {
    match reason {
        CloseReason::Graceful => (0, 0),
        CloseReason::LocalAbort => (1, 0),
        CloseReason::PeerAbort { .. } => (2, 0),
        CloseReason::ConnectTimeout => (3, 0),
        CloseReason::Unreachable => (4, 0),
        CloseReason::Duplicate { of } => (5, number(*of).into()),
        CloseReason::TooManyErrors => (6, 0),
        CloseReason::ProtocolViolation { .. } => (7, 0),
        _ => (u32::MAX, 0),
    }
}
