//! Tests of the pages in docs: what they show is what the program prints, and they are complete.
//!
//! After an intended change: `TRYCMD=overwrite cargo test -p tutte-cli --test pages`, and read the
//! difference of docs/CLI.md.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(page: impl AsRef<Path>) -> String {
    let page = root().join(page);
    fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()))
}

/// Runs the examples of docs/CLI.md in a folder that has `examples` and nothing else.
///
/// trycmd runs a page beside a folder `.in`, and in a copy of it if there is a folder `.out`.
#[test]
fn cli_page_shows_what_the_program_prints() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-page");
    let _ = fs::remove_dir_all(&folder);
    copy_folder(&root().join("examples"), &folder.join("CLI.in/examples"));
    fs::create_dir(folder.join("CLI.out")).unwrap();
    let page = folder.join("CLI.md");
    fs::copy(root().join("docs/CLI.md"), &page).unwrap();

    trycmd::TestCases::new().case(&page).env("NO_COLOR", "1").env("COLUMNS", "100").run();

    if std::env::var_os("TRYCMD").is_some_and(|mode| mode == "overwrite") {
        fs::copy(&page, root().join("docs/CLI.md")).unwrap();
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copy = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &copy);
        } else {
            fs::copy(&path, &copy).unwrap();
        }
    }
}

#[test]
fn every_verb_has_a_section_with_an_example_and_a_row_in_readme() {
    let verbs = verbs();
    assert!(verbs.len() >= 20, "verbs found in `tutte --help`: {verbs:?}");
    let page = read("docs/CLI.md");
    let readme = read("README.md");
    for verb in &verbs {
        let section =
            page.split("\n### ").find(|section| section.starts_with(&format!("{verb}\n")));
        let section = section.unwrap_or_else(|| panic!("docs/CLI.md: no section ### {verb}"));
        let example = format!("```console\n$ tutte {verb} ");
        assert!(section.contains(&example), "docs/CLI.md: no example of {verb}");
        assert!(
            readme.contains(&format!("[`{verb}`](docs/CLI.md#{verb})")),
            "README.md: no row for {verb}"
        );
    }
    let sections = page.lines().filter_map(|line| line.strip_prefix("### "));
    for section in sections {
        assert!(verbs.contains(section), "docs/CLI.md: `tutte --help` has no verb {section}");
    }
}

/// The verbs of `tutte --help`: lines such as `  parse    Parses text` before its options.
fn verbs() -> BTreeSet<String> {
    let help = Command::new(env!("CARGO_BIN_EXE_tutte")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let lines = help.lines().take_while(|line| !line.starts_with("Options:"));
    lines
        .filter_map(|line| {
            let (verb, description) = line.strip_prefix("  ")?.split_once("  ")?;
            let is_verb = !verb.is_empty() && verb.chars().all(|c| c.is_ascii_lowercase());
            (is_verb && !description.trim().is_empty()).then(|| verb.to_owned())
        })
        .collect()
}

#[test]
fn every_page_of_results_is_in_the_index() {
    let index = read("docs/RESULTS.md");
    let pages = fs::read_dir(root().join("docs/results")).unwrap();
    let names = pages.map(|page| page.unwrap().file_name().into_string().unwrap());
    for name in names {
        assert!(index.contains(&format!("(results/{name})")), "docs/RESULTS.md: no link to {name}");
    }
}

/// Pages recorded before a change of the default parser say so at their top and in the index.
#[test]
fn old_pages_of_results_say_so() {
    // … its transition pass, or factors.
    let note = "Recorded before the default parser had ";
    let index = read("docs/RESULTS.md");
    for row in index.lines().filter(|line| line.starts_with("| [") && line.contains("(results/")) {
        let name = row.split("(results/").nth(1).unwrap().split(')').next().unwrap();
        if !name.ends_with(".md") {
            continue;
        }
        let is_old = read(Path::new("docs/results").join(name)).contains(note);
        let is_listed_as_old = row.contains("| before |");
        assert_eq!(is_old, is_listed_as_old, "docs/RESULTS.md and docs/results/{name} disagree");
    }
}

#[test]
fn citation_names_this_version() {
    let version = format!("\nversion: {}\n", env!("CARGO_PKG_VERSION"));
    assert!(read("CITATION.cff").contains(&version), "CITATION.cff: not{version}");
}

#[test]
fn links_lead_somewhere() {
    let mut count = 0;
    for page in pages() {
        let text = without_code(&read(&page));
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.contains("://")) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let folder = page.parent().unwrap();
            let linked = if path.is_empty() { page.clone() } else { folder.join(path) };
            assert!(root().join(&linked).exists(), "{}: no {target}", page.display());
            if !anchor.is_empty() {
                let headings = anchors(&read(&linked));
                assert!(headings.contains(anchor), "{}: no heading {target}", page.display());
            }
            count += 1;
        }
    }
    assert!(count > 50, "links found: {count}");
}

/// All pages for people, relative to the root.
fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for folder in
        ["", "docs", "docs/results", "examples", "examples/twenty-rules", "models", "fuzz"]
    {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") {
                pages.push(Path::new(folder).join(name));
            }
        }
    }
    pages
}

/// Returns the text of a page without its blocks of code.
fn without_code(page: &str) -> String {
    let mut is_code = false;
    let prose = page.lines().filter(|line| {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    prose.collect::<Vec<_>>().join("\n")
}

/// Returns the anchors that GitHub gives to the headings of a page.
fn anchors(page: &str) -> BTreeSet<String> {
    let text = without_code(page);
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let letters = |c: char| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        _ if c.is_alphanumeric() => Some(c.to_lowercase().next().unwrap()),
        _ => None,
    };
    headings
        .map(|line| line.trim_start_matches('#').trim().chars().filter_map(letters).collect())
        .collect()
}
