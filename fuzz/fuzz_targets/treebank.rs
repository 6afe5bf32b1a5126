//! Checks every guarantee of `tutte-treebank` on any bytes.
#![no_main]

#[path = "../../crates/treebank/tests/support/any_bytes.rs"]
mod any_bytes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| any_bytes::ask_everything(data));
