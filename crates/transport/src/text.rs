//! Text of files, arguments and peers: its encoding, and how a terminal shows it.

use std::borrow::Cow;
use std::fmt;

/// Escapes control characters as `\u001b`, as JSON and TOML do, so that a text cannot command a terminal.
///
/// Line feeds and tabs stay. Characters that change the writing direction are escaped, too: they can display
/// a text in another order.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 5);
    for c in text.chars() {
        if is_escaped(c) {
            shown += &format!("\\u{:04x}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

fn is_escaped(c: char) -> bool {
    const DIRECTIONS: [std::ops::RangeInclusive<char>; 4] =
        ['\u{61c}'..='\u{61c}', '\u{200e}'..='\u{200f}', '\u{202a}'..='\u{202e}', '\u{2066}'..='\u{2069}'];
    (c.is_control() && c != '\n' && c != '\t') || DIRECTIONS.iter().any(|range| range.contains(&c))
}

/// Error: the position in a file where its text is not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotUtf8 {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The encoding that the file seems to have; `None` if it is probably no text.
    pub seems: Option<&'static str>,
}

impl fmt::Display for NotUtf8 {
    /// Writes the position first, so that the caller can write a file name and a colon before it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: not UTF-8 ", self.line, self.column)?;
        match self.seems {
            Some(encoding) => write!(f, "(looks like {encoding}); save the file as UTF-8"),
            None => f.write_str("(looks like binary data); expected a text file"),
        }
    }
}

impl std::error::Error for NotUtf8 {}

/// The text of a file, which must be UTF-8 and have no zero bytes.
///
/// # Errors
/// [`NotUtf8`] with the first wrong position.
pub fn utf8(bytes: Vec<u8>) -> Result<String, NotUtf8> {
    let text = String::from_utf8(bytes);
    let (bytes, valid) = match text {
        // UTF-16 of ASCII characters has a zero in each pair of bytes, and without a byte order mark it is
        // valid UTF-8.
        Ok(text) => match text.find('\0') {
            None => return Ok(text),
            Some(at) => (text.into_bytes(), at),
        },
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            (error.into_bytes(), valid)
        }
    };
    let seems = encoding(&bytes);
    if seems == Some(UTF_16) {
        return Err(NotUtf8 { line: 1, column: 1, seems });
    }
    let before = String::from_utf8_lossy(&bytes[..valid]);
    let last = before.rsplit('\n').next().unwrap_or_default();
    Err(NotUtf8 { line: before.matches('\n').count() + 1, column: last.chars().count() + 1, seems })
}

const UTF_16: &str = "UTF-16";

/// Guesses the encoding of bytes that are not UTF-8.
fn encoding(bytes: &[u8]) -> Option<&'static str> {
    let is_zero = |at: usize| bytes.get(at) == Some(&0);
    let is_marked = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    if is_marked || (is_zero(0) && is_zero(2) && !is_zero(1)) || (is_zero(1) && is_zero(3) && !is_zero(0)) {
        return Some(UTF_16);
    }
    let is_text = |byte: &u8| *byte >= b' ' || matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c);
    bytes.iter().all(is_text).then_some("Latin-1 or Windows-1252")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_other_text_is_not_copied() {
        assert_eq!(
            printable("a\u{1b}]0;x\u{7}\u{9b}1m\r\n\tä\u{202e}"),
            "a\\u001b]0;x\\u0007\\u009b1m\\u000d\n\tä\\u202e"
        );
        assert!(matches!(printable("größer als 5 µs\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn files_that_are_not_utf_8_are_named_with_place_and_encoding() {
        let utf_16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        let marked = [&[0xff, 0xfe][..], &utf_16("title = \"ä\"")].concat();
        let big: Vec<u8> = "seed = 1".encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (bytes, told) in [
            (marked, "1:1: not UTF-8 (looks like UTF-16); save the file as UTF-8"),
            (utf_16("seed = 1"), "1:1: not UTF-8 (looks like UTF-16); save the file as UTF-8"),
            (big, "1:1: not UTF-8 (looks like UTF-16); save the file as UTF-8"),
            (
                b"# \xc3\xa4\ntitle = \"\xe9t\xe9\"\n".to_vec(),
                "2:10: not UTF-8 (looks like Latin-1 or Windows-1252); save the file as UTF-8",
            ),
            (
                b"\x7fELF\x02\x01\x01\xff".to_vec(),
                "1:8: not UTF-8 (looks like binary data); expected a text file",
            ),
            (b"seed = 1\n\0".to_vec(), "2:1: not UTF-8 (looks like binary data); expected a text file"),
        ] {
            assert_eq!(utf8(bytes).expect_err(told).to_string(), told);
        }
        assert_eq!(utf8("größer".into()).as_deref(), Ok("größer"));
        assert_eq!(utf8(Vec::new()).as_deref(), Ok(""));
    }
}
