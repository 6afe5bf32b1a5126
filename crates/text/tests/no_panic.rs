//! No text makes the segmenter or the tagger panic, and nothing of it is lost. The properties are in
//! `support/any_text.rs`; here they are checked on the inputs of the fuzzer and on random text. `fuzz/` checks the same
//! properties with coverage feedback.
#![cfg(feature = "train")]

#[path = "support/any_text.rs"]
mod any_text;
#[path = "../../../fuzz/inputs.rs"]
mod inputs;

use any_text::ask_everything;
use proptest::collection::vec;
use proptest::prelude::*;

#[test]
fn inputs_of_the_fuzzer() {
    for (_, input) in inputs::inputs("text") {
        ask_everything(&input);
    }
}

#[test]
fn seeds_with_every_option_and_cut_anywhere() {
    for (_, seed) in inputs::seeds("text") {
        let mut bytes = seed.clone();
        for (at, choices) in [&[0, 1][..], &[0, 1], &[0, 1, 2, 5], &[0, 3]].iter().enumerate() {
            for &choice in *choices {
                bytes[at] = choice;
                ask_everything(&bytes);
            }
            bytes[at] = seed[at];
        }
        (0..seed.len()).for_each(|end| ask_everything(&seed[..end]));
    }
}

proptest! {
    // A failing input is added to the seeds, not to a file of proptest.
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_bytes(data in vec(any::<u8>(), 0..200)) {
        ask_everything(&data);
    }

    #[test]
    fn random_text(choices in vec(any::<u8>(), 4), text in "\\PC*[ \n.?!]\\PC*") {
        ask_everything(&[&choices[..], text.as_bytes()].concat());
    }
}
