use super::decode::Decode;
use super::diagnostic::{Diagnostic, Faults, expected_one_of};
use super::file::FileTable;
use super::resolve::{self, Files};
use super::tree::Item;
use super::vary::{Axis, AxisValue, axes, choose, sites};
use super::{NewTrial, Scenario, ScenarioError};
use sha2::{Digest, Sha256};
use toml::de::DeTable;

/// The scenarios of a file: one, or with variations one for each combination of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    title: String,
    recipe: Recipe,
    axes: Vec<Axis>,
    variants: Vec<Variant>,
    warnings: Vec<Diagnostic>,
}

/// Data from which another process creates the [`Sweep`] as it was before [`Sweep::restrict`].
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The text of the file.
    pub text: String,
    /// The path of the file. Relative paths of traces in the text start at the folder of the file.
    pub file: String,
    /// The argument of [`Sweep::set_seed`].
    pub seed: Option<u64>,
    /// False after [`Sweep::drop_captures`].
    pub captures: bool,
}

/// One combination of the variations of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Number of the combination among all those of the file, from 0.
    pub number: usize,
    /// Name and value of each axis, in the order of [`Sweep::axes`].
    pub parameters: Vec<(String, AxisValue)>,
    /// The scenario of this combination.
    pub scenario: Scenario,
}

/// Largest number of combinations in a file.
const MOST_VARIANTS: usize = 100_000;

/// Largest number of nodes, links, flows, transfers and probes in all combinations of a file together. All
/// of them are kept in memory.
const MOST_PARTS: usize = 100_000;

impl Sweep {
    /// Parses a scenario file. `file` is its path: messages name it, and the paths of traces in the file are
    /// relative to its folder. `new_trial` checks that the flows work on their network.
    ///
    /// # Errors
    /// All faults, with their positions.
    pub fn parse(text: &str, file: &str, new_trial: NewTrial) -> Result<Sweep, ScenarioError> {
        let mut faults = Faults::default();
        let (document, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            let span = error.span().unwrap_or(0..0);
            let message = bare_comma(text, span.start).unwrap_or_else(|| error.message().to_owned());
            faults.note(span, message);
        }
        if faults.is_empty() {
            let read = expand(&Item::from(&document), text, &mut Files::of(file), new_trial, &mut faults);
            if let (Some((axes, variants)), true) = (read, faults.is_empty()) {
                let title = variants.first().map(|v| v.scenario.title.clone()).unwrap_or_default();
                let recipe =
                    Recipe { text: text.to_owned(), file: file.to_owned(), seed: None, captures: true };
                let warnings = faults.into_warnings(text);
                return Ok(Sweep { title, recipe, axes, variants, warnings });
            }
        }
        Err(faults.into_error(file, text))
    }

    /// The title of the file.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The text of the file.
    pub fn text(&self) -> &str {
        &self.recipe.text
    }

    /// Warnings about the file, with their positions. A file with warnings can be used.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Returns the data from which another process creates this sweep as it was before [`Sweep::restrict`].
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The axes of the variations; empty if the file has none.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// All combinations; the last axis varies fastest.
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }

    /// SHA-256 of the file, in hexadecimal.
    pub fn hash(&self) -> String {
        hexadecimal(&Sha256::digest(&self.recipe.text))
    }

    /// Keeps only the combinations in which `axis` has the value written as `value` in the file.
    ///
    /// # Errors
    /// An unknown axis or value; the message lists the valid ones.
    pub fn restrict(&mut self, axis: &str, value: &str) -> Result<(), String> {
        let names = self.axes.iter().map(|axis| axis.name.as_str());
        let Some(found) = self.axes.iter().position(|a| a.name == axis) else {
            return Err(format!("no axis \"{axis}\"; {}", expected_one_of(axis, names)));
        };
        let words: Vec<String> = self.axes[found].values.iter().map(ToString::to_string).collect();
        if !words.iter().any(|word| word == value) {
            let expected = expected_one_of(value, words.iter().map(String::as_str));
            return Err(format!("axis \"{axis}\" has no value \"{value}\"; {expected}"));
        }
        self.variants.retain(|variant| variant.parameters[found].1.to_string() == value);
        self.axes[found].values.retain(|v| v.to_string() == value);
        Ok(())
    }

    /// Removes the captures of every scenario. Returns true if there were any.
    pub fn drop_captures(&mut self) -> bool {
        let had = self.variants.iter().any(|variant| !variant.scenario.captures.is_empty());
        self.variants.iter_mut().for_each(|variant| variant.scenario.captures.clear());
        self.recipe.captures = false;
        had
    }

    /// Replaces the root seed of every scenario.
    pub fn set_seed(&mut self, seed: u64) {
        self.variants.iter_mut().for_each(|variant| variant.scenario.seed = seed);
        self.recipe.seed = Some(seed);
    }
}

/// The message about a comma between the digits of a number that is not in quotes, if there is such a comma
/// at `at`.
fn bare_comma(text: &str, at: usize) -> Option<String> {
    let (before, after) = (text.get(..at)?, text.get(at..)?.strip_prefix(',')?);
    let whole = &before[before.trim_end_matches(|c: char| c.is_ascii_digit()).len()..];
    let fraction = &after[..after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len()];
    let is_number = !whole.is_empty() && !fraction.is_empty();
    is_number.then(|| format!("a comma cannot be in a number; expected a decimal point: {whole}.{fraction}"))
}

fn expand(
    root: &Item,
    text: &str,
    files: &mut Files,
    new_trial: NewTrial,
    faults: &mut Faults,
) -> Option<(Vec<Axis>, Vec<Variant>)> {
    let sites = sites(root, faults);
    let axes = axes(&sites, text, faults);
    if !faults.is_empty() {
        return None;
    }
    let count = axes.iter().try_fold(1usize, |n, axis| n.checked_mul(axis.values.len()));
    let Some(count) = count.filter(|count| *count <= MOST_VARIANTS) else {
        faults.note(0..0, format!("more than {MOST_VARIANTS} combinations of variations; expected fewer"));
        return None;
    };
    let (mut variants, mut failed, mut parts) = (Vec::new(), 0, 0);
    for number in 0..count {
        let choice = digits(number, &axes);
        let chosen = choose(root, &sites, &axes, &choice);
        let scenario = FileTable::decode(&chosen, faults)
            .and_then(|file| resolve::scenario(&file, files, new_trial, faults));
        failed += usize::from(!faults.is_empty());
        if failed >= MOST_FAILED {
            return None;
        }
        parts += scenario.as_ref().map_or(0, Scenario::parts);
        if parts > MOST_PARTS {
            let message = format!(
                "the combinations of variations have more than {MOST_PARTS} nodes, links, flows and probes; expected \
                 fewer in one file"
            );
            faults.note(0..0, message);
            return None;
        }
        let value = |(axis, i): (&Axis, &usize)| (axis.name.clone(), axis.values[*i].clone());
        variants.extend(scenario.map(|scenario| Variant {
            number,
            parameters: axes.iter().zip(&choice).map(value).collect(),
            scenario,
        }));
    }
    Some((axes, variants))
}

/// Number of wrong combinations after which parsing stops. Most faults are in the part that all combinations
/// share.
const MOST_FAILED: usize = 20;

/// The index of the value of each axis in combination `number`.
fn digits(mut number: usize, axes: &[Axis]) -> Vec<usize> {
    let mut choice: Vec<usize> = axes
        .iter()
        .rev()
        .map(|axis| {
            let digit = number % axis.values.len();
            number /= axis.values.len();
            digit
        })
        .collect();
    choice.reverse();
    choice
}

/// Bytes as hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
