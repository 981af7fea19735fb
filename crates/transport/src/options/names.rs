//! Enums whose values have a word for scenarios and the command line.

use std::fmt;

/// Error: a word is none of the possible values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// Kind of value that the word should name, such as "congestion control".
    pub kind: &'static str,
    /// The unknown word.
    pub given: String,
    /// The possible words.
    pub expected: &'static [&'static str],
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {} {:?}: expected {}", self.kind, self.given, self.expected.join(", "))
    }
}

impl std::error::Error for UnknownName {}

/// Declares an enum of named values with `ALL`, `NAMES`, `name()`, `Display` and `FromStr` (error
/// [`UnknownName`]), for options that scenarios and commands choose by a word.
#[macro_export]
macro_rules! named {
    ($(#[$doc:meta])* $kind:literal $type:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $type { $($(#[$variant_doc])* $variant,)+ }

        impl $type {
            /// Every value.
            pub const ALL: &[$type] = &[$($type::$variant),+];
            /// The words of all values, in the order of `ALL`.
            pub const NAMES: &[&str] = &[$($name),+];

            /// The word for this value.
            pub const fn name(self) -> &'static str {
                match self { $($type::$variant => $name),+ }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl $crate::Word for $type {
            fn words(&self) -> &'static [&'static str] {
                Self::NAMES
            }
            fn word(&self) -> &'static str {
                self.name()
            }
            fn set(&mut self, word: &str) -> Result<(), $crate::UnknownName> {
                *self = word.parse()?;
                Ok(())
            }
        }

        impl $crate::OptionType for $type {
            fn value(&mut self) -> $crate::OptionValue<'_> {
                $crate::OptionValue::Word(self)
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::UnknownName;

            fn from_str(given: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|value| value.name() == given).ok_or_else(|| $crate::UnknownName {
                    kind: $kind,
                    given: given.to_owned(),
                    expected: Self::NAMES,
                })
            }
        }
    };
}
