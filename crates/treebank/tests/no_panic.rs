//! No public function panics on any input, and every documented property holds. The properties are
//! in `support/any_bytes.rs`; here they are checked on the inputs of the fuzzer, on damaged files and
//! on random bytes. `fuzz/` checks the same properties with coverage feedback.

#[path = "support/any_bytes.rs"]
mod any_bytes;
#[path = "../../../fuzz/inputs.rs"]
mod inputs;
mod support;

use any_bytes::ask_everything;
use proptest::collection::vec;
use proptest::prelude::*;

#[test]
fn inputs_of_the_fuzzer() {
    for (_, input) in inputs::inputs("treebank") {
        ask_everything(&input);
    }
}

#[test]
fn seeds_with_every_option_and_cut_anywhere() {
    for (_, seed) in inputs::seeds("treebank") {
        let mut bytes = seed.clone();
        for at in 0..8 {
            for choice in 0..12 {
                bytes[at] = choice;
                ask_everything(&bytes);
            }
            bytes[at] = seed[at];
        }
        (0..seed.len()).for_each(|end| ask_everything(&seed[..end]));
    }
}

proptest! {
    // A failing input is added to the seeds, not to a file of random ones.
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_bytes(data in vec(any::<u8>(), 0..200)) {
        ask_everything(&data);
    }

    #[test]
    fn damaged_files(
        choices in vec(any::<u8>(), 8),
        file in support::file(),
        damage in vec((any::<proptest::sample::Index>(), any::<u8>()), 0..3),
    ) {
        let mut data = choices;
        data.extend_from_slice(file.as_bytes());
        for (at, byte) in damage {
            let at = at.index(data.len());
            data[at] = byte;
        }
        ask_everything(&data);
    }
}
