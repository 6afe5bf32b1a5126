//! Checks every guarantee of model files on any bytes.
#![no_main]

#[path = "../../crates/parser/tests/support/any_model.rs"]
mod any_model;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let path = std::env::temp_dir().join(format!("tutte-any-model-{}", std::process::id()));
    any_model::ask_everything(data, &path);
});
