//! The structs and constants of the header. Each is described there.
#![allow(non_camel_case_types, reason = "names of C")]

use std::ffi::c_char;

/// Number of the binary interface: the number in the name of the shared library.
pub const ANB_ABI: u32 = 0;
/// The value of a time that never comes: no timer runs.
pub const ANB_NEVER: i64 = i64::MAX;

/// `anb_setup.profile`: the recommended options, with path MTU discovery.
pub const ANB_RECOMMENDED: u32 = 0;
/// `anb_setup.profile`: the options of RFC 9260.
pub const ANB_RFC9260: u32 = 1;
/// `anb_setup.seed_kind`: random numbers of the system.
pub const ANB_SEED_SYSTEM: u32 = 0;
/// `anb_setup.seed_kind`: the seed of the caller.
pub const ANB_SEED_GIVEN: u32 = 1;
/// `anb_setup.flags`: packets are not encapsulated in UDP.
pub const ANB_PLAIN_IP: u32 = 1;
/// `anb_setup.flags`: the caller or its network computes and checks CRC32c.
pub const ANB_NO_CHECKSUM: u32 = 2;

/// `anb_msg.flags`: delivered independently of earlier messages.
pub const ANB_UNORDERED: u16 = 1;
/// `anb_msg.flags`: the next message on the stream continues this one.
pub const ANB_MORE: u16 = 2;
/// `anb_msg.flags`: asks for an immediate SACK.
pub const ANB_SACK_NOW: u16 = 4;
/// `anb_msg.flags`: not held back by pacing, Nagle's algorithm or `send_queue`.
pub const ANB_URGENT: u16 = 8;
/// `anb_msg.flags`: an event reports the outcome.
pub const ANB_TRACK: u16 = 16;
/// `anb_msg.reliability`: never abandoned.
pub const ANB_RELIABLE: u32 = 0;
/// `anb_msg.reliability`: abandoned after `value` milliseconds.
pub const ANB_LIFETIME: u32 = 1;
/// `anb_msg.reliability`: retransmitted at most `value` times.
pub const ANB_RETRANSMISSIONS: u32 = 2;
/// `anb_msg.reliability`: abandoned for a message with a smaller `value`.
pub const ANB_PRIORITY: u32 = 3;

/// `anb_info.flags`: the message is unordered.
pub const ANB_IS_UNORDERED: u16 = 1;
/// `anb_info.flags`: these bytes end the message.
pub const ANB_IS_END: u16 = 2;
/// `anb_info.flags`: the message ends here incomplete.
pub const ANB_IS_ABORTED: u16 = 4;

/// Bytes of `anb_why.text`.
pub const ANB_WHY: usize = 256;
/// Bytes of `anb_event.reason`.
pub const ANB_REASON: usize = 204;

/// The text of an error.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct anb_why {
    /// A sentence that ends with a zero byte.
    pub text: [c_char; ANB_WHY],
}

/// An IP address.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct anb_ip {
    /// 4 or 6; 0 if there is no address.
    pub family: u8,
    /// Zero.
    pub zero: [u8; 3],
    /// Zero: reserved for the interface of a link-local address.
    pub scope: u32,
    /// The address in network order. An IPv4 address uses the first four bytes.
    pub bytes: [u8; 16],
}

const fn size_of_field<S, F>(_: fn(&S) -> &F) -> usize {
    size_of::<F>()
}

/// Declares structs whose first field is their size. `through` names the last field of the first version.
macro_rules! versioned {
    ($($(#[$doc:meta])* $name:ident through $last:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)+ })+) => {$(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            /// Bytes of the struct as the caller knows it.
            pub size: u32,
            $($(#[$field_doc])* pub $field: $type,)+
        }

        // SAFETY: the fields are integers, bytes, addresses and raw pointers, which may have any bytes.
        unsafe impl crate::memory::Versioned for $name {
            const LEAST: usize = std::mem::offset_of!($name, $last) + size_of_field(|all: &$name| &all.$last);
        }

        impl Default for $name {
            /// All fields are zero except the size.
            fn default() -> Self {
                $name { size: size_of::<Self>() as u32, ..crate::memory::zeroed() }
            }
        }
    )+};
}

versioned! {
    /// The setup of an endpoint.
    anb_setup through flags {
        /// [`ANB_ABI`] of the header with which the caller was compiled.
        abi: u32,
        /// SCTP port; 0: any from 49152.
        port: u16,
        /// UDP port of peers that have not sent a packet yet; 0: 9899.
        remote_udp_port: u16,
        /// Largest number of associations at a time; 0: 1024.
        max_associations: u32,
        /// Our addresses.
        addresses: *const anb_ip,
        /// Number of addresses, 1 to 16.
        n_addresses: u32,
        /// [`ANB_RECOMMENDED`] or [`ANB_RFC9260`].
        profile: u32,
        /// The seed, for [`ANB_SEED_GIVEN`].
        seed: [u8; 32],
        /// [`ANB_SEED_SYSTEM`] or [`ANB_SEED_GIVEN`].
        seed_kind: u32,
        /// [`ANB_PLAIN_IP`], [`ANB_NO_CHECKSUM`].
        flags: u32,
    }

    /// The setup of the stack of SCTP sockets.
    anb_host_setup through options {
        /// [`ANB_ABI`] of the header with which the caller was compiled.
        abi: u32,
        /// Our UDP port; 0: any free one.
        udp_port: u16,
        /// UDP port of peers that have not sent a packet yet; 0: 9899.
        remote_udp_port: u16,
        /// [`ANB_RECOMMENDED`] or [`ANB_RFC9260`].
        profile: u32,
        /// Our addresses; null: all of the host.
        addresses: *const anb_ip,
        /// Number of addresses, at most 16.
        n_addresses: u32,
        /// Reserved.
        zero: u32,
        /// Options as lines of a scenario; null: none.
        options: *const c_char,
    }

    /// The peer to connect to.
    anb_peer through addresses {
        /// SCTP port.
        port: u16,
        /// Zero.
        zero: u16,
        /// UDP port; 0: that of the endpoint; -1: packets are not encapsulated.
        udp_port: i32,
        /// Number of addresses.
        n_addresses: u32,
        /// Addresses; the first gets the INIT.
        addresses: *const anb_ip,
    }

    /// A message to send.
    anb_msg through path {
        /// The stream.
        stream: u16,
        /// [`ANB_UNORDERED`] and so on.
        flags: u16,
        /// Payload protocol identifier, as given.
        ppid: u32,
        /// Not sent; `ANB_SEND_FAILED` returns it.
        context: u32,
        /// [`ANB_RELIABLE`] and so on.
        reliability: u32,
        /// Milliseconds, retransmissions or a priority, as `reliability` says.
        value: u32,
        /// 0: any path; n + 1: path n.
        path: i32,
    }

    /// The description of received bytes.
    anb_info through left {
        /// The stream.
        stream: u16,
        /// [`ANB_IS_UNORDERED`], [`ANB_IS_END`], [`ANB_IS_ABORTED`].
        flags: u16,
        /// Payload protocol identifier, as sent.
        ppid: u32,
        /// TSN of the first fragment.
        tsn: u32,
        /// Message identifier.
        mid: u32,
        /// Stream sequence number.
        ssn: u16,
        /// Zero.
        zero: u16,
        /// Bytes of the message that have arrived and that the next calls return.
        left: u64,
    }

    /// Addresses and header fields of a packet.
    anb_route through may_fragment {
        /// Source address.
        src: anb_ip,
        /// Destination address.
        dst: anb_ip,
        /// UDP port of the peer; 0: not encapsulated.
        udp_port: u16,
        /// ECN field of the IP header.
        ecn: u8,
        /// 1: routers may fragment the packet.
        may_fragment: u8,
    }

    /// An event of an association.
    anb_event through reason {
        /// The association.
        assoc: u32,
        /// `ANB_CONNECTED` and so on.
        kind: u16,
        /// Number of the path, as in [`anb_path::id`].
        path: u16,
        /// Depends on `kind`: see the header.
        a: u32,
        /// Depends on `kind`: see the header.
        b: u64,
        /// Depends on `kind`: see the header.
        ip: anb_ip,
        /// Bytes in `reason`.
        reason_len: u32,
        /// A text with a zero byte behind it, or bytes.
        reason: [u8; ANB_REASON],
    }

    /// State of a path.
    anb_path through timeouts {
        /// Number of the path.
        id: u16,
        /// The peer's UDP port.
        udp_port: u16,
        /// Our address.
        local: anb_ip,
        /// The peer's address.
        remote: anb_ip,
        /// `ANB_PATH_ACTIVE` and so on.
        state: u8,
        /// 1: the primary path.
        primary: u8,
        /// Zero.
        zero: [u8; 2],
        /// Path MTU, IP header included.
        mtu: u32,
        /// Consecutive errors.
        errors: u32,
        /// Zero.
        zero2: u32,
        /// Congestion window in bytes.
        cwnd: u64,
        /// Slow start threshold in bytes; 0: none yet.
        ssthresh: u64,
        /// Flight size in bytes.
        flight: u64,
        /// Smoothed round-trip time in ns; 0: none yet.
        srtt: u64,
        /// Retransmission timeout in ns.
        rto: u64,
        /// User bytes sent, retransmissions included.
        user_bytes: u64,
        /// Chunks retransmitted.
        retransmissions: u64,
        /// Expiries of T3-rtx.
        timeouts: u64,
    }

    /// State and counters of an association.
    anb_stats through abandoned {
        /// `ANB_ESTABLISHED` and so on; 0: ended.
        state: u32,
        /// Packets sent.
        packets_sent: u64,
        /// Packets received.
        packets_received: u64,
        /// Bytes in the send buffer.
        buffered: u64,
        /// Messages that wait for their first transmission.
        unsent_messages: u64,
        /// Chunks sent and not acknowledged cumulatively.
        outstanding: u64,
        /// The peer's receive window in bytes.
        peer_rwnd: u64,
        /// User bytes received.
        user_bytes_received: u64,
        /// Chunks that had arrived before.
        duplicates: u64,
        /// Messages abandoned.
        abandoned: u64,
    }
}
