//! The output that README shows is what the program prints, and its commands run.
//!
//! After an intended change: `TRYCMD=overwrite cargo test -p tutte-cli --test readme`, and
//! `tutte draw --to svg --only 1 examples/tea-system.conllu > docs/images/telescope.svg`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn readme_shows_what_the_program_prints() {
    std::env::set_current_dir(root()).unwrap();
    trycmd::TestCases::new().case("README.md").env("NO_COLOR", "1").env("COLUMNS", "100").run();

    let draw = ["draw", "--to", "svg", "--only", "1", "examples/tea-system.conllu"];
    let drawn = Command::new(env!("CARGO_BIN_EXE_tutte")).args(draw).output().unwrap().stdout;
    let shown = fs::read("docs/images/telescope.svg").unwrap();
    assert!(drawn == shown, "docs/images/telescope.svg is not what tutte draws");
}

/// The text below the picture repeats the probability of an arc.
#[test]
fn readme_says_what_its_picture_shows() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, after) = readme.split_once("obl ").unwrap();
    let shown = &after[..3];
    assert!(readme.contains(&format!("through it with probability {shown}, and")), "{shown}");
    let other: f64 = 1.0 - shown.parse::<f64>().unwrap();
    assert!(readme.contains(&format!("had it with {}.", &format!("{other:.2}")[1..])));
}

/// The two commands that a newcomer and .ci/run start with.
#[test]
fn readme_has_the_two_first_commands() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let commands = shell_lines(&readme);
    for command in [
        "cargo run -p tutte-cli -- parse -t \"I saw the man with a telescope.\"",
        "cargo test --workspace",
    ] {
        let is_there =
            commands.iter().any(|line| line.split('#').next().unwrap().trim() == command);
        assert!(is_there, "README has lost {command}");
    }
}

#[test]
fn the_commands_of_readme_run() {
    let count = run_commands("README.md", "readme");
    assert!(count >= 10, "README has lost its commands: {count}");
}

#[test]
fn the_list_of_commands_in_cli_page_runs() {
    let count = run_commands("docs/CLI.md", "cli-list");
    assert!(count >= 26, "docs/CLI.md has lost its commands: {count}");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The lines of all `sh` blocks of a page.
fn shell_lines(page: &str) -> Vec<&str> {
    let blocks = page.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
    blocks.flat_map(str::lines).collect()
}

/// Runs the commands of a page, one after the other, in a folder that has the files they name, and
/// returns their number.
fn run_commands(page: &str, folder: &str) -> usize {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    prepare(&folder);
    let program = Path::new(env!("CARGO_BIN_EXE_tutte")).parent().unwrap().to_owned();
    let path = std::env::join_paths(
        std::iter::once(program).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    let text = fs::read_to_string(root().join(page)).unwrap();
    let mut count = 0;
    for command in shell_lines(&text).into_iter().filter(|line| line.starts_with("tutte ")) {
        let ran = Command::new("sh")
            .args(["-c", command])
            .env("PATH", &path)
            .current_dir(&folder)
            .output()
            .unwrap();
        // Differences, leaks and the like are found with exit code 1.
        let finds = ["tutte check ", "tutte diff "].iter().any(|verb| command.starts_with(verb));
        let is_fine = ran.status.success() || (finds && ran.status.code() == Some(1));
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(is_fine, "{page}: {command}\n{said}");
        count += 1;
    }
    count
}

/// Makes a folder with the files that the commands of README and docs/CLI.md name.
fn prepare(folder: &Path) {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).unwrap();
    let write = |name: &str, content: &[u8]| fs::write(folder.join(name), content).unwrap();
    let example = |name: &str| fs::read(root().join("examples").join(name)).unwrap();
    for name in ["corpus", "examples"] {
        fs::create_dir(folder.join(name)).unwrap();
    }
    let garden = ["en_ewt-ud-train", "train", "treebank", "raw", "trees"];
    let tests = ["en_ewt-ud-dev", "test", "in", "half", "dev"];
    for (names, content) in
        [(garden, example("garden.conllu")), (tests, example("garden-test.conllu"))]
    {
        names.into_iter().for_each(|name| write(&format!("{name}.conllu"), &content));
    }
    write("gold.conllu", &example("tea.conllu"));
    write("system.conllu", &example("tea-system.conllu"));
    write("examples/tea.conllu", &example("tea.conllu"));
    write("in.conll", b"1\ttea\ttea\tN\tNN\t_\t0\troot\t_\t_\n\n");
    write("rules.tut", &example("twenty-rules/twenty.tut"));
    let text = b"The cat sleeps in the garden.\nIt is old .\n";
    let texts = ["letters.txt", "a.tok", "b.tok", "corpus/letters.txt"];
    texts.into_iter().for_each(|name| write(name, text));
}
