//! The fuzz targets: one function per target, which takes any bytes and panics if a guarantee does not hold.
//!
//! The checks are those of the tests of each crate (`tests/support`), included here by path. One library holds them
//! all, so that all fuzzers are built at once.

#![allow(missing_docs, dead_code, reason = "the files are shared with tests, which use more of them")]

#[path = "../../crates/treebank/tests/support/any_bytes.rs"]
mod any_bytes;
#[path = "../../crates/parser/tests/support/any_checkpoint.rs"]
mod any_checkpoint;
#[path = "../../crates/neural/tests/support/any_encoder.rs"]
mod any_encoder;
#[path = "../../crates/trees/tests/support/any_factors.rs"]
mod any_factors;
#[path = "../../crates/cli/tests/support/any_jsonl.rs"]
mod any_jsonl;
#[path = "../../crates/cli/tests/support/any_manifest.rs"]
mod any_manifest;
#[path = "../../crates/parser/tests/support/any_model.rs"]
mod any_model;
#[path = "../../crates/rules/tests/support/any_rules.rs"]
mod any_rules;
#[path = "../../crates/parser/tests/support/any_templates.rs"]
mod any_templates;
#[path = "../../crates/text/tests/support/any_text.rs"]
mod any_text;
#[path = "../../crates/parser/tests/support/any_verdicts.rs"]
mod any_verdicts;
#[path = "../../crates/trees/tests/support/every_question.rs"]
mod every_question;

use std::path::PathBuf;

/// Every question about trees.
pub fn trees(data: &[u8]) {
    every_question::ask_everything(data);
}

/// Any bytes as a factor graph.
pub fn factors(data: &[u8]) {
    any_factors::ask_everything(data);
}

/// Any bytes as a treebank.
pub fn treebank(data: &[u8]) {
    any_bytes::ask_everything(data);
}

/// Any bytes as raw text.
pub fn text(data: &[u8]) {
    any_text::ask_everything(data);
}

/// Any bytes as a rules file, or as the table of the paper.
pub fn rules(data: &[u8]) {
    any_rules::ask_everything(data);
}

/// Any bytes as JSON Lines.
pub fn jsonl(data: &[u8]) {
    any_jsonl::ask_everything(data);
}

/// Any bytes as the manifest of a job.
pub fn manifest(data: &[u8]) {
    any_manifest::ask_everything(data, &scratch("manifest"));
}

/// Any bytes as feature templates.
pub fn templates(data: &[u8]) {
    any_templates::ask_everything(data);
}

/// Any bytes as verdicts of an audit.
pub fn verdicts(data: &[u8]) {
    any_verdicts::ask_everything(data);
}

/// Any bytes as a model file.
pub fn model(data: &[u8]) {
    any_model::ask_everything(data, &scratch("model"));
}

/// Any bytes as a packed model.
pub fn packed(data: &[u8]) {
    any_model::ask_packed(data, &scratch("packed"));
}

/// Any bytes as an encoder folder, or as a network of a model file.
pub fn encoder(data: &[u8]) {
    any_encoder::ask_everything(data, &scratch("encoder"));
}

/// Any changes of a checkpoint.
pub fn checkpoint(data: &[u8]) {
    any_checkpoint::ask_everything(data, &scratch("checkpoint"));
}

/// Returns a file for this process to write.
fn scratch(target: &str) -> PathBuf {
    std::env::temp_dir().join(format!("tutte-fuzz-{target}-{}", std::process::id()))
}
