//! Each option is declared only once: the schema and the tables of docs/scenarios.md are generated from the
//! declarations.

use anabranch_lab::scenario::{assoc_options_over, schema, sctp_options, sctp_options_over};
use serde_json::Value as Json;
use std::path::Path;
use transport::{OptionValue, Options};

/// The row of an option in the documentation.
struct Row {
    path: &'static str,
    default: String,
    values: String,
    doc: String,
}

/// Every option; options of groups are written `group.option`.
fn rows(options: &mut dyn Options, into: &mut Vec<Row>) {
    options.each(&mut |setting| match setting.value {
        OptionValue::Group(group) => rows(group, into),
        mut value => {
            let kind = kind(&mut value);
            let values = match setting.expected {
                "" => kind,
                numbers if numbers.starts_with("a number") => numbers.to_owned(),
                expected => match kind.strip_suffix(" or `none`") {
                    Some(kind) if expected.contains("none") => format!("{kind}: {expected}"),
                    _ => format!("{kind}: {expected}"),
                },
            };
            into.push(Row { path: setting.path, default: String::new(), values, doc: in_short(setting.doc) });
        }
    });
}

/// The default of every option, in the order of [`rows`].
fn defaults(options: &mut dyn Options, into: &mut Vec<String>) {
    options.each(&mut |setting| match setting.value {
        OptionValue::Group(group) => defaults(group, into),
        value => into.push(value.text()),
    });
}

/// The valid values of an option.
fn kind(value: &mut OptionValue<'_>) -> String {
    match value {
        OptionValue::Switch(_) => "true or false".to_owned(),
        OptionValue::Whole(_) => "whole number".to_owned(),
        OptionValue::Number(_) => "number".to_owned(),
        OptionValue::Time(_) => "time".to_owned(),
        OptionValue::Size(_) => "size".to_owned(),
        OptionValue::Word(word) => {
            word.words().iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
        }
        OptionValue::Maybe(maybe) => {
            let none = maybe.none();
            format!("{} or `{none}`", kind(&mut maybe.set_some()))
        }
        OptionValue::List(list) => format!("list of {}s", kind(&mut list.push())),
        OptionValue::Group(_) => unreachable!("groups are opened"),
    }
}

/// Shortens RFC anchors to the text that the schema contains.
fn in_short(doc: &str) -> String {
    let parts = doc.trim().split('`').enumerate().map(|(n, part)| match part.strip_prefix("rfc") {
        Some(rest) if n % 2 == 1 => format!("RFC {}", rest.replace("#section-", ", section ")),
        _ if n % 2 == 1 => format!("`{part}`"),
        _ => part.to_owned(),
    });
    parts.collect()
}

fn table<O: Options + Clone>(options: &O) -> Vec<Row> {
    let (mut all, mut texts) = (Vec::new(), Vec::new());
    rows(&mut options.clone(), &mut all);
    defaults(&mut options.clone(), &mut texts);
    all.into_iter().zip(texts).map(|(row, default)| Row { default, ..row }).collect()
}

fn markdown<'r>(rows: impl Iterator<Item = &'r Row>) -> String {
    let mut text = "| option | default | values | meaning |\n|---|---|---|---|\n".to_owned();
    for Row { path, default, values, doc } in rows {
        text += &format!("| `{path}` | {default} | {values} | {doc} |\n");
    }
    text
}

/// The keys of a table of scenario files by its JSON Schema, without their camelCase names.
fn keys(table: &Json) -> String {
    let required = table["required"].as_array().expect("a list");
    let mut text = "| key | default | values | meaning |\n|---|---|---|---|\n".to_owned();
    for (key, property) in table["properties"].as_object().expect("a table") {
        if key.contains(char::is_uppercase) {
            continue;
        }
        let default = match &property["default"] {
            _ if required.contains(&Json::from(key.as_str())) => "required".to_owned(),
            Json::Null => String::new(),
            Json::String(word) => word.clone(),
            number => number.to_string(),
        };
        // The second alternative is a variation.
        let values = expected(&property["anyOf"][0]);
        let meaning = property["description"].as_str().expect("a description");
        text += &format!("| `{key}` | {default} | {values} | {meaning} |\n");
    }
    text
}

/// The values that a JSON Schema allows, in words.
fn expected(schema: &Json) -> String {
    if let Some(path) = schema["$ref"].as_str() {
        let name = path.trim_start_matches("#/$defs/");
        let fixed = name.strip_suffix("_distribution");
        return fixed.map_or_else(|| name.to_owned(), |name| format!("{name}, may be random"));
    }
    if let Some(description) = schema["description"].as_str() {
        return description.to_owned();
    }
    let each = |list: &Json, joint| {
        list.as_array().map(|all| all.iter().map(expected).collect::<Vec<_>>().join(joint))
    };
    if let Some(text) = each(&schema["anyOf"], " or ") {
        return text;
    }
    if let Some(words) = schema["enum"].as_array() {
        let words = words.iter().map(|word| format!("`{}`", word.to_string().replace('"', "")));
        return words.collect::<Vec<_>>().join(", ");
    }
    match schema["type"].as_str().expect("a type") {
        "boolean" => "true or false".to_owned(),
        "integer" => "whole number".to_owned(),
        "string" if schema["pattern"].as_str().is_some_and(|pattern| pattern.contains('%')) => {
            "percentage".to_owned()
        }
        "string" => "text".to_owned(),
        "array" if schema["items"]["description"].is_string() => {
            format!("list of {}", expected(&schema["items"]))
        }
        "array" => format!("list of {}s", expected(&schema["items"])),
        "object" => match schema["properties"].as_object().expect("a table").keys().collect::<Vec<_>>()[..] {
            [key] => format!("`{{ {key} }}`"),
            _ => "table".to_owned(),
        },
        kind => kind.to_owned(),
    }
}

/// The tables of docs/scenarios.md, by the names in their markers.
fn tables() -> Vec<(&'static str, String)> {
    let (sctp, tcp) = (table(&sctp::Config::default()), table(&tcp::Config::default()));
    let knobs = table(&cc::Knobs::default());
    let is_knob = |row: &&Row| knobs.iter().any(|knob| knob.path == row.path);
    let is_cmt = |row: &&Row| row.path.starts_with("cmt.");
    let schema: Json = serde_json::from_str(&schema()).unwrap();
    vec![
        ("sctp", markdown(sctp.iter().filter(|row| !is_knob(row) && !is_cmt(row)))),
        ("cmt", markdown(sctp.iter().filter(is_cmt))),
        ("knobs", markdown(knobs.iter())),
        ("tcp", markdown(tcp.iter().filter(|row| !is_knob(row)))),
        ("flow", keys(&schema["properties"]["flow"]["anyOf"][0]["items"])),
    ]
}

/// `ANABRANCH_UPDATE=1 cargo test -p anabranch-lab options` rewrites the tables.
#[test]
fn tables_of_the_documentation_equal_the_declarations() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenarios.md");
    let before = std::fs::read_to_string(&file).expect("the page is there");
    let mut now = before.clone();
    for (name, table) in tables() {
        let marker = format!("<!-- options: {name} -->\n");
        let from = now.find(&marker).unwrap_or_else(|| panic!("no {marker}")) + marker.len();
        let to = from + now[from..].find("<!-- end -->").expect("an end of the table");
        now.replace_range(from..to, &table);
    }
    if std::env::var_os("ANABRANCH_UPDATE").is_some() {
        return std::fs::write(file, now).expect("the page can be written");
    }
    assert!(now == before, "tables of docs/scenarios.md are old: run this test with ANABRANCH_UPDATE=1");
}

/// Collects the properties without a description and returns the number of those that have one.
fn undescribed(schema: &Json, path: &str, into: &mut Vec<String>) -> usize {
    let mut described = 0;
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        match property["description"].as_str() {
            Some(text) if !text.is_empty() => described += 1,
            _ => into.push(format!("{path}.{key}")),
        }
    }
    let members = schema.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), value));
    let elements =
        schema.as_array().into_iter().flatten().enumerate().map(|(n, value)| (n.to_string(), value));
    for (key, value) in members.chain(elements) {
        described += undescribed(value, &format!("{path}.{key}"), into);
    }
    described
}

#[test]
fn every_property_of_the_schema_has_a_description() {
    let mut without = Vec::new();
    let described = undescribed(&serde_json::from_str(&schema()).unwrap(), "", &mut without);
    assert!(described > 1000, "only {described} properties were found");
    assert!(
        without.is_empty(),
        "{} without description, such as {:?}",
        without.len(),
        &without[..5.min(without.len())]
    );
}

#[test]
fn every_option_is_a_property_of_the_schema_with_its_documentation_and_default() {
    let schema: Json = serde_json::from_str(&schema()).unwrap();
    let inner = |property: &Json| property["anyOf"][0]["properties"].clone();
    for (set, rows) in [("sctp", table(&sctp::Config::default())), ("tcp", table(&tcp::Config::default()))] {
        let sets = &schema["properties"][set]["anyOf"][0]["additionalProperties"]["properties"];
        for Row { path, default, doc, .. } in rows {
            let place = match path.split_once('.') {
                None => sets[path].clone(),
                Some((group, name)) if sets[group].is_object() => inner(&sets[group])[name].clone(),
                Some((group, name)) => inner(&inner(&sets["knobs"])[group])[name].clone(),
            };
            let description = place["description"].as_str().unwrap_or_else(|| panic!("{set}: no {path}"));
            assert!(description.starts_with(&doc), "{path}: {description}");
            let listed = || place["default"].to_string().replace(',', ", ");
            let told = place["default"].as_str().map_or_else(listed, str::to_owned);
            let same = |told: &str| told == default || told.strip_suffix(".0") == Some(&default);
            assert!(same(&told), "{path}: {told}, not {default}");
        }
    }
}

#[test]
fn sctp_options_parse_without_a_scenario() {
    let options = "profile = \"recommended\"\nrto_min = \"200 ms\"\ncmt = { cuc = \"v1\", groups = [1, 2] }\n\
                   knobs = { cubic = { beta = 0.8 } }\ninit_rto_max = \"3 s\"\nhb_interval = \"none\"";
    let read = sctp_options(options, "options").unwrap();
    let mut expected = sctp::Config::recommended();
    expected.rto_min = units::Span::from_millis(200);
    (expected.cmt.cuc, expected.cmt.groups) = (sctp::Cuc::V1, vec![1, 2]);
    expected.knobs.cubic.beta = 0.8;
    (expected.init_rto_max, expected.hb_interval) = (Some(units::Span::from_secs(3)), None);
    assert_eq!(read, expected);
}

#[test]
fn options_of_one_association_are_read_over_those_of_the_endpoint() {
    let of_endpoint = sctp_options("rto_min = \"200 ms\"\ncmt = { enabled = true }", "options").unwrap();
    let read = sctp_options_over(of_endpoint.clone(), "cmt = { cuc = \"v1\" }", "options").unwrap();
    assert_eq!((read.rto_min, read.cmt.enabled, read.cmt.cuc), (of_endpoint.rto_min, true, sctp::Cuc::V1));
    let profile = sctp_options_over(of_endpoint, "profile = \"recommended\"", "options").unwrap();
    assert_eq!(profile, sctp::Config::recommended(), "a profile sets every option");
}

#[test]
fn options_of_an_existing_association_are_those_of_the_declaration() {
    let mut live = sctp::AssocOptions::of(&sctp::Config::default());
    let whole = table(&sctp::Config::default());
    let mut rows = Vec::new();
    self::rows(&mut live, &mut rows);
    assert_eq!(rows.len(), 13);
    for Row { path, values, doc, .. } in rows {
        let same = whole.iter().find(|row| row.path == path).expect(path);
        assert_eq!((&values, &doc), (&same.values, &same.doc));
    }
    let changed =
        assoc_options_over(live.clone(), "nagle = true\npotentially_failed = 2", "options").unwrap();
    assert_eq!(changed, sctp::AssocOptions { nagle: true, potentially_failed: Some(2), ..live.clone() });
    for (change, answer) in [
        (
            "rto_mn = \"1 s\"",
            "options:1:1: unknown key `rto_mn` in the options that can change while an association exists; \
             expected one of `rto_initial`, `rto_min`,",
        ),
        ("mtu = \"1 kB\"", "options:1:1: unknown key `mtu` in the options that can change"),
        ("max_burst = \"4\"", "options:1:13: "),
    ] {
        let error = assoc_options_over(live.clone(), change, "options").expect_err(change).to_string();
        assert!(error.starts_with(answer), "{error}");
    }
}

#[test]
fn errors_in_sctp_options_name_the_position_and_the_expected_value() {
    for (options, answer) in [
        (
            "rto_mim = \"1 s\"",
            "options:1:1: unknown key `rto_mim` in [sctp.options]; expected one of `profile`,",
        ),
        (
            "rto_min = 1",
            "options:1:11: the number 1 has no unit; expected a time such as \"10 ms\" in quotes",
        ),
        ("rto_min = \"2 min\"", "options:1:1: `rto_max` = 60 s cannot work; expected at least `rto_min`"),
        (
            "knobs = { cubic = { beta = 2.0 } }",
            "options:1:28: `cubic.beta` = 2 cannot work; expected a number from 0.1 to 0.99",
        ),
        ("inherit = \"x\"", "options:1:11: there is no other option set to inherit from"),
        (
            "cmt = { groups = [1, 300, \"a\"] }",
            "options:1:22: expected a whole number from 0 to 255; found the number 300\n\
          options:1:27: expected a whole number from 0 to 255; found the text \"a\"",
        ),
        ("= 1", "options:1:1: "),
    ] {
        let error = sctp_options(options, "options").expect_err(options).to_string();
        assert!(error.starts_with(answer), "{error}");
    }
}
