//! Variables that all sockets share (`usrsctp_sysctl_*`), and counts of packets.

use crate::table::{Socket, lock};
use io::Tap;
use libc::{SO_RCVBUF, SO_SNDBUF, SOL_SOCKET, c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use transport::{Datagram, Octets, Transmit};

/// The MTU of a link in bytes: what DTLS and the headers below it leave of the 1280 that RFC 8831 assumes,
/// with the headers of IPv6 and UDP that the option includes.
const LINK_MTU: &str = "'1200 B'";

/// Variables that a program set and that sockets opened later have, with their values.
static CHANGED: Mutex<Vec<(&str, u32)>> = Mutex::new(Vec::new());

static RECEIVED: AtomicU32 = AtomicU32::new(0);
static SENT: AtomicU32 = AtomicU32::new(0);

/// Counts packets.
#[derive(Debug)]
pub struct Counter;

impl Tap for Counter {
    fn sent(&mut self, _: &Transmit, _: u16, _: Octets<'_>) {
        SENT.fetch_add(1, Ordering::Relaxed);
    }

    fn received(&mut self, _: &Datagram<'_>, _: u16) {
        RECEIVED.fetch_add(1, Ordering::Relaxed);
    }
}

/// Gives a new socket the values of the variables.
pub fn apply(socket: &Socket) {
    if socket.conn {
        // Probes of the path MTU would be lost in a DTLS layer without a word.
        socket.set_named("pmtud", "false");
        socket.set_named("mtu", LINK_MTU);
    }
    let changed = lock(&CHANGED).clone();
    for (name, value) in changed {
        match name {
            "sctp_sendspace" => socket.set(SOL_SOCKET, SO_SNDBUF, value.cast_signed()),
            "sctp_recvspace" => socket.set(SOL_SOCKET, SO_RCVBUF, value.cast_signed()),
            _ => {
                if let Some((option, text)) = option_of(name, value) {
                    socket.set_named(option, &text);
                }
            }
        }
    }
}

/// The option (docs/scenarios.md) and its value for a variable; `None` if the variable has no effect here.
fn option_of(name: &str, value: u32) -> Option<(&'static str, String)> {
    let switch = (value != 0).to_string();
    let (millis, seconds) = (format!("'{value} ms'"), format!("'{value} s'"));
    Some(match name {
        "sctp_ecn_enable" => ("ecn", if value == 0 { "'off'" } else { "'on'" }.to_owned()),
        "sctp_pr_enable" => ("pr_sctp", switch),
        "sctp_auth_enable" => ("auth", switch),
        "sctp_asconf_enable" => ("asconf", switch),
        "sctp_reconfig_enable" => ("stream_reset", switch),
        "sctp_nrsack_enable" => ("nr_sack", switch),
        "sctp_rto_min_default" => ("rto_min", millis),
        "sctp_rto_max_default" => ("rto_max", millis),
        "sctp_rto_initial_default" => ("rto_initial", millis),
        "sctp_init_rto_max_default" => ("init_rto_max", millis),
        "sctp_delayed_sack_time_default" => ("sack_delay", millis),
        "sctp_heartbeat_interval_default" => ("hb_interval", millis),
        "sctp_valid_cookie_life_default" => ("valid_cookie_life", seconds),
        "sctp_sack_freq_default" => ("sack_frequency", value.to_string()),
        "sctp_init_rtx_max_default" => ("max_init_retransmits", value.to_string()),
        "sctp_assoc_rtx_max_default" => ("association_max_retrans", value.to_string()),
        "sctp_path_rtx_max_default" => ("path_max_retrans", value.to_string()),
        "sctp_nr_outgoing_streams_default" => ("outbound_streams", value.to_string()),
        "sctp_nr_incoming_streams_default" => ("max_inbound_streams", value.to_string()),
        _ => return None,
    })
}

/// Defines both functions of variables. Each is 0 until the program sets it.
macro_rules! variables {
    ($($name:literal: $set:ident $get:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $set(value: u32) -> c_int {
            let mut changed = lock(&CHANGED);
            changed.retain(|(name, _)| *name != $name);
            changed.push(($name, value));
            1
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $get() -> u32 {
            lock(&CHANGED).iter().find(|(name, _)| *name == $name).map_or(0, |&(_, value)| value)
        }
    )*};
}

variables! {
    "sctp_sendspace": usrsctp_sysctl_set_sctp_sendspace usrsctp_sysctl_get_sctp_sendspace;
    "sctp_recvspace": usrsctp_sysctl_set_sctp_recvspace usrsctp_sysctl_get_sctp_recvspace;
    "sctp_auto_asconf": usrsctp_sysctl_set_sctp_auto_asconf usrsctp_sysctl_get_sctp_auto_asconf;
    "sctp_multiple_asconfs": usrsctp_sysctl_set_sctp_multiple_asconfs usrsctp_sysctl_get_sctp_multiple_asconfs;
    "sctp_ecn_enable": usrsctp_sysctl_set_sctp_ecn_enable usrsctp_sysctl_get_sctp_ecn_enable;
    "sctp_pr_enable": usrsctp_sysctl_set_sctp_pr_enable usrsctp_sysctl_get_sctp_pr_enable;
    "sctp_auth_enable": usrsctp_sysctl_set_sctp_auth_enable usrsctp_sysctl_get_sctp_auth_enable;
    "sctp_asconf_enable": usrsctp_sysctl_set_sctp_asconf_enable usrsctp_sysctl_get_sctp_asconf_enable;
    "sctp_reconfig_enable": usrsctp_sysctl_set_sctp_reconfig_enable usrsctp_sysctl_get_sctp_reconfig_enable;
    "sctp_nrsack_enable": usrsctp_sysctl_set_sctp_nrsack_enable usrsctp_sysctl_get_sctp_nrsack_enable;
    "sctp_pktdrop_enable": usrsctp_sysctl_set_sctp_pktdrop_enable usrsctp_sysctl_get_sctp_pktdrop_enable;
    "sctp_no_csum_on_loopback": usrsctp_sysctl_set_sctp_no_csum_on_loopback usrsctp_sysctl_get_sctp_no_csum_on_loopback;
    "sctp_peer_chunk_oh": usrsctp_sysctl_set_sctp_peer_chunk_oh usrsctp_sysctl_get_sctp_peer_chunk_oh;
    "sctp_max_burst_default": usrsctp_sysctl_set_sctp_max_burst_default usrsctp_sysctl_get_sctp_max_burst_default;
    "sctp_max_chunks_on_queue": usrsctp_sysctl_set_sctp_max_chunks_on_queue usrsctp_sysctl_get_sctp_max_chunks_on_queue;
    "sctp_min_split_point": usrsctp_sysctl_set_sctp_min_split_point usrsctp_sysctl_get_sctp_min_split_point;
    "sctp_delayed_sack_time_default": usrsctp_sysctl_set_sctp_delayed_sack_time_default usrsctp_sysctl_get_sctp_delayed_sack_time_default;
    "sctp_sack_freq_default": usrsctp_sysctl_set_sctp_sack_freq_default usrsctp_sysctl_get_sctp_sack_freq_default;
    "sctp_system_free_resc_limit": usrsctp_sysctl_set_sctp_system_free_resc_limit usrsctp_sysctl_get_sctp_system_free_resc_limit;
    "sctp_asoc_free_resc_limit": usrsctp_sysctl_set_sctp_asoc_free_resc_limit usrsctp_sysctl_get_sctp_asoc_free_resc_limit;
    "sctp_heartbeat_interval_default": usrsctp_sysctl_set_sctp_heartbeat_interval_default usrsctp_sysctl_get_sctp_heartbeat_interval_default;
    "sctp_pmtu_raise_time_default": usrsctp_sysctl_set_sctp_pmtu_raise_time_default usrsctp_sysctl_get_sctp_pmtu_raise_time_default;
    "sctp_shutdown_guard_time_default": usrsctp_sysctl_set_sctp_shutdown_guard_time_default usrsctp_sysctl_get_sctp_shutdown_guard_time_default;
    "sctp_secret_lifetime_default": usrsctp_sysctl_set_sctp_secret_lifetime_default usrsctp_sysctl_get_sctp_secret_lifetime_default;
    "sctp_rto_max_default": usrsctp_sysctl_set_sctp_rto_max_default usrsctp_sysctl_get_sctp_rto_max_default;
    "sctp_rto_min_default": usrsctp_sysctl_set_sctp_rto_min_default usrsctp_sysctl_get_sctp_rto_min_default;
    "sctp_rto_initial_default": usrsctp_sysctl_set_sctp_rto_initial_default usrsctp_sysctl_get_sctp_rto_initial_default;
    "sctp_init_rto_max_default": usrsctp_sysctl_set_sctp_init_rto_max_default usrsctp_sysctl_get_sctp_init_rto_max_default;
    "sctp_valid_cookie_life_default": usrsctp_sysctl_set_sctp_valid_cookie_life_default usrsctp_sysctl_get_sctp_valid_cookie_life_default;
    "sctp_init_rtx_max_default": usrsctp_sysctl_set_sctp_init_rtx_max_default usrsctp_sysctl_get_sctp_init_rtx_max_default;
    "sctp_assoc_rtx_max_default": usrsctp_sysctl_set_sctp_assoc_rtx_max_default usrsctp_sysctl_get_sctp_assoc_rtx_max_default;
    "sctp_path_rtx_max_default": usrsctp_sysctl_set_sctp_path_rtx_max_default usrsctp_sysctl_get_sctp_path_rtx_max_default;
    "sctp_add_more_threshold": usrsctp_sysctl_set_sctp_add_more_threshold usrsctp_sysctl_get_sctp_add_more_threshold;
    "sctp_nr_incoming_streams_default": usrsctp_sysctl_set_sctp_nr_incoming_streams_default usrsctp_sysctl_get_sctp_nr_incoming_streams_default;
    "sctp_nr_outgoing_streams_default": usrsctp_sysctl_set_sctp_nr_outgoing_streams_default usrsctp_sysctl_get_sctp_nr_outgoing_streams_default;
    "sctp_cmt_on_off": usrsctp_sysctl_set_sctp_cmt_on_off usrsctp_sysctl_get_sctp_cmt_on_off;
    "sctp_cmt_use_dac": usrsctp_sysctl_set_sctp_cmt_use_dac usrsctp_sysctl_get_sctp_cmt_use_dac;
    "sctp_use_cwnd_based_maxburst": usrsctp_sysctl_set_sctp_use_cwnd_based_maxburst usrsctp_sysctl_get_sctp_use_cwnd_based_maxburst;
    "sctp_nat_friendly": usrsctp_sysctl_set_sctp_nat_friendly usrsctp_sysctl_get_sctp_nat_friendly;
    "sctp_L2_abc_variable": usrsctp_sysctl_set_sctp_L2_abc_variable usrsctp_sysctl_get_sctp_L2_abc_variable;
    "sctp_mbuf_threshold_count": usrsctp_sysctl_set_sctp_mbuf_threshold_count usrsctp_sysctl_get_sctp_mbuf_threshold_count;
    "sctp_do_drain": usrsctp_sysctl_set_sctp_do_drain usrsctp_sysctl_get_sctp_do_drain;
    "sctp_hb_maxburst": usrsctp_sysctl_set_sctp_hb_maxburst usrsctp_sysctl_get_sctp_hb_maxburst;
    "sctp_abort_if_one_2_one_hits_limit": usrsctp_sysctl_set_sctp_abort_if_one_2_one_hits_limit usrsctp_sysctl_get_sctp_abort_if_one_2_one_hits_limit;
    "sctp_min_residual": usrsctp_sysctl_set_sctp_min_residual usrsctp_sysctl_get_sctp_min_residual;
    "sctp_max_retran_chunk": usrsctp_sysctl_set_sctp_max_retran_chunk usrsctp_sysctl_get_sctp_max_retran_chunk;
    "sctp_logging_level": usrsctp_sysctl_set_sctp_logging_level usrsctp_sysctl_get_sctp_logging_level;
    "sctp_default_cc_module": usrsctp_sysctl_set_sctp_default_cc_module usrsctp_sysctl_get_sctp_default_cc_module;
    "sctp_default_frag_interleave": usrsctp_sysctl_set_sctp_default_frag_interleave usrsctp_sysctl_get_sctp_default_frag_interleave;
    "sctp_mobility_base": usrsctp_sysctl_set_sctp_mobility_base usrsctp_sysctl_get_sctp_mobility_base;
    "sctp_mobility_fasthandoff": usrsctp_sysctl_set_sctp_mobility_fasthandoff usrsctp_sysctl_get_sctp_mobility_fasthandoff;
    "sctp_inits_include_nat_friendly": usrsctp_sysctl_set_sctp_inits_include_nat_friendly usrsctp_sysctl_get_sctp_inits_include_nat_friendly;
    "sctp_udp_tunneling_port": usrsctp_sysctl_set_sctp_udp_tunneling_port usrsctp_sysctl_get_sctp_udp_tunneling_port;
    "sctp_enable_sack_immediately": usrsctp_sysctl_set_sctp_enable_sack_immediately usrsctp_sysctl_get_sctp_enable_sack_immediately;
    "sctp_vtag_time_wait": usrsctp_sysctl_set_sctp_vtag_time_wait usrsctp_sysctl_get_sctp_vtag_time_wait;
    "sctp_blackhole": usrsctp_sysctl_set_sctp_blackhole usrsctp_sysctl_get_sctp_blackhole;
    "sctp_sendall_limit": usrsctp_sysctl_set_sctp_sendall_limit usrsctp_sysctl_get_sctp_sendall_limit;
    "sctp_diag_info_code": usrsctp_sysctl_set_sctp_diag_info_code usrsctp_sysctl_get_sctp_diag_info_code;
    "sctp_fr_max_burst_default": usrsctp_sysctl_set_sctp_fr_max_burst_default usrsctp_sysctl_get_sctp_fr_max_burst_default;
    "sctp_path_pf_threshold": usrsctp_sysctl_set_sctp_path_pf_threshold usrsctp_sysctl_get_sctp_path_pf_threshold;
    "sctp_default_ss_module": usrsctp_sysctl_set_sctp_default_ss_module usrsctp_sysctl_get_sctp_default_ss_module;
    "sctp_rttvar_bw": usrsctp_sysctl_set_sctp_rttvar_bw usrsctp_sysctl_get_sctp_rttvar_bw;
    "sctp_rttvar_rtt": usrsctp_sysctl_set_sctp_rttvar_rtt usrsctp_sysctl_get_sctp_rttvar_rtt;
    "sctp_rttvar_eqret": usrsctp_sysctl_set_sctp_rttvar_eqret usrsctp_sysctl_get_sctp_rttvar_eqret;
    "sctp_steady_step": usrsctp_sysctl_set_sctp_steady_step usrsctp_sysctl_get_sctp_steady_step;
    "sctp_use_dccc_ecn": usrsctp_sysctl_set_sctp_use_dccc_ecn usrsctp_sysctl_get_sctp_use_dccc_ecn;
    "sctp_buffer_splitting": usrsctp_sysctl_set_sctp_buffer_splitting usrsctp_sysctl_get_sctp_buffer_splitting;
    "sctp_initial_cwnd": usrsctp_sysctl_set_sctp_initial_cwnd usrsctp_sysctl_get_sctp_initial_cwnd;
    "sctp_debug_on": usrsctp_sysctl_set_sctp_debug_on usrsctp_sysctl_get_sctp_debug_on;
    "sctp_hashtblsize": usrsctp_tunable_set_sctp_hashtblsize usrsctp_sysctl_get_sctp_hashtblsize;
    "sctp_pcbtblsize": usrsctp_tunable_set_sctp_pcbtblsize usrsctp_sysctl_get_sctp_pcbtblsize;
    "sctp_chunkscale": usrsctp_tunable_set_sctp_chunkscale usrsctp_sysctl_get_sctp_chunkscale;
}

/// `struct sctpstat`: lengths and the places of the two numbers that are counted.
const STATISTICS: usize = 664;
const OUT_PACKETS: usize = 76;
const IN_PACKETS: usize = 80;

/// Writes zeros, and the numbers of packets sent and received.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn usrsctp_get_stat(statistics: *mut c_void) {
    let mut bytes = [0_u8; STATISTICS];
    for (at, count) in [(OUT_PACKETS, &SENT), (IN_PACKETS, &RECEIVED)] {
        bytes[at..at + 4].copy_from_slice(&count.load(Ordering::Relaxed).to_ne_bytes());
    }
    // SAFETY: the program promises room for the struct.
    unsafe { statistics.cast::<[u8; STATISTICS]>().write_unaligned(bytes) };
}
