//! A scenario file with other values for some of its keys.

use super::diagnostic::expected_one_of;
use toml_edit::{Array, DocumentMut, InlineTable, Item, TableLike, Value};

/// Returns the file `text` with values replaced or added. `values` are pairs of a key and its new value.
///
/// A key is written with dots, like the default name of an axis: `link.a-b.rate` or `sctp.mine.cmt.sfr`. An
/// element of a list is named by its `name`, by the nodes in `between`, or by its number from 1; `*` stands
/// for all elements. A part that contains a dot is written in quotes. A value that is not valid TOML is taken
/// as text: `5 Mbit/s` needs no quotes. Comments and all other values remain. Only parsing shows whether the
/// new file is valid.
///
/// # Errors
/// If the file has no place for a key. The message says which keys were expected there.
pub fn with_values<'v>(
    text: &str,
    values: impl IntoIterator<Item = (&'v str, &'v str)>,
) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    for (key, value) in values {
        let place = Place { parts: &parts(key)?, at: 0 };
        let value = value.trim().parse().unwrap_or_else(|_| Value::from(value));
        set_in_table(document.as_table_mut(), place, &value).map_err(|what| format!("`{key}`: {what}"))?;
    }
    Ok(document.to_string())
}

/// The parts of a key between dots.
fn parts(key: &str) -> Result<Vec<String>, String> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    for letter in key.chars() {
        match letter {
            '"' => quoted = !quoted,
            '.' if !quoted => parts.push(String::new()),
            _ => parts.last_mut().expect("never empty").push(letter),
        }
    }
    if quoted || parts.iter().any(String::is_empty) {
        return Err(format!(
            "`{key}` is not a key; expected words with dots between them, such as `link.a-b.rate`"
        ));
    }
    Ok(parts)
}

/// The parts of a key, and the index of the part that is looked up next.
#[derive(Clone, Copy)]
struct Place<'k> {
    parts: &'k [String],
    at: usize,
}

impl<'k> Place<'k> {
    fn part(self) -> &'k str {
        &self.parts[self.at]
    }

    /// The next part of the key; `None` if the current part is the last one.
    fn below(self) -> Option<Self> {
        (self.at + 1 < self.parts.len()).then(|| Place { at: self.at + 1, ..self })
    }

    fn followed(self) -> String {
        self.parts[..self.at].join(".")
    }
}

fn set_in_table(table: &mut dyn TableLike, place: Place<'_>, value: &Value) -> Result<(), String> {
    match (place.below(), table.get_mut(place.part())) {
        (Some(below), Some(item)) => set_in_item(item, below, value),
        (Some(below), None) => {
            // A missing table is created here. Parsing the file shows later whether its keys are valid.
            let mut made = InlineTable::new();
            set_in_table(&mut made, below, value)?;
            table.insert(place.part(), Item::Value(made.into()));
            Ok(())
        }
        (None, Some(Item::Value(old))) => {
            replace(old, value);
            Ok(())
        }
        (None, _) => {
            table.insert(place.part(), Item::Value(value.clone()));
            Ok(())
        }
    }
}

fn set_in_item(item: &mut Item, place: Place<'_>, value: &Value) -> Result<(), String> {
    match item {
        Item::None => Err(format!("`{}` has no value", place.followed())),
        Item::Value(inner) => set_in_value(inner, place, value),
        Item::Table(table) => set_in_table(table, place, value),
        Item::ArrayOfTables(list) => {
            let labels: Vec<String> = list.iter().enumerate().map(|(i, table)| label(table, i)).collect();
            let Some(below) = place.below() else {
                return Err(format!("expected a key of `{}` after it", place.part()));
            };
            chosen(&labels, place)?
                .into_iter()
                .filter_map(|i| Some(set_in_table(list.get_mut(i)?, below, value)))
                .collect()
        }
    }
}

fn set_in_value(inner: &mut Value, place: Place<'_>, value: &Value) -> Result<(), String> {
    match inner {
        Value::InlineTable(table) => set_in_table(table, place, value),
        Value::Array(list) => set_in_list(list, place, value),
        _ => Err(format!("`{}` is a plain value; expected nothing after it", place.followed())),
    }
}

fn set_in_list(list: &mut Array, place: Place<'_>, value: &Value) -> Result<(), String> {
    let labels: Vec<String> = list
        .iter()
        .enumerate()
        .map(|(i, element)| {
            element.as_inline_table().map_or_else(|| (i + 1).to_string(), |table| label(table, i))
        })
        .collect();
    for i in chosen(&labels, place)? {
        let Some(element) = list.get_mut(i) else { continue };
        match place.below() {
            Some(below) => set_in_value(element, below, value)?,
            None => replace(element, value),
        }
    }
    Ok(())
}

/// Replaces a value, but not the space and the comments around it.
fn replace(old: &mut Value, new: &Value) {
    let around = old.decor().clone();
    *old = new.clone();
    *old.decor_mut() = around;
}

/// Label of an element of a list: its `name`, the nodes it is `between`, or its number from 1.
fn label(element: &dyn TableLike, index: usize) -> String {
    let ends = || {
        let ends = element.get("between")?.as_array()?;
        Some(format!("{}-{}", ends.get(0)?.as_str()?, ends.get(1)?.as_str()?))
    };
    let name = element.get("name").and_then(Item::as_str).map(str::to_owned);
    name.or_else(ends).unwrap_or_else(|| (index + 1).to_string())
}

/// The elements that a part of a key names: one label, several elements with this label, a number from 1, or
/// `*`.
fn chosen(labels: &[String], place: Place<'_>) -> Result<Vec<usize>, String> {
    let part = place.part();
    if part == "*" {
        return Ok((0..labels.len()).collect());
    }
    let named: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] == part).collect();
    if !named.is_empty() {
        return Ok(named);
    }
    match part.parse::<usize>() {
        Ok(number) if (1..=labels.len()).contains(&number) => Ok(vec![number - 1]),
        _ => {
            let expected = expected_one_of(part, labels.iter().map(String::as_str));
            Err(format!("no element `{part}` in `{}`; {expected} (`*` stands for all)", place.followed()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::with_values;

    const FILE: &str = r#"seed = 1
flow = [{ name = "f", client = "a" }, { name = "g", sctp = { cmt = { sfr = true } } }]

[[link]]
between = ["a", "b"]
rate = "10 Mbit/s" # of the first
queue = { kind = "red", min = 20 }

[[link]]
between = ["b", "c"]
rate = "20 Mbit/s"

[sctp.mine]
cmt = { enabled = true }
"#;

    fn set(key: &str, value: &str) -> Result<String, String> {
        with_values(FILE, [(key, value)])
    }

    #[test]
    fn only_the_value_changes_and_comments_stay() {
        for (key, value, old, new) in [
            ("seed", "2", "seed = 1", "seed = 2"),
            ("link.a-b.rate", "5 Mbit/s", "\"10 Mbit/s\" #", "\"5 Mbit/s\" #"),
            ("link.2.rate", "\"5 Mbit/s\"", "\"20 Mbit/s\"", "\"5 Mbit/s\""),
            ("link.a-b.queue.min", "5", "min = 20", "min = 5"),
            (
                "link.a-b.queue",
                "{ kind = \"drop-tail\" }",
                "{ kind = \"red\", min = 20 }",
                "{ kind = \"drop-tail\" }",
            ),
            ("flow.g.sctp.cmt.sfr", "false", "sfr = true", "sfr = false"),
            ("flow.f.client", "b", "client = \"a\"", "client = \"b\""),
            ("link.a-b.between.1", "c", "[\"a\", \"b\"]", "[\"c\", \"b\"]"),
            ("sctp.mine.cmt.enabled", "false", "enabled = true", "enabled = false"),
        ] {
            assert_eq!(set(key, value), Ok(FILE.replacen(old, new, 1)), "{key}");
        }
    }

    #[test]
    fn missing_keys_and_tables_are_added() {
        let added = set("link.b-c.loss", "0.01").expect("has a place");
        assert_eq!(added, FILE.replace("rate = \"20 Mbit/s\"\n", "rate = \"20 Mbit/s\"\nloss = 0.01\n"));
        let added = set("flow.f.sctp.cmt.sfr", "false").expect("has a place");
        assert!(added.contains("client = \"a\" , sctp = { cmt = { sfr = false } } }"), "{added}");
    }

    #[test]
    fn a_star_stands_for_all_elements() {
        let all = set("link.*.rate", "{ vary = [\"1 Mbit/s\", \"2 Mbit/s\"] }").expect("has a place");
        assert_eq!(all.matches("rate = { vary = [\"1 Mbit/s\", \"2 Mbit/s\"] }").count(), 2, "{all}");
        let all = set("flow.*.stop_time", "3 s").expect("has a place");
        assert_eq!(all.matches("stop_time = \"3 s\"").count(), 2, "{all}");
    }

    #[test]
    fn a_key_without_a_place_is_refused_with_what_was_expected() {
        for (key, message) in [
            (
                "link.a-d.rate",
                "`link.a-d.rate`: no element `a-d` in `link`; expected one of `a-b`, `b-c`; did you mean `a-b`? (`*` stands for all)",
            ),
            (
                "link.3.rate",
                "`link.3.rate`: no element `3` in `link`; expected one of `a-b`, `b-c` (`*` stands for all)",
            ),
            ("seed.x", "`seed.x`: `seed` is a plain value; expected nothing after it"),
            ("link.a-b", "`link.a-b`: expected a key of `a-b` after it"),
            (
                "link..rate",
                "`link..rate` is not a key; expected words with dots between them, such as `link.a-b.rate`",
            ),
        ] {
            assert_eq!(set(key, "1"), Err(message.to_owned()));
        }
    }
}
