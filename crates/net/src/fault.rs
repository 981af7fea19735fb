/// A wrong parameter of a queue, a token bucket, a rate or a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecFault {
    /// Name of the parameter.
    pub field: &'static str,
    /// The valid values.
    pub expected: &'static str,
}

impl SpecFault {
    /// The first of `checks` (sound, parameter, valid values) that is not sound.
    pub(crate) fn first(
        checks: impl IntoIterator<Item = (bool, &'static str, &'static str)>,
    ) -> Result<(), SpecFault> {
        match checks.into_iter().find(|(sound, ..)| !sound) {
            Some((_, field, expected)) => Err(SpecFault { field, expected }),
            None => Ok(()),
        }
    }
}
