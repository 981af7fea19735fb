//! Quantities written as a decimal number and a unit, read without rounding.

use super::Hertz;
use super::diagnostic::expected_one_of;
use units::{BitRate, ByteCount, Span};

/// A quantity that a file writes with its unit.
pub(super) trait Quantity: Sized {
    /// Name of the kind of quantity, with an article.
    const KIND: &'static str;
    /// Name of the quantity's definition in the JSON Schema.
    const NAME: &'static str;
    /// Example of the notation.
    const EXAMPLE: &'static str;
    /// Every unit, as a multiple of the smallest unit.
    const UNITS: &'static [(&'static str, u64)];
    /// The largest value that a scenario may contain, as it is written. The sum of a few such values fits 64
    /// bits.
    const MOST: &'static str;
    /// [`MOST`](Self::MOST) in the smallest unit.
    const MOST_SMALLEST: u64;
    /// The quantity of `n` smallest units.
    fn from_smallest(n: u64) -> Self;

    /// Parses `text`. The error says what is wrong and what was expected.
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = (&text[..split], text[split..].trim_start());
        let expected = || format!("expected {} such as \"{}\"", Self::KIND, Self::EXAMPLE);
        if let Some(message) = comma(text, |repaired| Self::parse(repaired).ok()) {
            return Err(message);
        }
        if text
            .strip_prefix(['-', '\u{2212}'])
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        {
            return Err(format!("\"{text}\" is negative; {} of at least zero", expected()));
        }
        let decimal =
            Decimal::parse(number).ok_or_else(|| format!("\"{text}\" is not a quantity; {}", expected()))?;
        if unit.is_empty() {
            return Err(format!("\"{text}\" has no unit; {}", expected()));
        }
        let Some((_, factor)) = Self::UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(format!("unknown unit `{unit}` in \"{text}\"; {}", Self::expected_units(unit)));
        };
        match decimal.times(*factor) {
            Ok(n) if n <= Self::MOST_SMALLEST => Ok(Self::from_smallest(n)),
            Ok(_) | Err(Inexact::TooLarge) => {
                Err(format!("\"{text}\" is too large; expected at most {}", Self::MOST))
            }
            Err(Inexact::Fraction) => {
                let smallest = Self::UNITS[0].0;
                Err(format!(
                    "\"{text}\" is finer than the resolution; expected a whole number of `{smallest}`"
                ))
            }
        }
    }

    /// The text of an error about `unit`: the valid units, and the unit that was probably meant.
    fn expected_units(unit: &str) -> String {
        let units = || Self::UNITS.iter().map(|(name, _)| *name);
        // The nearest word to `MB/s` would be `Mbit/s`, which is an eighth of that rate.
        match unit.strip_suffix("B/s").map(|prefix| format!("{prefix}bit/s")) {
            Some(bits) if units().any(|name| name == bits) => format!("1 {unit} is 8 {bits}"),
            _ => expected_one_of(unit, units()),
        }
    }
}

/// The message about a comma in a number. Returned only if the number would be valid with a decimal point in
/// place of the comma, or without a comma between thousands.
pub(super) fn comma<T>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Option<String> {
    let text = text.trim();
    let right = |other: &str| text.contains(',') && parse(&text.replace(',', other)).is_some();
    let quoted = |other: &str| format!("\"{}\"", text.replace(',', other));
    match (right("."), right("")) {
        // 1,500 is one and a half in some countries, and fifteen hundred in others.
        (true, true) if text.split(',').nth(1)?.bytes().take_while(u8::is_ascii_digit).count() == 3 => {
            Some(format!("\"{text}\" has a comma; expected {}, or {}", quoted("."), quoted("")))
        }
        (true, _) => Some(format!("\"{text}\" has a comma; expected a decimal point: {}", quoted("."))),
        (false, true) => Some(format!("\"{text}\" has commas; expected a number without: {}", quoted(""))),
        (false, false) => None,
    }
}

/// The number of a quantity of any kind in its base unit, and the suffix of column names for this kind.
pub(super) fn in_base_unit(text: &str) -> Option<(f64, &'static str)> {
    let rate = || BitRate::parse(text).map(|rate| (rate.as_bps() as f64, "bps"));
    let time = || Span::parse(text).map(|time| (time.as_secs_f64(), "s"));
    let size = || ByteCount::parse(text).map(|size| (size.as_f64(), "bytes"));
    let frequency = || Hertz::parse(text).map(|frequency| (frequency.as_f64(), "hz"));
    rate().or_else(|_| time()).or_else(|_| size()).or_else(|_| frequency()).ok()
}

impl Quantity for Span {
    const KIND: &'static str = "a time";
    const NAME: &'static str = "time";
    const EXAMPLE: &'static str = "10 ms";
    /// A hundred years.
    const MOST: &'static str = "876000 h";
    const MOST_SMALLEST: u64 = 876_000 * 3_600_000_000_000;
    const UNITS: &'static [(&'static str, u64)] = &[
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    fn from_smallest(n: u64) -> Self {
        Span::from_nanos(n)
    }
}

impl Quantity for BitRate {
    const KIND: &'static str = "a rate";
    const NAME: &'static str = "rate";
    const EXAMPLE: &'static str = "10 Mbit/s";
    const MOST: &'static str = "1000000 Gbit/s";
    const MOST_SMALLEST: u64 = 1_000_000_000_000_000;
    const UNITS: &'static [(&'static str, u64)] = &[
        ("bit/s", 1),
        ("kbit/s", 1_000),
        ("Mbit/s", 1_000_000),
        ("Gbit/s", 1_000_000_000),
        ("bps", 1),
        ("kbps", 1_000),
        ("Mbps", 1_000_000),
        ("Gbps", 1_000_000_000),
    ];
    fn from_smallest(n: u64) -> Self {
        BitRate::from_bps(n)
    }
}

impl Quantity for ByteCount {
    const KIND: &'static str = "a size";
    const NAME: &'static str = "size";
    const EXAMPLE: &'static str = "1500 B";
    const MOST: &'static str = "1000000 GB";
    const MOST_SMALLEST: u64 = 1_000_000_000_000_000;
    const UNITS: &'static [(&'static str, u64)] = &[
        ("B", 1),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ];
    fn from_smallest(n: u64) -> Self {
        ByteCount::new(n)
    }
}

impl Quantity for Hertz {
    const KIND: &'static str = "a frequency";
    const NAME: &'static str = "frequency";
    const EXAMPLE: &'static str = "10 Hz";
    /// One per nanosecond.
    const MOST: &'static str = "1000 MHz";
    const MOST_SMALLEST: u64 = 1_000_000_000_000_000_000;
    const UNITS: &'static [(&'static str, u64)] = &[
        ("mHz", 1_000_000),
        ("Hz", 1_000_000_000),
        ("kHz", 1_000_000_000_000),
        ("MHz", 1_000_000_000_000_000),
    ];
    fn from_smallest(n: u64) -> Self {
        Hertz(n as f64 / 1e9)
    }
}

/// A non-negative decimal number: `digits` / 10^`places`.
struct Decimal {
    digits: u128,
    places: u32,
}

enum Inexact {
    Fraction,
    TooLarge,
}

impl Decimal {
    fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        if whole.is_empty()
            || (fraction.is_empty() && text.contains('.'))
            || whole.len() + fraction.len() > 30
        {
            return None;
        }
        let digits = format!("{whole}{fraction}").parse().ok()?;
        Some(Decimal { digits, places: fraction.len() as u32 })
    }

    /// The number times `factor`, if the product is an integer that fits 64 bits.
    fn times(&self, factor: u64) -> Result<u64, Inexact> {
        let divisor = 10u128.pow(self.places);
        let product = self.digits.checked_mul(u128::from(factor)).ok_or(Inexact::TooLarge)?;
        if product % divisor != 0 {
            return Err(Inexact::Fraction);
        }
        u64::try_from(product / divisor).map_err(|_| Inexact::TooLarge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_without_rounding() {
        assert_eq!(Span::parse("10 ms"), Ok(Span::from_millis(10)));
        assert_eq!(Span::parse(" 0.000000001s"), Ok(Span::from_nanos(1)));
        assert_eq!(Span::parse("1.5min"), Ok(Span::from_secs(90)));
        assert_eq!(ByteCount::parse("50 MB"), Ok(ByteCount::new(50_000_000)));
        assert_eq!(ByteCount::parse("1.5 KiB"), Ok(ByteCount::new(1536)));
        assert_eq!(BitRate::parse("0.1 Gbit/s"), Ok(BitRate::from_mbps(100)));
        assert_eq!(Hertz::parse("33.3 Hz").map(Hertz::as_f64), Ok(33.3));
    }

    #[test]
    fn the_limit_in_the_message_is_the_largest_accepted_quantity() {
        fn check<Q: Quantity + PartialEq + std::fmt::Debug>() {
            assert_eq!(Q::parse(Q::MOST), Ok(Q::from_smallest(Q::MOST_SMALLEST)));
            let (number, unit) = Q::MOST.split_once(' ').unwrap();
            let more = format!("{number}.001 {unit}");
            let message = format!("\"{more}\" is too large; expected at most {}", Q::MOST);
            assert_eq!(Q::parse(&more), Err(message));
        }
        check::<Span>();
        check::<BitRate>();
        check::<ByteCount>();
        check::<Hertz>();
    }

    #[test]
    fn errors_say_why_a_text_is_not_a_quantity() {
        for (got, message) in [
            (Span::parse("10").err(), r#""10" has no unit; expected a time such as "10 ms""#),
            (Span::parse("fast").err(), r#""fast" is not a quantity; expected a time such as "10 ms""#),
            (
                Span::parse("-1 s").err(),
                r#""-1 s" is negative; expected a time such as "10 ms" of at least zero"#,
            ),
            (
                BitRate::parse("10,5 Mbit/s").err(),
                r#""10,5 Mbit/s" has a comma; expected a decimal point: "10.5 Mbit/s""#,
            ),
            (
                BitRate::parse("1,500 kbit/s").err(),
                r#""1,500 kbit/s" has a comma; expected "1.500 kbit/s", or "1500 kbit/s""#,
            ),
            (
                BitRate::parse("1,000,000 bit/s").err(),
                r#""1,000,000 bit/s" has commas; expected a number without: "1000000 bit/s""#,
            ),
            (Span::parse("a,b").err(), r#""a,b" is not a quantity; expected a time such as "10 ms""#),
            (Span::parse("1. s").err(), r#""1. s" is not a quantity; expected a time such as "10 ms""#),
            (
                Span::parse("1 sec").err(),
                "unknown unit `sec` in \"1 sec\"; expected one of `ns`, `us`, `µs`, `ms`, `s`, `min`, `h`; did you mean `s`?",
            ),
            (BitRate::parse("10 MB/s").err(), "unknown unit `MB/s` in \"10 MB/s\"; 1 MB/s is 8 Mbit/s"),
            (
                ByteCount::parse("0.5 B").err(),
                r#""0.5 B" is finer than the resolution; expected a whole number of `B`"#,
            ),
            (
                Span::parse("9999999999999 h").err(),
                r#""9999999999999 h" is too large; expected at most 876000 h"#,
            ),
        ] {
            assert_eq!(got.as_deref(), Some(message));
        }
    }
}
