//! Diagnostics: the faults of a scenario file and their positions.

use std::fmt;
use std::ops::Range;
use transport::printable;

/// The error of a scenario file that cannot be used: all faults found, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The name of the file, as the caller gave it.
    pub file: String,
    /// The faults; at least one.
    pub diagnostics: Vec<Diagnostic>,
}

/// One fault of a scenario file, or one warning about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Line in the file, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Number of wrong characters on this line; at least 1.
    pub width: usize,
    /// Text of the line.
    pub source: String,
    /// The error, the expected value, and the most similar valid word if there is one.
    pub message: String,
}

impl ScenarioError {
    /// All messages, each followed by its line of the file with the wrong characters underlined, for a
    /// terminal.
    pub fn render(&self) -> String {
        render(&self.file, &self.diagnostics)
    }
}

/// The messages about `file`, for a terminal. Each message is followed by its line of the file with the wrong
/// characters underlined.
pub fn render(file: &str, diagnostics: &[Diagnostic]) -> String {
    let mut text = String::new();
    for d in diagnostics {
        let number = d.line.to_string();
        let gutter = " ".repeat(number.len());
        // Characters that are shown escaped are wider.
        let before: String = d.source.chars().take(d.column - 1).collect();
        let wrong: String = d.source.chars().skip(d.column - 1).take(d.width).collect();
        let lead: String = printable(&before).chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let marks = "^".repeat(printable(&wrong).chars().count().max(1));
        text += &format!("{}\n", line(file, d));
        text += &format!(" {number} | {}\n {gutter} | {lead}{marks}\n", printable(&d.source));
    }
    text
}

/// One message on one line.
fn line(file: &str, d: &Diagnostic) -> String {
    let message = d.message.replace('\n', "\\n");
    printable(&format!("{file}:{}:{}: {message}", d.line, d.column)).into_owned()
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.diagnostics.iter().enumerate() {
            let end = if i + 1 < self.diagnostics.len() { "\n" } else { "" };
            write!(f, "{}{end}", line(&self.file, d))?;
        }
        Ok(())
    }
}

impl std::error::Error for ScenarioError {}

/// The faults and warnings found so far, with their byte ranges in the file.
#[derive(Debug, Default)]
pub(super) struct Faults {
    faults: Vec<(Range<usize>, String)>,
    warnings: Vec<(Range<usize>, String)>,
}

impl Faults {
    /// Adds a fault unless it is noted already: the variants of a file share most of its text, so that they
    /// have the same faults.
    pub fn note(&mut self, span: Range<usize>, message: String) {
        add(&mut self.faults, span, message);
    }

    /// Adds a warning unless it is noted already. A file with warnings can be used.
    pub fn warn(&mut self, span: Range<usize>, message: String) {
        add(&mut self.warnings, span, message);
    }

    pub fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }

    pub fn len(&self) -> usize {
        self.faults.len()
    }

    /// The error that reports these faults, sorted by position.
    pub fn into_error(self, file: &str, text: &str) -> ScenarioError {
        ScenarioError { file: file.to_owned(), diagnostics: located(self.faults, text) }
    }

    /// The warnings, sorted by position.
    pub fn into_warnings(self, text: &str) -> Vec<Diagnostic> {
        located(self.warnings, text)
    }
}

fn add(to: &mut Vec<(Range<usize>, String)>, span: Range<usize>, message: String) {
    let one = (span, message);
    if !to.contains(&one) {
        to.push(one);
    }
}

fn located(mut noted: Vec<(Range<usize>, String)>, text: &str) -> Vec<Diagnostic> {
    noted.sort_by_key(|(span, _)| (span.start, span.end));
    noted.into_iter().map(|(span, message)| locate(text, span, message)).collect()
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

/// The last character boundary at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}

/// The word among `words` that is most similar to `given`; `None` if none is similar.
pub fn nearest<'w>(given: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
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

/// The text `expected one of ...`, with the most similar word if there is one.
pub fn expected_one_of<'w>(given: &str, words: impl IntoIterator<Item = &'w str> + Clone) -> String {
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
    fn a_similar_word_is_suggested_and_a_different_one_is_not() {
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
    fn control_characters_of_the_file_are_escaped_and_underlined_as_they_are_shown() {
        let mut faults = Faults::default();
        faults.note(2..5, "unknown key `a\n\u{1b}[31m`".into());
        let error = faults.into_error("x\u{7}.toml", "\u{7} \u{1b}[3 = 1");
        assert_eq!(error.to_string(), "x\\u0007.toml:1:3: unknown key `a\\n\\u001b[31m`");
        let excerpt = error.render().lines().skip(1).collect::<Vec<_>>().join("\n");
        assert_eq!(excerpt, " 1 | \\u0007 \\u001b[3 = 1\n   |        ^^^^^^^^");
    }

    #[test]
    fn a_rendered_error_underlines_the_wrong_characters() {
        let mut faults = Faults::default();
        faults.note(12..16, "wrong".into());
        faults.note(12..16, "wrong".into());
        let error = faults.into_error("x.toml", "a = 1\nrate = \"10\"");
        assert_eq!(error.to_string(), "x.toml:2:7: wrong");
        assert_eq!(error.render(), "x.toml:2:7: wrong\n 2 | rate = \"10\"\n   |       ^^^^\n");
    }
}
