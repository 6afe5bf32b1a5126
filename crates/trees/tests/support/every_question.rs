//! Asks every public question about any bytes: nothing may panic, no answer may be NaN, and no answer
//! may contradict another.
//!
//! The bytes decode into one small [`Sentence`]. The remaining bytes choose the questions: constraints,
//! functions of arcs, labels, a graph. Fuzzing (`fuzz/`) and the property tests (`tests/no_panic.rs`)
//! share these files, so a new public method is called here, once for both.

mod basics;
mod bytes;
mod distributions;
mod graphs;
mod higher_order;
mod labelled;
mod stuck;

pub(crate) use bytes::Sentence;

use rand_pcg::rand_core::{Rng, SeedableRng};
use tutte_trees::{ArcMatrix, Error, TreeSet};

use stuck::Stuck;

/// Decodes `data` and asks all questions.
///
/// # Panics
/// If an answer is wrong.
pub(crate) fn ask_everything(data: &[u8]) {
    let sentence = Sentence::decode(data);
    basics::ask_names(data);
    basics::ask_matrix(&sentence);
    let tree = basics::ask_heads(&sentence.heads);
    distributions::ask(&sentence, tree.as_ref());
    labelled::ask(&sentence, tree.as_ref());
    higher_order::ask(&sentence, tree.as_ref());
    graphs::ask(&sentence);
}

/// Orders of the Rényi entropy that are answered, increasing.
const ORDERS: [f64; 11] =
    [0.0, 1e-300, 0.5, 1.0 - 1e-4, 1.0 - 1e-9, 1.0, 1.0 + 1e-9, 2.0, 50.0, 1e300, f64::INFINITY];
/// Orders that are refused.
const NO_ORDERS: [f64; 3] = [-1e-300, f64::NEG_INFINITY, f64::NAN];

/// One seeded generator, and two that always return the smallest or the largest number.
fn generators(seed: u8) -> [Box<dyn Rng>; 3] {
    let seeded = rand_pcg::Pcg64::seed_from_u64(u64::from(seed));
    [Box::new(seeded), Box::new(Stuck(0)), Box::new(Stuck(u64::MAX))]
}

/// Checks the entropies at [`ORDERS`]: none is negative or NaN, and none exceeds the one before it by
/// more than the tolerance.
fn assert_are_renyi_entropies(entropies: &[f64], tolerance: f64) {
    assert_eq!(entropies.len(), ORDERS.len());
    assert!(entropies.iter().all(|h| h.is_finite() && *h >= 0.0), "{entropies:?}");
    for (pair, orders) in entropies.windows(2).zip(ORDERS.windows(2)) {
        assert!(pair[1] <= pair[0] + tolerance, "Rényi entropies {pair:?} of orders {orders:?}");
    }
}

fn assert_is_no_tree(error: &Error, words: usize, expected: TreeSet) {
    let Error::NoTree { tree_set, words: named } = error else { panic!("{error}") };
    assert_eq!(*tree_set, expected);
    assert!(named.is_sorted(), "{named:?}");
    assert!(named.iter().all(|word| (1..=words).contains(word)), "{named:?} of {words} words");
    assert!(!error.to_string().is_empty());
}

/// Checks that marginals are probabilities, that each word has one head, and that forbidden arcs have
/// probability 0. In single-root sets, there must be one root word.
fn assert_is_distribution(
    marginals: &ArcMatrix,
    scores: &ArcMatrix,
    tree_set: TreeSet,
    tolerance: f64,
) {
    let words = scores.words();
    assert_eq!(marginals.words(), words);
    for (head, modifier, p) in marginals.arcs() {
        assert!((0.0..=1.0 + 1e-9).contains(&p), "P({head} → {modifier}) = {p}");
        assert!(p == 0.0 || scores[(head, modifier)] > f64::NEG_INFINITY);
    }
    if words == 0 || tolerance > 0.1 {
        return; // no word, or no digits left to add up
    }
    for modifier in 1..=words {
        let heads = (0..=words).filter(|&head| head != modifier);
        let sum: f64 = heads.map(|head| marginals[(head, modifier)]).sum();
        assert!((sum - 1.0).abs() <= tolerance, "the heads of word {modifier} sum to {sum}");
    }
    let roots: f64 = (1..=words).map(|modifier| marginals[(0, modifier)]).sum();
    assert!(roots >= 1.0 - tolerance, "{roots} root words are expected");
    assert!(!tree_set.is_single_root() || roots <= 1.0 + tolerance, "{roots} root words");
}

/// Checks that values are equal bit by bit, NaN included.
fn assert_same_bits(left: &[f64], right: &[f64]) {
    assert!(left.iter().map(|x| x.to_bits()).eq(right.iter().map(|x| x.to_bits())));
}

fn assert_no_nan(values: &[f64]) {
    assert!(values.iter().all(|x| !x.is_nan()), "{values:?}");
}
