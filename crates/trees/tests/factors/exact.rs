//! Graphs without cycles: belief propagation is exact.

use proptest::prelude::*;
use tutte_trees::factors::{Decoder, FactorGraph, Inference, Limit, Options, Schedule};
use tutte_trees::{ArcMatrix, Error, TreeDistribution, TreeSet, oracle};

use super::support::*;
use super::{beliefs, enumerate, run};

const ONE: Options = Options {
    iterations: 1,
    tolerance: 0.0,
    damping: 0.0,
    schedule: Schedule::Serial,
    inference: Inference::SumProduct,
    record: false,
};

proptest! {
    #![proptest_config(runs(300))]

    /// Without other factors, one iteration gives the engine's marginals, at any range of scores.
    #[test]
    fn no_factors(case in cases(0..=5)) {
        for (set, d) in case.distributions() {
            let graph = FactorGraph::new(&case.scores, set).unwrap();
            for schedule in [Schedule::Serial, Schedule::Flooding, Schedule::TreeFirst] {
                let (mut messages, report) = run(&graph, &Options { schedule, ..ONE });
                assert_eq!(report.iterations, 1);
                let found = beliefs(&graph, &messages);
                assert_arcs_close(&found, d.marginals(), case.tolerance().max(1e-10), set);
                let log_z = graph.log_partition(&mut messages);
                let tolerance = 1e-10 * (1.0 + d.log_partition().abs());
                assert_close(log_z, d.log_partition(), tolerance, set);
                let tree = graph.decode(&mut messages, Decoder::SumOfBeliefs).unwrap();
                let sum = |tree| d.marginals().sum_over(tree).unwrap();
                assert_close(sum(&tree), sum(&d.mbr()), 1e-9, "expected arcs");
                let own = graph.tree_distribution(&messages).unwrap();
                assert_arcs_close(own.marginals(), d.marginals(), 1e-9, "TREE's distribution");
            }
        }
    }

    /// Without other factors, max-product gives the best tree with each arc minus the best without it.
    #[test]
    fn best_trees(case in mild_cases(1..=4)) {
        for (set, d) in case.distributions() {
            let graph = FactorGraph::new(&case.scores, set).unwrap();
            let options = Options { inference: Inference::MaxProduct, ..ONE };
            let (mut messages, _) = run(&graph, &options);
            let mut log_odds = ArcMatrix::default();
            graph.log_odds(&messages, &mut log_odds);
            let trees = oracle::scored_trees(&case.scores, set);
            for (head, modifier) in graph.arcs() {
                let best = |has: bool| {
                    let some = trees.iter().filter(|(_, tree)| (tree.head(modifier) == Some(head)) == has);
                    some.map(|(score, _)| *score).fold(f64::NEG_INFINITY, f64::max)
                };
                let (with, without) = (best(true), best(false));
                let found = log_odds[(head, modifier)];
                if with.is_finite() && without.is_finite() {
                    assert_close(found, with - without, 1e-9, format!("{set}, {head} → {modifier}"));
                } else {
                    assert_eq!(found > 0.0, with.is_finite());
                }
            }
            assert_close(graph.log_partition(&mut messages), d.argmax().score, 1e-9, set);
            let tree = graph.decode(&mut messages, Decoder::TreeMode).unwrap();
            assert_close(case.scores.sum_over(&tree).unwrap(), d.argmax().score, 1e-9, set);
        }
    }

    /// Labels without further factors: link odds Σ e^s, P(arc, label) = b · softmax.
    #[test]
    fn labels(case in mild_cases(1..=4)) {
        for (set, _) in case.distributions() {
            let mut random = case.random();
            let mut graph = FactorGraph::new(&case.scores, set).unwrap();
            let mut summed = case.scores.clone();
            let mut shares = Vec::new();
            for (head, modifier) in graph.arcs().collect::<Vec<_>>() {
                let labels: Vec<(usize, f64)> = (0..3).map(|l| (l + 5, random.normal())).collect();
                graph.add_labels(head, modifier, &labels).unwrap();
                let sum: f64 = labels.iter().map(|(_, s)| s.exp()).sum();
                summed[(head, modifier)] += sum.ln();
                shares.push(((head, modifier), labels.iter().map(|(_, s)| s.exp() / sum).collect::<Vec<_>>()));
            }
            let d = TreeDistribution::new(summed, set).unwrap();
            // LABEL, then TREE; the answer has to come back to the labels.
            let (mut messages, report) = run(&graph, &Options { iterations: 3, ..ONE });
            assert!(report.converged, "{report:?}");
            assert_arcs_close(&beliefs(&graph, &messages), d.marginals(), 1e-10, set);
            assert_close(graph.log_partition(&mut messages), d.log_partition(), 1e-9, set);
            for ((head, modifier), shares) in shares {
                let found: Vec<(usize, f64)> = graph.label_beliefs(&messages, head, modifier).collect();
                let p = d.marginal(head, modifier).unwrap();
                for (at, share) in shares.iter().enumerate() {
                    assert_eq!(found[at].0, at + 5);
                    assert_close(found[at].1, p * share, 1e-10, "label");
                }
            }
        }
    }
}

/// NOT2 and ATMOST1 describe the same distribution. One joint factor is exact, many pairs are not.
#[test]
fn joined_factors_are_better_than_pairs() {
    let mut random = Random::new(3);
    for words in [3, 5] {
        let mut errors = [0.0; 2];
        let rounds = 40;
        for _ in 0..rounds {
            // The heads of the last word; all other words hang on the root.
            let mut scores = ArcMatrix::forbidden(words);
            for word in 1..=words {
                scores[(0, word)] = 0.0;
            }
            for head in 0..words {
                scores[(head, words)] = 1.0 + random.normal();
            }
            let odds: Vec<f64> = (0..words).map(|head| scores[(head, words)].exp()).collect();
            let z = 1.0 + odds.iter().sum::<f64>();
            for (which, error) in errors.iter_mut().enumerate() {
                let mut graph = FactorGraph::new(&scores, TreeSet::NonProjectiveMultiRoot).unwrap();
                graph.set_tree_factor(false);
                if which == 0 {
                    graph.add_at_most_one_head().unwrap();
                } else {
                    graph.add_not_two_heads().unwrap();
                }
                let options = Options { iterations: 200, tolerance: 1e-12, damping: 0.3, ..ONE };
                let (mut messages, _) = run(&graph, &options);
                for (head, odds) in odds.iter().enumerate() {
                    *error += (graph.belief(&messages, head, words) - odds / z).abs()
                        / (rounds * words) as f64;
                }
                if which == 0 {
                    // The other words: at most one head of odds 1.
                    let expected = z.ln() + (words - 1) as f64 * 2f64.ln();
                    assert_close(graph.log_partition(&mut messages), expected, 1e-9, "log Z");
                }
            }
        }
        assert!(errors[0] < 1e-10, "{errors:?}");
        assert!((0.02..0.2).contains(&errors[1]), "{errors:?}");
    }
}

/// One TAGLINK among the tags, and trigrams without arcs: exact in both cases.
#[test]
fn tags() {
    let mut random = Random::new(8);
    let words = 3;
    let scores = random.scores(words, 1.0);
    let set = TreeSet::NonProjectiveSingleRoot;
    let tag_scores: Vec<f64> = (0..6).map(|_| random.normal()).collect();
    let link: Vec<f64> = (0..4).map(|_| 2.0 * random.normal()).collect();
    let trigrams: Vec<f64> = (0..18).map(|_| random.normal()).collect();
    for with_link in [true, false] {
        let mut graph = FactorGraph::new(&scores, set).unwrap();
        graph.add_tags(2, &tag_scores).unwrap();
        if with_link {
            graph.add_tag_link(1, 3, &link).unwrap();
        } else {
            graph.add_tag_trigrams(&trigrams).unwrap();
        }
        let (mut messages, report) = run(&graph, &Options { iterations: 6, ..ONE });
        assert!(report.converged);
        let mut z = 0.0;
        let mut arcs = ArcMatrix::zeros(words);
        let mut tags = [[0.0; 2]; 3];
        for (score, tree) in oracle::scored_trees(&scores, set) {
            for bits in 0..8usize {
                let tag = [bits & 1, bits >> 1 & 1, bits >> 2];
                let mut score = score + (0..3).map(|w| tag_scores[2 * w + tag[w]]).sum::<f64>();
                if with_link {
                    score += if tree.head(3) == Some(1) { link[2 * tag[0] + tag[2]] } else { 0.0 };
                } else {
                    let at = |a: usize, b: usize, c: usize| trigrams[(a * 3 + b) * 2 + c];
                    score += at(2, 2, tag[0]) + at(2, tag[0], tag[1]) + at(tag[0], tag[1], tag[2]);
                }
                z += score.exp();
                for arc in tree.arcs() {
                    arcs[arc] += score.exp();
                }
                for w in 0..3 {
                    tags[w][tag[w]] += score.exp();
                }
            }
        }
        assert_close(graph.log_partition(&mut messages), z.ln(), 1e-9, "log Z");
        arcs.map_in_place(|weight| weight / z);
        assert_arcs_close(&beliefs(&graph, &messages), &arcs, 1e-10, "arcs");
        for w in 0..3 {
            for tag in 0..2 {
                let found = graph.tag_beliefs(&messages, w + 1)[tag];
                assert_close(found, tags[w][tag] / z, 1e-10, "tag");
            }
        }
    }
}

/// A hard limit of one label per head brings beliefs nearer to the constrained distribution.
#[test]
fn one_label_per_head() {
    let mut random = Random::new(21);
    let set = TreeSet::NonProjectiveSingleRoot;
    let (mut with, mut without) = (0.0, 0.0);
    for _ in 0..40 {
        let scores = random.scores(3, 1.0);
        let labels = [random.scores(3, 1.0), random.scores(3, 1.0)];
        // Σ over labels given a tree: at most one child of each head has label 0.
        let extra = |tree: &tutte_trees::Tree| -> f64 {
            let mut total = 1.0;
            for head in 0..=3 {
                let children: Vec<_> = tree.arcs().filter(|arc| arc.0 == head).collect();
                let weight = |arc: &(usize, usize), label: usize| labels[label][*arc].exp();
                let none: f64 = children.iter().map(|arc| weight(arc, 1)).product();
                let one: f64 = children.iter().map(|arc| weight(arc, 0) / weight(arc, 1)).sum();
                total *= none * (1.0 + one);
            }
            total.ln()
        };
        let (exact, _) = enumerate(&scores, set, extra);
        for is_limited in [true, false] {
            let mut graph = FactorGraph::new(&scores, set).unwrap();
            for arc in graph.arcs().collect::<Vec<_>>() {
                graph
                    .add_labels(arc.0, arc.1, &[(0, labels[0][arc]), (1, labels[1][arc])])
                    .unwrap();
            }
            for head in (1..=3).filter(|_| is_limited) {
                let added = graph.add_label_limit(head, 0, Limit::Hard).unwrap();
                assert!(added.is_some());
            }
            let options = Options { iterations: 200, tolerance: 1e-10, damping: 0.3, ..ONE };
            let (messages, report) = run(&graph, &options);
            assert!(report.converged);
            let found = beliefs(&graph, &messages);
            let error: f64 = exact.arcs().map(|(h, m, p)| (found[(h, m)] - p).abs()).sum();
            *(if is_limited { &mut with } else { &mut without }) += error / (40.0 * 9.0);
        }
    }
    assert!(with < 0.015 && with < 0.75 * without, "{with} {without}");
}

#[test]
fn an_empty_sentence() -> Result<(), Error> {
    for set in TreeSet::ALL {
        let graph = FactorGraph::new(&ArcMatrix::zeros(0), set)?;
        let (mut messages, report) = run(&graph, &Options::default());
        assert_eq!((report.iterations, report.converged), (5, true));
        assert_eq!(graph.log_partition(&mut messages), 0.0);
        assert_eq!(graph.decode(&mut messages, Decoder::SumOfBeliefs)?.words(), 0);
    }
    Ok(())
}
