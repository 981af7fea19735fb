//! The choice of a congestion control: an algorithm of this crate, or a controller that the program supplies.

use crate::{Algorithm, CongestionControl, Knobs, Setup};
use std::fmt;
use std::sync::Arc;
use transport::{OptionType, OptionValue, UnknownName, Word};

/// The congestion control of an association: a built-in algorithm, or a controller that the program supplies.
///
/// Scenarios give the name of a built-in algorithm, such as `cubic`. In a program,
/// `Algorithm::Cubic.into()` and `ControlFactory::new(...).into()` make a choice.
#[derive(Clone, PartialEq)]
pub enum ControlChoice {
    /// An algorithm of this crate.
    BuiltIn(Algorithm),
    /// A controller that the program supplies.
    Custom(ControlFactory),
}

impl ControlChoice {
    /// Builds a controller for one association, without paths. A factory does not get `knobs`.
    pub fn build(&self, setup: &Setup, knobs: &Knobs) -> Box<dyn CongestionControl> {
        match self {
            ControlChoice::BuiltIn(algorithm) => algorithm.build(setup, knobs),
            ControlChoice::Custom(factory) => (factory.0.build)(setup),
        }
    }
}

impl From<Algorithm> for ControlChoice {
    fn from(algorithm: Algorithm) -> Self {
        ControlChoice::BuiltIn(algorithm)
    }
}

impl From<ControlFactory> for ControlChoice {
    fn from(factory: ControlFactory) -> Self {
        ControlChoice::Custom(factory)
    }
}

/// Formats a built-in algorithm like [`Algorithm`]: the laboratory stores runs under a hash of this text.
impl fmt::Debug for ControlChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ControlChoice::BuiltIn(algorithm) => algorithm.fmt(f),
            ControlChoice::Custom(factory) => factory.fmt(f),
        }
    }
}

impl Word for ControlChoice {
    fn words(&self) -> &'static [&'static str] {
        Algorithm::NAMES
    }

    fn word(&self) -> &'static str {
        match self {
            ControlChoice::BuiltIn(algorithm) => algorithm.name(),
            ControlChoice::Custom(factory) => factory.0.name,
        }
    }

    fn set(&mut self, word: &str) -> Result<(), UnknownName> {
        *self = word.parse::<Algorithm>()?.into();
        Ok(())
    }
}

impl OptionType for ControlChoice {
    fn value(&mut self) -> OptionValue<'_> {
        OptionValue::Word(self)
    }
}

type Build = dyn Fn(&Setup) -> Box<dyn CongestionControl> + Send + Sync;

/// A function that builds a controller for each association. A factory equals only its clones.
#[derive(Clone)]
pub struct ControlFactory(Arc<Named<Build>>);

struct Named<F: ?Sized> {
    name: &'static str,
    build: F,
}

impl ControlFactory {
    /// A factory of controllers. An association calls `build` when it receives the parameters of its peer,
    /// and again when the peer restarts; the controller has no paths yet. `name` identifies the factory in
    /// debugging output, and in the hash under which the laboratory stores a run.
    pub fn new(
        name: &'static str,
        build: impl Fn(&Setup) -> Box<dyn CongestionControl> + Send + Sync + 'static,
    ) -> Self {
        ControlFactory(Arc::new(Named { name, build }))
    }
}

impl PartialEq for ControlFactory {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for ControlFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ControlFactory").field(&self.0.name).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GrowthRule;
    use units::ByteCount;

    fn setup() -> Setup {
        Setup::sctp(GrowthRule::Rfc9260, ByteCount::new(20), ByteCount::new(65_536), 1)
    }

    fn custom(name: &'static str, algorithm: Algorithm) -> ControlFactory {
        ControlFactory::new(name, move |setup| algorithm.build(setup, &Knobs::default()))
    }

    #[test]
    fn words_choose_built_in_algorithms_only() {
        let mut choice = ControlChoice::from(custom("mine", Algorithm::Lia));
        assert_eq!(choice.word(), "mine");
        assert!(choice.set("mine").is_err(), "a word cannot name a factory");
        assert_eq!(
            choice.build(&setup(), &Knobs::default()).name(),
            "lia",
            "an unknown word changes nothing"
        );
        for word in choice.words() {
            choice.set(word).unwrap();
            assert_eq!(choice.build(&setup(), &Knobs::default()).name(), *word);
            assert_eq!(choice.word(), *word);
        }
    }

    #[test]
    fn a_factory_equals_only_its_clones() {
        let one = custom("mine", Algorithm::Lia);
        assert_eq!(one, one.clone());
        assert_ne!(one, custom("mine", Algorithm::Lia));
        assert_ne!(ControlChoice::from(one), Algorithm::Lia.into());
    }

    #[test]
    fn debug_text_of_built_in_algorithms_is_their_own() {
        let factory = custom("Standard", Algorithm::Standard);
        assert_eq!(format!("{:?}", ControlChoice::from(Algorithm::Standard)), "Standard");
        assert_eq!(format!("{:?}", ControlChoice::from(factory)), "ControlFactory(\"Standard\")");
    }
}
