//! Jitter and losses of links.

use super::checked::checked;
use crate::decode::{Decode, Definitions, Show, mismatch, refer, table};
use crate::diagnostic::Faults;
use crate::tree::{Item, Value};
use net::LossBursts;
use serde_json::{Value as Json, json};
use units::{Probability, Span};

table! {
    /// Random delay.
    struct JitterTable in "`jitter`" {
        /// Longest additional delay.
        up_to: Span;
        /// Whether packets may overtake each other.
        reorder: bool = false;
    }
}

/// Random delay: a time, or a table.
#[derive(Clone, Copy)]
pub(crate) struct Jitter {
    pub up_to: Span,
    pub reorder: bool,
}

impl Jitter {
    pub(super) const NONE: Jitter = Jitter { up_to: Span::ZERO, reorder: false };
}

impl Decode for Jitter {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        if let Value::Table(_) = &item.value {
            let JitterTable { up_to, reorder } = JitterTable::decode(item, faults)?;
            return Some(Jitter { up_to, reorder });
        }
        Some(Jitter { up_to: Span::decode(item, faults)?, reorder: false })
    }

    fn schema(definitions: &mut Definitions) -> Json {
        refer(
            definitions,
            "jitter",
            |definitions| json!({ "anyOf": [Span::schema(definitions), JitterTable::schema(definitions)] }),
        )
    }
}

impl Show for Jitter {
    fn show(&self) -> Json {
        self.up_to.show()
    }
}

table! {
    /// Losses in bursts, by the model of Gilbert and Elliott.
    struct BurstTable in "`loss` in bursts" {
        /// Probability to go from the good to the bad state after a packet.
        p: Probability;
        /// Probability to go from the bad to the good state after a packet: a bad state lasts 1/r packets on
        /// average.
        r: Probability;
        /// Probability that a packet is lost in the good state.
        good: Probability = Probability::ZERO;
        /// Probability that a packet is lost in the bad state.
        bad: Probability = Probability::ONE;
    }
}

/// Losses of single packets, or losses in bursts.
#[derive(Clone, Copy)]
pub(crate) enum Loss {
    Single(Probability),
    Bursts(LossBursts),
}

impl Decode for Loss {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        match &item.value {
            Value::Table(_) => {
                let BurstTable { p, r, good, bad } = BurstTable::decode(item, faults)?;
                let bursts = LossBursts { to_bad: p, to_good: r, good, bad };
                checked(bursts, bursts.check(), item, faults).map(Loss::Bursts)
            }
            Value::Integer(_) | Value::Real(_) | Value::Text(_) => {
                Probability::decode(item, faults).map(Loss::Single)
            }
            _ => {
                let number = Probability::expected(None);
                mismatch(item, &format!("{number}, or a table such as {{ p = 0.01, r = 0.25 }}"), faults)
            }
        }
    }

    fn schema(definitions: &mut Definitions) -> Json {
        refer(
            definitions,
            "loss",
            |definitions| json!({ "anyOf": [Probability::schema(definitions), BurstTable::schema(definitions)] }),
        )
    }
}

impl Show for Loss {
    fn show(&self) -> Json {
        match self {
            Loss::Single(probability) => probability.show(),
            Loss::Bursts(bursts) => json!({ "p": bursts.to_bad.get(), "r": bursts.to_good.get() }),
        }
    }
}
