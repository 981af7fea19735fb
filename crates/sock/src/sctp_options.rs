//! Socket options of level `IPPROTO_SCTP` that are options of later associations or of the socket.

use crate::fields::{Fields, Written, millis};
use crate::general::keep;
use crate::socket::{Settings, Socket};
use crate::statistics::{HEADERS, fragment};
use nix::errno::Errno;
use records::notification;
use records::number::{self as n, SCTP};
use sctp::{AllowReset, Config, EcnMode, StreamScheduler};
use units::{ByteCount, Span};

/// Sets an option of the stack, for later associations.
pub fn set_sctp(socket: &mut Socket, name: i32, value: &Fields<'_>) -> Result<(), Errno> {
    let config = &mut socket.config;
    match name {
        n::RTOINFO => {
            config.rto_initial = value.millis(4)?.unwrap_or(config.rto_initial);
            config.rto_max = value.millis(8)?.unwrap_or(config.rto_max);
            config.rto_min = value.millis(12)?.unwrap_or(config.rto_min);
        }
        n::ASSOCINFO => {
            if value.u16(4)? > 0 {
                config.association_max_retrans = value.u16(4)?.into();
            }
            config.valid_cookie_life = value.millis(16)?.unwrap_or(config.valid_cookie_life);
        }
        n::INITMSG => {
            let or = |new: u16, old: u16| if new > 0 { new } else { old };
            config.outbound_streams = or(value.u16(0)?, config.outbound_streams);
            config.max_inbound_streams = or(value.u16(2)?, config.max_inbound_streams);
            if value.u16(4)? > 0 {
                config.max_init_retransmits = value.u16(4)?.into();
            }
            if value.u16(6)? > 0 {
                config.init_rto_max = Some(Span::from_millis(value.u16(6)?.into()));
            }
        }
        n::NODELAY => config.nagle = value.u32(0)? == 0,
        n::ENABLE_STREAM_RESET => config.allow_reset = allowed(value.u32(4)?)?,
        n::PR_SUPPORTED => config.pr_sctp = value.u32(4)? != 0,
        n::RECONFIG_SUPPORTED => config.stream_reset = value.u32(4)? != 0,
        n::INTERLEAVING_SUPPORTED => config.interleaving = value.u32(4)? != 0,
        n::ASCONF_SUPPORTED => config.asconf = value.u32(4)? != 0,
        n::AUTH_SUPPORTED => config.auth = value.u32(4)? != 0,
        n::ECN_SUPPORTED => config.ecn = if value.u32(4)? == 0 { EcnMode::Off } else { EcnMode::On },
        n::AUTH_CHUNK => {
            let kind = *value.0.first().ok_or(Errno::EINVAL)?;
            if !config.auth {
                return Err(Errno::EACCES);
            }
            if !config.auth_chunks.contains(&kind) {
                config.auth_chunks.push(kind);
            }
        }
        n::HMAC_IDENT => set_hmacs(config, value)?,
        n::ADAPTATION_LAYER => config.adaptation = Some(value.u32(0)?),
        n::PARTIAL_DELIVERY_POINT => {
            let point = ByteCount::new(value.u32(0)?.into());
            if point > config.receive_buffer.first() {
                return Err(Errno::EINVAL);
            }
            config.partial_delivery_point = Some(point).filter(|point| !point.is_zero());
        }
        n::PEER_ADDR_THLDS | n::PEER_ADDR_THLDS_V2 => set_thresholds(config, name, value)?,
        n::STREAM_SCHEDULER => {
            let named = SCHEDULERS.get(value.u32(4)? as usize);
            config.stream_scheduler = *named.ok_or(Errno::EINVAL)?;
        }
        n::CMT_ON_OFF => set_cmt(config, value.u32(4)?)?,
        n::CMT_USE_DAC => config.cmt.dac = value.u32(4)? != 0,
        n::DELAYED_SACK => {
            let delay = value.u32(4)?;
            // The older structure has no frequency: a delay of 0 turns delayed SACKs off.
            let frequency = value.u32(8).unwrap_or(u32::from(delay == 0));
            if delay > 0 {
                config.sack_delay = Span::from_millis(delay.into());
            }
            if frequency > 0 {
                config.sack_frequency = frequency;
            }
        }
        n::MAX_BURST => {
            let burst = value.u32(4).or_else(|_| value.u32(0))?;
            config.max_burst = if burst == 0 { u32::MAX } else { burst };
        }
        n::PEER_ADDR_PARAMS => set_path_params(config, value)?,
        n::PLPMTUD_PROBE_INTERVAL => {
            config.pmtud = set_probe_interval(&mut socket.settings, value.u32(136)?)?;
        }
        _ => return set_setting(socket, name, value),
    }
    Ok(())
}

/// The least interval that Linux takes for `SCTP_PLPMTUD_PROBE_INTERVAL`, in milliseconds.
const LEAST_PROBE_INTERVAL: u32 = 5000;

/// Keeps the interval, which has no other effect: the stack has its own. Returns true if it turns path MTU
/// discovery on.
fn set_probe_interval(settings: &mut Settings, interval: u32) -> Result<bool, Errno> {
    if (1..LEAST_PROBE_INTERVAL).contains(&interval) {
        return Err(Errno::EINVAL);
    }
    settings.probe_interval = Some(interval).filter(|&interval| interval > 0);
    Ok(interval > 0)
}

/// `SCTP_HMAC_IDENT`: the HMACs that the peer may use, the preferred one first.
fn set_hmacs(config: &mut Config, value: &Fields<'_>) -> Result<(), Errno> {
    if !config.auth {
        return Err(Errno::EACCES);
    }
    let listed = (0..value.u32(0)? as usize).map(|at| value.u16(4 + 2 * at));
    let listed = listed.collect::<Result<Vec<_>, _>>()?;
    if !listed.iter().all(|id| Config::default().auth_hmacs.contains(id)) {
        return Err(Errno::EOPNOTSUPP);
    }
    config.auth_hmacs = listed;
    Ok(())
}

/// Flags of `SCTP_PEER_ADDR_PARAMS`, each for on and off: heartbeats, path MTU discovery and delayed SACKs.
const HEARTBEATS: [u32; 2] = [1, 2];
const DISCOVERY: [u32; 2] = [8, 0x10];
const DELAYED: [u32; 2] = [0x20, 0x40];

/// The flag for on or off.
fn either([on, off]: [u32; 2], is_on: bool) -> u32 {
    if is_on { on } else { off }
}

/// True if flags turn something on, false if off; `None` if they do not change it.
fn switched(flags: u32, [on, off]: [u32; 2]) -> Result<Option<bool>, Errno> {
    match (flags & on != 0, flags & off != 0) {
        (true, true) => Err(Errno::EINVAL),
        (false, false) => Ok(None),
        (is_on, _) => Ok(Some(is_on)),
    }
}

/// `SCTP_PEER_ADDR_PARAMS`: heartbeats, errors after which a path is inactive, path MTU discovery and delayed
/// SACKs.
fn set_path_params(config: &mut Config, value: &Fields<'_>) -> Result<(), Errno> {
    let flags = value.u32(146)?;
    match switched(flags, HEARTBEATS)? {
        Some(true) => config.hb_interval = value.millis(132)?.or(config.hb_interval),
        Some(false) => config.hb_interval = None,
        None => {}
    }
    config.pmtud = switched(flags, DISCOVERY)?.unwrap_or(config.pmtud);
    match switched(flags, DELAYED)? {
        Some(true) => {
            config.sack_delay = value.millis(142)?.unwrap_or(config.sack_delay);
            config.sack_frequency = config.sack_frequency.max(2);
        }
        Some(false) => config.sack_frequency = 1,
        None => {}
    }
    if value.u16(136)? > 0 {
        config.path_max_retrans = value.u16(136)?.into();
        config.potentially_failed =
            config.potentially_failed.map(|errors| errors.min(config.path_max_retrans));
    }
    Ok(())
}

/// The flags that may hold for all messages. As in Linux, a policy of PR-SCTP is none of them.
fn usual_flags(flags: u16) -> Result<u16, Errno> {
    const ALLOWED: u16 = n::send::UNORDERED | n::send::ADDR_OVER | n::send::ABORT | n::send::EOF;
    if flags & !ALLOWED == 0 { Ok(flags) } else { Err(Errno::EINVAL) }
}

/// Sets an option of the socket.
fn set_setting(socket: &mut Socket, name: i32, value: &Fields<'_>) -> Result<(), Errno> {
    let settings = &mut socket.settings;
    match name {
        n::AUTOCLOSE if !socket.many => return Err(Errno::EOPNOTSUPP),
        n::AUTOCLOSE => {
            let seconds = value.u32(0)?;
            settings.autoclose = (seconds > 0).then(|| Span::from_secs(seconds.into()));
        }
        n::DISABLE_FRAGMENTS => settings.whole = value.u32(0)? != 0,
        n::FRAGMENT_INTERLEAVE => settings.interleave = value.u32(0)? != 0,
        n::DEFAULT_SEND_PARAM => {
            (settings.defaults.stream, settings.defaults.flags) =
                (value.u16(0)?, usual_flags(value.u16(4)?)?);
            (settings.defaults.ppid, settings.defaults.context) = (value.u32(8)?, value.u32(12)?);
            (settings.defaults.policy, settings.defaults.value) = (0, value.u32(16)?);
        }
        n::DEFAULT_SNDINFO => {
            (settings.defaults.stream, settings.defaults.flags) =
                (value.u16(0)?, usual_flags(value.u16(2)?)?);
            (settings.defaults.ppid, settings.defaults.context) = (value.u32(4)?, value.u32(8)?);
        }
        n::DEFAULT_PRINFO => {
            let chosen = value.u16(8)?;
            if chosen & !n::send::POLICY != 0 {
                return Err(Errno::EINVAL);
            }
            let amount = if chosen == 0 { 0 } else { value.u32(4)? };
            (settings.defaults.policy, settings.defaults.value) = (chosen, amount);
        }
        n::EVENTS => {
            if value.0.is_empty() || value.0.len() > notification::SWITCHES {
                return Err(Errno::EINVAL);
            }
            settings.events[..value.0.len()].copy_from_slice(value.0);
        }
        n::EVENT => {
            let place = value.u16(4)?.checked_sub(notification::FIRST).map(usize::from);
            let on = *value.0.get(6).ok_or(Errno::EINVAL)?;
            *place.and_then(|place| settings.events.get_mut(place)).ok_or(Errno::EINVAL)? = on;
        }
        n::RECVRCVINFO => settings.receive_info = value.u32(0)? != 0,
        n::RECVNXTINFO => settings.next_info = value.u32(0)? != 0,
        n::CONTEXT => settings.received_context = value.u32(4)?,
        n::EXPOSE_POTENTIALLY_FAILED_STATE if value.u32(4)? > 2 => return Err(Errno::EINVAL),
        n::EXPOSE_POTENTIALLY_FAILED_STATE => settings.exposes_failing = value.u32(4)?,
        n::I_WANT_MAPPED_V4_ADDR | n::AUTO_ASCONF | n::REUSE_PORT => {
            value.u32(0)?;
            keep(socket, SCTP, name, value.0)?;
        }
        _ => return Err(Errno::ENOPROTOOPT),
    }
    Ok(())
}

pub fn get_sctp(socket: &Socket, name: i32, given: &[u8]) -> Result<Vec<u8>, Errno> {
    let config = &socket.config;
    let id = id_of(given);
    let written = match name {
        n::RTOINFO => {
            let id = id.u32(millis(config.rto_initial));
            id.u32(millis(config.rto_max)).u32(millis(config.rto_min))
        }
        n::ASSOCINFO => {
            let id = id.u16(config.association_max_retrans).u16(0_u16).u32(0_u32);
            id.u32(config.receive_buffer.first().get()).u32(millis(config.valid_cookie_life))
        }
        n::INITMSG => {
            let streams = Written::default().u16(config.outbound_streams).u16(config.max_inbound_streams);
            let most = config.init_rto_max.unwrap_or(config.rto_max);
            streams.u16(config.max_init_retransmits).u16(millis(most))
        }
        n::NODELAY => Written::default().u32(u32::from(!config.nagle)),
        n::DELAYED_SACK => id.u32(millis(config.sack_delay)).u32(config.sack_frequency),
        n::MAX_BURST => id.u32(config.max_burst),
        n::MAXSEG => id.u32(fragment(config.mtu)),
        n::ENABLE_STREAM_RESET => id.u32(reset_bits(config.allow_reset)),
        n::PR_SUPPORTED => id.u32(u32::from(config.pr_sctp)),
        n::RECONFIG_SUPPORTED => id.u32(u32::from(config.stream_reset)),
        n::INTERLEAVING_SUPPORTED => id.u32(u32::from(config.interleaving)),
        n::ASCONF_SUPPORTED => id.u32(u32::from(config.asconf)),
        n::AUTH_SUPPORTED => id.u32(u32::from(config.auth)),
        n::ECN_SUPPORTED => id.u32(u32::from(config.ecn != EcnMode::Off)),
        n::LOCAL_AUTH_CHUNKS => id.u32(config.auth_chunks.len()).put(&config.auth_chunks),
        n::HMAC_IDENT => {
            let count = Written::default().u32(config.auth_hmacs.len());
            config.auth_hmacs.iter().fold(count, |list, &id| list.u16(id))
        }
        n::PEER_ADDR_THLDS | n::PEER_ADDR_THLDS_V2 => {
            let address = given.get(8..136).unwrap_or(&[0; 128]);
            thresholds(config, name, id.pad_to(8).put(address))
        }
        n::STREAM_SCHEDULER => {
            let place = SCHEDULERS.iter().position(|&other| other == config.stream_scheduler);
            id.u32(place.unwrap_or(ROUND_ROBIN))
        }
        n::CMT_ON_OFF => id.u32(cmt(config)),
        n::CMT_USE_DAC => id.u32(u32::from(config.cmt.dac)),
        n::PEER_ADDR_PARAMS => {
            let address = given.get(4..132).unwrap_or(&[0; 128]);
            let written = id.put(address).u32(config.hb_interval.map_or(0, millis));
            let written = written.u16(config.path_max_retrans).u32(config.mtu.get());
            let flags = either(HEARTBEATS, config.hb_interval.is_some())
                | either(DISCOVERY, config.pmtud)
                | either(DELAYED, config.sack_frequency > 1);
            written.u32(millis(config.sack_delay)).u32(flags).pad_to(156)
        }
        n::PLPMTUD_PROBE_INTERVAL => {
            let address = given.get(8..136).unwrap_or(&[0; 128]);
            let interval = socket.settings.probe_interval.unwrap_or(LEAST_PROBE_INTERVAL);
            id.pad_to(8).put(address).u32(if config.pmtud { interval } else { 0 }).pad_to(144)
        }
        n::ADAPTATION_LAYER => Written::default().u32(config.adaptation.unwrap_or(0)),
        n::PARTIAL_DELIVERY_POINT => {
            Written::default().u32(config.partial_delivery_point.map_or(0, ByteCount::get))
        }
        _ => return get_setting(socket, name, given),
    };
    Ok(written.0)
}

/// Reads an option of the socket.
fn get_setting(socket: &Socket, name: i32, given: &[u8]) -> Result<Vec<u8>, Errno> {
    let settings = &socket.settings;
    let (id, defaults) = (id_of(given), &settings.defaults);
    let written = match name {
        n::DEFAULT_SEND_PARAM => {
            let flags = defaults.flags | defaults.policy;
            let written = Written::default().u16(defaults.stream).u16(0_u16).u16(flags).u16(0_u16);
            written.u32(defaults.ppid).u32(defaults.context).u32(defaults.value).pad_to(32)
        }
        n::DEFAULT_SNDINFO => {
            let written = Written::default().u16(defaults.stream).u16(defaults.flags);
            written.u32(defaults.ppid).u32(defaults.context).pad_to(16)
        }
        n::DEFAULT_PRINFO => id.u32(defaults.value).u16(defaults.policy).u16(0_u16),
        n::EVENTS => Written::default().put(settings.events),
        n::EVENT => {
            let kind = Fields(given).u16(4)?;
            let place = kind.checked_sub(notification::FIRST).map(usize::from);
            let on = place.and_then(|place| settings.events.get(place)).ok_or(Errno::EINVAL)?;
            id.u16(kind).put([*on]).pad_to(8)
        }
        n::RECVRCVINFO => Written::default().u32(u32::from(settings.receive_info)),
        n::RECVNXTINFO => Written::default().u32(u32::from(settings.next_info)),
        n::CONTEXT => id.u32(settings.received_context),
        n::AUTOCLOSE => Written::default().u32(settings.autoclose.map_or(0, |idle| millis(idle) / 1000)),
        n::DISABLE_FRAGMENTS => Written::default().u32(u32::from(settings.whole)),
        n::FRAGMENT_INTERLEAVE => Written::default().u32(u32::from(settings.interleave)),
        n::AUTH_ACTIVE_KEY => id.u16(settings.active_key).u16(0_u16),
        n::EXPOSE_POTENTIALLY_FAILED_STATE => id.u32(settings.exposes_failing),
        n::I_WANT_MAPPED_V4_ADDR => kept_or(socket, name, 1),
        n::AUTO_ASCONF | n::REUSE_PORT => kept_or(socket, name, 0),
        _ => return Err(Errno::ENOPROTOOPT),
    };
    Ok(written.0)
}

/// The association that a program put into its buffer.
fn id_of(given: &[u8]) -> Written {
    Written::default().put(given.get(..4).unwrap_or(&[0; 4]))
}

fn kept_or(socket: &Socket, name: i32, default: u32) -> Written {
    match socket.settings.kept.get(&(SCTP, name)) {
        Some(value) => Written::default().put(value),
        None => Written::default().u32(default),
    }
}

/// The stream schedulers of `SCTP_STREAM_SCHEDULER`, by number.
const SCHEDULERS: [StreamScheduler; 5] = [
    StreamScheduler::Fcfs,
    StreamScheduler::Priority,
    StreamScheduler::Rr,
    StreamScheduler::Fair,
    StreamScheduler::Wfq,
];
/// Linux has no number for `rr-packet`: it is reported with the number of `Rr`.
const ROUND_ROBIN: usize = 2;

/// `SCTP_PEER_ADDR_THLDS`: the numbers of consecutive errors after which a path is inactive (0:
/// unchanged), after which it is potentially failed, and, in the second version, after which
/// another path becomes the primary one.
fn set_thresholds(config: &mut Config, name: i32, value: &Fields<'_>) -> Result<(), Errno> {
    let (most, failed) = (value.u16(136)?, u32::from(value.u16(138)?));
    if most > 0 {
        config.path_max_retrans = most.into();
    }
    // A path that is inactive after fewer errors is never potentially failed.
    config.potentially_failed = Some(failed).filter(|&errors| errors < config.path_max_retrans);
    if name == n::PEER_ADDR_THLDS_V2 {
        let switchover = value.u16(140)?;
        config.primary_switchover = (switchover != u16::MAX).then_some(switchover.into());
    }
    Ok(())
}

/// Writes the thresholds in the format that [`set_thresholds`] reads.
fn thresholds(config: &Config, name: i32, written: Written) -> Written {
    let or_never = |errors: Option<u32>| errors.unwrap_or(u16::MAX.into());
    let written = written.u16(config.path_max_retrans).u16(or_never(config.potentially_failed));
    let second = name == n::PEER_ADDR_THLDS_V2;
    let written = if second { written.u16(or_never(config.primary_switchover)) } else { written };
    written.pad_to(144)
}

/// `SCTP_MAXSEG`: the largest fragment in bytes; 0, or more than fits a packet: no limit. The stack can only
/// limit the MTU of its packets, which is `whole` without a limit. Path MTU discovery finds none above it.
pub fn set_fragment(config: &mut Config, whole: ByteCount, value: &Fields<'_>) -> Result<(), Errno> {
    let most = value.u32(4).or_else(|_| value.u32(0))?;
    let limit = ByteCount::new(u64::from(most) + HEADERS);
    config.mtu = if most == 0 { whole } else { limit.min(whole) };
    Ok(())
}

/// The permissions to reset, by their bits in `SCTP_ENABLE_STREAM_RESET`.
const RESETS: [(u32, AllowReset); 4] =
    [(0, AllowReset::None), (1, AllowReset::Streams), (5, AllowReset::Add), (7, AllowReset::All)];

/// The least permission that contains the bits of `SCTP_ENABLE_STREAM_RESET`: 1 streams, 2 association, 4
/// more streams.
fn allowed(bits: u32) -> Result<AllowReset, Errno> {
    RESETS.iter().find(|(has, _)| bits & !has == 0).map(|&(_, level)| level).ok_or(Errno::EINVAL)
}

fn reset_bits(level: AllowReset) -> u32 {
    RESETS.iter().find(|(_, other)| *other == level).map_or(7, |&(bits, _)| bits)
}

/// `SCTP_CMT_ON_OFF` with the numbers of FreeBSD.
fn set_cmt(config: &mut Config, value: u32) -> Result<(), Errno> {
    config.cmt.enabled = value > 0;
    let control = match value {
        0 | 1 => return Ok(()),
        2 => cc::Algorithm::CmtRpV1,
        3 => cc::Algorithm::CmtRpV2,
        4 => cc::Algorithm::Lia,
        _ => return Err(Errno::EINVAL),
    };
    config.congestion_control = control.into();
    Ok(())
}

fn cmt(config: &Config) -> u32 {
    let is = |control: cc::Algorithm| config.congestion_control == control.into();
    match config.cmt.enabled {
        false => 0,
        true if is(cc::Algorithm::CmtRpV1) => 2,
        true if is(cc::Algorithm::CmtRpV2) => 3,
        true if is(cc::Algorithm::Lia) => 4,
        true => 1,
    }
}

/// Sets an option by its name in scenarios. `value` holds the association, the lengths of the option's name
/// and text, the name and the text.
pub fn set_named(config: &mut Config, value: &[u8]) -> Result<(), Errno> {
    let fields = Fields(value);
    let (name, text) = (usize::from(fields.u16(4)?), usize::from(fields.u16(6)?));
    let part = |from: usize, length: usize| {
        let bytes = value.get(from..from + length).ok_or(Errno::EINVAL)?;
        std::str::from_utf8(bytes).map_err(|_| Errno::EINVAL)
    };
    let written = scenario::with_values("", [(part(8, name)?, part(8 + name, text)?)]);
    let changed = written.map_err(|_| Errno::EINVAL).and_then(|written| {
        scenario::sctp_options_over(config.clone(), &written, "options").map_err(|_| Errno::EINVAL)
    });
    *config = changed?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limit_of_fragments_restores_the_mtu_and_path_mtu_discovery_goes_on() {
        let whole = ByteCount::new(1400);
        let mut config = Config { mtu: whole, pmtud: true, ..Config::default() };
        let mut set = |most: u32| {
            let value = [0, most].map(u32::to_ne_bytes).concat();
            let result = set_fragment(&mut config, whole, &Fields(&value));
            (result, config.mtu.get(), config.pmtud)
        };
        assert_eq!(set(600), (Ok(()), 656, true));
        assert_eq!(set(1344), (Ok(()), 1400, true));
        assert_eq!(set(600), (Ok(()), 656, true));
        assert_eq!(set(1460), (Ok(()), 1400, true));
        assert_eq!(set(600), (Ok(()), 656, true));
        assert_eq!(set(0), (Ok(()), 1400, true));
    }
}
