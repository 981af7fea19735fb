use crate::decode::{At, table};
use crate::{Distribution, Hertz, IpVersion, Protocol};
use units::{ByteCount, Instant};

table! {
    /// Short transfers from client to server, each over a connection of its own.
    struct TransfersTable in "[[transfers]]" {
        /// Unique name, also among flows.
        name: At<String>;
        /// The host that connects and sends.
        client: At<String>;
        /// The host that listens.
        server: At<String>;
        /// Transport protocol: "SCTP" or "TCP".
        protocol: At<Protocol>;
        /// Name of the SCTP option set; by default every option has its default.
        sctp: Option<At<String>>;
        /// Name of the server's SCTP option set; by default the client's.
        server_sctp: Option<At<String>>;
        /// Name of the TCP option set; by default that of profile "modern".
        tcp: Option<At<String>>;
        /// Name of the server's TCP option set; by default the client's.
        server_tcp: Option<At<String>>;
        /// Transfers a second; { exponential = ... } for Poisson arrivals.
        rate: At<Distribution<Hertz>>;
        /// Bytes of each.
        size: Distribution<ByteCount>;
        /// The first comes one wait after this, from the start of the run.
        from: Instant = Instant::ZERO;
        /// None comes after this.
        to: At<Instant>;
        /// Over SCTP a transfer is cut into messages of at most this.
        max_msg_size: At<ByteCount> = At { value: ByteCount::new(1452), span: 0..0 };
        /// The server's port.
        remote_port: At<u16> = At { value: 9000, span: 0..0 };
        /// The networks whose interfaces both ends use; by default all.
        networks: Option<At<Vec<At<u16>>>>;
        /// The kind of addresses both ends use: 4 or 6.
        ip_version: IpVersion = IpVersion::V4;
    }
}
