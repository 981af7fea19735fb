use super::decode::{Decode, Definitions};
use super::file::FileTable;
use serde_json::{Value as Json, json};

/// JSON Schema of scenario files, for editors and for programs that generate scenario files.
pub fn schema() -> String {
    let mut definitions = Definitions::new();
    let mut schema = FileTable::schema(&mut definitions);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Anabranch scenario");
    understand_camel_case(&mut schema["properties"]["flow"]);
    schema["$defs"] = json!(definitions);
    format!("{schema:#}\n")
}

/// Adds the camelCase names of paper 001 to the schema of flows.
fn understand_camel_case(schema: &mut Json) {
    match schema {
        Json::Object(members) => {
            if let Some(Json::Object(properties)) = members.get_mut("properties") {
                let aliases: Vec<_> = properties
                    .iter()
                    .filter(|(key, _)| key.contains('_'))
                    .map(|(key, value)| (super::decode::camel_case(key), value.clone()))
                    .collect();
                properties.extend(aliases);
            }
            members.values_mut().for_each(understand_camel_case);
        }
        Json::Array(elements) => elements.iter_mut().for_each(understand_camel_case),
        _ => {}
    }
}
