use super::{carrier, examples, flag, value, whole};
use clap::{Arg, ArgAction, Command};

/// The subcommand `anabranch preload`.
pub fn command() -> Command {
    let command = Command::new("preload")
        .about("Runs an SCTP program, unmodified, over this stack (Linux)")
        .after_help(examples(
            &[
                "anabranch preload -- iperf3 -s",
                "anabranch preload -- iperf3 --sctp -c 192.0.2.1",
                "anabranch preload -- checksctp",
                "anabranch preload --usrsctp -- janus",
            ],
            "Packets are SCTP in UDP (RFC 6951), or in IP with `--carrier ip`. The kernel needs no SCTP. Several local addresses are several paths. \
             ANABRANCH_OPTIONS has options as --set takes them, separated by semicolons. With ANABRANCH_SOCKET set, the program uses the host process there (`anabranch sctpd`). docs/programs.md tells \
             more.",
        ));
    let tcp = flag("tcp-as-sctp", "Make SCTP associations of the TCP connections of the program");
    let usrsctp =
        flag("usrsctp", "Replace libusrsctp, with which the program is linked").conflicts_with_all([
            "tcp-as-sctp",
            "local",
            "carrier",
            "udp-port",
            "remote-udp-port",
            "profile",
            "capture",
        ]);
    with_options(command).arg(tcp).arg(usrsctp).arg(
        Arg::new("program")
            .value_name("PROGRAM")
            .help("The program and its arguments")
            .required(true)
            .num_args(1..)
            .last(true)
            .value_parser(clap::value_parser!(std::ffi::OsString)),
    )
}

/// The subcommand `anabranch sctpd`.
pub fn host_command() -> Command {
    let command = Command::new("sctpd")
        .about("Runs the SCTP sockets of this user's programs until Ctrl-C (Linux)")
        .after_help(examples(
            &[
                "anabranch sctpd --socket /run/sctp",
                "ANABRANCH_SOCKET=/run/sctp anabranch preload -- iperf3 -s",
                "anabranch sctpd --socket /run/sctp --status",
            ],
            "One host process serves many programs, which then share one UDP port and one table of SCTP ports.",
        ));
    with_options(command)
        .arg(value("socket", "PATH", "The socket for programs").required(true))
        .arg(flag("status", "Print the sockets, associations and paths of the host process there as JSON"))
}

fn with_options(command: Command) -> Command {
    let port = |name, help| value(name, "PORT", help).value_parser(whole(0_u16, u16::MAX));
    command
        .arg(
            value("local", "ADDRESS", "A local address; may be repeated; without any, all of this host")
                .action(ArgAction::Append),
        )
        .arg(carrier())
        .arg(port("udp-port", "The UDP port, 9899 unless set; 0: any"))
        .arg(port("remote-udp-port", "The UDP port of peers, 9899 unless set"))
        .arg(
            value("profile", "NAME", "Options to begin with: recommended (several paths at once) or rfc9260")
                .value_parser(["recommended", "rfc9260"])
                .default_value("recommended"),
        )
        .arg(
            value("set", "OPTION=VALUE", "Any option of SCTP, as in scenarios; may be repeated")
                .action(ArgAction::Append),
        )
        .arg(value("capture", "FILE", "Write all packets to this file (pcapng), 1 GiB at most"))
}
