//! What every verb prints, word for word: each `.trycmd` file holds commands and their output.
//!
//! After a wanted change: `TRYCMD=overwrite cargo test -p tutte-cli --test verbs`, and read the
//! difference.

#[test]
fn verbs() {
    trycmd::TestCases::new()
        .case("tests/verbs/*.trycmd")
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100");
}
