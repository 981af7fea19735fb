//! Limits on the state that unknown peers can create in a server.

use std::time::Duration;

/// Largest number of control connections at the same time.
pub const SESSIONS: usize = 16;
/// Largest number of control connections of one host at the same time.
pub const SESSIONS_OF_HOST: usize = 4;
/// Largest number of flows in one measurement.
pub const FLOWS: usize = 64;
/// Largest number of TCP data connections and associations at the same time.
pub const CONNECTIONS: usize = 128;
/// Time within which a data connection must identify its flow.
pub const IDENTIFY: Duration = Duration::from_secs(10);
/// Time limit of a control connection without messages, before and after a measurement.
pub const IDLE: Duration = Duration::from_secs(60);
/// Largest number of rows (about 40 bytes each) in the vector files of a measurement. A vector file has a row
/// for each received message; messages beyond this number are counted, but get no row.
pub const ROWS: usize = 1 << 18;
/// Largest number of counters (about 140 bytes each) for the vector file of a measurement,
/// which has rows for each flow and second.
pub const SNAPSHOTS: usize = 1 << 16;
/// Shortest interval between two reports of paths: more frequent reports would disturb the measurement.
pub const PATHS: Duration = Duration::from_millis(250);
/// Longest control message in bytes, which is the limit of NPMP.
pub const MESSAGE: usize = u16::MAX as usize;
/// Time limit for connections to end when the server ends.
pub const FAREWELL: Duration = Duration::from_secs(5);
