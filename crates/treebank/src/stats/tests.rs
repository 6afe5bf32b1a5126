//! Compares the statistics with slow twins that enumerate arcs, paths and orders.

use proptest::prelude::*;
use tutte_trees::Tree;

use super::shape::Shape;
use super::{Histogram, Statistics};
use crate::Sentence;

/// Heads of a random tree: each word depends on the root or on a word before it in a random order.
fn heads(most: usize) -> impl Strategy<Value = Vec<usize>> {
    (1..=most).prop_flat_map(|n| {
        let order = Just((1..=n).collect::<Vec<_>>()).prop_shuffle();
        let choices = proptest::collection::vec(any::<prop::sample::Index>(), n);
        (order, choices).prop_map(move |(order, choices)| {
            let mut heads = vec![0; n];
            for (at, (&word, choice)) in order.iter().zip(&choices).enumerate() {
                let choice = choice.index(at + 1);
                heads[word - 1] = if choice == 0 { 0 } else { order[choice - 1] };
            }
            heads
        })
    })
}

fn sentence(heads: &[usize], forms: &[&str]) -> Sentence {
    let line = |(at, head): (usize, &usize)| {
        let form = forms[at % forms.len()];
        let tag = ["NOUN", "VERB"][at % 2];
        let label = if *head == 0 { "root" } else { ["obj", "nsubj", "det"][at % 3] };
        format!(
            "{}\t{form}\t{form}\t{tag}\tT{}\tA=1|B={}\t{head}\t{label}\t_\t_\n",
            at + 1,
            at % 2,
            at % 4
        )
    };
    heads.iter().enumerate().map(line).collect::<String>().parse().unwrap()
}

/// True if `word` is `ancestor` or one of its descendants.
fn below(heads: &[usize], mut word: usize, ancestor: usize) -> bool {
    while word != ancestor && word != 0 {
        word = heads[word - 1];
    }
    word == ancestor
}

fn gap_degree(heads: &[usize]) -> usize {
    let gaps = |word: usize| {
        let yields: Vec<usize> = (1..=heads.len()).filter(|&w| below(heads, w, word)).collect();
        yields.windows(2).filter(|pair| pair[1] - pair[0] > 1).count()
    };
    (1..=heads.len()).map(gaps).max().unwrap_or(0)
}

fn nonprojective(heads: &[usize], modifier: usize) -> bool {
    let head = heads[modifier - 1];
    let (low, high) = (head.min(modifier), head.max(modifier));
    (low + 1..high).any(|between| !below(heads, between, head))
}

/// Returns all orders of `0..n`, as lists of positions.
fn orders(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![vec![]];
    }
    let longer = |order: Vec<usize>| {
        (0..n).map(move |at| {
            let mut order = order.clone();
            order.insert(at, n - 1);
            order
        })
    };
    let sequences = orders(n - 1).into_iter().flat_map(longer);
    sequences.collect()
}

/// Returns the mean sum of arc lengths over all orders, and over those that keep the tree
/// projective.
fn baselines(heads: &[usize]) -> (f64, f64) {
    let mut all = vec![];
    let mut projective = vec![];
    for order in orders(heads.len()) {
        // `order[word - 1]` is the new position of the word, from 0.
        let mut moved = vec![0; heads.len()];
        for (word, &head) in (1..).zip(heads) {
            moved[order[word - 1]] = if head == 0 { 0 } else { order[head - 1] + 1 };
        }
        let arcs = (1..).zip(&moved).filter(|&(_, &head)| head > 0);
        let length: usize = arcs.map(|(modifier, &head)| head.abs_diff(modifier)).sum();
        all.push(length as f64);
        if Tree::new(&moved).unwrap().is_projective() {
            projective.push(length as f64);
        }
    }
    let mean = |sums: &[f64]| sums.iter().sum::<f64>() / sums.len() as f64;
    (mean(&all), mean(&projective))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn shapes_agree_with_enumeration(heads in heads(9)) {
        let shape = Shape::new(&Tree::new(&heads).unwrap());
        let n = heads.len();
        let depth = |word: usize| (1..=n).filter(|&above| below(&heads, word, above)).count();
        prop_assert_eq!(shape.depth, (1..=n).map(depth).max().unwrap());
        prop_assert_eq!(shape.depths, (1..=n).map(depth).sum::<usize>() as u64);
        prop_assert_eq!(shape.roots, heads.iter().filter(|&&head| head == 0).count());
        prop_assert_eq!(
            shape.nonprojective_arcs,
            (1..=n).filter(|&modifier| nonprojective(&heads, modifier)).count()
        );
        prop_assert_eq!(shape.gap_degree, gap_degree(&heads));
        for word in 1..=n {
            let children: Vec<usize> =
                (1..=n).filter(|modifier| heads[modifier - 1] == word).collect();
            let left = children.iter().filter(|&&child| child < word).count();
            let [l, r] = shape.children[word - 1];
            prop_assert_eq!((l as usize, r as usize), (left, children.len() - left));
        }
    }

    #[test]
    fn counts_sum(all in proptest::collection::vec(heads(12), 1..5)) {
        let mut statistics = Statistics::default();
        for heads in &all {
            statistics.add(&sentence(heads, &["a", "b", "cc", "a"]));
        }
        let summary = statistics.summary();
        let words = all.iter().map(Vec::len).sum::<usize>() as u64;
        prop_assert_eq!(summary.words, words);
        prop_assert_eq!(summary.lengths.total(), summary.sentences);
        prop_assert_eq!(summary.lengths.sum(), words);
        for list in [&summary.upos, &summary.xpos] {
            prop_assert_eq!(list.iter().map(|share| share.count).sum::<u64>(), words);
            prop_assert!((list.iter().map(|share| share.share).sum::<f64>() - 1.0).abs() < 1e-12);
        }
        prop_assert_eq!(summary.deprels.iter().map(|label| label.count).sum::<u64>(), words);
        // Label by label and word by word.
        for label in &summary.deprels {
            let mut counts = Vec::new();
            for heads in &all {
                let sentence = sentence(heads, &["a"]);
                let has_label = |(modifier, head): (usize, usize)| {
                    sentence.words().nth(modifier).is_some_and(|word| word.deprel() == label.value)
                        && head > 0
                };
                for word in 1..=heads.len() {
                    let modifiers = heads.iter().copied().enumerate().filter(|arc| arc.1 == word);
                    counts.push(modifiers.filter(|arc| has_label(*arc)).count());
                }
            }
            let at_least = |least| counts.iter().filter(|count| **count >= least).count() as u64;
            prop_assert_eq!((label.heads, label.repeating_heads), (at_least(1), at_least(2)));
        }
        let trees = &summary.trees;
        prop_assert_eq!(trees.arcs, words);
        prop_assert_eq!(trees.arc_lengths.bins().iter().map(|bin| bin.1).sum::<u64>(), words);
        let between = words - trees.arc_lengths.to_root;
        prop_assert_eq!(trees.arc_lengths.exact.total(), between);
        prop_assert_eq!(summary.tag_pairs.iter().map(|pair| pair.count).sum::<u64>(), between);
        prop_assert_eq!(trees.gap_degrees.total(), trees.trees);
        prop_assert_eq!(trees.nonprojective_trees, trees.trees - trees.gap_degrees.count(0));
        prop_assert_eq!(trees.depths.total(), trees.trees);
        let branching = &trees.branching;
        prop_assert_eq!(branching.children.total(), words);
        prop_assert_eq!(branching.children.sum(), between);
        prop_assert_eq!(
            branching.leaves + branching.left_only + branching.right_only + branching.both_sides,
            words
        );
        let initial = |arcs: f64, share: Option<f64>| arcs * share.unwrap_or(0.0);
        let by_label: f64 = summary
            .deprels
            .iter()
            .filter(|label| label.value != "root")
            .map(|label| initial(label.count as f64, label.head_initial_share))
            .sum();
        let by_pair: f64 = summary
            .tag_pairs
            .iter()
            .map(|pair| initial(pair.count as f64, Some(pair.head_initial_share)))
            .sum();
        prop_assert!((by_label - trees.head_initial_arcs as f64).abs() < 1e-6);
        prop_assert!((by_pair - trees.head_initial_arcs as f64).abs() < 1e-6);
    }

    #[test]
    fn merging_equals_counting_all(
        all in proptest::collection::vec(heads(8), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let sentences: Vec<Sentence> = all.iter().map(|heads| sentence(heads, &["x", "y"])).collect();
        let (first, second) = sentences.split_at(cut.index(sentences.len()));
        let collect = |sentences: &[Sentence]| {
            let mut statistics = Statistics::default();
            sentences.iter().for_each(|sentence| statistics.add(sentence));
            statistics
        };
        let mut merged = collect(first);
        merged.merge(&collect(second));
        prop_assert_eq!(&merged, &collect(&sentences));
        prop_assert_eq!(merged.summary(), collect(&sentences).summary());
    }

    #[test]
    fn a_histogram_agrees_with_a_sorted_list(values in proptest::collection::vec(0usize..9, 0..30)) {
        let histogram: Histogram = values.iter().copied().collect();
        let mut sorted = values.clone();
        sorted.sort_unstable();
        let n = sorted.len();
        let middle = |at: usize| sorted[at] as f64;
        let median = (n > 0).then(|| (middle((n - 1) / 2) + middle(n / 2)) / 2.0);
        prop_assert_eq!(histogram.median(), median);
        prop_assert_eq!(histogram.sum(), values.iter().sum::<usize>() as u64);
        prop_assert_eq!((histogram.min(), histogram.max()),
            (sorted.first().copied(), sorted.last().copied()));
        let within = values.iter().filter(|value| (2..=5).contains(*value)).count();
        prop_assert_eq!(histogram.within(2..=5), within as u64);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn baselines_are_means_over_orders(heads in heads(6)) {
        let shape = Shape::new(&Tree::new(&heads).unwrap());
        let (all, projective) = baselines(&heads);
        prop_assert!((shape.random_length_3 as f64 / 3.0 - all).abs() < 1e-9);
        // With several roots, the trees of the root words stay intervals too.
        prop_assert!((shape.random_projective_length_6 as f64 / 6.0 - projective).abs() < 1e-9);
    }
}

#[test]
fn surface_tokens_are_not_words() {
    let sentence: Sentence = "\
1-2\tWanna\t_\t_\t_\t_\t_\t_\t_\t_
1\tWan\twant\tVERB\t_\t_\t0\troot\t_\t_
2\tna\tto\tPART\t_\t_\t3\tmark\t_\t_
3\tsip\tsip\tVERB\t_\t_\t1\txcomp\t_\t_
3.1\tit\t_\t_\t_\t_\t_\t_\t_\t_
4\ttéa\ttea\tNOUN\t_\tNumber=Sing|Typo=Yes\t3\tobj\t_\t_
"
    .parse()
    .unwrap();
    let mut statistics = Statistics::default();
    statistics.add(&sentence);
    let summary = statistics.summary();
    assert_eq!((summary.words, summary.tokens), (4, 3));
    assert_eq!((summary.multiword_tokens, summary.empty_nodes), (1, 1));
    assert_eq!(summary.characters, 11);
    assert_eq!((summary.features.len(), summary.words_with_features), (2, 1));
    assert_eq!(summary.xpos, []);
}

#[test]
fn sentences_without_a_tree_count_for_the_rest() {
    let mut statistics = Statistics::default();
    let circle = "1\ta\t_\tX\t_\t_\t2\tdep\t_\t_\n2\tb\t_\tX\t_\t_\t1\tdep\t_\t_\n";
    let unknown = "1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n";
    statistics.add(&circle.parse().unwrap());
    statistics.add(&unknown.parse().unwrap());
    let summary = statistics.summary();
    assert_eq!((summary.sentences, summary.words, summary.trees.trees), (2, 3, 0));
    assert_eq!(summary.trees.without_tree, 2);
    assert_eq!(summary.trees.nonprojective_arc_share, None);
    assert_eq!(summary.trees.dependency_length.mean, None);
    assert_eq!(summary.deprels.len(), 2);
}

#[test]
fn empty_treebanks_have_no_shares() {
    let summary = Statistics::default().summary();
    assert_eq!((summary.sentences, summary.mean_length, summary.max_length), (0, None, None));
    assert_eq!(summary.vocabulary.type_token_ratio, None);
}
