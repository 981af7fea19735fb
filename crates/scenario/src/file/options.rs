//! Named sets of options: every field of a protocol's configuration is a key, and a set may inherit from
//! another.

use super::settings;
use crate::decode::{Decode, Definitions, Fields, describe, mismatch, property};
use crate::diagnostic::{Faults, ScenarioError, expected_one_of};
use crate::tree::{Entry, Item, Value};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use toml::de::DeTable;
use transport::Options;

/// The name of a profile and its options.
pub(crate) type Profile<T> = (&'static str, fn() -> T);

/// The options of a protocol, as sets in a file.
pub(crate) trait OptionSet: Options + Sized + 'static {
    /// Key of the tables that hold the sets.
    const KEY: &'static str;
    /// Profiles by name: the values of all options that a set leaves out. The first profile is the default.
    const PROFILES: &'static [Profile<Self>];
    /// Description of the profiles in the schema.
    const PROFILES_DOC: &'static str;
}

impl OptionSet for sctp::Config {
    const KEY: &'static str = "sctp";
    const PROFILES: &'static [Profile<Self>] =
        &[("standard", sctp::Config::default), ("recommended", sctp::Config::recommended)];
    const PROFILES_DOC: &'static str = "The values of options that the set leaves out: those of RFC 9260, or those for real use \
                                        over several paths. The defaults in this schema are those of \"standard\".";
}

impl OptionSet for tcp::Config {
    const KEY: &'static str = "tcp";
    const PROFILES: &'static [Profile<Self>] =
        &[("modern", tcp::Config::modern), ("qualnet", tcp::Config::qualnet)];
    const PROFILES_DOC: &'static str = "The values of options that the set leaves out: those of TCP today, or those of simulators \
                                        around 2010. The defaults in this schema are those of \"modern\".";
}

const PROFILE: &str = "profile";
const INHERIT: &str = "inherit";

fn default<S: OptionSet>() -> S {
    S::PROFILES[0].1()
}

/// The option sets of a protocol, not yet decoded, because the values of a set depend on the sets it inherits
/// from.
pub(crate) struct OptionSets<S> {
    sets: BTreeMap<String, Item>,
    read_as: PhantomData<S>,
}

impl<S: OptionSet> OptionSets<S> {
    fn new(sets: BTreeMap<String, Item>) -> Self {
        OptionSets { sets, read_as: PhantomData }
    }

    /// All sets with all options filled in; `None` if a fault was noted.
    pub fn resolve(&self, faults: &mut Faults) -> Option<BTreeMap<String, S>> {
        // Decode each set alone first, so that a fault is reported for the set that contains it.
        let before = faults.len();
        for (name, set) in &self.sets {
            read(name, &[set], default::<S>(), faults);
        }
        if faults.len() > before {
            return None;
        }
        self.sets.keys().map(|name| Some((name.clone(), self.inherited(name, faults)?))).collect()
    }

    fn inherited(&self, name: &str, faults: &mut Faults) -> Option<S> {
        let mut names = vec![name.to_owned()];
        let mut layers = vec![self.sets.get(name)?];
        while let Some(parent) = layers.last().and_then(|set| member(set, "inherit")) {
            let text = String::decode(parent, faults)?;
            let Some(set) = self.sets.get(&text) else {
                let expected = expected_one_of(&text, self.sets.keys().map(String::as_str));
                faults.note(parent.span.clone(), format!("unknown option set \"{text}\"; {expected}"));
                return None;
            };
            if names.contains(&text) {
                faults.note(parent.span.clone(), format!("option set \"{text}\" inherits from itself"));
                return None;
            }
            names.push(text);
            layers.push(set);
        }
        let config: S = read(name, &layers, default(), faults)?;
        check(&config, &layers, faults)?;
        Some(config)
    }
}

/// Notes the first option with an invalid value, if there is one.
fn check<S: OptionSet>(config: &S, layers: &[&Item], faults: &mut Faults) -> Option<()> {
    let Err(error) = config.check() else { return Some(()) };
    // A default that contradicts an option of the file has no position; the fault is reported at the option
    // in the file.
    let at = layers.iter().find_map(|set| option(set, error.option)).unwrap_or(layers[0]);
    let message = format!("`{}` = {} cannot work; expected {}", error.option, error.value, error.expected);
    faults.note(at.span.clone(), message);
    None
}

/// Reads the values of the layers over `base`, or over the profile that the layers name. If several layers
/// have an option, the value of the first of them counts.
fn read<S: OptionSet>(name: &str, layers: &[&Item], base: S, faults: &mut Faults) -> Option<S> {
    let place = format!("[{}.{name}]", S::KEY);
    let keys = [vec![PROFILE], settings::keys(&mut default::<S>()), vec![INHERIT]].concat();
    let mut opened = layers.iter().map(|layer| Fields::open(layer, &place, &keys, faults));
    let mut fields = opened.next()??;
    for below in opened {
        fields = fields.over(&below?);
    }
    let mut config = match fields.find(PROFILE) {
        Some(item) => profile(item, faults)?,
        None => base,
    };
    settings::apply(&fields, &mut config, faults).then_some(config)
}

fn profile<S: OptionSet>(item: &Item, faults: &mut Faults) -> Option<S> {
    let Value::Text(text) = &item.value else { return mismatch(item, "a word in quotes", faults) };
    let found = S::PROFILES.iter().find(|(name, _)| name == text);
    if found.is_none() {
        let expected = expected_one_of(text, S::PROFILES.iter().map(|(name, _)| *name));
        faults.note(item.span.clone(), format!("unknown word \"{text}\"; {expected}"));
    }
    found.map(|(_, options)| options())
}

/// Parses the options of an SCTP endpoint, written in TOML as below `[sctp.NAME]`. `name` is the name of the
/// text in messages.
///
/// # Errors
/// All faults, with their positions.
pub fn sctp_options(text: &str, name: &str) -> Result<sctp::Config, ScenarioError> {
    sctp_options_over(sctp::Config::default(), text, name)
}

/// As [`sctp_options`], but options that the text leaves out keep the values of `base`.
///
/// # Errors
/// All faults, with their positions.
pub fn sctp_options_over(base: sctp::Config, text: &str, name: &str) -> Result<sctp::Config, ScenarioError> {
    read_text(text, name, |set, faults| {
        if let Some(inherit) = member(set, INHERIT) {
            faults.note(inherit.span.clone(), "there is no other option set to inherit from".to_owned());
            return None;
        }
        let config = read(name, &[set], base, faults)?;
        check(&config, &[set], faults)?;
        Some(config)
    })
}

/// Reads changes of the options of an existing association. Options that the text leaves out keep the values
/// of `base`. `Endpoint::set_options` checks later whether the values fit together.
///
/// # Errors
/// All faults, with their positions.
pub fn assoc_options_over(
    mut base: sctp::AssocOptions,
    text: &str,
    name: &str,
) -> Result<sctp::AssocOptions, ScenarioError> {
    read_text(text, name, |set, faults| {
        let place = "the options that can change while an association exists";
        let fields = Fields::open(set, place, &settings::keys(&mut base), faults)?;
        settings::apply(&fields, &mut base, faults).then_some(base)
    })
}

/// Reads a text that is one table.
fn read_text<T>(
    text: &str,
    name: &str,
    read: impl FnOnce(&Item, &mut Faults) -> Option<T>,
) -> Result<T, ScenarioError> {
    let mut faults = Faults::default();
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        faults.note(error.span().unwrap_or(0..0), error.message().to_owned());
    }
    let table = Item::from(&document);
    let value = if faults.is_empty() { read(&table, &mut faults) } else { None };
    value.filter(|_| faults.is_empty()).ok_or_else(|| faults.into_error(name, text))
}

/// The value of an option in the set. The name is a key, a key of a table in the set (`table.key`), or a key
/// of a group in the table `knobs` of the set (`group.key`).
fn option<'t>(set: &'t Item, name: &str) -> Option<&'t Item> {
    let Some((group, name)) = name.split_once('.') else { return member(set, name) };
    let table = member(set, group).or_else(|| member(member(set, "knobs")?, group))?;
    member(table, name)
}

fn member<'t>(set: &'t Item, key: &str) -> Option<&'t Item> {
    match &set.value {
        Value::Table(table) => table.get(key),
        _ => None,
    }
}

impl<S: OptionSet> Decode for OptionSets<S> {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        let key = S::KEY;
        let Value::Table(table) = &item.value else {
            let message = format!("expected option sets, each a table such as [{key}.fast]");
            faults.note(item.span.clone(), message);
            return None;
        };
        let mut sets = BTreeMap::new();
        for Entry { key: name, item: set, .. } in table.entries() {
            if !matches!(set.value, Value::Table(_)) {
                let found = describe(set);
                let message = format!(
                    "expected `{name}` to be the table of an option set, [{key}.{name}]; found {found}"
                );
                faults.note(set.span.clone(), message);
                return None;
            }
            sets.insert(name.clone(), set.clone());
        }
        Some(OptionSets::new(sets))
    }

    fn schema(definitions: &mut Definitions) -> Json {
        let mut properties = settings::properties(&mut default::<S>(), definitions);
        let words: Vec<_> = S::PROFILES.iter().map(|(name, _)| *name).collect();
        let profile = property(json!({ "enum": words }), S::PROFILES_DOC, Some(json!(words[0])));
        properties.insert(PROFILE.to_owned(), profile);
        let doc = "Name of the option set from which this one takes the options that it does not set.";
        properties.insert(INHERIT.to_owned(), property(json!({ "type": "string" }), doc, None));
        json!({ "type": "object", "additionalProperties": settings::object(properties) })
    }

    fn absent() -> Option<Self> {
        Some(OptionSets::new(BTreeMap::new()))
    }
}
