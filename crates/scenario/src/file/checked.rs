use crate::diagnostic::Faults;
use crate::tree::{Item, Value};
use net::SpecFault;

/// Returns the value if it passes its own check; otherwise notes a fault at the wrong key.
pub(super) fn checked<T>(
    value: T,
    check: Result<(), SpecFault>,
    item: &Item,
    faults: &mut Faults,
) -> Option<T> {
    let Err(SpecFault { field, expected }) = check else { return Some(value) };
    let place = match &item.value {
        Value::Table(table) => table.get(field).unwrap_or(item),
        _ => item,
    };
    faults.note(place.span.clone(), format!("wrong `{field}`; expected {expected}"));
    None
}
