//! Reasons why calls of the user for an association fail.

use std::net::IpAddr;
use transport::ConfigError;
use wire::StreamId;

/// Reason why a call about a path failed; nothing changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// The association has ended.
    #[error("the association has ended")]
    Closed,
    /// The association has no path to this address of the peer.
    #[error("there is no path to {address}")]
    NoSuchPath {
        /// The requested address.
        address: IpAddr,
    },
    /// No heartbeat has confirmed the path yet (`rfc9260#section-5.4`).
    #[error("the path to {address} is not confirmed yet")]
    Unconfirmed {
        /// The requested address.
        address: IpAddr,
    },
    /// The association is not established yet, or it is being shut down.
    #[error("the association is not established yet, or it is being shut down")]
    NotEstablished,
    /// The path MTU is too small or too large.
    #[error("a path MTU of {mtu} bytes: expected 576 to 65535")]
    InvalidMtu {
        /// The requested path MTU.
        mtu: u64,
    },
    /// The endpoint has no [`encapsulation`](crate::EndpointConfig::encapsulation).
    #[error("the endpoint does not encapsulate its packets in UDP")]
    NotEncapsulated,
}

/// Reason why a call about a local address of an association failed; nothing changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// The association has ended.
    #[error("the association has ended")]
    Closed,
    /// The address is not a unicast address.
    #[error("{address} is not a unicast address")]
    NotUnicast {
        /// The requested address.
        address: IpAddr,
    },
    /// The association has the address already, or has requested that the peer adds it.
    #[error("the association has the address {address} already")]
    Known {
        /// The requested address.
        address: IpAddr,
    },
    /// The association does not have the address.
    #[error("the association does not have the address {address}")]
    Unknown {
        /// The requested address.
        address: IpAddr,
    },
    /// The address was not removed, so that it cannot be restored.
    #[error("the address {address} was not removed")]
    NotRemoved {
        /// The requested address.
        address: IpAddr,
    },
    /// Without the address no confirmed path would be left.
    #[error("without the address {address} the association would have no path left")]
    LastPath {
        /// The requested address.
        address: IpAddr,
    },
    /// The association has the largest permitted number of addresses.
    #[error("the association has {limit} addresses, and can have no more")]
    TooMany {
        /// The largest number of addresses.
        limit: usize,
    },
    /// The peer does not support ASCONF, or not the request for this change.
    #[error("the peer has no ASCONF and cannot be asked about the address {address}")]
    NoAsconf {
        /// The requested address.
        address: IpAddr,
    },
    /// The association is not established yet, or it is being shut down.
    #[error("the association is not established yet, or it is being shut down")]
    NotEstablished,
}

/// Reason why a call about a key for AUTH failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The association has ended.
    #[error("the association has ended")]
    Closed,
    /// No key with this identifier was set.
    #[error("key {key} was not set")]
    NoSuchKey {
        /// The identifier of the key.
        key: u16,
    },
    /// The key is active: packets are sent with it.
    #[error("key {key} is active: activate another one first")]
    Active {
        /// The identifier of the key.
        key: u16,
    },
    /// The association has the largest permitted number of keys.
    #[error("the association has {limit} keys, and can have no more")]
    TooMany {
        /// The largest number of keys.
        limit: usize,
    },
}

/// Reason why the value of a stream for the stream scheduler was not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The association has ended.
    #[error("the association has ended")]
    Closed,
    /// The association has no stream with this number.
    #[error("stream {} does not exist: the association has {streams} outbound streams", .stream.0)]
    NoSuchStream {
        /// The requested stream.
        stream: StreamId,
        /// Number of outbound streams.
        streams: u16,
    },
    /// The stream scheduler `wfq` needs a weight of at least 1.
    #[error("stream {} cannot have the weight 0: expected 1 to 65535", .stream.0)]
    ZeroWeight {
        /// The requested stream.
        stream: StreamId,
    },
}

/// Reason why options of an association did not change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// The association has ended.
    #[error("the association has ended")]
    Closed,
    /// An option cannot have this value.
    #[error(transparent)]
    Invalid(#[from] ConfigError),
}
