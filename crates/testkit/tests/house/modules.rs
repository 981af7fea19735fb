//! Checks that imports between the modules of a folder have no cycles, and that each file of tests is run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of a folder, each with the modules of the same folder that it imports.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// The files and folders beside the root file of a folder (`lib.rs` or `mod.rs`),
/// and the re-exports of the root.
struct Root {
    modules: BTreeSet<String>,
    /// The module from which the root re-exports each name.
    items: BTreeMap<String, String>,
    /// The modules of which the root re-exports all names.
    globs: Vec<String>,
}

/// The source text without comments and unit tests.
fn code(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The paths of an import tree: `a::{b, c::d}` is `a::b` and `a::c::d`. Text after the tree is ignored.
fn paths(tree: &str) -> Vec<Vec<String>> {
    fn group(text: &str, at: &mut usize, before: &[String], into: &mut Vec<Vec<String>>) {
        let mut path = before.to_vec();
        while let Some(c) = text[*at..].chars().next() {
            if is_name(c) || c == '*' {
                let length = text[*at..].find(|c| !is_name(c)).unwrap_or(text.len() - *at).max(1);
                path.push(text[*at..*at + length].to_owned());
                *at += length;
                if text[*at..].starts_with(" as ") {
                    *at += 4;
                    *at += text[*at..].find(|c| !is_name(c)).unwrap_or(text.len() - *at);
                }
            } else if text[*at..].starts_with("::") {
                *at += 2;
            } else if c == '{' {
                *at += 1;
                group_list(text, at, &path, into);
                return;
            } else {
                break;
            }
        }
        into.push(path);
    }
    fn group_list(text: &str, at: &mut usize, before: &[String], into: &mut Vec<Vec<String>>) {
        while let Some(c) = text[*at..].chars().next() {
            match c {
                '}' => {
                    *at += 1;
                    return;
                }
                c if c.is_whitespace() || c == ',' => *at += c.len_utf8(),
                c if is_name(c) || c == '*' => group(text, at, before, into),
                _ => return,
            }
        }
    }
    let mut into = Vec::new();
    group(tree, &mut 0, &[], &mut into);
    into
}

/// All module paths that follow `prefix` in a source text.
fn behind(code: &str, prefix: &str) -> Vec<Vec<String>> {
    let starts = code.match_indices(prefix).filter(|(at, _)| {
        let before = code[..*at].chars().next_back();
        before.is_none_or(|c| !is_name(c) && c != ':')
    });
    starts.flat_map(|(at, _)| paths(&code[at + prefix.len()..])).collect()
}

impl Root {
    fn read(code: &str, modules: BTreeSet<String>) -> Root {
        let (mut items, mut globs) = (BTreeMap::new(), Vec::new());
        for path in behind(code, "use ") {
            let (Some(first), Some(last)) = (path.first(), path.last()) else { continue };
            match last.as_str() {
                _ if !modules.contains(first) => {}
                "*" => globs.push(first.clone()),
                _ => _ = items.insert(last.clone(), first.clone()),
            }
        }
        Root { modules, items, globs }
    }

    /// The modules that a path from the folder can refer to.
    fn targets(&self, path: &[String]) -> Vec<String> {
        let Some(first) = path.first() else { return Vec::new() };
        match (self.modules.contains(first), self.items.get(first)) {
            (true, _) => vec![first.clone()],
            (false, Some(module)) => vec![module.clone()],
            (false, None) => self.globs.clone(),
        }
    }
}

/// The Rust files below a folder, except files of tests.
fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        match path.extension() {
            None if name != "tests" => sources(&path, into),
            Some(extension) if extension == "rs" && name != "tests.rs" => into.push(path),
            _ => {}
        }
    }
}

/// The place of a file below `src`, as the names of its modules: `tx/partial/mod.rs` is `["tx", "partial"]`.
fn place(src: &Path, file: &Path) -> Vec<String> {
    let below = file.strip_prefix(src).expect("a file below src").with_extension("");
    let mut place: Vec<_> = below.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    place.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
    place
}

/// The imports between the modules of each folder of a crate, by the path of the folder (`tx/partial`).
fn graphs(name: &str) -> BTreeMap<String, Graph> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let read = |file: &PathBuf| (place(&src, file), code(&fs::read_to_string(file).unwrap_or_default()));
    let files: Vec<_> = files.iter().map(read).collect();
    // Takes the names of the files as the modules, since a macro may declare the modules.
    let inside = |folder: &[String]| {
        let below = files.iter().filter_map(|(place, _)| place.strip_prefix(folder)?.first());
        below.cloned().collect()
    };
    let roots = files.iter().map(|(folder, code)| (folder, Root::read(code, inside(folder))));
    roots.map(|(folder, root)| (folder.join("/"), graph(folder, &root, &files))).collect()
}

/// The imports between the modules of `folder`, whose root file is `root`.
fn graph(folder: &[String], root: &Root, files: &[(Vec<String>, String)]) -> Graph {
    let mut graph = Graph::new();
    let inside = format!("{}::", [&["crate".to_owned()], folder].concat().join("::"));
    for (place, code) in files {
        let module = place.strip_prefix(folder).and_then(|below| below.first());
        let Some(module) = module else { continue };
        // A path that begins with so many `super::` starts at `folder`.
        let up = "super::".repeat(place.len() - folder.len());
        let named = behind(code, &inside).into_iter().chain(behind(code, &up));
        let imports = named.flat_map(|path| root.targets(&path)).filter(|target| target != module);
        graph.entry(module.clone()).or_default().extend(imports);
    }
    graph
}

/// All modules that a module imports, directly or indirectly.
fn reach(graph: &Graph, from: &str) -> BTreeSet<String> {
    let (mut found, mut todo) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(module) = todo.pop() {
        for next in graph.get(&module).into_iter().flatten() {
            if found.insert(next.clone()) {
                todo.push(next.clone());
            }
        }
    }
    found
}

fn in_circles(graph: &Graph) -> BTreeSet<String> {
    graph.keys().filter(|module| reach(graph, module).contains(*module)).cloned().collect()
}

#[test]
fn imports_between_modules_go_one_way() {
    let mut wrong = Vec::new();
    let crates =
        fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).expect("the folder of crates");
    let names: Vec<_> = crates.map(|entry| entry.expect("a folder").file_name()).collect();
    assert!(names.len() >= 13, "only {} crates were found", names.len());
    let folders = names.iter().filter_map(|name| name.to_str()).flat_map(|name| {
        let place = move |folder: String| {
            if folder.is_empty() { name.to_owned() } else { format!("{name}/{folder}") }
        };
        graphs(name).into_iter().map(move |(folder, graph)| (place(folder), graph))
    });
    for (name, graph) in folders {
        for module in in_circles(&graph) {
            let back = graph[&module].iter().filter(|next| reach(&graph, next).contains(&module));
            wrong.push(format!(
                "{name}: `{module}` is in a cycle of imports, through {:?}",
                back.collect::<Vec<_>>()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_cycle_is_found_through_import_groups_and_names_of_the_crate_root() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    let reexports = "pub use a::{Thing, deep::Other as Name};\npub use c::*;\n";
    let root = Root::read(reexports, names(&["a", "b", "c"]));
    let to = |path: &str| root.targets(&paths(path)[0]).join(" ");
    assert_eq!([to("a::X"), to("Thing"), to("Other"), to("Unknown")], ["a", "a", "a", "c"]);
    let code = code(
        "use crate::{a::{X, Y}, b, Thing};\nlet n = crate::c::f(); // crate::no\n#[cfg(test)]\nmod tests {\n",
    );
    let found: Vec<_> = behind(&code, "crate::").iter().flat_map(|path| root.targets(path)).collect();
    assert_eq!(found, ["a", "a", "b", "a", "c"]);
    let circle = Graph::from([
        ("a".to_owned(), names(&["b"])),
        ("b".to_owned(), names(&["c"])),
        ("c".to_owned(), names(&["a", "d"])),
        ("d".to_owned(), names(&[])),
    ]);
    assert_eq!(in_circles(&circle), names(&["a", "b", "c"]));
}

/// In a crate without `autotests`, Cargo.toml names the test programs. A test file that belongs to none of
/// them would never run.
#[test]
fn each_file_of_tests_belongs_to_a_program() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("an entry").path()).collect()
    };
    let mut files = 0;
    for folder in entries(&crates) {
        let manifest = read(&folder.join("Cargo.toml"));
        if !manifest.contains("autotests = false") {
            continue;
        }
        let tests = folder.join("tests");
        let inner = entries(&tests).into_iter().filter(|path| path.join("main.rs").is_file());
        for program in inner.chain([tests.clone()]) {
            let main = program.join("main.rs");
            let path =
                main.strip_prefix(&folder).expect("below the crate").to_string_lossy().replace('\\', "/");
            assert!(manifest.contains(&format!("path = \"{path}\"")), "{} is no program", main.display());
            let modules = read(&main);
            for file in entries(&program) {
                let Some(name) = file.file_stem().and_then(|name| name.to_str()) else { continue };
                if name == "main" || file.extension().is_none_or(|ending| ending != "rs") {
                    continue;
                }
                files += 1;
                let runs = modules.contains(&format!("mod {name};"))
                    || manifest.contains(&format!("name = \"{name}\""));
                assert!(runs, "{} belongs to no program of tests", file.display());
            }
        }
    }
    assert!(files > 20, "only {files} files of tests were found");
}
