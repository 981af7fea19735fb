//! Options by name, with the words and units of scenario files.

use crate::fault::Fault;
use crate::inner::Inner;
use libc::*;
use scenario::{ScenarioError, assoc_options_over, nearest, sctp_options_over, with_values};
use sctp::{AssocOptions, Config, OptionsError};
use transport::{OptionValue, Options};

/// The name that error messages give to texts with options.
const NAME: &str = "options";

/// Name of an option that panics when it is set, for tests.
const TEST_PANIC: &str = "ANB_TEST_PANIC";

impl Inner {
    /// Sets an option of later associations (`assoc` 0) or of one association.
    pub(crate) fn set(&mut self, now: i64, assoc: u32, name: &str, text: &str) -> Result<(), Fault> {
        assert!(name != TEST_PANIC, "{TEST_PANIC} was set");
        let now = self.time(now);
        let mut config = Config::clone(&self.config);
        known_option(&mut config, name)?;
        let written = || with_values("", [(name, text)]).map_err(|what| Fault::new(EINVAL, what));
        if assoc == 0 {
            let config = std::sync::Arc::new(sctp_options_over(config, &written()?, NAME).map_err(invalid)?);
            self.endpoint.set_config(config.clone()).map_err(|error| Fault::new(EINVAL, error))?;
            self.config = config;
            return Ok(());
        }
        let id = self.known(assoc)?;
        let mut live = self.endpoint.options(id).ok_or(EPIPE)?;
        changeable(&mut live, name)?;
        let live = assoc_options_over(live, &written()?, NAME).map_err(invalid)?;
        self.endpoint.set_options(now, id, &live).map_err(|error| match error {
            OptionsError::Closed => EPIPE.into(),
            error => Fault::new(EINVAL, error),
        })
    }

    /// The value of an option as text.
    pub(crate) fn get(&self, assoc: u32, name: &str) -> Result<String, Fault> {
        let mut config = Config::clone(&self.config);
        let value = known_option(&mut config, name)?;
        if assoc == 0 {
            return Ok(value);
        }
        let mut live: AssocOptions = self.endpoint.options(self.known(assoc)?).ok_or(EPIPE)?;
        changeable(&mut live, name)
    }
}

/// The value of the option with this name; the error for an unknown name if there is none.
fn known_option(config: &mut Config, name: &str) -> Result<String, Fault> {
    let all = values(config);
    let found = all.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    found.ok_or_else(|| {
        unknown(
            "option",
            name,
            all.iter().map(|(known, _)| known.as_str()),
            "docs/scenarios.md lists all options",
        )
    })
}

/// The error for a name that does not exist, with the most similar name or the place where all are listed.
pub(crate) fn unknown<'n>(kind: &str, name: &str, names: impl Iterator<Item = &'n str>, list: &str) -> Fault {
    let told = nearest(name, names).map_or(list.to_owned(), |near| format!("did you mean `{near}`?"));
    Fault::new(ENOENT, format!("unknown {kind} \"{name}\"; {told}"))
}

/// The value of an option of an association; an error if this option is fixed while an association exists.
fn changeable(live: &mut AssocOptions, name: &str) -> Result<String, Fault> {
    let found = values(live).into_iter().find(|(known, _)| known == name);
    let fixed = || Fault::new(EBUSY, format!("{name} cannot change while an association exists"));
    found.map(|(_, value)| value).ok_or_else(fixed)
}

/// The names and values of all options. The name of a group and a dot precede the names of its options.
pub(crate) fn values(options: &mut dyn Options) -> Vec<(String, String)> {
    let mut all = Vec::new();
    options.each(&mut |setting| {
        let name = setting.name();
        match setting.value {
            OptionValue::Group(group) => {
                let within = values(group).into_iter();
                all.extend(within.map(|(below, value)| (format!("{name}.{below}"), value)));
            }
            value => all.push((name.to_owned(), value.text())),
        }
    });
    all
}

fn invalid(error: ScenarioError) -> Fault {
    let messages: Vec<_> = error.diagnostics.iter().map(|d| d.message.as_str()).collect();
    Fault::new(EINVAL, messages.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::*;

    fn inner() -> Inner {
        let ours = anb_ip {
            family: 4,
            bytes: [10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            ..Default::default()
        };
        let setup = anb_setup { seed_kind: ANB_SEED_GIVEN, ..Default::default() };
        Inner::new(&setup, &[ours]).expect("a right setup")
    }

    #[test]
    fn every_option_can_be_set_to_the_text_that_it_has() {
        let mut inner = inner();
        let all = values(&mut Config::clone(&inner.config));
        assert!(all.len() > 90, "only {} options", all.len());
        for (name, text) in all {
            inner.set(0, 0, &name, &text).unwrap_or_else(|fault| panic!("{name} = {text}: {fault:?}"));
            assert_eq!(inner.get(0, &name).expect("a value"), text, "{name}");
        }
    }

    #[test]
    fn values_are_those_of_scenarios_and_unknown_names_are_corrected() {
        let mut inner = inner();
        for (name, text, after) in [
            ("sack_delay", "\"40 ms\"", "40 ms"),
            ("sack_delay", "50 ms", "50 ms"),
            ("cmt.path_selection", "'round-robin'", "round-robin"),
            ("knobs.cubic.hystart", "false", "false"),
            ("auth_chunks", "[0, 3]", "[0, 3]"),
            ("hb_interval", "none", "none"),
        ] {
            inner.set(0, 0, name, text).unwrap_or_else(|fault| panic!("{name} = {text}: {fault:?}"));
            assert_eq!(inner.get(0, name).expect("a value"), after);
        }
        for (name, text, errno, told) in [
            ("sak_delay", "1", ENOENT, "did you mean `sack_delay`?"),
            ("sack_delay", "1 s", EINVAL, "at most 500 ms"),
            ("nagle", "true\nmax_burst = 9", EINVAL, "true"),
            ("profile", "standard", ENOENT, "unknown option"),
            ("cmt", "{}", ENOENT, "unknown option"),
            ("", "1", ENOENT, "unknown option"),
        ] {
            let fault = inner.set(0, 0, name, text).expect_err(name);
            assert_eq!(fault.errno, errno, "{name}: {fault:?}");
            assert!(format!("{fault:?}").contains(told), "{fault:?}");
        }
        assert_eq!(inner.get(0, "max_burst").expect("a value"), "4");
        assert_eq!(inner.set(0, 7, "nagle", "true").expect_err("no association").errno, ENOTCONN);
    }
}
