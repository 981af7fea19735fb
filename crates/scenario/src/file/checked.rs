use crate::diagnostic::Faults;
use crate::tree::{Item, Value};
use net::SpecFault;

/// The value if its own check finds nothing; otherwise notes the fault at the key that is wrong.
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
