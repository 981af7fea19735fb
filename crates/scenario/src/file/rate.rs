//! Rates and delays of links: constant, from a file, in steps, or random.

use super::checked::checked;
use crate::decode::{
    At, Decode, Definitions, Fields, Record, Show, decode_quantity, mismatch, property, refer, table, words,
};
use crate::diagnostic::{Faults, expected_one_of};
use crate::quantity::Quantity;
use crate::tree::{Item, Value};
use net::{Model, RateModelKind, Series, Varying};
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;
use units::{BitRate, Span};

/// A quantity of a link that may change with time.
#[derive(Clone)]
pub(crate) enum Course<V> {
    Constant(V),
    File { file: At<String>, repeat: Option<At<Span>> },
    Series(Arc<Series<V>>),
    Model(Model<V>),
}

/// The rate of a direction of a link.
#[derive(Clone)]
pub(crate) enum RateTable {
    Course(Course<BitRate>),
    Deliveries { file: At<String> },
}

words!(RateModelKind);

table! {
    /// Values that change at the times of a file.
    struct FileOfSteps in "a trace" {
        /// File with one line for each change: a time in seconds, a comma, and the rate in Mbit/s or the
        /// delay in ms from this time on. A relative path starts at the folder of the scenario.
        trace: At<String>;
        /// Time after which the trace begins anew. By default the last value remains.
        repeat: Option<At<Span>>;
    }
}

table! {
    /// Delivery opportunities of a file.
    struct DeliveriesTable in "`rate` with deliveries" {
        /// File in the format of Mahimahi: each line is the time of a delivery of 1500 bytes, in
        /// milliseconds. A relative path starts at the folder of the scenario.
        deliveries: At<String>;
    }
}

table! {
    /// The random changes of a value.
    struct ShapeTable in "a model" {
        /// Model of the changes.
        model: RateModelKind;
        /// Coefficient of variation: standard deviation divided by mean. The default depends on the model.
        cv: Option<f64>;
        /// Time for which the value stays similar. The default depends on the model.
        time_scale: Option<Span>;
    }
}

/// The keys of a random value.
struct ModelTable<V> {
    mean: V,
    shape: ShapeTable,
}

impl<V: Decode> Record for ModelTable<V> {
    fn keys() -> Vec<&'static str> {
        vec!["model", "mean", "cv", "time_scale"]
    }

    fn read(fields: &Fields<'_>, faults: &mut Faults) -> Option<Self> {
        let (shape, mean) = (ShapeTable::read(fields, faults), fields.take("mean", faults));
        Some(ModelTable { mean: mean?, shape: shape? })
    }

    fn properties(
        definitions: &mut Definitions,
        into: &mut Map<String, Json>,
        required: &mut Vec<&'static str>,
    ) {
        ShapeTable::properties(definitions, into, required);
        required.push("mean");
        into.insert("mean".to_owned(), property(V::schema(definitions), "Mean in the long run.", None));
    }
}

/// The keys of values that change at given times.
struct StepsTable<V> {
    steps: At<Vec<Step<V>>>,
    repeat: Option<At<Span>>,
}

impl<V: Decode + Quantity> Record for StepsTable<V> {
    fn keys() -> Vec<&'static str> {
        vec!["steps", "repeat"]
    }

    fn read(fields: &Fields<'_>, faults: &mut Faults) -> Option<Self> {
        let (steps, repeat) = (fields.take("steps", faults), fields.take("repeat", faults));
        Some(StepsTable { steps: steps?, repeat: repeat? })
    }

    fn properties(
        definitions: &mut Definitions,
        into: &mut Map<String, Json>,
        required: &mut Vec<&'static str>,
    ) {
        let doc = "Times and the value from each of them on, in order, the first from 0 s on.";
        into.insert("steps".to_owned(), property(Vec::<Step<V>>::schema(definitions), doc, None));
        let doc = "Time after which all begins anew. By default the last value stays.";
        into.insert("repeat".to_owned(), property(Span::schema(definitions), doc, None));
        required.push("steps");
    }
}

/// A time, and the value from that time on.
struct Step<V>(Span, V);

impl<V: Decode + Quantity> Decode for Step<V> {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        match &item.value {
            Value::List(pair) if pair.len() == 2 => {
                let (from, value) = (Span::decode(&pair[0], faults), decode_quantity(&pair[1], faults));
                Some(Step(from?, value?))
            }
            _ => mismatch(item, "a list of a time and the value from then on", faults),
        }
    }

    fn schema(definitions: &mut Definitions) -> Json {
        let pair = [Span::schema(definitions), V::schema(definitions)];
        json!({ "type": "array", "prefixItems": pair, "minItems": 2, "maxItems": 2 })
    }
}

/// Reads a table. In error messages it is called "`KEY`
/// with `with`", where KEY is the key of the quantity `V`.
fn part<V: Varying, R: Record>(item: &Item, with: &str, faults: &mut Faults) -> Option<R> {
    let place = format!("`{}` with {with}", V::KEY);
    R::read(&Fields::open(item, &place, &R::keys(), faults)?, faults)
}

/// The key of a table that says how a quantity changes; `Some(None)` if the item is no table, and `None` if a
/// fault was noted.
fn changes<V: Varying + Quantity>(
    item: &Item,
    keys: &[&'static str],
    faults: &mut Faults,
) -> Option<Option<&'static str>> {
    let table = match &item.value {
        Value::Table(table) => table,
        Value::List(_) | Value::Flag(_) | Value::Date => {
            let expected =
                format!("{} such as \"{}\", or a table with a trace, steps or a model", V::KIND, V::EXAMPLE);
            return mismatch(item, &expected, faults);
        }
        _ => return Some(None),
    };
    if let Some(key) = keys.iter().find(|key| table.get(key).is_some()) {
        return Some(Some(key));
    }
    let first = table.entries().first();
    let (given, span) = first.map_or(("", &item.span), |entry| (entry.key.as_str(), &entry.span));
    let (key, expected) = (V::KEY, expected_one_of(given, keys.iter().copied()));
    faults.note(span.clone(), format!("this `{key}` has no key that says how it changes; {expected}"));
    None
}

const KEYS: [&str; 3] = ["trace", "steps", "model"];

impl<V: Varying + Quantity + Decode> Course<V> {
    fn changing(key: &str, item: &Item, faults: &mut Faults) -> Option<Self> {
        match key {
            "trace" => {
                let FileOfSteps { trace, repeat } = part::<V, _>(item, "a trace", faults)?;
                Some(Course::File { file: trace, repeat })
            }
            "steps" => {
                let StepsTable { steps, repeat } = part::<V, StepsTable<V>>(item, "steps", faults)?;
                let period = repeat.map(|repeat| repeat.value);
                let span = steps.span;
                let pairs = steps.value.into_iter().map(|Step(from, value)| (from, value)).collect();
                match Series::new(pairs, period) {
                    Ok(series) => Some(Course::Series(Arc::new(series))),
                    Err(fault) => {
                        faults.note(span, fault.message::<V>("step"));
                        None
                    }
                }
            }
            _ => {
                let ModelTable { mean, shape } = part::<V, ModelTable<V>>(item, "a model", faults)?;
                let usual = Model::new(shape.model, mean);
                let (cv, time_scale) =
                    (shape.cv.unwrap_or(usual.cv), shape.time_scale.unwrap_or(usual.time_scale));
                let model = Model { cv, time_scale, ..usual };
                checked(model, model.check(), item, faults).map(Course::Model)
            }
        }
    }

    /// Schemas of all notations of the value.
    fn schemas(definitions: &mut Definitions) -> Vec<Json> {
        vec![
            V::schema(definitions),
            FileOfSteps::object(definitions),
            StepsTable::<V>::object(definitions),
            ModelTable::<V>::object(definitions),
        ]
    }
}

impl Decode for RateTable {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        match changes::<BitRate>(item, &["trace", "steps", "deliveries", "model"], faults)? {
            None => BitRate::decode(item, faults).map(|rate| RateTable::Course(Course::Constant(rate))),
            Some("deliveries") => {
                let DeliveriesTable { deliveries } = DeliveriesTable::decode(item, faults)?;
                Some(RateTable::Deliveries { file: deliveries })
            }
            Some(key) => Course::changing(key, item, faults).map(RateTable::Course),
        }
    }

    fn schema(definitions: &mut Definitions) -> Json {
        refer(definitions, "rates", |definitions| {
            let mut ways = Course::<BitRate>::schemas(definitions);
            ways.push(DeliveriesTable::schema(definitions));
            json!({ "anyOf": ways })
        })
    }
}

/// The delay of a direction of a link.
impl Decode for Course<Span> {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        match changes::<Span>(item, &KEYS, faults)? {
            None => Span::decode(item, faults).map(Course::Constant),
            Some(key) => Course::changing(key, item, faults),
        }
    }

    fn schema(definitions: &mut Definitions) -> Json {
        refer(definitions, "delays", |definitions| json!({ "anyOf": Course::<Span>::schemas(definitions) }))
    }
}

impl Show for Course<Span> {
    fn show(&self) -> Json {
        match self {
            Course::Constant(delay) => delay.show(),
            _ => json!("changes"),
        }
    }
}
