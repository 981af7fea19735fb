//! Structs with some of the options of another struct.

/// Declares a struct with some of the options of a struct that [`options!`](crate::options) declared.
///
/// The declaration lists names and types. `of` copies the values of these options from the whole struct;
/// `over` returns a whole struct with these values. [`Options`](crate::Options) gives each option the
/// documentation, kind and check that the whole struct declares.
///
/// ```
/// use anabranch_transport::{Options, options, options_subset};
///
/// options! {
///     /// How often something is tried.
///     pub struct Retries {
///         /// Least number of attempts.
///         least: u32 = 1;
///         /// Greatest number of attempts.
///         most: u32 = 8, "at least `least`" if |most, all| most >= all.least;
///     }
/// }
///
/// options_subset! {
///     /// The options that may change later.
///     pub struct LaterRetries of Retries {
///         /// As [`Retries::most`].
///         most: u32,
///     }
/// }
///
/// let mut later = LaterRetries::of(&Retries { least: 3, most: 4 });
/// let mut seen = Vec::new();
/// later.each(&mut |option| seen.push((option.path, option.doc, option.expected, option.value.text())));
/// assert_eq!(seen, [("most", " Greatest number of attempts.", "at least `least`", "4".to_owned())]);
///
/// later.most = 2;
/// assert_eq!(later.over(&Retries { least: 3, most: 4 }), Retries { least: 3, most: 2 });
/// assert!(later.over(&Retries { least: 3, most: 4 }).check().is_err());
/// ```
#[macro_export]
macro_rules! options_subset {
    ($(#[$meta:meta])* pub struct $type:ident of $whole:ident {
        $($(#[doc = $text:literal])* $name:ident : $of:ty,)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $type { $($(#[doc = $text])* pub $name: $of,)+ }

        impl $type {
            /// The values of these options in `whole`.
            pub fn of(whole: &$whole) -> Self {
                $type { $($name: whole.$name.clone(),)+ }
            }

            /// A copy of `whole` with these options in place of its own.
            pub fn over(&self, whole: &$whole) -> $whole {
                $whole { $($name: self.$name.clone(),)+ ..whole.clone() }
            }
        }

        impl $crate::Options for $type {
            fn each(&mut self, visit: &mut dyn FnMut($crate::Setting<'_>)) {
                let mut whole = self.over(&$whole::default());
                $crate::Options::each(&mut whole, &mut |setting| {
                    if [$(stringify!($name)),+].contains(&setting.path) {
                        visit(setting);
                    }
                });
                *self = $type::of(&whole);
            }

            fn check(&self) -> Result<(), $crate::ConfigError> {
                $crate::Options::check(&self.over(&$whole::default()))
            }
        }
    };
}
