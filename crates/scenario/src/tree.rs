//! A TOML document as a tree of values with their byte ranges in the file.

use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and its byte range in the file.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub span: Range<usize>,
    pub value: Value,
}

/// The value, by its TOML type.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    /// An integer. One beyond the range of the type is clamped to that range.
    Integer(i128),
    Real(f64),
    Flag(bool),
    Date,
    List(Vec<Item>),
    Table(Table),
}

/// Keys and values, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Table(Vec<Entry>);

/// A key, its byte range in the file, and its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub key: String,
    pub span: Range<usize>,
    pub item: Item,
}

impl Table {
    pub fn get(&self, key: &str) -> Option<&Item> {
        self.0.iter().find(|entry| entry.key == key).map(|entry| &entry.item)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Item> {
        self.0.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.item)
    }

    pub fn entries(&self) -> &[Entry] {
        &self.0
    }
}

impl From<&Spanned<DeTable<'_>>> for Item {
    fn from(document: &Spanned<DeTable<'_>>) -> Self {
        Item { span: document.span(), value: Value::Table(document.get_ref().into()) }
    }
}

impl From<&DeTable<'_>> for Table {
    fn from(table: &DeTable<'_>) -> Self {
        let mut entries: Vec<Entry> = table
            .iter()
            .map(|(key, item)| Entry { key: key.get_ref().to_string(), span: key.span(), item: item.into() })
            .collect();
        entries.sort_by_key(|entry| entry.span.start);
        Table(entries)
    }
}

impl From<&Spanned<DeValue<'_>>> for Item {
    fn from(item: &Spanned<DeValue<'_>>) -> Self {
        let value = match item.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(n) => {
                let beyond = if n.as_str().starts_with('-') { i128::MIN } else { i128::MAX };
                Value::Integer(i128::from_str_radix(n.as_str(), n.radix()).unwrap_or(beyond))
            }
            DeValue::Float(n) => Value::Real(n.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(flag) => Value::Flag(*flag),
            DeValue::Datetime(_) => Value::Date,
            DeValue::Array(list) => Value::List(list.iter().map(Item::from).collect()),
            DeValue::Table(table) => Value::Table(table.into()),
        };
        Item { span: item.span(), value }
    }
}
