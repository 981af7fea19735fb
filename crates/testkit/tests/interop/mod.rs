//! Extensions between our endpoint and other stacks, over lossy UDP connections on loopback. The tests write
//! their results into the tables of `docs/interop.md`.
//!
//! tshark dissects every packet. Without tshark, the tests print a note and test the rest. If
//! `ANABRANCH_REQUIRE_TOOLS` is set, they fail instead.

mod capture;
mod exchange;
mod meeting;
mod reset;
mod unreliable;

use crate::peers::{DcSctp, SctpProto};
use anabranch_testkit::Interop;
use dcsctp::api::{Options, ZERO_CHECKSUM_ALTERNATE_ERROR_DETECTION_METHOD_LOWER_LAYER_DTLS as DTLS};
use meeting::{HERE, Meeting, Opener, THERE};
use sctp::{AllowReset, Config};
use units::Span;
use wire::{Data, ForwardTsn, IData, IForwardTsn, ReConfig, Sack};

/// The version of a crate in the manifest of this crate.
fn version(name: &str) -> &'static str {
    let manifest = include_str!("../../Cargo.toml");
    let line =
        manifest.lines().find_map(|line| line.strip_prefix(&format!("{name} = \"="))).expect("it is pinned");
    line.trim_end_matches('"')
}

fn dcsctp(opener: Opener, config: Config, options: Options) -> Meeting<DcSctp> {
    Meeting::new(opener, config, DcSctp::new(1, THERE, HERE, options))
}

fn sctp_proto(opener: Opener, config: Config) -> Meeting<SctpProto> {
    Meeting::new(opener, config, SctpProto::new(THERE, HERE))
}

/// A configuration whose RTO suits loopback.
fn plain() -> Config {
    Config { rto_initial: Span::from_millis(100), rto_min: Span::from_millis(50), ..Config::default() }
}

fn with_pr_sctp() -> Config {
    Config { pr_sctp: true, ..plain() }
}

fn with_resets() -> Config {
    Config { stream_reset: true, allow_reset: AllowReset::Streams, ..plain() }
}

#[test]
fn ours_and_dcsctp_use_extensions_with_each_other() {
    let mut table = Interop::new("dcsctp", version("dcsctp"));
    let each = Opener::BOTH;
    for opener in each {
        exchange::run(dcsctp(opener, plain(), Options::default()), &[Data::TYPE, Sack::TYPE]);
    }
    table.works("none", "messages both ways", "each");
    let interleaving = || Options { enable_message_interleaving: true, ..Options::default() };
    let config = || Config { interleaving: true, ..plain() };
    for opener in each {
        exchange::run(dcsctp(opener, config(), interleaving()), &[IData::TYPE, Sack::TYPE]);
    }
    table.works("I-DATA", "messages both ways", "each");
    let skipping = &[Data::TYPE, ForwardTsn::TYPE];
    for opener in each {
        unreliable::we_send(dcsctp(opener, with_pr_sctp(), Options::default()), skipping);
        unreliable::peer_sends(dcsctp(opener, with_pr_sctp(), Options::default()), false, skipping);
    }
    table.works("PR-SCTP", "we give up messages after a lifetime or their first loss", "each");
    table.works("PR-SCTP", "dcsctp gives up messages after their first loss", "each");
    let why = "it may drop the rest of a message of which it has sent a part, without a FORWARD TSN (`get_stream_to_produce_from`)";
    table.hole("PR-SCTP", "dcsctp gives up messages after a lifetime", why);
    let config = || Config { interleaving: true, ..with_pr_sctp() };
    for opener in each {
        let skipping = &[IData::TYPE, IForwardTsn::TYPE];
        unreliable::we_send(dcsctp(opener, config(), interleaving()), skipping);
        unreliable::peer_sends(dcsctp(opener, config(), interleaving()), false, skipping);
    }
    table.works("PR-SCTP with I-DATA", "we give up messages after a lifetime or their first loss", "each");
    table.works("PR-SCTP with I-DATA", "dcsctp gives up messages after their first loss", "each");
    for opener in each {
        reset::run(dcsctp(opener, with_resets(), Options::default()), &[Data::TYPE, ReConfig::TYPE]);
    }
    table.works("RE-CONFIG", "we reset our stream, dcsctp resets its own in turn", "each");
    table.works("RE-CONFIG", "dcsctp resets its stream, we reset ours in turn", "each");
    let asked = dcsctp(Opener::Ours, with_resets(), Options::default());
    reset::peer_does_nothing(asked, &[Data::TYPE, ReConfig::TYPE]);
    let why = "it answers \"nothing to do\"";
    table.hole("RE-CONFIG", "we ask dcsctp to reset a stream", why);
    let why = "it has only the reset of streams by their sender";
    table.hole("RE-CONFIG", "streams are added, the association is reset", why);
    for opener in each {
        let options = Options { zero_checksum_alternate_error_detection_method: DTLS, ..Options::default() };
        exchange::run(dcsctp(opener, plain(), options), &[Data::TYPE, Sack::TYPE]);
    }
    table.works("zero checksum", "dcsctp announces it; all packets have checksums, since we do not", "each");
    meeting::announces(DcSctp::new(1, THERE, HERE, Options::default()), &[ReConfig::TYPE, ForwardTsn::TYPE]);
    table.hole("NR-SACK, AUTH, ASCONF, PKTDROP, ECN", "announced", "it has none of them");
    table.check();
}

#[test]
fn ours_and_sctp_proto_use_extensions_with_each_other() {
    let mut table = Interop::new("sctp-proto", version("sctp-proto"));
    for opener in Opener::BOTH {
        exchange::run(sctp_proto(opener, plain()), &[Data::TYPE, Sack::TYPE]);
    }
    table.works("none", "messages both ways", "each");
    let skipping = &[Data::TYPE, ForwardTsn::TYPE];
    for opener in Opener::BOTH {
        unreliable::we_send(sctp_proto(opener, with_pr_sctp()), skipping);
        unreliable::peer_sends(sctp_proto(opener, with_pr_sctp()), true, skipping);
    }
    table.works("PR-SCTP", "we give up messages after a lifetime or their first loss", "each");
    table.works("PR-SCTP", "sctp-proto gives up messages after a lifetime or their first loss", "each");
    for opener in Opener::BOTH {
        reset::run(sctp_proto(opener, with_resets()), &[Data::TYPE, ReConfig::TYPE]);
    }
    table.works("RE-CONFIG", "we reset our stream, sctp-proto resets its own in turn", "each");
    table.works("RE-CONFIG", "sctp-proto resets its stream, we reset ours in turn", "each");
    let why = "it has only the reset of streams by their sender";
    table.hole("RE-CONFIG", "streams are added, the association is reset", why);
    meeting::announces(SctpProto::new(THERE, HERE), &[ReConfig::TYPE, ForwardTsn::TYPE]);
    table.hole(
        "I-DATA, NR-SACK, AUTH, ASCONF, PKTDROP, ECN, zero checksum",
        "announced",
        "it has none of them",
    );
    table.check();
}
