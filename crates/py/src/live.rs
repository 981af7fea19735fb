//! Options of an existing association as Python objects, with the words and units of scenario files.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use transport::{OptionValue, Options};

/// Every option by its name, in the order of declaration.
pub fn to_dict<'py>(py: Python<'py>, options: &mut dyn Options) -> PyResult<Bound<'py, PyDict>> {
    let mut items = Vec::new();
    options.each(&mut |setting| items.push((setting.name(), to_object(py, setting.value))));
    let dict = PyDict::new(py);
    for (name, value) in items {
        dict.set_item(name, value?)?;
    }
    Ok(dict)
}

fn to_object<'py>(py: Python<'py>, value: OptionValue<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        OptionValue::Switch(on) => on.into_pyobject(py)?.to_owned().into_any(),
        OptionValue::Whole(count) => count.get().into_pyobject(py)?.into_any(),
        OptionValue::Maybe(maybe) => {
            let none = maybe.none();
            match maybe.get() {
                Some(value) => to_object(py, value)?,
                None => none.into_pyobject(py)?.into_any(),
            }
        }
        value => value.text().into_pyobject(py)?.into_any(),
    })
}
