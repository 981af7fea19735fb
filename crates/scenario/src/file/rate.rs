//! Rates of links: constant, from a file, or random.

use super::checked::checked;
use crate::decode::{At, Decode, Definitions, mismatch, refer, table, words};
use crate::diagnostic::{Faults, expected_one_of};
use crate::tree::{Item, Value};
use net::{RateModel, RateModelKind};
use serde_json::{Value as Json, json};
use units::{BitRate, Span};

/// The rate of a direction of a link.
#[derive(Clone)]
pub(crate) enum RateTable {
    Constant(BitRate),
    Series { file: At<String>, repeat: Option<At<Span>> },
    Deliveries { file: At<String> },
    Model(RateModel),
}

words!(RateModelKind);

table! {
    /// A rate that changes at the times of a file.
    struct SeriesTable in "`rate` with a trace" {
        /// File with a time in seconds and the rate in Mbit/s from then on in each line, with a comma between them; its path is
        /// relative to the folder of the scenario.
        trace: At<String>;
        /// Time after which all begins anew. By default the last rate stays.
        repeat: Option<At<Span>>;
    }
}

table! {
    /// Delivery opportunities of a file.
    struct DeliveriesTable in "`rate` with deliveries" {
        /// File in the format of Mahimahi, with the time of a delivery of 1500 bytes in milliseconds in each line; its path is
        /// relative to the folder of the scenario.
        deliveries: At<String>;
    }
}

table! {
    /// A random rate.
    struct ModelTable in "`rate` with a model" {
        /// How the rate changes.
        model: RateModelKind;
        /// Mean rate.
        mean: BitRate;
        /// Coefficient of variation: standard deviation over mean. The default depends on the model.
        cv: Option<f64>;
        /// How long the rate stays similar. The default depends on the model.
        time_scale: Option<Span>;
    }
}

const KEYS: [&str; 3] = ["trace", "deliveries", "model"];

impl Decode for RateTable {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        let table = match &item.value {
            Value::Table(table) => table,
            Value::List(_) | Value::Flag(_) | Value::Date => {
                return mismatch(
                    item,
                    "a rate such as \"10 Mbit/s\", or a table with a trace or a model",
                    faults,
                );
            }
            _ => return BitRate::decode(item, faults).map(RateTable::Constant),
        };
        match KEYS.into_iter().find(|key| table.get(key).is_some()) {
            Some("trace") => {
                let SeriesTable { trace, repeat } = SeriesTable::decode(item, faults)?;
                Some(RateTable::Series { file: trace, repeat })
            }
            Some("deliveries") => {
                let DeliveriesTable { deliveries } = DeliveriesTable::decode(item, faults)?;
                Some(RateTable::Deliveries { file: deliveries })
            }
            Some(_) => {
                let ModelTable { model, mean, cv, time_scale } = ModelTable::decode(item, faults)?;
                let usual = RateModel::new(model, mean);
                let (cv, time_scale) = (cv.unwrap_or(usual.cv), time_scale.unwrap_or(usual.time_scale));
                let model = RateModel { cv, time_scale, ..usual };
                checked(model, model.check(), item, faults).map(RateTable::Model)
            }
            None => {
                let first = table.entries().first();
                let (given, span) = first.map_or(("", &item.span), |entry| (entry.key.as_str(), &entry.span));
                let expected = expected_one_of(given, KEYS);
                faults.note(
                    span.clone(),
                    format!("this `rate` has no key that says how it changes; {expected}"),
                );
                None
            }
        }
    }

    fn schema(definitions: &mut Definitions) -> Json {
        refer(definitions, "rates", |definitions| {
            json!({ "anyOf": [
                BitRate::schema(definitions),
                SeriesTable::schema(definitions),
                DeliveriesTable::schema(definitions),
                ModelTable::schema(definitions),
            ] })
        })
    }
}
