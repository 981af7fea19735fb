//! Variations: any value of a scenario file may be `{ vary = [a, b] }`; the file then describes one scenario
//! for each of the values.

use super::decode::describe;
use super::diagnostic::Faults;
use super::quantity;
use super::tree::{Entry, Item, Table, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// One axis of a sweep: a value that varies.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Name of the axis in the results: the `name` of the variation, by default its position in the file,
    /// such as `link.r1-r2.rate`.
    pub name: String,
    /// The values, in the order of the file.
    pub values: Vec<AxisValue>,
}

/// One value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum AxisValue {
    /// True or false.
    Flag(bool),
    /// A bare number.
    Number(f64),
    /// Text, such as a word or a quantity. Tables and lists are kept as the text of the file.
    Text(String),
}

impl AxisValue {
    /// The number of a quantity such as `10 Mbit/s` in the base unit of its kind, and the suffix of columns
    /// with such numbers: `bps`, `s`, `bytes` or `hz`.
    pub fn in_base_unit(&self) -> Option<(f64, &'static str)> {
        match self {
            AxisValue::Text(text) => quantity::in_base_unit(text),
            _ => None,
        }
    }
}

impl Axis {
    /// The suffix of the column with numbers, if all values are quantities of one kind.
    pub fn unit(&self) -> Option<&'static str> {
        let mut units = self.values.iter().map(|value| Some(value.in_base_unit()?.1));
        let first = units.next()??;
        units.all(|unit| unit == Some(first)).then_some(first)
    }
}

impl fmt::Display for AxisValue {
    /// Writes the value as in the file, but without quotes.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            AxisValue::Flag(flag) => flag.fmt(f),
            AxisValue::Number(number) => number.fmt(f),
            AxisValue::Text(text) => f.write_str(text),
        }
    }
}

/// A value of the file that has variations.
pub(super) struct Site {
    steps: Vec<Step>,
    axis: String,
    alternatives: Vec<Item>,
    span: Range<usize>,
}

#[derive(Clone)]
enum Step {
    Key(String),
    Index(usize),
}

/// Names of columns of the results; an axis cannot have one of them.
const RESERVED: [&str; 8] = ["run", "replica", "seed", "flow", "path", "quantity", "time", "value"];

/// All values that have variations, in the order of the file.
pub(super) fn sites(root: &Item, faults: &mut Faults) -> Vec<Site> {
    let mut found = Vec::new();
    visit(root, &mut Vec::new(), "", &mut found, faults);
    found.sort_by_key(|site| site.span.start);
    found
}

fn visit_table(
    table: &Table,
    steps: &mut Vec<Step>,
    dotted: &str,
    found: &mut Vec<Site>,
    faults: &mut Faults,
) {
    for Entry { key, item, .. } in table.entries() {
        steps.push(Step::Key(key.clone()));
        let dotted = if dotted.is_empty() { key.clone() } else { format!("{dotted}.{key}") };
        visit(item, steps, &dotted, found, faults);
        steps.pop();
    }
}

fn visit(item: &Item, steps: &mut Vec<Step>, dotted: &str, found: &mut Vec<Site>, faults: &mut Faults) {
    match &item.value {
        Value::Table(table) if table.get("vary").is_some() => {
            found.extend(site(item, table, steps, dotted, faults));
        }
        Value::Table(table) => visit_table(table, steps, dotted, found, faults),
        Value::List(list) => {
            for (i, element) in list.iter().enumerate() {
                steps.push(Step::Index(i));
                visit(element, steps, &format!("{dotted}.{}", label(element, i)), found, faults);
                steps.pop();
            }
        }
        _ => {}
    }
}

/// Label of an element of a list: its `name`, the nodes it is `between`, or its number from 1.
fn label(element: &Item, index: usize) -> String {
    let text = |item: Option<&Item>| match &item?.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    let named = || {
        let Value::Table(table) = &element.value else { return None };
        let ends = || match &table.get("between")?.value {
            Value::List(ends) => Some(format!("{}-{}", text(ends.first())?, text(ends.get(1))?)),
            _ => None,
        };
        text(table.get("name")).or_else(ends)
    };
    named().unwrap_or_else(|| (index + 1).to_string())
}

fn site(item: &Item, table: &Table, steps: &[Step], dotted: &str, faults: &mut Faults) -> Option<Site> {
    for entry in table.entries().iter().filter(|entry| !["vary", "name"].contains(&entry.key.as_str())) {
        let message = format!("unknown key `{}` beside `vary`; expected only `name`", entry.key);
        faults.note(entry.span.clone(), message);
    }
    let axis = match table.get("name").map(|name| (name.span.clone(), &name.value)) {
        None => dotted.to_owned(),
        Some((span, Value::Text(name))) if RESERVED.contains(&name.as_str()) || name.is_empty() => {
            faults
                .note(span, format!("an axis cannot be called \"{name}\", which the results use otherwise"));
            return None;
        }
        Some((_, Value::Text(name))) => name.clone(),
        Some((span, _)) => {
            faults.note(span, "expected the `name` of an axis in quotes".into());
            return None;
        }
    };
    let vary = table.get("vary")?;
    let Value::List(list) = &vary.value else {
        faults.note(vary.span.clone(), format!("expected a list of variations; found {}", describe(vary)));
        return None;
    };
    if list.is_empty() {
        faults.note(vary.span.clone(), "expected at least one variation; found an empty list".into());
        return None;
    }
    let mut nested = Vec::new();
    for alternative in list {
        visit(alternative, &mut Vec::new(), "", &mut nested, faults);
    }
    if let Some(inner) = nested.first() {
        faults.note(inner.span.clone(), "a variation inside a variation; expected a plain value".into());
        return None;
    }
    Some(Site { steps: steps.to_vec(), axis, alternatives: list.clone(), span: item.span.clone() })
}

/// The axes of `sites` (values with variations). Sites of one axis change together, so they must have the
/// same number of variations.
pub(super) fn axes(sites: &[Site], text: &str, faults: &mut Faults) -> Vec<Axis> {
    let mut axes: Vec<(Axis, Vec<&Site>)> = Vec::new();
    for site in sites {
        match axes.iter_mut().find(|(axis, _)| axis.name == site.axis) {
            None => {
                let axis = Axis { name: site.axis.clone(), values: site.values(text) };
                axes.push((axis, vec![site]));
            }
            Some((axis, _)) if axis.values.len() != site.alternatives.len() => {
                let (first, here) = (axis.values.len(), site.alternatives.len());
                let message = format!(
                    "axis \"{}\" has {first} variations elsewhere; expected as many here, found {here}",
                    axis.name
                );
                faults.note(site.span.clone(), message);
            }
            Some((_, together)) => together.push(site),
        }
    }
    for (axis, together) in &mut axes {
        tell_apart(axis, together, text, faults);
    }
    axes.into_iter().map(|(axis, _)| axis).collect()
}

/// Makes the values of an axis distinct, since the results identify a combination by these
/// values. As long as two values are equal, appends to each value that of the next key of
/// the file that changes together with the axis. Notes a fault if some values remain equal.
fn tell_apart(axis: &mut Axis, together: &[&Site], text: &str, faults: &mut Faults) {
    for site in &together[1..] {
        if equal_pair(&axis.values).is_none() {
            return;
        }
        let both = axis.values.iter().zip(site.values(text));
        axis.values = both.map(|(label, value)| AxisValue::Text(format!("{label}, {value}"))).collect();
    }
    let Some((first, second)) = equal_pair(&axis.values) else { return };
    let message = format!(
        "variations {} and {} of axis \"{}\" are both \"{}\", and the results could not tell them apart; expected different \
         values, or other variations with `name = \"{}\"` that advance with these",
        first + 1,
        second + 1,
        axis.name,
        axis.values[first],
        axis.name
    );
    faults.note(together[0].span.clone(), message);
}

/// The first two values that are written alike.
fn equal_pair(values: &[AxisValue]) -> Option<(usize, usize)> {
    let mut seen = BTreeMap::new();
    values.iter().enumerate().find_map(|(i, value)| Some((seen.insert(value.to_string(), i)?, i)))
}

impl Site {
    fn values(&self, text: &str) -> Vec<AxisValue> {
        self.alternatives.iter().map(|item| axis_value(item, text)).collect()
    }
}

fn axis_value(item: &Item, text: &str) -> AxisValue {
    match &item.value {
        Value::Flag(flag) => AxisValue::Flag(*flag),
        Value::Integer(n) => AxisValue::Number(*n as f64),
        Value::Real(n) => AxisValue::Number(*n),
        Value::Text(word) => AxisValue::Text(word.clone()),
        _ => AxisValue::Text(text.get(item.span.clone()).unwrap_or_default().to_owned()),
    }
}

/// The file with one value chosen for each axis.
pub(super) fn choose(root: &Item, sites: &[Site], axes: &[Axis], choice: &[usize]) -> Item {
    let mut chosen = root.clone();
    for site in sites {
        let axis = axes.iter().position(|axis| axis.name == site.axis);
        let alternative = axis.and_then(|axis| site.alternatives.get(choice[axis]));
        if let (Some(place), Some(alternative)) = (find(&mut chosen, &site.steps), alternative) {
            *place = alternative.clone();
        }
    }
    chosen
}

fn find<'t>(root: &'t mut Item, steps: &[Step]) -> Option<&'t mut Item> {
    steps.iter().try_fold(root, |item, step| match (step, &mut item.value) {
        (Step::Key(key), Value::Table(table)) => table.get_mut(key),
        (Step::Index(i), Value::List(list)) => list.get_mut(*i),
        _ => None,
    })
}
