//! Writes the playground as a single page that needs neither a server nor a network. The page contains the
//! WebAssembly module, the script that `wasm-bindgen` generates for it, and the page's own scripts, style and
//! scenarios.
//!
//! `anabranch-playground-bundle MODULE.wasm PAGE.html`: must be run in the root of the repository.
#![forbid(unsafe_code)]

use base64::Engine;
use std::error::Error;
use std::fs;
use std::path::Path;
use wasm_bindgen_cli_support::Bindgen;

/// The page's scripts, in the order in which they are run.
const SCRIPTS: [&str; 5] = ["run.js", "controls.js", "network.js", "plots.js", "page.js"];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, page] = arguments.as_slice() else {
        return Err("expected MODULE.wasm PAGE.html".into());
    };
    let page = Path::new(page);
    let folder = page.parent().ok_or("expected a file in a folder")?.join("module");
    Bindgen::new().input_path(module).no_modules(true)?.remove_name_section(true).remove_producers_section(true).typescript(false).out_name("playground").generate(&folder)?;
    let bytes = fs::read(folder.join("playground_bg.wasm"))?;
    let source = Path::new("crates/playground/page");
    let scripts: Result<Vec<String>, _> = SCRIPTS.iter().map(|name| fs::read_to_string(source.join(name))).collect();
    let parts = [
        ("/*STYLE*/", fs::read_to_string(source.join("style.css"))?),
        ("/*SCENARIOS*/", scenarios(&source.join("scenarios.json"))?),
        ("/*MODULE*/", base64::engine::general_purpose::STANDARD.encode(&bytes)),
        ("/*GLUE*/", in_element(&fs::read_to_string(folder.join("playground.js"))?)),
        ("/*SCRIPT*/", in_element(&scripts?.concat())),
    ];
    let mut html = fs::read_to_string(source.join("page.html"))?;
    for (mark, text) in parts {
        let (before, after) = html.split_once(mark).ok_or_else(|| format!("the page has no {mark}"))?;
        html = [before, &text, after].concat();
    }
    fs::write(page, &html)?;
    println!("{}: {} kB, of which the module has {} kB", page.display(), html.len() / 1000, bytes.len() / 1000);
    Ok(())
}

/// The scenarios of the page, each with the text of its file.
fn scenarios(list: &Path) -> Result<String, Box<dyn Error>> {
    let mut scenarios: serde_json::Value = serde_json::from_str(&fs::read_to_string(list)?)?;
    for scenario in scenarios.as_array_mut().ok_or("expected a list of scenarios")? {
        let file = scenario["file"].as_str().ok_or("expected the file of a scenario")?;
        scenario["text"] = fs::read_to_string(file)?.into();
    }
    Ok(in_element(&scenarios.to_string()))
}

/// Escapes a script for an HTML element: otherwise the first end tag in the script would end the element.
fn in_element(script: &str) -> String {
    script.replace("</", "<\\/")
}
