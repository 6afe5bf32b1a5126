//! What README shows is what the program prints.
//!
//! After a wanted change: `TRYCMD=overwrite cargo test -p tutte-cli --test readme`, and
//! `tutte draw -o svg --only 1 examples/tea-system.conllu > docs/images/telescope.svg`.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn readme_shows_what_the_program_prints() {
    std::env::set_current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap();
    trycmd::TestCases::new().case("README.md").env("NO_COLOR", "1").env("COLUMNS", "100").run();

    let draw = ["draw", "-o", "svg", "--only", "1", "examples/tea-system.conllu"];
    let drawn = Command::new(env!("CARGO_BIN_EXE_tutte")).args(draw).output().unwrap().stdout;
    let shown = fs::read("docs/images/telescope.svg").unwrap();
    assert!(drawn == shown, "docs/images/telescope.svg is not what tutte draws");
}

/// The list of commands, one after the other in a folder that has the files they name.
#[test]
fn the_commands_of_readme_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, content: &[u8]| fs::write(folder.join(name), content).unwrap();
    let example = |name: &str| fs::read(root.join("examples").join(name)).unwrap();
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

    let program = Path::new(env!("CARGO_BIN_EXE_tutte")).parent().unwrap().to_owned();
    let path = std::env::join_paths(
        std::iter::once(program).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let blocks = readme.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
    let commands = blocks.flat_map(str::lines).filter(|line| line.starts_with("tutte "));
    let mut count = 0;
    for command in commands {
        let ran = Command::new("sh")
            .args(["-c", command])
            .env("PATH", &path)
            .current_dir(&folder)
            .output()
            .unwrap();
        // Differences, leaks and the like are found with exit code 1.
        let finds = ["tutte check ", "tutte diff "].iter().any(|verb| command.starts_with(verb));
        let fine = ran.status.success() || (finds && ran.status.code() == Some(1));
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(fine, "{command}\n{said}");
        count += 1;
    }
    assert!(count >= 20, "README has lost its commands: {count}");
}
