//! Compares mixtures with the mean over all trees.

use tutte_treebank::Column;

use super::*;
use crate::{Parser, TrainingOptions, train};

const TREEBANK: &str = "\
1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\t_

1\tBlack\tblack\tADJ\t_\t_\t2\tamod\t_\t_
2\tcats\tcat\tNOUN\t_\t_\t3\tnsubj\t_\t_
3\tsleep\tsleep\tVERB\t_\t_\t0\troot\t_\t_

";

fn treebank() -> Vec<Sentence> {
    tutte_treebank::Reader::new(TREEBANK.as_bytes()).collect::<Result<_, _>>().unwrap()
}

fn options() -> TrainingOptions {
    TrainingOptions { passes: 2, bits: 12, label_bits: 8, ..TrainingOptions::plain() }
}

/// Returns all trees of a distribution, best first.
fn all_trees(distribution: &LabelledDistribution<'_>) -> Vec<RankedTree> {
    let trees = distribution.kbest(100_000);
    assert!((trees.iter().map(|tree| tree.log_prob.exp()).sum::<f64>() - 1.0).abs() < 1e-9);
    trees
}

/// Compares with the definition, tree by tree.
#[test]
fn a_mixture_is_the_mean_over_all_trees() {
    let treebank = treebank();
    let model = train(&treebank, &options(), &mut ()).unwrap();
    let mut other = treebank[0].clone();
    other.set(2, Column::Upos, "NOUN").unwrap();
    let one = Parser::new(&model).distribution(&treebank[0]).unwrap();
    let two = Parser::new(&model).distribution(&other).unwrap();
    let mixture = Mixture::new(vec![(0.3, &one), (0.1, &two)]);
    let trees = all_trees(&one);
    let mut marginals = ArcMatrix::zeros(3);
    let mut labels = vec![0.0; mixture.labels().len()];
    for ranked in &trees {
        let prob = |d: &LabelledDistribution<'_>| d.log_prob(&ranked.tree).unwrap().exp();
        let prob = 0.75 * prob(&one) + 0.25 * prob(&two);
        for (head, word, label) in ranked.tree.arcs() {
            marginals[(head, word)] += prob;
            labels[label] += if (head, word) == (2, 3) { prob } else { 0.0 };
        }
        let mut sentence = treebank[0].clone();
        sentence.set_tree(ranked.tree.tree()).unwrap();
        let names: Vec<&str> =
            ranked.tree.labels().iter().map(|label| mixture.name(*label)).collect();
        sentence.set_deprels(&names).unwrap();
        let found = mixture.log_prob_in(&sentence).unwrap().exp();
        assert!((found - prob).abs() < 1e-9, "{found} {prob}");
    }
    for arc in arcs_of(3) {
        assert!((mixture.marginals()[arc] - marginals[arc]).abs() < 1e-6);
    }
    let found = mixture.label_probs(2, 3).unwrap();
    for (found, sum) in found.iter().zip(&labels) {
        assert!((found - sum / marginals[(2, 3)]).abs() < 1e-6);
    }
    let parse = mixture.best_parse(&Constraints::new()).unwrap();
    assert_eq!(parse.tree.heads(), [2, 0, 2]);
    assert!((parse.head_probs[0] - marginals[(2, 1)]).abs() < 1e-6);
    assert_eq!(mixture.greedy_heads(), [2, 0, 2]);
    let others = mixture.alternatives_above(1, 0.0).unwrap();
    assert!((others.iter().map(|other| other.probability).sum::<f64>() - 1.0).abs() < 1e-9);
}

/// Compares the most probable trees with all trees, and frequencies of samples with probabilities.
#[test]
fn several_trees_are_those_of_the_mixture() {
    let treebank = treebank();
    let model = train(&treebank, &options(), &mut ()).unwrap();
    let mut other = treebank[0].clone();
    other.set(2, Column::Upos, "NOUN").unwrap();
    other.set(1, Column::Upos, "VERB").unwrap();
    let one = Parser::new(&model).distribution(&treebank[0]).unwrap();
    let two = Parser::new(&model).distribution(&other).unwrap();
    let mixture = Mixture::new(vec![(0.6, &one), (0.4, &two)]);
    let log_prob = |ranked: RankedTree| mixture.log_prob(&ranked.tree).unwrap();
    let mut all: Vec<f64> = all_trees(&one).into_iter().map(log_prob).collect();
    assert!((all.iter().map(|log_prob| log_prob.exp()).sum::<f64>() - 1.0).abs() < 1e-9);
    all.sort_by(|a, b| b.total_cmp(a));
    for k in [1, 2, 7, 30] {
        let found = mixture.kbest(k).unwrap();
        assert_eq!(found.len(), k);
        for (ranked, expected) in found.iter().zip(&all) {
            assert!((ranked.log_prob - expected).abs() < 1e-9, "{k}");
        }
    }
    let samples = mixture.samples(4000, 1);
    assert_eq!(samples, mixture.samples(4000, 1));
    for arc in arcs_of(3) {
        let has_arc = |tree: &&LabelledTree| tree.tree().head(arc.1) == Some(arc.0);
        let share = samples.iter().filter(has_arc).count() as f64 / 4000.0;
        let expected = mixture.marginals()[arc];
        // Five standard errors.
        let error = 5.0 * (expected * (1.0 - expected) / 4000.0).sqrt() + 1e-9;
        assert!((share - expected).abs() < error, "{arc:?}: {share} and {expected}");
    }
    let best = mixture.most_probable_parse(&Constraints::new()).unwrap();
    let tree = LabelledTree::new(best.tree, best.labels).unwrap();
    assert!((mixture.log_prob(&tree).unwrap() - all[0]).abs() < 1e-9);
}

/// The nearest arc-factored distribution has the marginals of the mixture for arcs and labels. No other one has a
/// smaller divergence from the mixture.
#[test]
fn the_nearest_distribution_has_the_marginals() {
    let treebank = treebank();
    let model = train(&treebank, &options(), &mut ()).unwrap();
    let mut other = treebank[0].clone();
    other.set(2, Column::Upos, "NOUN").unwrap();
    other.set(1, Column::Upos, "VERB").unwrap();
    for tree_set in TreeSet::ALL {
        let parser = || Parser::new(&model).with_tree_set(tree_set);
        let one = parser().distribution(&treebank[0]).unwrap();
        let two = parser().distribution(&other).unwrap();
        let mixture = Mixture::new(vec![(0.6, &one), (0.4, &two)]);
        let NearestDistribution { distribution: nearest, residual } =
            mixture.nearest_distribution().unwrap();
        assert!(residual < 1e-8, "{tree_set}: {residual}");
        for arc @ (head, word) in arcs_of(3) {
            assert!((nearest.arcs().marginals()[arc] - mixture.marginals()[arc]).abs() < 1e-6);
            assert_eq!(nearest.arc_probs()[arc], mixture.arc_probs()[arc]);
            let labels = mixture.label_probs(head, word).unwrap();
            let found = nearest.label_probs(head, word).unwrap();
            for (found, expected) in found.iter().zip(labels) {
                assert!((found - expected).abs() < 1e-6, "{tree_set}: {arc:?}");
            }
        }
        let trees = all_trees(&one);
        let of = |tree: &RankedTree| mixture.log_prob(&tree.tree).unwrap();
        let total: f64 = trees.iter().map(|tree| of(tree).exp()).sum();
        assert!((total - 1.0).abs() < 1e-9);
        let entropy: f64 = trees.iter().map(|tree| -of(tree).exp() * of(tree)).sum();
        assert!(nearest.entropy() >= entropy - 1e-9 && mixture.entropy() <= entropy + 1e-9);
        // KL(p‖q) = −H(p) − E_p[log q].
        let divergence = |q: &LabelledTreeDistribution| {
            let log_q = |tree: &RankedTree| q.log_prob(&tree.tree).unwrap();
            -entropy - trees.iter().map(|tree| of(tree).exp() * log_q(tree)).sum::<f64>()
        };
        let least = divergence(nearest.trees());
        assert!(least > 1e-3, "{tree_set}: the mixture itself is arc-factored: {least}");
        let mut random = Pcg64::seed_from_u64(7);
        for scale in [1e-3, 1e-2, 0.1, 1.0] {
            for _ in 0..20 {
                let mut scores = nearest.trees().scores().clone();
                for (head, word) in arcs_of(3) {
                    for score in scores.labels_of_mut(head, word).into_iter().flatten() {
                        let uniform = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                        *score += scale * (uniform - 0.5);
                    }
                }
                let perturbed = LabelledTreeDistribution::new(scores, tree_set).unwrap();
                assert!(divergence(&perturbed) >= least - 1e-12, "{tree_set}: {scale}");
            }
        }
        let given = nearest.condition(&Constraints::new().require_root(2)).unwrap();
        assert!(given.entropy() < nearest.entropy());

        let single = Mixture::from(&one).nearest_distribution().unwrap();
        assert_eq!(single.distribution.arcs().marginals(), one.arcs().marginals());
        assert_eq!(single.residual, 0.0);
    }
}

#[test]
fn one_reading_is_the_distribution_itself() {
    let treebank = treebank();
    let options =
        TrainingOptions { passes: 2, bits: 12, label_bits: 8, ..TrainingOptions::default() };
    let model = train(&treebank, &options, &mut ()).unwrap();
    for sentence in &treebank {
        let constraints = Constraints::new();
        let analysis = Parser::new(&model).analyse(sentence, &constraints).unwrap();
        let mixture = Mixture::new(vec![(0.4, &analysis.distribution)]);
        assert_eq!(mixture.best_parse(&constraints).unwrap(), analysis.parse);
        assert_eq!(mixture.entropy(), analysis.distribution.entropy());
        let own = analysis.distribution.log_prob_in(sentence).unwrap();
        assert_eq!(mixture.log_prob_in(sentence).unwrap(), own);
    }
}
