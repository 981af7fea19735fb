//! Writes JSON.

use units::Instant;

/// An object that is being written.
pub(crate) struct Object<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
}

/// Appends an object.
#[inline]
pub(crate) fn object(out: &mut Vec<u8>, members: impl FnOnce(&mut Object<'_>)) {
    out.push(b'{');
    members(&mut Object { out, empty: true });
    out.push(b'}');
}

impl Object<'_> {
    /// Appends a key that needs no escapes, and returns the place for its value.
    #[inline]
    fn key(&mut self, key: &str) -> &mut Vec<u8> {
        self.out.extend_from_slice(if self.empty { b"\"" } else { b",\"" });
        self.empty = false;
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    #[inline]
    pub(crate) fn number(&mut self, key: &str, value: impl Into<u64>) {
        number(self.key(key), value.into());
    }

    pub(crate) fn text(&mut self, key: &str, value: &str) {
        text(self.key(key), value);
    }

    /// A number of nanoseconds, in milliseconds with at most three decimals.
    #[inline]
    pub(crate) fn millis(&mut self, key: &str, nanos: u64) {
        millis(self.key(key), nanos);
    }

    #[inline]
    pub(crate) fn object(&mut self, key: &str, members: impl FnOnce(&mut Object<'_>)) {
        object(self.key(key), members);
    }

    #[inline]
    pub(crate) fn array<T>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = T>,
        write: impl FnMut(&mut Vec<u8>, T),
    ) {
        array(self.key(key), items, write);
    }
}

/// Appends an array.
#[inline]
pub(crate) fn array<T>(
    out: &mut Vec<u8>,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u8>, T),
) {
    out.push(b'[');
    for (n, item) in items.into_iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(b']');
}

/// Appends a whole number.
#[inline]
pub(crate) fn number(out: &mut Vec<u8>, mut value: u64) {
    let (mut digits, mut begin) = ([0; 20], 20);
    loop {
        begin -= 1;
        digits[begin] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            return out.extend_from_slice(&digits[begin..]);
        }
    }
}

/// Appends a whole number that may be negative.
pub(crate) fn signed(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    number(out, value.unsigned_abs());
}

/// Appends a string.
pub(crate) fn text(out: &mut Vec<u8>, value: &str) {
    out.push(b'"');
    for byte in value.bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

fn millis(out: &mut Vec<u8>, nanos: u64) {
    let micros = (nanos + 500) / 1000;
    number(out, micros / 1000);
    let part = micros % 1000;
    if part > 0 {
        let digits = [part / 100, part / 10 % 10, part % 10].map(|digit| b'0' + digit as u8);
        let significant = digits.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
        out.push(b'.');
        out.extend_from_slice(&digits[..significant]);
    }
}

/// A time as nanoseconds since the reference time.
pub(crate) fn nanos(at: Instant) -> u64 {
    at.since(Instant::ZERO).as_nanos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_milliseconds_rounded_to_microseconds_without_trailing_zeros() {
        let shown = |nanos| {
            let mut out = Vec::new();
            millis(&mut out, nanos);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(shown(0), "0");
        assert_eq!(shown(20_500_000), "20.5");
        assert_eq!(shown(1_002_499), "1.002");
        assert_eq!(shown(999_999_500), "1000");
        assert_eq!(shown(3_600_000_030_000), "3600000.03");
    }

    #[test]
    fn strings_with_quotes_backslashes_and_control_characters_are_valid_json() {
        let strange = "a\"b\\c\n\u{1}é";
        let mut out = Vec::new();
        text(&mut out, strange);
        assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), strange);
    }
}
