//! Options with names: the same words in scenario files, in Python and in error messages.

/// A word that names no option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown name `{word}`: expected one of {}", .expected.join(", "))]
pub struct UnknownName {
    /// What was given.
    pub word: String,
    /// What exists.
    pub expected: &'static [&'static str],
}

/// Defines an enum whose variants are written as words: `ALL`, `NAMES`, `name()`, `Display` and `FromStr`.
macro_rules! named_options {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$vmeta])* $variant,)+ }

        impl $name {
            /// Every option.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];
            /// The words for [`Self::ALL`], in the same order.
            pub const NAMES: &'static [&'static str] = &[$($word,)+];

            /// The word for this option.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownName;
            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $($word => Ok($name::$variant),)+
                    _ => Err($crate::UnknownName { word: word.to_owned(), expected: Self::NAMES }),
                }
            }
        }
    };
}
pub(crate) use named_options;
