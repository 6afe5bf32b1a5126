//! No public function panics on any input, and no answer contradicts another: the shared questions of
//! `support/every_question.rs` over fixed and random bytes. `fuzz/` asks the same questions with
//! coverage feedback.

#[path = "support/any_factors.rs"]
mod any_factors;
#[path = "support/every_question.rs"]
mod every_question;
#[path = "../../../fuzz/inputs.rs"]
mod inputs;

use every_question::{Sentence, ask_everything};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use tutte_trees::{Tree, TreeSet};

#[test]
fn fixed_seeds() {
    ask_everything(&[]);
    for words in 0..=20 {
        // The byte that decodes to this many words (see `Sentence::decode`).
        let first = if words <= 8 { words } else { 235 + words };
        for palette in 0..8 {
            for forbidden in 0..4 {
                for step in [1, 91] {
                    let rest = (0..1200).map(|i: u32| (i * step % 251) as u8);
                    let data: Vec<u8> =
                        [first, palette, forbidden].into_iter().chain(rest).collect();
                    assert_eq!(Sentence::decode(&data).heads.len(), usize::from(words));
                    ask_everything(&data);
                }
            }
        }
    }
    for tree_set in TreeSet::ALL {
        ask_everything(tree_set.to_string().as_bytes());
    }
}

#[test]
fn inputs_of_the_fuzzer() {
    for (_, input) in inputs::inputs("trees") {
        ask_everything(&input);
    }
    for (_, input) in inputs::inputs("factors") {
        any_factors::ask_everything(&input);
    }
}

proptest! {
    // A finding becomes a fixed seed above, not a file of random ones.
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_bytes(data in vec(any::<u8>(), 0..400)) {
        ask_everything(&data);
    }

    #[test]
    fn random_bytes_as_factor_graphs(data in vec(any::<u8>(), 0..600)) {
        any_factors::ask_everything(&data);
    }
}

/// The tests above are useful only if the bytes decode to sentences of every sort.
#[test]
fn bytes_decode_to_every_kind_of_sentence() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut lengths = [0; 21];
    let mut trees = 0;
    let mut refused = 0;
    let mut forbidden = 0;
    let mut garbage = 0;
    for _ in 0..2000 {
        let data = vec(any::<u8>(), 0..400).new_tree(&mut runner).unwrap().current();
        let sentence = Sentence::decode(&data);
        lengths[sentence.heads.len()] += 1;
        trees += usize::from(Tree::new(&sentence.heads).is_ok());
        refused += usize::from(sentence.bad_arc().is_some());
        forbidden += usize::from(sentence.scores.arcs().any(|(.., x)| x == f64::NEG_INFINITY));
        garbage += usize::from(sentence.cells.iter().any(|x| x.is_nan()));
    }
    assert!(lengths.iter().all(|&count| count > 0), "{lengths:?}");
    for count in [trees, refused, forbidden, garbage] {
        assert!((100..1900).contains(&count), "{trees} {refused} {forbidden} {garbage}");
    }
}
