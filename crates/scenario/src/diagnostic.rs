//! What is wrong with a scenario file, and where.

use std::fmt;
use std::ops::Range;

/// A scenario file that cannot be used: everything that was found wrong, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file as it was named.
    pub file: String,
    /// At least one.
    pub diagnostics: Vec<Diagnostic>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// Characters concerned, on this line; at least 1.
    pub width: usize,
    /// The line itself.
    pub source: String,
    /// What is wrong; what was expected; the nearest right word.
    pub message: String,
}

impl ScenarioError {
    /// The messages with the lines they speak of, for a terminal.
    pub fn render(&self) -> String {
        let mut text = String::new();
        for d in &self.diagnostics {
            let number = d.line.to_string();
            let gutter = " ".repeat(number.len());
            let lead: String =
                d.source.chars().take(d.column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
            text += &format!("{}:{}:{}: {}\n", self.file, d.line, d.column, d.message);
            text += &format!(" {number} | {}\n {gutter} | {lead}{}\n", d.source, "^".repeat(d.width));
        }
        text
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.diagnostics.iter().enumerate() {
            let end = if i + 1 < self.diagnostics.len() { "\n" } else { "" };
            write!(f, "{}:{}:{}: {}{end}", self.file, d.line, d.column, d.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for ScenarioError {}

/// What has been found wrong so far, by byte range of the file.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<(Range<usize>, String)>);

impl Faults {
    /// Adds a fault; none is kept twice, as several variants of a file share most of it.
    pub fn note(&mut self, span: Range<usize>, message: String) {
        let fault = (span, message);
        if !self.0.contains(&fault) {
            self.0.push(fault);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The error to report, once there is a fault.
    pub fn into_error(mut self, file: &str, text: &str) -> ScenarioError {
        self.0.sort_by_key(|(span, _)| (span.start, span.end));
        let diagnostics = self.0.into_iter().map(|(span, message)| locate(text, span, message)).collect();
        ScenarioError { file: file.to_owned(), diagnostics }
    }
}

fn locate(text: &str, span: Range<usize>, message: String) -> Diagnostic {
    let at = boundary(text, span.start);
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    let line_end = text[at..].find('\n').map_or(text.len(), |i| at + i);
    let end = boundary(text, span.end.clamp(at, line_end));
    Diagnostic {
        line: before.matches('\n').count() + 1,
        column: text[line_start..at].chars().count() + 1,
        width: text[at..end].chars().count().max(1),
        source: text[line_start..line_end].trim_end().to_owned(),
        message,
    }
}

/// The last character boundary not after `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}

/// The word among `words` that `given` most likely stands for.
pub(super) fn nearest<'w>(given: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let plain = |word: &str| word.to_lowercase().replace(['-', ' '], "_");
    let wanted = plain(given);
    let close = |word: &&'w str| {
        let word = plain(word);
        let distance = strsim::osa_distance(&wanted, &word);
        let prefix = word.starts_with(&wanted) || wanted.starts_with(&word);
        (prefix || distance <= 1 + wanted.chars().count() / 4).then_some(distance)
    };
    if given.is_empty() {
        return None;
    }
    words
        .into_iter()
        .filter_map(|word| Some((close(&word)?, word)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, w)| w)
}

/// `expected one of ...`, and the nearest of the words if one is near.
pub(super) fn expected_one_of<'w>(given: &str, words: impl IntoIterator<Item = &'w str> + Clone) -> String {
    let list: Vec<String> = words.clone().into_iter().map(|word| format!("`{word}`")).collect();
    let list = match &list[..] {
        [] => "expected none".to_owned(),
        [only] => format!("expected {only}"),
        _ => format!("expected one of {}", list.join(", ")),
    };
    match nearest(given, words) {
        Some(word) => format!("{list}; did you mean `{word}`?"),
        None => list,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found_and_a_far_one_is_not() {
        let words = ["rate", "delay", "drop-tail", "s", "Mbit/s", "smallest-last-transmission"];
        for (given, right) in [
            ("rat", Some("rate")),
            ("dealy", Some("delay")),
            ("drop_tail", Some("drop-tail")),
            ("drop", Some("drop-tail")),
            ("sec", Some("s")),
            ("mbit/s", Some("Mbit/s")),
            ("smallestLastTransmission", Some("smallest-last-transmission")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(given, words), right, "{given}");
        }
    }

    #[test]
    fn columns_count_characters_not_bytes() {
        let text = "a = 1\nä = ö\n";
        let d = locate(text, 11..13, "bad".into());
        assert_eq!((d.line, d.column, d.width, d.source.as_str()), (2, 5, 1, "ä = ö"));
    }

    #[test]
    fn a_rendered_error_points_at_the_words() {
        let mut faults = Faults::default();
        faults.note(12..16, "wrong".into());
        faults.note(12..16, "wrong".into());
        let error = faults.into_error("x.toml", "a = 1\nrate = \"10\"");
        assert_eq!(error.to_string(), "x.toml:2:7: wrong");
        assert_eq!(error.render(), "x.toml:2:7: wrong\n 2 | rate = \"10\"\n   |       ^^^^\n");
    }
}
