//! Checks of the architecture: crates use only the layers below, and the modules of a crate form no
//! cycle.
//!
//! Both checks read text. A crate's dependencies are those that its `Cargo.toml` lists. A module uses
//! `other` if its code outside of tests has a path `crate::other`, or the same path with `super::`. It
//! also does if it names something that the root of the crate re-exports from `other`. `error` may use
//! and be used by all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The layers of ARCHITECTURE.md, lowest first. A crate may use the layers below its own.
const LAYERS: [&[&str]; 5] = [
    &["tutte-simd"],
    &["tutte-trees", "tutte-treebank", "tutte-linear"],
    &["tutte-rules", "tutte-text", "tutte-neural", "tutte-charts"],
    &["tutte"],
    &["tutte-cli", "tutte-experiments"],
];

/// Allowed uses between crates of one layer: treebanks read, draw and evaluate trees.
const EXCEPTIONS: [(&str, &str); 1] = [("tutte-treebank", "tutte-trees")];

fn crates() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut all: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| path.join("Cargo.toml").is_file());
    all.sort();
    all
}

/// Returns the package's name, and the packages of this workspace that its library or program uses.
fn package(folder: &Path) -> (String, BTreeSet<String>) {
    let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let mut section = "";
    let mut name = String::new();
    let mut uses = BTreeSet::new();
    for line in text.lines() {
        if line.starts_with('[') {
            section = line.trim();
        }
        let key = line.split(['.', ' ', '=']).next().unwrap_or_default();
        if section == "[package]" && line.starts_with("name = ") {
            name = line.split('"').nth(1).unwrap().to_owned();
        } else if section == "[dependencies]" && (key == "tutte" || key.starts_with("tutte-")) {
            uses.insert(key.to_owned());
        }
    }
    (name, uses)
}

#[test]
fn crates_use_only_the_layers_below() {
    let layer = |name: &str| {
        let found = LAYERS.iter().position(|layer| layer.contains(&name));
        found.unwrap_or_else(|| panic!("{name} has no layer: add it here and to ARCHITECTURE.md"))
    };
    for folder in crates() {
        let (name, uses) = package(&folder);
        for other in &uses {
            let is_below = layer(other) < layer(&name);
            let is_exception = EXCEPTIONS.contains(&(&name, other));
            assert!(is_below || is_exception, "{name} must not use {other}");
        }
    }
}

/// Returns code without its comments and unit tests.
fn code(text: &str) -> String {
    let text = match text.find("#[cfg(test)]\nmod tests {") {
        Some(tests) => &text[..tests],
        None => text,
    };
    text.lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the words that directly follow `prefix`. After a list in braces, these are the first words
/// of its items.
fn words_after<'a>(code: &'a str, prefix: &str) -> Vec<&'a str> {
    let word = |text: &'a str| text.split(|c| !is_word(c)).next().unwrap_or_default();
    let mut found = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        if code[..at].ends_with(is_word) {
            continue;
        }
        let rest = &code[at + prefix.len()..];
        let Some(list) = rest.strip_prefix('{') else {
            found.push(word(rest));
            continue;
        };
        let mut depth = 0;
        let mut start = 0;
        for (at, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    found.push(word(list[start..at].trim_start()));
                    start = at + 1;
                    if c == '}' {
                        break;
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// Collects all Rust files below a folder, except tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if name.contains("test") && name != "test" {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Returns, for each top-level module of a crate, the modules that it uses.
fn modules(folder: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let src = folder.join("src");
    let root = [src.join("lib.rs"), src.join("main.rs")].into_iter().find(|path| path.is_file());
    let root = code(&fs::read_to_string(root.unwrap()).unwrap());
    let modules: BTreeSet<String> =
        words_after(&root, "mod ").into_iter().map(str::to_owned).collect();
    // `pub use module::{Name, …}`: the name is at home in the module.
    let mut home = BTreeMap::new();
    for statement in root.split("pub use ").skip(1) {
        let statement = statement.split(';').next().unwrap_or_default();
        let module = statement.split(|c| !is_word(c)).next().unwrap_or_default();
        if modules.contains(module) {
            for name in statement.split(|c| !is_word(c)).skip(1).filter(|name| !name.is_empty()) {
                home.entry(name.to_owned()).or_insert(module.to_owned());
            }
        }
    }
    let mut files = Vec::new();
    sources(&src, &mut files);
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files {
        let first = file.strip_prefix(&src).unwrap().components().next().unwrap();
        let module = Path::new(first.as_os_str()).with_extension("");
        let module = module.to_string_lossy().into_owned();
        if !modules.contains(&module) || module == "error" {
            continue;
        }
        let code = code(&fs::read_to_string(&file).unwrap());
        let used = uses.entry(module.clone()).or_default();
        // `super::` leads to the root from src/module.rs and src/module/mod.rs, `super::super::` from
        // src/module/part.rs, and so on.
        let depth = file.strip_prefix(&src).unwrap().components().count();
        let is_folder = file.file_name().is_some_and(|name| name == "mod.rs");
        let to_root = "super::".repeat(depth - usize::from(is_folder));
        let paths = words_after(&code, "crate::").into_iter().chain(words_after(&code, &to_root));
        for name in paths {
            let other =
                if modules.contains(name) { Some(name) } else { home.get(name).map(|m| &**m) };
            used.extend(
                other.filter(|other| *other != module && *other != "error").map(str::to_owned),
            );
        }
    }
    uses
}

/// Returns a cycle of modules, if there is one: follows uses from a module back to itself.
fn cycle(uses: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    fn visit<'a>(
        module: &'a str,
        uses: &'a BTreeMap<String, BTreeSet<String>>,
        path: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
    ) -> Option<Vec<String>> {
        if let Some(start) = path.iter().position(|other| *other == module) {
            let cycle = path[start..].iter().chain([&module]);
            return Some(cycle.map(|module| (*module).to_owned()).collect());
        }
        if done.contains(module) {
            return None;
        }
        path.push(module);
        let found =
            uses.get(module).into_iter().flatten().find_map(|other| visit(other, uses, path, done));
        path.pop();
        done.insert(module);
        found
    }
    let mut done = BTreeSet::new();
    uses.keys().find_map(|module| visit(module, uses, &mut Vec::new(), &mut done))
}

#[test]
fn modules_of_a_crate_form_no_cycle() {
    for folder in crates() {
        if let Some(cycle) = cycle(&modules(&folder)) {
            let name = folder.file_name().unwrap().to_string_lossy().into_owned();
            panic!("the modules of crates/{name} form a cycle: {}", cycle.join(" → "));
        }
    }
}

#[test]
fn parsing_does_not_use_learning() {
    let parser = Path::new(env!("CARGO_MANIFEST_DIR")).join("../parser");
    let uses = modules(&parser);
    let order = ["features", "model", "parse", "learn", "annotate"];
    for (at, module) in order.iter().enumerate() {
        for other in &uses[*module] {
            let below = order.iter().position(|name| name == other).unwrap();
            assert!(below < at, "{module} must not use {other}");
        }
    }
}

#[test]
fn a_cycle_is_found_and_named() {
    let uses = |pairs: &[(&str, &str)]| {
        let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in pairs {
            uses.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        uses
    };
    assert_eq!(cycle(&uses(&[("a", "b"), ("b", "c"), ("a", "c")])), None);
    let found = cycle(&uses(&[("a", "b"), ("b", "c"), ("c", "b")])).unwrap();
    assert_eq!(found, ["b", "c", "b"]);
    let code =
        "use crate::{one, two::{Three, four}, five};\ncrate::six::seven();\nnot_crate::eight;";
    assert_eq!(words_after(code, "crate::"), ["one", "two", "five", "six"]);
}
