//! Tests of every optimizer on labelled trees, and of models of every labelling.

use tutte_treebank::Sentence;
use tutte_trees::TreeSet;

use crate::learn::TrainedPass;
use crate::learn::train::tests::{at_most, optimizers, options, sentence, treebank};
use crate::{
    Decoding, LabelOptions, LabelledDistribution, Labelling, Optimizer, Parser, ParserModel,
    TrainingOptions, Weights, train,
};

fn joint_options(optimizer: Optimizer) -> TrainingOptions {
    TrainingOptions { labelling: Labelling::Joint, ..options(optimizer) }
}

/// Returns the numbers of wrong heads, and of wrong heads or labels, in the most probable trees.
fn errors<W: Weights>(model: &ParserModel<W>, treebank: &[Sentence]) -> (usize, usize) {
    let mut parser = Parser::new(model).with_decoding(Decoding::Map);
    let mut errors = (0, 0);
    for sentence in treebank {
        let parse = parser.parse(sentence).unwrap();
        let found = parse.tree.heads().iter().zip(&parse.labels);
        for (word, (&head, &label)) in sentence.words().zip(found) {
            let head_is_wrong = word.head() != Some(head);
            let label_is_wrong = word.deprel() != model.labels.labels()[label];
            errors.0 += usize::from(head_is_wrong);
            errors.1 += usize::from(head_is_wrong || label_is_wrong);
        }
    }
    errors
}

#[test]
fn every_optimizer_fits_labelled_trees() {
    let original = treebank();
    for tree_set in TreeSet::ALL {
        let treebank = at_most(tree_set);
        for optimizer in optimizers() {
            let options = TrainingOptions { tree_set, ..joint_options(optimizer) };
            let model = train(&original, &options, &mut ()).unwrap();
            assert_eq!(errors(&model, &treebank), (0, 0), "{:?} {tree_set}", options.optimizer);
        }
    }
}

/// The pruner and the first pass have no joint labels; the second pass has.
#[test]
fn the_last_of_two_passes_is_joint() {
    let treebank = treebank();
    let cascade = TrainingOptions::default();
    for labelling in [Labelling::Staged, Labelling::Joint, Labelling::None] {
        let plain = TrainingOptions { labelling, ..options(Optimizer::default()) };
        let pruning = cascade.pruning.clone();
        let second_pass = cascade.second_pass.clone();
        let mut seen = Vec::new();
        let model = train(
            &treebank,
            &TrainingOptions { pruning, second_pass, ..plain },
            &mut |TrainedPass { pass, model, .. }: TrainedPass<'_>| {
                assert!(Parser::new(model).parse(&treebank[4]).is_ok());
                seen.push((pass.is_second, model.labels.labelling()));
            },
        )
        .unwrap();
        seen.dedup();
        let first = if labelling == Labelling::Joint { Labelling::Staged } else { labelling };
        assert_eq!(seen, [(false, first), (true, labelling)]);
        if labelling != Labelling::None {
            assert_eq!(errors(&model, &treebank), (0, 0), "{labelling}");
        }
    }
}

/// A temperature applies to arcs. The label probabilities of an arc do not depend on it.
#[test]
fn temperatures_do_not_change_label_probabilities() {
    let treebank = treebank();
    let options = TrainingOptions { passes: 2, ..joint_options(Optimizer::default()) };
    let hotter = train(&treebank, &options, &mut ()).unwrap();
    let model = ParserModel { temperature: 0.5, ..hotter.clone() };
    let hot = Parser::new(&hotter).distribution(&treebank[4]).unwrap();
    let cool = Parser::new(&model).distribution(&treebank[4]).unwrap();
    for (head, modifier, score) in hot.arcs().scores().arcs() {
        let found = cool.arcs().scores()[(head, modifier)];
        assert!((found - 2.0 * score).abs() < 1e-4, "{found} {score}");
        let probs = |d: &LabelledDistribution<'_>| d.label_probs(head, modifier).unwrap();
        for (cool, hot) in probs(&cool).into_iter().zip(probs(&hot)) {
            assert!((cool - hot).abs() < 1e-5);
        }
    }
    // The best labelled tree is that of temperature 1.
    let best = Parser::new(&model).with_decoding(Decoding::Map).parse(&treebank[4]).unwrap();
    assert_eq!(&best.tree, hot.trees().argmax().tree.tree());
}

#[test]
fn compact_weights_give_the_same_trees() {
    let treebank = treebank();
    let model = train(&treebank, &joint_options(Optimizer::default()), &mut ()).unwrap();
    assert_eq!(errors(&model.compact(), &treebank), (0, 0));
}

#[test]
fn the_same_seed_gives_the_same_weights_for_any_number_of_threads() {
    let treebank = treebank();
    for optimizer in optimizers() {
        let trained = |seed, threads| {
            let options = TrainingOptions {
                seed,
                threads,
                passes: 3,
                bits: 14,
                ..joint_options(optimizer.clone())
            };
            let mut losses = Vec::new();
            let model =
                train(&treebank, &options, &mut |TrainedPass { pass, .. }: TrainedPass<'_>| {
                    losses.push(pass.loss.to_bits())
                });
            let model = model.unwrap();
            let weights = model.arcs.weights.iter().chain(&model.labels.weights);
            (weights.map(|weight| weight.to_bits()).collect::<Vec<_>>(), losses)
        };
        let first = trained(7, 1);
        for threads in [2, 3] {
            assert!(first == trained(7, threads), "{optimizer:?} with {threads} threads");
        }
    }
}

#[test]
fn the_model_of_the_last_report_is_returned() {
    let treebank = treebank();
    for name in Optimizer::NAMES {
        let options =
            TrainingOptions { passes: 4, ..joint_options(Optimizer::named(name).unwrap()) };
        let mut losses = Vec::new();
        let mut last = Vec::new();
        let model =
            train(&treebank, &options, &mut |TrainedPass { pass, model, .. }: TrainedPass<'_>| {
                losses.push(pass.loss);
                last.clone_from(&model.labels.weights);
            });
        assert_eq!(last, model.unwrap().labels.weights);
        let dual = name.starts_with("eg");
        let (first, last) = (losses[0], losses[losses.len() - 1]);
        assert!(if dual { last > first } else { last < first }, "{name}: {losses:?}");
    }
}

/// The probabilities of a parse are those of the distribution.
#[test]
fn parses_and_distributions_agree() {
    let treebank = treebank();
    for labelling in [Labelling::Staged, Labelling::Joint, Labelling::None] {
        let options = TrainingOptions { labelling, passes: 2, ..options(Optimizer::default()) };
        let model = train(&treebank, &options, &mut ()).unwrap();
        let mut parser = Parser::new(&model);
        for sentence in &treebank {
            let parse = parser.parse(sentence).unwrap();
            let distribution = parser.distribution(sentence).unwrap();
            assert_eq!(distribution.trees().labels(), model.labels.labels().len().max(1));
            let found = parse.head_probs.iter().zip(&parse.label_probs).zip(&parse.labels);
            for ((head, modifier), ((head_prob, label_prob), &label)) in
                parse.tree.arcs().zip(found)
            {
                let expected = distribution.arcs().marginal(head, modifier).unwrap();
                assert!((head_prob - expected).abs() < 1e-5, "{head_prob} {expected}");
                let probs = distribution.label_probs(head, modifier).unwrap();
                assert!((label_prob - probs[label]).abs() < 1e-5);
                assert!(probs.iter().all(|prob| *prob <= probs[label] + 1e-5));
            }
            if labelling == Labelling::Joint {
                let best =
                    Parser::new(&model).with_decoding(Decoding::Map).parse(sentence).unwrap();
                let expected = distribution.trees().argmax().tree;
                assert_eq!((&best.tree, &best.labels[..]), (expected.tree(), expected.labels()));
            }
        }
    }
}

/// As in Universal Dependencies, the label `root` occurs at the root of the toy treebank and nowhere else.
#[test]
fn labels_stay_at_the_root_or_away_from_it() {
    let treebank = treebank();
    for labelling in [Labelling::Staged, Labelling::Joint] {
        // After one pass, weights alone would allow any label anywhere.
        let labels = LabelOptions { passes: Some(1), ..LabelOptions::default() };
        let options =
            TrainingOptions { labelling, labels, passes: 1, ..options(Optimizer::default()) };
        let model = train(&treebank, &options, &mut ()).unwrap();
        let name = |label: usize| model.labels.labels()[label].as_str();
        for label in 0..model.labels.labels().len() {
            assert_eq!(model.labels.allows(0, label), name(label) == "root");
            assert_eq!(model.labels.allows(3, label), name(label) != "root");
        }
        let mut parser = Parser::new(&model);
        for sentence in &treebank {
            let distribution = parser.distribution(sentence).unwrap();
            for (head, modifier, label, probability) in distribution.trees().marginals().arcs() {
                assert!(
                    probability == 0.0 || (head == 0) == (name(label) == "root"),
                    "{head} → {modifier} {}",
                    name(label)
                );
            }
        }
    }
}

/// Labels seen in both places stay possible in both. A treebank without arcs between words restricts none.
#[test]
fn labels_seen_in_both_places_are_allowed_in_both() {
    let treebank =
        [sentence("a/X/0/l b/Y/1/l c/Y/1/k"), sentence("a/X/2/k b/Y/0/k"), sentence("d/Z/0/only")];
    let options =
        |labelling| TrainingOptions { labelling, passes: 2, ..options(Optimizer::default()) };
    for labelling in [Labelling::Staged, Labelling::Joint] {
        let model = train(&treebank, &options(labelling), &mut ()).unwrap();
        assert_eq!(model.labels.labels(), ["k", "l", "only"]);
        let allowed = |head| [0, 1, 2].map(|label| model.labels.allows(head, label));
        assert_eq!([allowed(0), allowed(1)], [[true; 3], [true, true, false]]);
        let short = &treebank[2..];
        let model = train(short, &options(labelling), &mut ()).unwrap();
        assert!(model.labels.allows(0, 0) && model.labels.allows(1, 0));
        // Arcs between words are possible, though the treebank has none.
        assert!(Parser::new(&model).parse(&treebank[0]).is_ok());
    }
}

/// Training further on trees with labels in other places allows those places.
#[test]
fn training_further_allows_labels_in_new_places() {
    let first = [sentence("a/X/2/l b/Y/0/root")];
    let then = [sentence("a/X/2/root b/Y/0/l")];
    for labelling in [Labelling::Staged, Labelling::Joint] {
        let options = TrainingOptions { labelling, ..options(Optimizer::default()) };
        let model = train(&first, &options, &mut ()).unwrap();
        assert!(!model.labels.allows(0, 0) && !model.labels.allows(1, 1));
        let model = crate::train_further(model, &then, &options, &mut ()).unwrap();
        assert!([0, 1].iter().all(|&label| model.labels.allows(0, label)));
        assert!([0, 1].iter().all(|&label| model.labels.allows(1, label)));
    }
}

#[test]
fn without_labels_arcs_are_learnt_as_with_staged_ones() {
    let mut treebank = treebank();
    let trained = |treebank: &[Sentence], labelling| {
        let options = TrainingOptions { labelling, passes: 3, ..options(Optimizer::default()) };
        train(treebank, &options, &mut ()).unwrap()
    };
    let bare = trained(&treebank, Labelling::None);
    assert!(bare.labels.labels().is_empty());
    assert_eq!(bare.arcs.weights, trained(&treebank, Labelling::Staged).arcs.weights);
    let parse = Parser::new(&bare).parse(&treebank[0]).unwrap();
    Parser::new(&bare).annotate(&mut treebank[0]).unwrap();
    assert!(treebank[0].words().all(|word| word.deprel() == "_"));
    assert_eq!(parse.label_probs, [1.0; 3]);
    // Labels of the treebank do not matter.
    assert_eq!(bare.arcs.weights, trained(&treebank, Labelling::None).arcs.weights);
}

#[test]
fn sentences_may_be_long_and_short() {
    let mut lines = String::new();
    for number in 1..=120 {
        let (head, label) = if number == 60 { (0, "root") } else { (60, "l") };
        lines += &format!("{number}\tw{}\t_\tX\t_\t_\t{head}\t{label}\t_\t_\n", number % 7);
    }
    let treebank = [lines.parse().unwrap(), sentence("yes/INTJ/0/root")];
    for name in Optimizer::NAMES {
        let optimizer = Optimizer::named(name).unwrap();
        let options = TrainingOptions { passes: 1, bits: 12, ..joint_options(optimizer) };
        let model = train(&treebank, &options, &mut ()).unwrap();
        let weights = || model.arcs.weights.iter().chain(&model.labels.weights);
        assert!(weights().all(|weight| weight.is_finite()), "{name}");
        assert!(weights().any(|weight| *weight != 0.0), "{name}");
    }
}
