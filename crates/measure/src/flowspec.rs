//! NetPerfMeter's FLOWSPEC: `RATE:SIZE:RATE:SIZE:option=value:...`.

use crate::npmp::{OnOffEvent, Random};
use crate::spec::{BadFlow, FlowSpec, Load, Transport};
use sctp::Reliability;
use std::str::FromStr;
use units::{Probability, Span};

impl FlowSpec {
    /// Parses a FLOWSPEC: frame rate and size of the active side, then those of the passive side (if left
    /// out, the passive side sends nothing), then options. A transport may come first:
    /// `udp:const10:const1000`.
    ///
    /// # Errors
    /// [`BadFlow`] names the invalid part and the expected form.
    pub fn parse(text: &str, transport: Transport) -> Result<Self, BadFlow> {
        let mut parts = text.split(':').peekable();
        let named = parts.peek().and_then(|word| Transport::from_str(word).ok());
        if named.is_some() {
            parts.next();
        }
        let mut flow = FlowSpec::new(named.unwrap_or(transport));
        let mut numbers = Vec::new();
        while let Some(part) = parts.next_if(|part| !part.contains('=')) {
            numbers.push(random(part)?);
        }
        (flow.outbound, flow.inbound) = match numbers[..] {
            [rate, size] => (Load { rate, size }, Load::default()),
            [rate, size, back_rate, back_size] => {
                (Load { rate, size }, Load { rate: back_rate, size: back_size })
            }
            _ => {
                return Err(BadFlow(format!(
                    "{text:?} has {} numbers: expected RATE:SIZE or RATE:SIZE:RATE:SIZE before the options",
                    numbers.len()
                )));
            }
        };
        for part in parts {
            let (name, value) = part
                .split_once('=')
                .ok_or_else(|| BadFlow(format!("{part:?} is no option: expected NAME=VALUE")))?;
            flow.set(name, value)?;
        }
        flow.check()?;
        Ok(flow)
    }

    /// Checks that both directions and the schedule are valid.
    fn check(&self) -> Result<(), BadFlow> {
        self.traffic()?;
        FlowSpec { outbound: self.inbound, ..self.clone() }.traffic()?;
        self.changes()?;
        Ok(())
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), BadFlow> {
        match name {
            "id" => self.id = Some(number(name, value)?),
            "description" => self.description = value.trim_matches('"').to_owned(),
            "maxmsgsize" => self.max_message = number(name, value)?,
            "ordered" => self.ordered = share(name, value)?,
            "unordered" => self.ordered = 1.0 - share(name, value)?,
            "reliable" => self.reliable = share(name, value)?,
            "unreliable" => self.reliable = 1.0 - share(name, value)?,
            "rtx_timeout" => self.reliability = Reliability::Until(Span::from_millis(number(name, value)?)),
            "rtx_trials" => self.reliability = Reliability::Retransmissions(number(name, value)?),
            "rcvbuf" => self.buffers[0] = Some(number(name, value)?),
            "sndbuf" => self.buffers[1] = Some(number(name, value)?),
            "nodelay" => self.no_delay = switch(name, value)?,
            "onoff" => (self.events, self.repeat) = events(value)?,
            "cmt" => self.cmt = cmt(value)?,
            other => {
                return Err(BadFlow(format!(
                    "there is no option {other:?}: expected id, description, maxmsgsize, ordered, unordered, reliable, \
                     unreliable, rtx_timeout, rtx_trials, rcvbuf, sndbuf, nodelay, onoff or cmt"
                )));
            }
        }
        Ok(())
    }
}

fn bad(name: &str, value: &str, expected: &str) -> BadFlow {
    BadFlow(format!("{name}={value}: expected {expected}"))
}

fn number<T: FromStr>(name: &str, value: &str) -> Result<T, BadFlow> {
    value.parse().map_err(|_| bad(name, value, "a whole number"))
}

fn share(name: &str, value: &str) -> Result<f64, BadFlow> {
    let share = Probability::parse(value).map(Probability::get);
    share.ok_or_else(|| bad(name, value, &Probability::expected(value.parse().ok())))
}

fn switch(name: &str, value: &str) -> Result<bool, BadFlow> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(bad(name, value, "on or off")),
    }
}

fn cmt(value: &str) -> Result<u8, BadFlow> {
    Ok(match value {
        "off" => 0,
        "cmt" => 1,
        "cmtrpv1" => 2,
        "cmtrpv2" => 3,
        "like-mptcp" | "mptcp-like" => 4,
        _ => {
            let expected = "off, cmt, cmtrpv1, cmtrpv2, like-mptcp or a number";
            return value.parse().map_err(|_| bad("cmt", value, expected));
        }
    })
}

/// Largest number of on/off events in an NPMP message.
const MOST_EVENTS: usize = 1000;

/// Parses `T1,T2,...[,repeat]`. A time with `+` is relative to the event before it.
fn events(value: &str) -> Result<(Vec<OnOffEvent>, bool), BadFlow> {
    let mut events = Vec::new();
    let mut repeat = false;
    let mut parts = value.split(',').peekable();
    while let Some(part) = parts.next() {
        if part == "repeat" && parts.peek().is_none() {
            repeat = true;
            continue;
        }
        let relative = part.starts_with('+');
        let plain = part.trim_start_matches('+');
        // Commas separate the events, but also the two parameters of a distribution.
        let second = ["uniform", "pareto"].iter().any(|name| plain.starts_with(name));
        let text =
            if second { format!("{plain},{}", parts.next().unwrap_or_default()) } else { plain.into() };
        events.push(OnOffEvent { time: random(&text)?, relative });
    }
    if events.len() > MOST_EVENTS {
        return Err(bad("onoff", value, "at most 1000 times"));
    }
    if repeat && (events.len() % 2 != 0 || events.iter().any(|event| !event.relative)) {
        return Err(bad("onoff", value, "an even number of relative times (+T) before `repeat`"));
    }
    Ok((events, repeat))
}

/// Parses `const1`, `exp1`, `uniform1,0.5`, `pareto1,1.5` or a plain number.
fn random(text: &str) -> Result<Random, BadFlow> {
    let expected = || {
        BadFlow(format!(
            "{text:?} is no random number: expected a number, constMEAN, expMEAN, uniformMEAN,SHARE or paretoLEAST,SHAPE"
        ))
    };
    let names = [("const", 0), ("uniform", 1), ("exp", 2), ("pareto", 3)];
    let (generator, rest) = names
        .iter()
        .find_map(|&(name, generator)| Some((generator, text.strip_prefix(name)?)))
        .unwrap_or((0, text));
    let mut values = [0.0; 4];
    let given: Vec<f64> = rest
        .split(',')
        .map(|value| value.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0))
        .collect::<Option<_>>()
        .ok_or_else(expected)?;
    let needed = if matches!(generator, 1 | 3) { 2 } else { 1 };
    if given.len() != needed {
        return Err(expected());
    }
    values[..needed].copy_from_slice(&given);
    Ok(Random { generator, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<FlowSpec, BadFlow> {
        FlowSpec::parse(text, Transport::Sctp)
    }

    fn constant(value: f64) -> Random {
        Random { generator: 0, values: [value, 0.0, 0.0, 0.0] }
    }

    #[test]
    fn the_example_of_the_manual_is_read() {
        let flow = parse("const5:exp1000:const3:exp500:description=\"Alpha\":onoff=+10").expect("a flow");
        assert_eq!(flow.transport, Transport::Sctp);
        assert_eq!(flow.description, "Alpha");
        assert_eq!(flow.outbound.rate, constant(5.0));
        assert_eq!(flow.outbound.size, Random { generator: 2, values: [1000.0, 0.0, 0.0, 0.0] });
        assert_eq!(flow.inbound.rate, constant(3.0));
        assert_eq!(flow.events, [OnOffEvent { time: constant(10.0), relative: true }]);
        assert!(!flow.repeat);
    }

    #[test]
    fn all_options_are_read() {
        let text = "udp:10:uniform100,0.5:id=7:maxmsgsize=1400:unordered=0.25:unreliable=1:rtx_timeout=100:rcvbuf=1:sndbuf=2:\
                    nodelay=on:cmt=cmtrpv2:onoff=+exp1,+pareto1,2,repeat";
        let flow = parse(text).expect("a flow");
        assert_eq!(flow.transport, Transport::Udp);
        assert_eq!(flow.outbound.size, Random { generator: 1, values: [100.0, 0.5, 0.0, 0.0] });
        assert_eq!(flow.inbound, Load::default());
        assert_eq!((flow.id, flow.max_message, flow.cmt, flow.no_delay), (Some(7), 1400, 3, true));
        assert_eq!((flow.ordered, flow.reliable), (0.75, 0.0));
        assert_eq!(flow.reliability, Reliability::Until(Span::from_millis(100)));
        assert_eq!(flow.buffers, [Some(1), Some(2)]);
        assert!(flow.repeat);
        assert_eq!(flow.events[1].time, Random { generator: 3, values: [1.0, 2.0, 0.0, 0.0] });
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, expected) in [
            ("const5", "1 numbers"),
            ("const5:const-1", "const-1"),
            ("const5:nan", "\"nan\""),
            ("const5:uniform1", "uniform1"),
            ("const5:uniform100,2", "varies by less than its mean"),
            ("const5:pareto100,1", "shape above 1"),
            ("const1e9:const100", "frame rate"),
            ("const1:const1e10", "frame size"),
            ("const5:const10:size=3", "no option \"size\""),
            ("const5:const10:ordered=2", "from 0 to 1"),
            ("const5:const10:nodelay=yes", "on or off"),
            ("const5:const10:onoff=1,2,repeat", "relative"),
            ("const5:const10:onoff=+1,repeat", "even"),
            ("const5:const10:id=1:x", "no option"),
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
