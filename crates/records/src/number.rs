//! Numbers of Linux's `<netinet/sctp.h>` (RFC 6458).
#![allow(missing_docs, reason = "each is the option of that name in RFC 6458, without the prefix")]

/// Protocol number, and level of options and control messages.
pub const SCTP: i32 = 132;

pub const RTOINFO: i32 = 0;
pub const ASSOCINFO: i32 = 1;
pub const INITMSG: i32 = 2;
pub const NODELAY: i32 = 3;
pub const AUTOCLOSE: i32 = 4;
pub const SET_PEER_PRIMARY_ADDR: i32 = 5;
pub const PRIMARY_ADDR: i32 = 6;
pub const ADAPTATION_LAYER: i32 = 7;
pub const DISABLE_FRAGMENTS: i32 = 8;
pub const PEER_ADDR_PARAMS: i32 = 9;
pub const DEFAULT_SEND_PARAM: i32 = 10;
pub const EVENTS: i32 = 11;
pub const I_WANT_MAPPED_V4_ADDR: i32 = 12;
pub const MAXSEG: i32 = 13;
pub const STATUS: i32 = 14;
pub const GET_PEER_ADDR_INFO: i32 = 15;
pub const DELAYED_SACK: i32 = 16;
pub const CONTEXT: i32 = 17;
pub const FRAGMENT_INTERLEAVE: i32 = 18;
pub const PARTIAL_DELIVERY_POINT: i32 = 19;
pub const MAX_BURST: i32 = 20;
pub const AUTH_CHUNK: i32 = 21;
pub const HMAC_IDENT: i32 = 22;
pub const AUTH_KEY: i32 = 23;
pub const AUTH_ACTIVE_KEY: i32 = 24;
pub const AUTH_DELETE_KEY: i32 = 25;
pub const PEER_AUTH_CHUNKS: i32 = 26;
pub const LOCAL_AUTH_CHUNKS: i32 = 27;
pub const GET_ASSOC_NUMBER: i32 = 28;
pub const GET_ASSOC_ID_LIST: i32 = 29;
pub const AUTO_ASCONF: i32 = 30;
pub const PEER_ADDR_THLDS: i32 = 31;
pub const RECVRCVINFO: i32 = 32;
pub const RECVNXTINFO: i32 = 33;
pub const DEFAULT_SNDINFO: i32 = 34;
pub const AUTH_DEACTIVATE_KEY: i32 = 35;
pub const REUSE_PORT: i32 = 36;
pub const PEER_ADDR_THLDS_V2: i32 = 37;
pub const SOCKOPT_BINDX_ADD: i32 = 100;
pub const SOCKOPT_BINDX_REM: i32 = 101;
pub const SOCKOPT_PEELOFF: i32 = 102;
pub const SOCKOPT_CONNECTX_OLD: i32 = 107;
pub const GET_PEER_ADDRS: i32 = 108;
pub const GET_LOCAL_ADDRS: i32 = 109;
pub const SOCKOPT_CONNECTX: i32 = 110;
pub const SOCKOPT_CONNECTX3: i32 = 111;
pub const GET_ASSOC_STATS: i32 = 112;
pub const PR_SUPPORTED: i32 = 113;
pub const DEFAULT_PRINFO: i32 = 114;
pub const PR_ASSOC_STATUS: i32 = 115;
pub const PR_STREAM_STATUS: i32 = 116;
pub const RECONFIG_SUPPORTED: i32 = 117;
pub const ENABLE_STREAM_RESET: i32 = 118;
pub const RESET_STREAMS: i32 = 119;
pub const RESET_ASSOC: i32 = 120;
pub const ADD_STREAMS: i32 = 121;
pub const SOCKOPT_PEELOFF_FLAGS: i32 = 122;
pub const STREAM_SCHEDULER: i32 = 123;
pub const STREAM_SCHEDULER_VALUE: i32 = 124;
pub const INTERLEAVING_SUPPORTED: i32 = 125;
pub const EVENT: i32 = 127;
pub const ASCONF_SUPPORTED: i32 = 128;
pub const AUTH_SUPPORTED: i32 = 129;
pub const ECN_SUPPORTED: i32 = 130;
pub const EXPOSE_POTENTIALLY_FAILED_STATE: i32 = 131;
pub const REMOTE_UDP_ENCAPS_PORT: i32 = 132;
pub const PLPMTUD_PROBE_INTERVAL: i32 = 133;
/// An option of FreeBSD, as is the next one. Values: 0 off, 1 CMT, 2 CMT with `rpv1`, 3
/// with `rpv2`, 4 with `lia`.
pub const CMT_ON_OFF: i32 = 0x1200;
pub const CMT_USE_DAC: i32 = 0x1201;
/// An option of Anabranch: sets any option by its name and text.
pub const ANB_OPTION: i32 = 0x1300;

/// Types of control messages.
pub mod cmsg {
    pub const INIT: i32 = 0;
    pub const SNDRCV: i32 = 1;
    pub const SNDINFO: i32 = 2;
    pub const RCVINFO: i32 = 3;
    pub const NXTINFO: i32 = 4;
    pub const PRINFO: i32 = 5;
    pub const AUTHINFO: i32 = 6;
}

/// Flags of a send.
pub mod send {
    pub const UNORDERED: u16 = 1;
    pub const ADDR_OVER: u16 = 2;
    pub const ABORT: u16 = 4;
    pub const SACK_IMMEDIATELY: u16 = 8;
    pub const POLICY: u16 = 0x30;
    /// The policy of a lifetime in milliseconds.
    pub const TTL: u16 = 0x10;
    pub const RTX: u16 = 0x20;
    pub const PRIO: u16 = 0x30;
    /// A message for all associations of a one-to-many socket.
    pub const ALL: u16 = 0x40;
    /// All policies, when a program asks for the number of abandoned messages.
    pub const ALL_POLICIES: u16 = 0x80;
    pub const EOF: u16 = 0x200;
}

/// Flag of a received notification in `msg_flags`.
pub const MSG_NOTIFICATION: i32 = 0x8000;
