/// A wrong parameter of a queue, a token bucket, a rate or a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecFault {
    /// The parameter.
    pub field: &'static str,
    /// The value that was expected.
    pub expected: &'static str,
}

impl SpecFault {
    /// The first parameter that is not sound.
    pub(crate) fn first(
        checks: impl IntoIterator<Item = (bool, &'static str, &'static str)>,
    ) -> Result<(), SpecFault> {
        match checks.into_iter().find(|(sound, ..)| !sound) {
            Some((_, field, expected)) => Err(SpecFault { field, expected }),
            None => Ok(()),
        }
    }
}
