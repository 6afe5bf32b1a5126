//! Exact output of every verb: each `.trycmd` file has commands and their output.
//!
//! After an intended change: `TRYCMD=overwrite cargo test -p tutte-cli --test verbs`, and read the
//! difference.

#[test]
fn verbs() {
    trycmd::TestCases::new()
        .case("tests/verbs/*.trycmd")
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100");
}
