/// A wrong parameter of a queue, a token bucket, a rate or a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecFault {
    /// Name of the parameter.
    pub field: &'static str,
    /// The valid values.
    pub expected: &'static str,
}

impl SpecFault {
    /// Returns the fault of the first of `checks` that fails. Each of them has three
    /// parts: whether the check holds, the name of the parameter, and its valid values.
    pub(crate) fn first(
        checks: impl IntoIterator<Item = (bool, &'static str, &'static str)>,
    ) -> Result<(), SpecFault> {
        match checks.into_iter().find(|(sound, ..)| !sound) {
            Some((_, field, expected)) => Err(SpecFault { field, expected }),
            None => Ok(()),
        }
    }
}
