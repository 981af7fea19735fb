//! Limits of the state that strangers can make a server keep.

use std::time::Duration;

/// Control connections at once.
pub const SESSIONS: usize = 16;
/// Control connections of one host at once.
pub const SESSIONS_OF_HOST: usize = 4;
/// Flows of one measurement.
pub const FLOWS: usize = 64;
/// Data connections of TCP at once, and associations.
pub const CONNECTIONS: usize = 128;
/// How long a data connection may take to say which flow it is.
pub const IDENTIFY: Duration = Duration::from_secs(10);
/// How long a control connection may be silent before and after a measurement.
pub const IDLE: Duration = Duration::from_secs(60);
/// Rows that the vectors of the flows of a measurement get; the messages after them are counted only. About
/// 40 bytes each.
pub const ROWS: usize = 1 << 18;
/// Counters of flows that the vector of a measurement keeps, one for each flow and second; about 140 bytes
/// each.
pub const SNAPSHOTS: usize = 1 << 16;
/// Shortest time between two messages about paths: more often they would disturb what is measured.
pub const PATHS: Duration = Duration::from_millis(250);
/// Longest control message: NPMP's longest.
pub const MESSAGE: usize = u16::MAX as usize;
/// How long connections may take to end with the server.
pub const FAREWELL: Duration = Duration::from_secs(5);
