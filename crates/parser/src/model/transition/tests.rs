//! Tests of the transition parser: costs of steps, trees, directions.

use proptest::prelude::*;
use tutte_linear::Rounding;
use tutte_treebank::Sentence;
use tutte_trees::{Tree, TreeSet};

use super::state::{ParserState, Step};
use super::*;
use crate::learn::transition::{TransitionExample, learn};

/// Generates projective trees of up to five words.
fn trees(is_single_root: bool) -> impl Strategy<Value = Vec<usize>> {
    let heads = (1usize..6).prop_flat_map(|words| proptest::collection::vec(0..=words, words));
    heads.prop_filter_map("no projective tree", move |heads| {
        let set = if is_single_root {
            TreeSet::ProjectiveSingleRoot
        } else {
            TreeSet::ProjectiveMultiRoot
        };
        Tree::new(&heads).is_ok_and(|tree| tree.check_in(set).is_ok()).then_some(heads)
    })
}

/// Returns the fewest wrong heads of all reachable trees, by trying all steps.
fn fewest_wrong(at: &ParserState, gold: &[usize]) -> usize {
    let possible = at.possible();
    let after = Step::ALL.into_iter().filter(|step| possible[*step as usize]).map(|step| {
        let mut next = at.clone();
        next.take(step, 0);
        fewest_wrong(&next, gold)
    });
    after
        .min()
        .unwrap_or_else(|| at.heads().iter().zip(gold).filter(|(head, gold)| head != gold).count())
}

proptest! {
    /// Compares costs with their definition, along a path of random steps.
    #[test]
    fn a_step_costs_the_arcs_that_it_puts_out_of_reach(
        gold in trees(false),
        choices in proptest::collection::vec(0usize..6, 10),
    ) {
        let mut at = ParserState::default();
        at.start(gold.len(), false, Direction::Forwards);
        for choice in choices {
            let costs = at.costs(&gold);
            let best = fewest_wrong(&at, &gold);
            let possible: Vec<Step> =
                Step::ALL.into_iter().filter(|step| costs[*step as usize].is_some()).collect();
            if possible.is_empty() {
                break;
            }
            for step in &possible {
                let mut next = at.clone();
                next.take(*step, 0);
                let cost = costs[*step as usize].unwrap_or_default();
                prop_assert_eq!(fewest_wrong(&next, &gold), best + cost, "{:?} of {:?}", step, gold);
            }
            at.take(possible[choice % possible.len()], 0);
        }
    }

    #[test]
    fn steps_that_cost_nothing_lead_to_the_tree(
        gold in trees(true),
        choices in proptest::collection::vec(0usize..6, 10),
    ) {
        let mut at = ParserState::default();
        at.start(gold.len(), true, Direction::Forwards);
        for choice in choices {
            let costs = at.costs(&gold);
            let free: Vec<Step> =
                Step::ALL.into_iter().filter(|step| costs[*step as usize] == Some(0)).collect();
            if free.is_empty() {
                break;
            }
            at.take(free[choice % free.len()], 0);
        }
        prop_assert_eq!(at.heads(), gold);
    }

    /// Holds for any weights, and also for a single word.
    #[test]
    fn a_transition_parse_is_a_tree(words in 1usize..12, weights in proptest::collection::vec(-9f32..9.0, 48)) {
        let sentence = (1..=words).map(|id| format!("{id}\tw{id}\t_\tX\t_\t_\t_\t_\t_\t_\n"));
        let sentence: Sentence = sentence.collect::<String>().parse().unwrap();
        let atoms = Atoms::new(&sentence, &TransitionParser::<Vec<f32>>::COLUMNS);
        let mut transition = TransitionParser::untrained(4, 3, 2, true);
        transition.steps = weights;
        for (set, is_single) in [(TreeSet::ProjectiveSingleRoot, true), (TreeSet::ProjectiveMultiRoot, false)] {
            let transition_parse = transition.parse(&atoms, set, &mut TransitionMemory::default());
            for heads in [&transition_parse.heads, &transition_parse.backwards] {
                let tree = Tree::new(heads).unwrap();
                prop_assert!(tree.check_in(set).is_ok());
                prop_assert!(!is_single || heads.iter().filter(|head| **head == 0).count() == 1);
            }
        }
    }
}

/// The first pass draws no random numbers, so both parsers learn from the same steps. The tables are so
/// large that the two directions hardly share a row.
#[test]
fn reading_backwards_is_reading_the_reversed_sentence() {
    let lines = ["Old\told\tADJ", "tea\ttea\tNOUN", "cools\tcool\tVERB"];
    let set = TreeSet::ProjectiveSingleRoot;
    let transition_parse = |lines: &[&str], heads: &[usize]| {
        let line = |(id, line): (usize, &&str)| format!("{id}\t{line}\t_\t_\t_\t_\t_\t_\n");
        let sentence: Sentence = (1..).zip(lines).map(line).collect::<String>().parse().unwrap();
        let atoms = Atoms::new(&sentence, &TransitionParser::<Vec<f32>>::COLUMNS);
        let example = TransitionExample { atoms: &atoms, heads, labels: &[] };
        let transition = learn(TransitionParser::untrained(22, 4, 1, true), &[example], 1, 1, set);
        transition.parse(&atoms, set, &mut TransitionMemory::default())
    };
    let backwards = Direction::Backwards;
    for heads in [[0, 1, 2], [2, 0, 2], [2, 3, 0], [3, 1, 0], [0, 3, 1], [3, 3, 0]] {
        let turned = backwards.turn_heads(&heads);
        assert_eq!(backwards.turn_heads(&turned), heads);
        let one = transition_parse(&lines, &heads);
        let other = transition_parse(&backwards.turn_list(&lines), &turned);
        assert_eq!(backwards.turn_heads(&one.backwards), other.heads, "{heads:?}");
        assert_eq!(backwards.turn_heads(&other.backwards), one.heads, "{heads:?}");
    }
}

#[test]
fn learnt_trees_are_found_with_weights_of_8_bits_too() {
    let text = "\
1\tDogs\tdog\tNOUN\t_\tNumber=Plur\t2\tnsubj\t_\t_
2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
3\tblack\tblack\tADJ\t_\t_\t4\tamod\t_\t_
4\tcats\tcat\tNOUN\t_\tNumber=Plur\t2\tobj\t_\t_
5\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_
";
    let sentence: Sentence = text.parse().unwrap();
    let atoms = Atoms::new(&sentence, &TransitionParser::<Vec<f32>>::COLUMNS);
    let heads = vec![2, 0, 4, 2, 2];
    let labels = vec![2, 3, 0, 1, 4];
    let known: Vec<Option<usize>> = labels.iter().copied().map(Some).collect();
    let example = TransitionExample { atoms: &atoms, heads: &heads, labels: &known };
    let set = TreeSet::NonProjectiveSingleRoot;
    let transition = learn(TransitionParser::untrained(12, 10, 5, true), &[example], 5, 1, set);
    assert_eq!(transition.bits(), [12, 10]);
    let expected = TransitionParse { heads: heads.clone(), labels, backwards: heads.clone() };
    let mut memory = TransitionMemory::default();
    assert_eq!(transition.parse(&atoms, set, &mut memory), expected);
    assert_eq!(transition.rounded(Rounding::Nearest).parse(&atoms, set, &mut memory), expected);
    let again = learn(TransitionParser::untrained(12, 10, 5, true), &[example], 5, 1, set);
    assert_eq!(again.steps, transition.steps, "the same seed, the same weights");
    let one_way = learn(TransitionParser::untrained(12, 10, 5, false), &[example], 5, 1, set);
    let expected = TransitionParse { backwards: Vec::new(), ..expected };
    assert_eq!(one_way.parse(&atoms, set, &mut memory), expected);
}
