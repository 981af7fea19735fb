//! Converts the output of runs to tables.

use super::table::Words;
use super::{Column, Kind, Table};
use crate::output::{Scalar, Series};
use crate::scenario::{Axis, AxisValue};
use units::Instant;

/// Identification of a run in its sweep: the columns that all rows of the run share.
#[derive(Clone, Debug)]
pub struct RunKey<'s> {
    /// Number of the run, from 0.
    pub run: u32,
    /// Replica, from 0.
    pub replica: u32,
    /// Name and value of each axis.
    pub parameters: &'s [(String, AxisValue)],
}

/// The scalars of one run as a table of `window`, `flow`, `path`, `quantity` and `value`.
pub fn scalars_of(scalars: &[Scalar]) -> Table {
    let (mut rows, mut windows) = (Rows::default(), Words::default());
    for scalar in scalars {
        rows.push(&scalar.flow, scalar.path, scalar.quantity, scalar.value);
        windows.push(&scalar.window);
    }
    let mut columns = rows.into_columns(None);
    columns.insert(0, ("window".to_owned(), Column::Text(windows)));
    Table::new(columns)
}

/// The series of one run as a table of `flow`, `path`, `quantity`, `time` and `value`.
pub fn series_of(series: &[Series]) -> Table {
    let (mut rows, mut times) = (Rows::default(), Vec::new());
    for one in series {
        for (time, value) in &one.points {
            rows.push(&one.flow, one.path, one.quantity, *value);
            times.push(time.since(Instant::ZERO).as_secs_f64());
        }
    }
    Table::new(rows.into_columns(Some(times)))
}

#[derive(Default)]
struct Rows {
    flow: Words,
    path: Vec<Option<i32>>,
    quantity: Words,
    value: Vec<f64>,
}

impl Rows {
    fn push(&mut self, flow: &str, path: Option<u8>, quantity: &str, value: f64) {
        self.flow.push(flow);
        self.path.push(path.map(i32::from));
        self.quantity.push(quantity);
        self.value.push(value);
    }

    fn into_columns(self, times: Option<Vec<f64>>) -> Vec<(String, Column)> {
        let mut columns = vec![
            ("flow".to_owned(), Column::Text(self.flow)),
            ("path".to_owned(), Column::OptionalWhole(self.path)),
            ("quantity".to_owned(), Column::Text(self.quantity)),
        ];
        columns.extend(times.map(|times| ("time".to_owned(), Column::Real(times))));
        columns.push(("value".to_owned(), Column::Real(self.value)));
        columns
    }
}

/// Scalars or series of a run as rows of a sweep's table, with the columns of its axes.
pub fn sweep_table(key: &RunKey<'_>, axes: &[Axis], of_run: &Table) -> Table {
    let rows = of_run.rows();
    let mut columns = vec![
        ("run".to_owned(), Column::Whole(vec![key.run as i32; rows])),
        ("replica".to_owned(), Column::Whole(vec![key.replica as i32; rows])),
    ];
    for (axis, (_, value)) in axes.iter().zip(key.parameters) {
        columns.push((axis.name.clone(), repeated(value, kind(axis), rows)));
        if let (Some(column), Some((number, _))) = (number_column(axis, axes), value.in_base_unit()) {
            columns.push((column, Column::Real(vec![number; rows])));
        }
    }
    columns.extend(of_run.columns().iter().cloned());
    Table::new(columns)
}

/// Name of the second column of an axis, with numbers in the base unit, if all its values are quantities of
/// one kind: `rate_bps` for `rate`.
pub fn number_column(axis: &Axis, axes: &[Axis]) -> Option<String> {
    let name = format!("{}_{}", axis.name, axis.unit()?);
    (!axes.iter().any(|other| other.name == name)).then_some(name)
}

/// The kind of a column that can contain all values of an axis.
fn kind(axis: &Axis) -> Kind {
    if axis.values.iter().all(|value| matches!(value, AxisValue::Number(_))) {
        Kind::Real
    } else if axis.values.iter().all(|value| matches!(value, AxisValue::Flag(_))) {
        Kind::Flag
    } else {
        Kind::Text
    }
}

fn repeated(value: &AxisValue, kind: Kind, rows: usize) -> Column {
    match (value, kind) {
        (AxisValue::Number(number), Kind::Real) => Column::Real(vec![*number; rows]),
        (AxisValue::Flag(flag), Kind::Flag) => Column::Flag(vec![*flag; rows]),
        (value, _) => Column::Text(Words::repeated(&value.to_string(), rows)),
    }
}
