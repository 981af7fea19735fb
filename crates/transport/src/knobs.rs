//! What algorithms leave open, each with its default, and a way to go through all of it by name.

use std::fmt;

use units::Span;

use crate::UnknownName;

/// One option of one algorithm, open to change.
#[derive(Debug)]
pub struct Knob<'a> {
    /// Its name with that of its group, such as `ledbat.target`.
    pub path: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// What values it can have.
    pub expected: &'static str,
    /// The value.
    pub value: KnobValue<'a>,
}

impl Knob<'_> {
    /// The name of its group.
    pub fn group(&self) -> &'static str {
        self.path.split_once('.').map_or("", |(group, _)| group)
    }

    /// Its name within its group.
    pub fn name(&self) -> &'static str {
        self.path.split_once('.').map_or(self.path, |(_, name)| name)
    }
}

/// The value of a [`Knob`].
#[derive(Debug)]
pub enum KnobValue<'a> {
    /// On or off.
    Switch(&'a mut bool),
    /// A whole number.
    Count(&'a mut u32),
    /// Any number.
    Number(&'a mut f64),
    /// A time.
    Time(&'a mut Span),
    /// A time, or none.
    MaybeTime(&'a mut Option<Span>),
    /// One of some words.
    Word(&'a mut dyn Word),
}

impl fmt::Display for KnobValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KnobValue::Switch(on) => on.fmt(f),
            KnobValue::Count(count) => count.fmt(f),
            KnobValue::Number(number) => number.fmt(f),
            KnobValue::Time(time) => time.fmt(f),
            KnobValue::MaybeTime(Some(time)) => time.fmt(f),
            KnobValue::MaybeTime(None) => f.write_str("none"),
            KnobValue::Word(word) => f.write_str(word.word()),
        }
    }
}

/// A value of an enum that [`named!`](crate::named) declared.
pub trait Word: fmt::Debug {
    /// The words there are.
    fn words(&self) -> &'static [&'static str];
    /// The word for this value.
    fn word(&self) -> &'static str;
    /// Becomes the value of another word.
    ///
    /// # Errors
    /// [`UnknownName`] if there is no such word.
    fn set(&mut self, word: &str) -> Result<(), UnknownName>;
}

impl<'a> From<&'a mut bool> for KnobValue<'a> {
    fn from(value: &'a mut bool) -> Self {
        KnobValue::Switch(value)
    }
}

impl<'a> From<&'a mut u32> for KnobValue<'a> {
    fn from(value: &'a mut u32) -> Self {
        KnobValue::Count(value)
    }
}

impl<'a> From<&'a mut f64> for KnobValue<'a> {
    fn from(value: &'a mut f64) -> Self {
        KnobValue::Number(value)
    }
}

impl<'a> From<&'a mut Span> for KnobValue<'a> {
    fn from(value: &'a mut Span) -> Self {
        KnobValue::Time(value)
    }
}

impl<'a> From<&'a mut Option<Span>> for KnobValue<'a> {
    fn from(value: &'a mut Option<Span>) -> Self {
        KnobValue::MaybeTime(value)
    }
}

impl<'a, W: Word> From<&'a mut W> for KnobValue<'a> {
    fn from(value: &'a mut W) -> Self {
        KnobValue::Word(value)
    }
}

/// Declares the options of one algorithm: for each its type, its default, what values can work in words, and the test
/// of that.
#[macro_export]
macro_rules! knobs {
    ($(#[$doc:meta])* $group:literal $type:ident { $(
        $(#[doc = $text:literal])* $name:ident : $of:ty = $default:expr, $expected:literal if |$value:ident| $works:expr;
    )+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $type { $($(#[doc = $text])* pub $name: $of,)+ }

        impl Default for $type {
            fn default() -> Self {
                $type { $($name: $default),+ }
            }
        }

        impl $type {
            /// The first part of the options' names.
            pub const GROUP: &'static str = $group;
            /// The names of the options within their group.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),+];

            /// Goes through the options.
            pub fn each(&mut self, visit: &mut dyn FnMut($crate::Knob<'_>)) {
                $(visit($crate::Knob {
                    path: concat!($group, ".", stringify!($name)),
                    doc: concat!($($text),*),
                    expected: $expected,
                    value: (&mut self.$name).into(),
                });)+
            }

            /// Whether the algorithm can work with these values.
            ///
            /// # Errors
            /// [`ConfigError`](crate::ConfigError) names the first with which it cannot.
            pub fn check(&self) -> Result<(), $crate::ConfigError> {
                $({
                    let ($value, mut shown) = (self.$name, self.$name);
                    let option = concat!($group, ".", stringify!($name));
                    $crate::check($works, option, $crate::KnobValue::from(&mut shown), $expected)?;
                })+
                Ok(())
            }
        }
    };
}

/// Puts the options of all algorithms together.
#[macro_export]
macro_rules! all_knobs {
    ($($group:ident : $type:ty,)+) => {
        /// What algorithms leave open: one field for each group of options, which one algorithm or a family shares.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct Knobs { $(
            #[doc = concat!("Options of `", stringify!($group), "`.")]
            pub $group: $type,
        )+ }

        impl Knobs {
            /// The groups, and the names of the options in each.
            pub const GROUPS: &'static [(&'static str, &'static [&'static str])] =
                &[$((<$type>::GROUP, <$type>::NAMES)),+];

            /// Goes through the options of all groups, group by group.
            pub fn each(&mut self, visit: &mut dyn FnMut($crate::Knob<'_>)) {
                $(self.$group.each(visit);)+
            }

            /// Whether the algorithms can work with these values.
            ///
            /// # Errors
            /// [`ConfigError`](crate::ConfigError) names the first with which one cannot.
            pub fn check(&self) -> Result<(), $crate::ConfigError> {
                $(self.$group.check()?;)+
                Ok(())
            }
        }
    };
}
