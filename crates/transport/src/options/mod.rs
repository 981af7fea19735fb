//! Options that are declared once, with type, documentation, default and check, and access to them by name.

mod names;
mod subset;

pub use names::UnknownName;

use crate::ConfigError;
use std::fmt;
use units::{ByteCount, Span};

/// A set of options that [`options!`](crate::options) declared.
pub trait Options: fmt::Debug {
    /// Calls `visit` with each option, in the order of declaration. A group is visited as one option.
    fn each(&mut self, visit: &mut dyn FnMut(Setting<'_>));

    /// Checks the options.
    ///
    /// # Errors
    /// [`ConfigError`] with the first option whose value cannot work.
    fn check(&self) -> Result<(), ConfigError>;
}

/// One option, with access to its value.
#[derive(Debug)]
pub struct Setting<'a> {
    /// Name of the option with the name of its group, such as `ledbat.target`.
    pub path: &'static str,
    /// Description of the option.
    pub doc: &'static str,
    /// Description of the valid values; empty if all values of the type are valid.
    pub expected: &'static str,
    /// The value.
    pub value: OptionValue<'a>,
}

impl Setting<'_> {
    /// Name of the option within its group.
    pub fn name(&self) -> &'static str {
        self.path.rsplit_once('.').map_or(self.path, |(_, name)| name)
    }
}

/// The value of an option, by its kind.
#[derive(Debug)]
pub enum OptionValue<'a> {
    /// On or off.
    Switch(&'a mut bool),
    /// A whole number.
    Whole(&'a mut dyn Whole),
    /// Any number.
    Number(&'a mut f64),
    /// A time.
    Time(&'a mut Span),
    /// A number of bytes.
    Size(&'a mut dyn Whole),
    /// One word of an enum.
    Word(&'a mut dyn Word),
    /// A value, or none.
    Maybe(&'a mut dyn Maybe),
    /// Any number of values of one kind.
    List(&'a mut dyn List),
    /// A group of options, with a name for the group.
    Group(&'a mut dyn Options),
}

impl OptionValue<'_> {
    /// The value as text for people, with its unit; empty for a group.
    pub fn text(self) -> String {
        match self {
            OptionValue::Switch(on) => on.to_string(),
            OptionValue::Whole(count) => count.get().to_string(),
            OptionValue::Number(number) => number.to_string(),
            OptionValue::Time(time) => time.to_string(),
            OptionValue::Size(size) => ByteCount::new(size.get()).to_string(),
            OptionValue::Word(word) => word.word().to_owned(),
            OptionValue::Maybe(maybe) => {
                let none = maybe.none();
                maybe.get().map_or_else(|| none.to_owned(), OptionValue::text)
            }
            OptionValue::List(list) => {
                let items: Vec<_> = (0..list.count()).map(|n| list.get(n).text()).collect();
                format!("[{}]", items.join(", "))
            }
            OptionValue::Group(_) => String::new(),
        }
    }
}

/// A type of option values.
pub trait OptionType {
    /// Returns the value as one of the kinds of [`OptionValue`].
    fn value(&mut self) -> OptionValue<'_>;

    /// Checks the options of a group.
    ///
    /// # Errors
    /// [`ConfigError`] with the first option that cannot work.
    fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }
}

/// A whole number of any width.
pub trait Whole: fmt::Debug {
    /// The largest number that fits.
    fn most(&self) -> u64;
    /// The number.
    fn get(&self) -> u64;
    /// Sets the number; a number that does not fit becomes the largest.
    fn set(&mut self, number: u64);
}

/// A value of an enum that [`named!`](crate::named) declared.
pub trait Word: fmt::Debug {
    /// All words of the enum.
    fn words(&self) -> &'static [&'static str];
    /// The word for this value.
    fn word(&self) -> &'static str;
    /// Sets the value by its word.
    ///
    /// # Errors
    /// [`UnknownName`] if there is no such word.
    fn set(&mut self, word: &str) -> Result<(), UnknownName>;
}

/// A value that may be absent.
pub trait Maybe: fmt::Debug {
    /// The value, if there is one.
    fn get(&mut self) -> Option<OptionValue<'_>>;
    /// The word for an absent value.
    fn none(&self) -> &'static str {
        "none"
    }
    /// Removes the value.
    fn set_none(&mut self);
    /// Sets a default value and returns it.
    fn set_some(&mut self) -> OptionValue<'_>;
}

/// Values of one kind.
pub trait List: fmt::Debug {
    /// Number of values.
    fn count(&self) -> usize;
    /// Value number `n`, counted from 0.
    ///
    /// # Panics
    /// If the list has at most `n` values.
    fn get(&mut self, n: usize) -> OptionValue<'_>;
    /// Removes all values.
    fn clear(&mut self);
    /// Appends a default value and returns it.
    fn push(&mut self) -> OptionValue<'_>;
}

impl OptionType for bool {
    fn value(&mut self) -> OptionValue<'_> {
        OptionValue::Switch(self)
    }
}

impl OptionType for f64 {
    fn value(&mut self) -> OptionValue<'_> {
        OptionValue::Number(self)
    }
}

impl OptionType for Span {
    fn value(&mut self) -> OptionValue<'_> {
        OptionValue::Time(self)
    }
}

impl OptionType for ByteCount {
    fn value(&mut self) -> OptionValue<'_> {
        OptionValue::Size(self)
    }
}

impl Whole for ByteCount {
    fn most(&self) -> u64 {
        u64::MAX
    }
    fn get(&self) -> u64 {
        ByteCount::get(*self)
    }
    fn set(&mut self, number: u64) {
        *self = ByteCount::new(number);
    }
}

macro_rules! whole_numbers {
    ($($type:ident)+) => {$(
        impl OptionType for $type {
            fn value(&mut self) -> OptionValue<'_> {
                OptionValue::Whole(self)
            }
        }

        impl Whole for $type {
            fn most(&self) -> u64 {
                u64::from($type::MAX)
            }
            fn get(&self) -> u64 {
                u64::from(*self)
            }
            fn set(&mut self, number: u64) {
                *self = $type::try_from(number).unwrap_or($type::MAX);
            }
        }
    )+};
}
whole_numbers!(u8 u16 u32 u64);

impl<T: OptionType + Default + fmt::Debug> OptionType for Option<T> {
    fn value(&mut self) -> OptionValue<'_> {
        OptionValue::Maybe(self)
    }
}

impl<T: OptionType + Default + fmt::Debug> Maybe for Option<T> {
    fn get(&mut self) -> Option<OptionValue<'_>> {
        self.as_mut().map(OptionType::value)
    }
    fn set_none(&mut self) {
        *self = None;
    }
    fn set_some(&mut self) -> OptionValue<'_> {
        self.insert(T::default()).value()
    }
}

impl<T: OptionType + Default + fmt::Debug> OptionType for Vec<T> {
    fn value(&mut self) -> OptionValue<'_> {
        OptionValue::List(self)
    }
}

impl<T: OptionType + Default + fmt::Debug> List for Vec<T> {
    fn count(&self) -> usize {
        self.len()
    }
    fn get(&mut self, n: usize) -> OptionValue<'_> {
        self[n].value()
    }
    fn clear(&mut self) {
        self.clear();
    }
    fn push(&mut self) -> OptionValue<'_> {
        let n = self.len();
        self.push(T::default());
        self[n].value()
    }
}

/// The error for an option whose value cannot work, by its path.
#[doc(hidden)]
#[cold]
pub fn wrong_option(options: &mut dyn Options, path: &'static str) -> ConfigError {
    let mut error = ConfigError { option: path, value: String::new(), expected: "" };
    options.each(&mut |setting| {
        if setting.path == path {
            (error.expected, error.value) = (setting.expected, setting.value.text());
        }
    });
    error
}

/// Declares a struct of options with `Default`, `check()` and [`Options`].
///
/// Each option has a documentation, a type and a default. If not every value of the type can work, the
/// declaration describes the valid values in words and as a test, which may read all options. Scenario keys,
/// their schema, the tables in `docs/` and the types for Python are made from this declaration. So the
/// documentation of an option must suit the readers of all of these.
///
/// A struct `in "name"` is a group: its errors name options as `name.option`. `as bytes` makes a whole number
/// a size.
///
/// ```
/// use anabranch_transport::options;
///
/// options! {
///     /// How often something is tried.
///     pub struct Retries in "retries" {
///         /// At least so often.
///         least: u32 = 1;
///         /// At most so often.
///         most: u32 = 8, "at least `least`" if |most, all| most >= all.least;
///     }
/// }
///
/// assert_eq!(Retries::default().check(), Ok(()));
/// let error = Retries { most: 0, ..Retries::default() }.check().unwrap_err();
/// assert_eq!(error.to_string(), "retries.most = 0: expected at least `least`");
/// ```
#[macro_export]
macro_rules! options {
    (@value $field:expr) => { $crate::OptionType::value(&mut $field) };
    (@value $field:expr, bytes) => { $crate::OptionValue::Size(&mut $field) };

    (@declare $prefix:expr, $(#[$meta:meta])* $type:ident {$(
        $(#[doc = $text:literal])* $name:ident : $of:ty $(as $kind:ident)? = $default:expr
            $(, $expected:literal if |$value:ident $(, $all:ident)?| $works:expr)?;
    )+}) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $type { $($(#[doc = $text])* pub $name: $of,)+ }

        impl Default for $type {
            fn default() -> Self {
                $type { $($name: $default),+ }
            }
        }

        impl $type {
            /// Checks the options.
            ///
            /// # Errors
            /// A `ConfigError` with the first option whose value cannot work.
            pub fn check(&self) -> Result<(), $crate::ConfigError> {
                $(
                    $crate::OptionType::check(&self.$name)?;
                    $({
                        let $value = self.$name.clone();
                        $(let $all = self;)?
                        if !($works) {
                            return Err($crate::wrong_option(&mut self.clone(), concat!($prefix, stringify!($name))));
                        }
                    })?
                )+
                Ok(())
            }
        }

        impl $crate::Options for $type {
            fn each(&mut self, visit: &mut dyn FnMut($crate::Setting<'_>)) {
                $(visit($crate::Setting {
                    path: concat!($prefix, stringify!($name)),
                    doc: concat!($($text),*),
                    expected: concat!("" $(, $expected)?),
                    value: $crate::options!(@value self.$name $(, $kind)?),
                });)+
            }

            fn check(&self) -> Result<(), $crate::ConfigError> {
                Self::check(self)
            }
        }

        impl $crate::OptionType for $type {
            fn value(&mut self) -> $crate::OptionValue<'_> {
                $crate::OptionValue::Group(self)
            }

            fn check(&self) -> Result<(), $crate::ConfigError> {
                Self::check(self)
            }
        }
    };

    ($(#[$meta:meta])* pub struct $type:ident in $group:literal { $($body:tt)+ }) => {
        $crate::options! { @declare concat!($group, "."), $(#[$meta])* $type { $($body)+ } }
    };
    ($(#[$meta:meta])* pub struct $type:ident { $($body:tt)+ }) => {
        $crate::options! { @declare "", $(#[$meta])* $type { $($body)+ } }
    };
}
