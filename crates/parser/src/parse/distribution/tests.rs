//! Identities that hold for every distribution, and comparison with enumeration.

use tutte_trees::oracle;

use super::*;
use crate::learn::train::tests::{options, treebank};
use crate::{
    Annotation, AnnotationOptions, Labelling, Mixture, Optimizer, Parser, ParserModel,
    TrainingOptions, train,
};

/// Models with little training, so that trees are uncertain: staged, joint, without labels; each with one pass over all
/// arcs, and with all steps.
fn models() -> Vec<ParserModel> {
    let plain =
        TrainingOptions { passes: 2, bits: 14, label_bits: 8, ..options(Optimizer::default()) };
    let whole = TrainingOptions { pruning: TrainingOptions::default().pruning, ..plain.clone() };
    let whole = TrainingOptions { second_pass: TrainingOptions::default().second_pass, ..whole };
    let labellings = [Labelling::Staged, Labelling::Joint, Labelling::None];
    let all = labellings.into_iter().flat_map(|labelling| {
        [&plain, &whole].map(|options| TrainingOptions { labelling, ..options.clone() })
    });
    all.map(|options| train(treebank(), &options, &mut ()).unwrap()).collect()
}

/// Calls a check with every third sentence of the treebank, every model and every tree set.
fn for_all(mut check: impl FnMut(&LabelledDistribution<'_>, &Sentence)) {
    let treebank = treebank();
    for model in models() {
        for tree_set in TreeSet::ALL {
            let mut parser = Parser::new(&model).with_tree_set(tree_set);
            for sentence in treebank.iter().step_by(3) {
                let distribution = parser.distribution(sentence).unwrap();
                assert_eq!(distribution.tree_set(), tree_set);
                check(&distribution, sentence);
            }
        }
    }
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} {expected}");
}

#[test]
fn alternatives_sum_to_one_and_are_sorted() {
    for_all(|d, sentence| {
        for word in 1..=sentence.len() {
            let all = d.alternatives(word, usize::MAX).unwrap();
            close(all.iter().map(|other| other.probability).sum(), 1.0);
            close(d.head_probs(word).unwrap().iter().sum(), 1.0);
            assert!(all.windows(2).all(|pair| pair[0].probability >= pair[1].probability));
            let mut entropy = 0.0;
            for other in &all {
                close(d.head_probs(word).unwrap()[other.head], other.probability);
                entropy -= other.probability * other.probability.ln();
                let labels = d.label_probs(other.head, word).unwrap();
                close(labels.iter().sum(), 1.0);
                assert!(labels.iter().all(|label| *label <= other.label_probability));
                assert_eq!(d.labels().is_empty(), other.label == "_");
                assert!(d.head_rank(word, other.head).unwrap() <= sentence.len());
            }
            close(d.head_entropy(word).unwrap(), entropy);
            assert_eq!(d.alternatives(word, 1).unwrap(), all[..1]);
            assert_eq!(d.head_rank(word, all[0].head).unwrap(), 1);
        }
        assert!(d.alternatives(0, 1).is_err() && d.head_probs(sentence.len() + 1).is_err());
    });
}

#[test]
fn heads_of_a_parse_have_the_probabilities_of_all_arcs() {
    let plain =
        TrainingOptions { passes: 2, bits: 14, label_bits: 8, ..options(Optimizer::default()) };
    let pruning = TrainingOptions::default().pruning;
    let pruned = train(treebank(), &TrainingOptions { pruning, ..plain }, &mut ()).unwrap();
    let mut left_out = 0;
    for model in models().into_iter().chain([pruned]) {
        for tree_set in TreeSet::ALL {
            let mut parser = Parser::new(&model).with_tree_set(tree_set);
            for sentence in treebank().iter().step_by(3) {
                let parse = parser.parse(sentence).unwrap();
                let all = parser.distribution(sentence).unwrap();
                for (arc, &prob) in parse.tree.arcs().zip(&parse.head_probs) {
                    close(prob, all.arc_probs()[arc]);
                    left_out += usize::from(prob < all.arcs().marginals()[arc] - 1e-6);
                }
            }
        }
    }
    assert!(left_out > 0, "some arcs make room for what was left out");
}

#[test]
fn arcs_of_the_best_tree_one_by_one_multiply_to_its_probability() {
    for_all(|d, _| {
        let best = &d.kbest(1)[0];
        let mut given = d.clone();
        let mut log_prob = 0.0;
        for (head, word, label) in best.tree.arcs() {
            let labels = given.label_probs(head, word).unwrap();
            log_prob += (given.head_probs(word).unwrap()[head] * labels[label]).ln();
            let arc = Constraints::new().require_arc(head, word).require_label(word, label);
            close(
                given.log_prob_of(&arc).unwrap(),
                (given.arcs().marginal(head, word).unwrap() * labels[label]).ln(),
            );
            given = given.condition(&arc).unwrap();
        }
        close(log_prob, best.log_prob);
        close(given.log_prob(&best.tree).unwrap(), 0.0);
        assert!(given.entropy() < 1e-9);
    });
}

#[test]
fn short_sentences_agree_with_enumeration() {
    for_all(|d, sentence| {
        if sentence.len() > 4 {
            return;
        }
        let scores = d.arcs().scores();
        let trees = oracle::distribution(scores, d.tree_set());
        close(d.arcs().entropy(), oracle::entropy(scores, d.tree_set()));
        let best = d.kbest(trees.len());
        assert!(best.windows(2).all(|pair| pair[0].log_prob >= pair[1].log_prob));
        for ranked in &best {
            let bare = ranked.tree.tree();
            let (p, _) = trees.iter().find(|(_, tree)| tree == bare).unwrap();
            let labels: f64 = ranked
                .tree
                .arcs()
                .map(|(head, word, label)| d.label_probs(head, word).unwrap()[label])
                .product();
            close(ranked.log_prob.exp(), p * labels);
        }
        for word in 1..=sentence.len() {
            for ancestor in 0..=sentence.len() {
                let found = d.path_prob(ancestor, word).unwrap();
                let below = trees.iter().filter(|(_, tree)| tree.descends(word, ancestor));
                close(found.mean, below.map(|(p, _)| p).sum());
                assert_eq!(found.standard_error, 0.0);
            }
        }
    });
}

#[test]
fn columns_are_as_probable_as_their_constraints() {
    for_all(|d, sentence| {
        let mut sentence = sentence.clone();
        let best = d.kbest(1).remove(0);
        sentence.set_tree(best.tree.tree()).unwrap();
        let names: Vec<&str> = best.tree.labels().iter().map(|label| d.name(*label)).collect();
        sentence.set_deprels(&names).unwrap();
        close(d.log_prob_in(&sentence).unwrap(), best.log_prob);
        let mut constraints = Constraints::new();
        for (head, word, label) in best.tree.arcs().skip(1) {
            constraints = constraints.require_arc(head, word).require_label(word, label);
        }
        sentence.set_head(1, None).unwrap();
        close(d.log_prob_in(&sentence).unwrap(), d.log_prob_of(&constraints).unwrap());
        let none = vec![None; sentence.len()];
        sentence.set_heads(&none).unwrap();
        close(d.log_prob_in(&sentence).unwrap(), 0.0);
        if sentence.len() > 1 {
            sentence.set_head(1, Some(2)).unwrap();
            sentence.set_head(2, Some(1)).unwrap();
            assert_eq!(d.log_prob_in(&sentence).unwrap(), f64::NEG_INFINITY, "a cycle");
            sentence.set_head(2, None).unwrap();
            sentence.set_deprel(1, "nowhere").unwrap();
            let expected = if d.labels().is_empty() {
                d.log_prob_of(&Constraints::new().require_arc(2, 1)).unwrap()
            } else {
                f64::NEG_INFINITY
            };
            assert_eq!(d.log_prob_in(&sentence).unwrap(), expected);
        }
        let other: Sentence = treebank()[14].clone();
        assert_eq!(d.log_prob_in(&other).is_err(), other.len() != sentence.len());
    });
}

#[test]
fn samples_are_repeatable_and_have_the_right_frequencies() {
    let treebank = treebank();
    for model in models() {
        let d = Parser::new(&model).distribution(&treebank[3]).unwrap();
        let drawn = d.samples(2_000, 7);
        assert_eq!(drawn, d.samples(2_000, 7));
        assert_ne!(drawn, d.samples(2_000, 8));
        for (head, word, p) in d.arcs().marginals().arcs() {
            let seen = drawn.iter().filter(|tree| tree.tree().head(word) == Some(head)).count();
            let share = f64::from(u32::try_from(seen).unwrap()) / 2_000.0;
            assert!((share - p).abs() < 0.06, "{head} → {word}: {share} {p}");
        }
    }
}

#[test]
fn annotations_of_given_heads_are_written_and_replaced() {
    for_all(|d, sentence| {
        let mut annotated = sentence.clone();
        let options =
            AnnotationOptions { alternatives_above: 0.01, ..AnnotationOptions::default() };
        annotated.set_head(1, None).unwrap();
        let annotation = Mixture::from(d).annotation_in(&annotated, &options).unwrap();
        annotation.write_probabilities(&mut annotated).unwrap();
        assert_eq!(annotated.word(1).unwrap().misc_entry("HeadProb"), None);
        for (word, token) in (1..).zip(annotated.words()) {
            let number = |key| token.misc_entry(key).map(|value| value.parse::<f64>().unwrap());
            let others = token.misc_entry("AltHead").into_iter().flat_map(|list| list.split(','));
            let mut sum = number("HeadProb").unwrap_or(0.0);
            for other in others {
                let (head, rest) = other.split_once(':').unwrap();
                let (label, probability) = rest.rsplit_once(':').unwrap();
                let head: usize = head.parse().unwrap();
                assert!(Some(head) != token.head());
                let (best, _) = d.best_label(head, word).unwrap();
                assert_eq!(label, d.name(best));
                sum += probability.parse::<f64>().unwrap();
            }
            // Heads that were left out are not listed.
            let heads = (0..=sentence.len()).filter(|&head| head != word);
            let left_out = heads.filter(|&head| d.arcs().marginals()[(head, word)] == 0.0);
            sum += left_out.map(|head| d.arc_probs()[(head, word)]).sum::<f64>();
            assert!(sum > 1.0 - 0.01 * sentence.len() as f64 && sum < 1.001, "{sum}");
            if let Some(head) = token.head() {
                let expected = d.arc_probs()[(head, word)];
                assert!((number("HeadProb").unwrap() - expected).abs() < 1e-4);
                assert_eq!(number("LabelProb").is_some(), !d.labels().is_empty());
                let rank = d.head_rank(word, head).unwrap().to_string();
                assert_eq!(token.misc_entry("HeadRank"), Some(rank.as_str()));
            }
        }
        let once = annotated.clone();
        annotation.write_probabilities(&mut annotated).unwrap();
        assert_eq!(annotated, once);
        annotated.set_heads(&sentence.partial_heads().collect::<Vec<_>>()).unwrap();
        Annotation::clear(&mut annotated).unwrap();
        assert_eq!(
            annotated.as_str(),
            sentence.as_str(),
            "everything written is removed, and nothing else"
        );
    });
}
