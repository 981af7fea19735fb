//! A guard (such as an encryption layer) between an endpoint and its sockets. It may change or drop packets.

use std::fmt::{self, Debug, Display};
use std::task::Waker;
use transport::{Channel, Datagram, Octets, Transmit};
use units::Instant;

/// Protects datagrams between the endpoint and its sockets, such as by encryption
/// ([`Builder::guard`](crate::Builder::guard)). A guard does no input or output, and reads no clock.
///
/// The guard gives each authenticated peer a [`Channel`] other than [`Channel::NONE`], and never gives the
/// same channel to another peer. An association accepts packets of one channel only, so that no peer can do
/// anything in the name of another one.
///
/// After a call of any other method, the driver calls [`poll_transmit`](Self::poll_transmit)
/// until it returns `None`.
pub trait Guard: Debug + Send {
    /// Bytes that the guard adds to each packet.
    fn overhead(&self) -> usize;

    /// Protects a packet of the endpoint for the peer of `route.channel`: writes the datagram to `out`, which
    /// is empty. Returns false if there is no datagram to send now; the guard may keep the packet for
    /// [`poll_transmit`](Self::poll_transmit).
    fn seal(&mut self, now: Instant, route: &Transmit, packet: Octets<'_>, out: &mut Vec<u8>) -> bool;

    /// Opens a datagram from the network: writes the packet to `out`, which is empty, and returns the channel
    /// of its sender. `None` if there is no packet for the endpoint: the datagram is not authentic, or is for
    /// the guard itself. Must accept any bytes.
    fn open(&mut self, now: Instant, datagram: &Datagram<'_>, out: &mut Vec<u8>) -> Option<Channel>;

    /// The channel of a peer to connect to. Without an identity, the channel of the only known peer.
    ///
    /// # Errors
    /// [`GuardError`].
    fn channel(&mut self, peer: Option<&Identity>) -> Result<Channel, GuardError>;

    /// The identity of the peer of a channel.
    fn identity(&self, channel: Channel) -> Option<Identity>;

    /// Writes the next datagram of the guard itself to `out`, which is empty, and returns its route; `None`
    /// if there is nothing to send.
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit>;

    /// Time of the next call of [`handle_timeout`](Self::handle_timeout); `None` if no timer runs.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Runs the expired timers.
    fn handle_timeout(&mut self, now: Instant);

    /// The channel of a datagram that the guard sent, from its first bytes, which an ICMP message quotes.
    /// `None` if the guard has not sent such a datagram recently. Then the driver ignores the ICMP message,
    /// since anybody can send one. A guard without this method lets the driver ignore all ICMP messages.
    fn quoted(&self, bytes: &[u8]) -> Option<Channel> {
        let _ = bytes;
        None
    }

    /// The next channel that has ended, and why. The driver then ends associations of the channel,
    /// as [`ChannelEnd`] says.
    fn poll_end(&mut self) -> Option<(Channel, ChannelEnd)> {
        None
    }

    /// Stores a waker of the driver, for a guard that another thread can change. After such a change, the
    /// guard wakes the driver, which then calls [`poll_end`](Self::poll_end).
    fn set_waker(&mut self, waker: Waker) {
        let _ = waker;
    }
}

/// Reason why a channel (an authenticated peer) of a [`Guard`] has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChannelEnd {
    /// The peer may not communicate any more: all its associations end.
    Revoked,
    /// The peer does not complete the handshake of the guard: attempts to connect to it end.
    NoSession,
}

/// The identity that a peer proves to a [`Guard`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Identity {
    /// The owner of the private key that belongs to this public key.
    PublicKey([u8; 32]),
}

/// As 64 hexadecimal digits.
impl Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Identity::PublicKey(key) = self;
        key.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

/// Reason why a [`Guard`] has no channel for a peer, so that nothing can be sent to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GuardError {
    /// The guard does not know the peer.
    #[error("the peer with this key is not known: add its key to the known peers")]
    UnknownPeer,
    /// No identity was given, and the guard does not know exactly one peer.
    #[error("{known} peers are known: name the one to connect to with `identity`")]
    WhichPeer {
        /// Number of known peers.
        known: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_shown_as_64_hexadecimal_digits() {
        let identity = Identity::PublicKey(std::array::from_fn(|n| n as u8 * 8));
        let text = identity.to_string();
        assert_eq!((text.len(), &text[..8], &text[60..]), (64, "00081018", "f0f8"));
        assert_eq!(format!("{identity:?}"), format!("PublicKey({text})"));
    }
}
