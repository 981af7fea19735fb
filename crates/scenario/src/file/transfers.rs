use crate::decode::{At, table};
use crate::{Distribution, Hertz, IpVersion, Protocol};
use units::{ByteCount, Instant};

table! {
    /// Short transfers from client to server, each over its own connection.
    struct TransfersTable in "[[transfers]]" {
        /// Name, different from those of all other transfers and flows.
        name: At<String>;
        /// The host that connects and sends.
        client: At<String>;
        /// The host that listens.
        server: At<String>;
        /// Transport protocol: "SCTP" or "TCP".
        protocol: At<Protocol>;
        /// Name of the SCTP option set; by default all options have their defaults.
        sctp: Option<At<String>>;
        /// Name of the server's SCTP option set; by default the client's.
        server_sctp: Option<At<String>>;
        /// Name of the TCP option set; by default the options of profile "modern".
        tcp: Option<At<String>>;
        /// Name of the server's TCP option set; by default the client's.
        server_tcp: Option<At<String>>;
        /// Transfers per second; { exponential = ... } for Poisson arrivals.
        rate: At<Distribution<Hertz>>;
        /// Size of a transfer.
        size: Distribution<ByteCount>;
        /// Time from the start of the run; the first transfer begins one random wait later.
        from: Instant = Instant::ZERO;
        /// No transfer begins after this time.
        to: At<Instant>;
        /// Largest message of a transfer over SCTP.
        max_msg_size: At<ByteCount> = At { value: ByteCount::new(1452), span: 0..0 };
        /// The server's port.
        remote_port: At<u16> = At { value: 9000, span: 0..0 };
        /// The networks whose interfaces both ends use; by default all.
        networks: Option<At<Vec<At<u16>>>>;
        /// IP version of the addresses of both ends: 4 or 6.
        ip_version: IpVersion = IpVersion::V4;
    }
}
