//! Calls every public function of `tutte-trees` on the input that the bytes decode to.
#![no_main]

#[path = "../../crates/trees/tests/support/every_question.rs"]
mod every_question;

libfuzzer_sys::fuzz_target!(|data: &[u8]| every_question::ask_everything(data));
