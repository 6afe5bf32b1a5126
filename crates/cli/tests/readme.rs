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
