//! Checks of the probabilities of arcs that were left out.

use proptest::prelude::*;

use super::*;

/// Adds what a step left out word by word, as the formula says.
fn word_by_word(step: &ArcMatrix, probs: &mut ArcMatrix) {
    for modifier in 1..=probs.words() {
        let heads: Vec<usize> = (0..=step.words()).filter(|&head| head != modifier).collect();
        let is_left_out: Vec<bool> =
            heads.iter().map(|&head| probs[(head, modifier)] == 0.0).collect();
        let left_out = heads.iter().zip(&is_left_out).filter(|(_, is_left_out)| **is_left_out);
        let share: f64 = left_out.map(|(&head, _)| step[(head, modifier)]).sum();
        for (&head, is_left_out) in heads.iter().zip(is_left_out) {
            let arc = (head, modifier);
            probs[arc] = if is_left_out { step[arc] } else { probs[arc] * (1.0 - share) };
        }
    }
}

/// Probabilities of which many are 0. Cells that are not arcs have any value.
fn probabilities(words: usize) -> impl Strategy<Value = ArcMatrix> {
    let cell = prop_oneof![Just(0.0), 0.0..1.0f64, Just(1.0), Just(1e-300)];
    let cells = (words + 1) * (words + 1);
    proptest::collection::vec(cell, cells..=cells)
        .prop_map(move |cells| ArcMatrix::from_vec(words, cells).unwrap())
}

proptest! {
    #[test]
    fn rows_give_the_bits_of_columns(
        (step, probs) in (1usize..12).prop_flat_map(|words| (probabilities(words), probabilities(words))),
    ) {
        let mut by_rows = probs.clone();
        add_left_out(&step, &mut by_rows);
        let mut by_words = probs;
        word_by_word(&step, &mut by_words);
        for arc in arcs(step.words()) {
            prop_assert_eq!(by_rows[arc].to_bits(), by_words[arc].to_bits(), "{:?}", arc);
        }
    }

    /// After any number of steps.
    #[test]
    fn arcs_of_a_tree_have_the_probabilities_of_all_arcs(
        matrices in (1usize..12).prop_flat_map(|words| {
            (probabilities(words), probabilities(words), probabilities(words))
        }),
    ) {
        let (marginals, last, first) = matrices;
        let words = marginals.words();
        let chain = Tree::new(&(0..words).collect::<Vec<_>>()).unwrap();
        for steps in [[None, None], [Some(&last), None], [Some(&last), Some(&first)]] {
            let mut all = marginals.clone();
            steps.into_iter().flatten().for_each(|step| word_by_word(step, &mut all));
            let of_tree = arc_probs_after(&marginals, steps, &chain, &mut Default::default());
            for (arc, prob) in chain.arcs().zip(of_tree) {
                prop_assert_eq!(prob.to_bits(), all[arc].to_bits(), "{:?}", arc);
            }
        }
    }
}
