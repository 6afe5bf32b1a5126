//! No rules file makes the crate panic. The properties are in `support/any_rules.rs`; here they are checked on the
//! inputs of the fuzzer, on damaged files and on random text. `fuzz/` checks the same properties with coverage feedback.

#[path = "support/any_rules.rs"]
mod any_rules;
#[path = "../../../fuzz/inputs.rs"]
mod inputs;

use any_rules::ask_everything;
use proptest::collection::vec;
use proptest::prelude::*;

#[test]
fn inputs_of_the_fuzzer() {
    let rules = inputs::inputs("rules").iter().filter(|(_, input)| ask_everything(input)).count();
    assert!(rules >= 3, "only {rules} inputs are rules");
}

proptest! {
    // A failing input is added to the seeds, not to a file of proptest.
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_bytes(data in vec(any::<u8>(), 0..200)) {
        ask_everything(&data);
    }

    #[test]
    fn damaged_files(
        seed in any::<prop::sample::Index>(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let inputs = inputs::inputs("rules");
        let mut data = seed.get(&inputs).1.clone();
        prop_assume!(!data.is_empty());
        for (at, byte) in damage {
            let at = at.index(data.len());
            data[at] = byte;
        }
        ask_everything(&data);
    }
}
