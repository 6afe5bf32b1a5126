//! Toy treebanks, and tests of every optimizer.

use std::ops::ControlFlow;

use tutte_treebank::Sentence;
use tutte_trees::{TreeSet, Workspace, argmax_with};

use super::*;
use crate::learn::TrainedPass;
use crate::learn::objective::{
    Objective, annealed_risk, entropy, likelihood, risk, softmax_margin,
};
use crate::learn::optimizer::{Cost, Dual, Rate, Update};
use crate::{LabelModel, Parser};

mod partial;

/// Words as form/UPOS/head/label.
const SENTENCES: [&str; 20] = [
    "the/DET/2/det cat/NOUN/3/nsubj sleeps/VERB/0/root",
    "a/DET/2/det dog/NOUN/3/nsubj barks/VERB/0/root loudly/ADV/3/advmod",
    "she/PRON/2/nsubj reads/VERB/0/root old/ADJ/4/amod books/NOUN/2/obj",
    "he/PRON/2/nsubj gave/VERB/0/root her/PRON/2/iobj a/DET/5/det flower/NOUN/2/obj",
    "birds/NOUN/2/nsubj sing/VERB/0/root in/ADP/5/case the/DET/5/det morning/NOUN/2/obl",
    "in/ADP/3/case the/DET/3/det evening/NOUN/5/obl birds/NOUN/5/nsubj rest/VERB/0/root",
    "the/DET/3/det small/ADJ/3/amod child/NOUN/4/nsubj laughed/VERB/0/root",
    "read/VERB/0/root the/DET/3/det letter/NOUN/1/obj !/PUNCT/1/punct",
    "who/PRON/2/nsubj knows/VERB/0/root the/DET/4/det answer/NOUN/2/obj ?/PUNCT/2/punct",
    "rain/NOUN/2/nsubj fell/VERB/0/root and/CCONJ/5/cc wind/NOUN/5/nsubj blew/VERB/2/conj",
    "they/PRON/2/nsubj think/VERB/0/root that/SCONJ/5/mark he/PRON/5/nsubj left/VERB/2/ccomp",
    "a/DET/2/det hearing/NOUN/4/nsubj is/AUX/4/aux scheduled/VERB/0/root on/ADP/7/case the/DET/7/det issue/NOUN/2/nmod today/ADV/4/advmod",
    "tea/NOUN/0/root with/ADP/3/case milk/NOUN/1/nmod",
    "my/DET/2/det sister/NOUN/5/nsubj has/AUX/5/aux already/ADV/5/advmod eaten/VERB/0/root",
    "stop/VERB/0/root",
    "the/DET/2/det house/NOUN/5/nsubj on/ADP/4/case fire/NOUN/2/nmod collapsed/VERB/0/root",
    "we/PRON/2/nsubj walked/VERB/0/root home/ADV/2/advmod after/ADP/6/case the/DET/6/det film/NOUN/2/obl",
    "her/DET/3/det blue/ADJ/3/amod coat/NOUN/4/nsubj hangs/VERB/0/root there/ADV/4/advmod",
    "yesterday/ADV/3/advmod he/PRON/3/nsubj bought/VERB/0/root bread/NOUN/3/obj and/CCONJ/6/cc cheese/NOUN/4/conj",
    "nobody/PRON/2/nsubj saw/VERB/0/root what/PRON/5/obj they/PRON/5/nsubj did/VERB/2/ccomp",
];

pub(crate) fn sentence(words: &str) -> Sentence {
    let line = |(number, word): (usize, &str)| {
        let columns: Vec<&str> = word.split('/').collect();
        let [form, upos, head, label] = columns[..] else { panic!("{word}") };
        format!("{number}\t{form}\t{form}\t{upos}\t_\t_\t{head}\t{label}\t_\t_\n")
    };
    (1..).zip(words.split(' ')).map(line).collect::<String>().parse().unwrap()
}

/// Returns twenty sentences, one of them not projective.
pub(crate) fn treebank() -> Vec<Sentence> {
    SENTENCES.map(sentence).into()
}

/// Returns the treebank with the trees that a model of this set can learn.
pub(crate) fn at_most(tree_set: TreeSet) -> Vec<Sentence> {
    let mut treebank = treebank();
    if tree_set.is_projective() {
        for sentence in &mut treebank {
            let tree = sentence.tree().unwrap().projectivise();
            sentence.set_tree(&tree).unwrap();
        }
    }
    treebank
}

/// Returns a model with few features, for [`train_further`].
pub(crate) fn small_model(
    treebank: &[Sentence],
    templates: &str,
    tree_set: TreeSet,
) -> ParserModel {
    let mut names: Vec<String> =
        treebank.iter().flat_map(|s| s.words().map(|w| w.deprel().to_owned())).collect();
    names.sort_unstable();
    names.dedup();
    let features = FeatureSet::parse(templates).unwrap();
    let labels = LabelModel::new(FeatureSet::parse("m.upos").unwrap(), names, 6);
    ParserModel::new(ArcModel::new(features, Index::Hashed { bits: 14 }), labels, tree_set)
}

/// Prepares a treebank for such a model.
pub(crate) fn corpus<'a>(treebank: &'a [Sentence], model: &ParserModel) -> Corpus<'a> {
    Corpus::new(treebank, &model.arcs.features, Some(&model.labels), model.tree_set).unwrap()
}

pub(crate) const SMALL: &str = "h.upos m.upos\nh.form m.upos\nh.upos m.form\nh.form m.form\nm.upos\n\
                                h.upos m-1.upos m.upos\nh.upos h+1.upos m.upos";

fn adagrad(objective: Objective) -> Optimizer {
    Optimizer::AdaGrad { objective, rate: 0.2, damping: 1.0, dropout: 0.0, batch: 4 }
}

fn exponentiated(dual: Dual, rate: Rate) -> Optimizer {
    Optimizer::Exponentiated { dual, c: 1.0, beta: 9.0, rate, gap: None }
}

/// Returns every optimizer, with parameters for a toy treebank.
pub(crate) fn optimizers() -> Vec<Optimizer> {
    vec![
        Optimizer::default(),
        adagrad(likelihood()),
        Optimizer::Perceptron,
        Optimizer::PassiveAggressive { update: Update::Pa, cost: Cost::Identity },
        Optimizer::PassiveAggressive { update: Update::PaI { c: 0.05 }, cost: Cost::Sqrt },
        Optimizer::PassiveAggressive { update: Update::PaII { c: 0.1 }, cost: Cost::Sqrt },
        Optimizer::Mira { k: 1, c: f64::INFINITY },
        Optimizer::Mira { k: 4, c: f64::INFINITY },
        Optimizer::Sgd { objective: likelihood(), rate: 0.05, prior: None, dropout: 0.2, batch: 1 },
        Optimizer::Sgd {
            objective: likelihood(),
            rate: 0.05,
            prior: Some(10.0),
            dropout: 0.0,
            batch: 3,
        },
        Optimizer::Lbfgs { objective: likelihood(), c: 10.0, memory: 10 },
        adagrad(softmax_margin(1.0)),
        Optimizer::Lbfgs { objective: softmax_margin(1.0), c: 10.0, memory: 10 },
        // Risk alone may keep an error that it is confident of.
        adagrad(0.5 * likelihood() + annealed_risk(0.5, 2.0)),
        adagrad("1..0.5*likelihood + 0..1..0*brier + 0..0..1*decoded-risk".parse().unwrap()),
        exponentiated(Dual::MaxMargin, Rate::Own),
        exponentiated(Dual::LogLinear, Rate::Own),
        exponentiated(Dual::MaxMargin, Rate::Shared),
    ]
}

pub(crate) fn options(optimizer: Optimizer) -> TrainingOptions {
    let labels = LabelOptions { rate: 0.3, damping: 1.0, ..LabelOptions::default() };
    TrainingOptions {
        optimizer,
        labels,
        passes: 15,
        bits: 16,
        label_bits: 12,
        ..TrainingOptions::plain()
    }
}

/// Returns the numbers of wrong heads in the best tree and of wrong labels of gold arcs. It does not use the tree of
/// the least expected errors, since optimizers that only rank trees do not give log-probabilities.
fn errors(model: &ParserModel, treebank: &[Sentence]) -> (usize, usize) {
    let mut parser = Parser::new(model);
    let mut errors = (0, 0);
    for sentence in treebank {
        let scores = parser.scores(sentence).unwrap().clone();
        let mut best = Vec::new();
        argmax_with(&scores, model.tree_set, &mut Workspace::default(), &mut best).unwrap();
        let distribution = parser.distribution(sentence).unwrap();
        for ((modifier, word), head) in (1..).zip(sentence.words()).zip(best) {
            errors.0 += usize::from(word.head() != Some(head));
            let gold = word.head().unwrap();
            let probs = distribution.label_probs(gold, modifier).unwrap();
            let likely = (0..probs.len()).max_by(|&a, &b| probs[a].total_cmp(&probs[b])).unwrap();
            errors.1 += usize::from(word.deprel() != model.labels.labels()[likely]);
        }
    }
    errors
}

#[test]
fn every_optimizer_fits_twenty_sentences() {
    let treebank = treebank();
    for optimizer in optimizers() {
        let options = options(optimizer);
        let model = train(&treebank, &options, &mut ()).unwrap();
        assert_eq!(errors(&model, &treebank), (0, 0), "{:?}", options.optimizer);
    }
}

#[test]
fn every_optimizer_fits_every_tree_set() {
    let original = treebank();
    for tree_set in TreeSet::ALL {
        let treebank = at_most(tree_set);
        for optimizer in optimizers() {
            let options = TrainingOptions { tree_set, ..options(optimizer) };
            let model = train(&original, &options, &mut ()).unwrap();
            assert_eq!(errors(&model, &treebank).0, 0, "{:?} {tree_set}", options.optimizer);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_weights_for_any_number_of_threads() {
    let treebank = treebank();
    for optimizer in optimizers() {
        let trained = |seed, threads| {
            let few = TrainingOptions {
                seed,
                threads,
                passes: 3,
                bits: 14,
                ..options(optimizer.clone())
            };
            let mut losses = Vec::new();
            let mut watch =
                |TrainedPass { pass, .. }: TrainedPass<'_>| losses.push(pass.loss.to_bits());
            let model = train(&treebank, &few, &mut watch).unwrap();
            let bits = |weights: &[f32]| weights.iter().map(|w| w.to_bits()).collect::<Vec<_>>();
            (bits(&model.arcs.weights), bits(&model.labels.weights), losses)
        };
        let first = trained(7, 1);
        for threads in [1, 2, 3, 8] {
            assert!(first == trained(7, threads), "{optimizer:?} with {threads} threads");
        }
        assert!(first.1 != trained(8, 1).1, "another seed gives another order");
    }
}

#[test]
fn passes_are_reported_and_losses_fall() {
    let treebank = treebank();
    for optimizer in optimizers() {
        let options = TrainingOptions { passes: 6, ..options(optimizer) };
        let mut passes = Vec::new();
        let mut last = Vec::new();
        let model =
            train(&treebank, &options, &mut |TrainedPass { pass, model, .. }: TrainedPass<'_>| {
                passes.push(pass);
                last.clone_from(&model.arcs.weights);
            })
            .unwrap();
        assert!(passes.iter().map(|pass| pass.number).eq(1..=passes.len()));
        let first = passes[0].loss;
        let last_loss = passes[passes.len() - 1].loss;
        // A dual bound rises.
        let dual = matches!(options.optimizer, Optimizer::Exponentiated { .. });
        assert!(
            if dual { last_loss > first } else { last_loss < first },
            "{:?}",
            options.optimizer
        );
        assert_eq!(last, model.arcs.weights, "the model of the last report is returned");
    }
}

/// Returns the expected number of wrong heads over a treebank, at γ = 1.
fn expected_errors(model: &ParserModel, treebank: &[Sentence]) -> f64 {
    let mut parser = Parser::new(model);
    let expected = |sentence: &Sentence| {
        let distribution = parser.distribution(sentence).unwrap();
        let heads = (1..).zip(sentence.heads().unwrap());
        heads.map(|(m, head)| 1.0 - distribution.arcs().marginal(head, m).unwrap()).sum::<f64>()
    };
    treebank.iter().map(expected).sum()
}

/// With few features not all gold trees can be fitted. Then risk, started from the weights of likelihood, has fewer
/// expected errors (with a weak prior: risk is bounded, the prior is not). The entropy term makes it less confident.
#[test]
fn risk_improves_on_likelihood() {
    let treebank = treebank();
    let start = small_model(&treebank, "h.upos m.upos", TreeSet::NonProjectiveSingleRoot);
    let options = |objective, c| TrainingOptions {
        passes: 100,
        ..options(Optimizer::Lbfgs { objective, c, memory: 10 })
    };
    let likely = train_further(start, &treebank, &options(likelihood(), 10.0), &mut ()).unwrap();
    let trained = |objective: Objective| {
        let model = train_further(likely.clone(), &treebank, &options(objective, 1000.0), &mut ());
        expected_errors(&model.unwrap(), &treebank)
    };
    let before = expected_errors(&likely, &treebank);
    let after = trained(risk(1.0));
    let with_entropy = trained(risk(1.0) + -0.5 * entropy());
    assert!(after < before && before > 0.5, "{before} {after}");
    assert!(after < with_entropy, "{after} {with_entropy}");
}

#[test]
fn the_caller_may_stop_a_training() {
    let treebank = treebank();
    let mut seen = Vec::new();
    let stopped = train(
        &treebank,
        &options(Optimizer::Perceptron),
        &mut |TrainedPass { pass, model, .. }: TrainedPass<'_>| {
            seen.clone_from(&model.arcs.weights);
            if pass.number == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    )
    .unwrap();
    assert_eq!(stopped.arcs.weights, seen);
    let four = TrainingOptions { passes: 4, ..options(Optimizer::Perceptron) };
    let model = train(&treebank, &four, &mut ()).unwrap();
    assert_eq!(stopped.arcs.weights, model.arcs.weights);
}

#[test]
fn sentences_may_be_long_and_short() {
    let mut lines = String::new();
    for number in 1..=300 {
        let head = if number == 150 { 0 } else { 150 };
        lines += &format!("{number}\tw{}\t_\tX\t_\t_\t{head}\tl\t_\t_\n", number % 7);
    }
    let treebank = [lines.parse().unwrap(), sentence("yes/INTJ/0/root")];
    for name in Optimizer::NAMES {
        let optimizer = Optimizer::named(name).unwrap();
        let options = TrainingOptions { passes: 1, bits: 12, ..options(optimizer) };
        let model = train(&treebank, &options, &mut ()).unwrap();
        assert!(model.arcs.weights.iter().all(|weight| weight.is_finite()), "{name}");
        assert!(model.arcs.weights.iter().any(|weight| *weight != 0.0), "{name}");
    }
}

#[test]
fn labels_may_have_passes_of_their_own() {
    let treebank = treebank();
    let mut options = options(Optimizer::Perceptron);
    options.passes = 2;
    options.labels.passes = Some(12);
    let mut passes = 0;
    let model = train(&treebank, &options, &mut |_: TrainedPass<'_>| passes += 1).unwrap();
    assert_eq!(passes, 12);
    assert_eq!(errors(&model, &treebank).1, 0);
}

#[test]
fn trees_outside_the_set_are_refused() {
    let mut treebank = treebank();
    for number in [3, 5] {
        treebank[number].set_head(1, Some(0)).unwrap();
        treebank[number].set_comment("sent_id", Some(&format!("s{number}"))).unwrap();
    }
    let error = train(&treebank, &options(Optimizer::Perceptron), &mut ()).unwrap_err();
    let Error::NotInTreeSet { ref sentences, count: 2, .. } = error else { panic!("{error}") };
    assert_eq!(sentences.len(), 2);
    let text = error.to_string();
    assert!(text.contains("sent_id = s3") && text.contains("sent_id = s5"), "{text}");
    let tree_set = TreeSet::NonProjectiveMultiRoot;
    let options = TrainingOptions { tree_set, ..options(Optimizer::Perceptron) };
    assert!(train(&treebank, &options, &mut ()).is_ok());
}

#[test]
fn labels_that_the_model_does_not_have_are_refused() {
    let treebank = treebank();
    let model = small_model(&treebank[..1], SMALL, TreeSet::NonProjectiveSingleRoot);
    let error = train_further(model, &treebank, &options(Optimizer::Perceptron), &mut ());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("no label \"advmod\""), "{error}");
}

#[test]
fn nothing_to_learn_from_is_an_error() {
    let error = train(&[], &TrainingOptions { bits: 10, ..TrainingOptions::default() }, &mut ())
        .unwrap_err();
    assert!(matches!(error, Error::NoWords));
}

#[test]
fn settings_are_checked() {
    let with = |rate, dropout, batch| Optimizer::AdaGrad {
        objective: likelihood(),
        rate,
        damping: 1.0,
        dropout,
        batch,
    };
    for (optimizer, expected) in [
        (with(-1.0, 0.0, 1), "rate is -1"),
        (with(0.1, 1.0, 1), "dropout is 1"),
        (with(0.1, 0.0, 0), "batch"),
        (Optimizer::Mira { k: 0, c: 1.0 }, "k is 0"),
        (Optimizer::Lbfgs { objective: annealed_risk(0.1, 1.0), c: 1.0, memory: 5 }, "L-BFGS"),
        (Optimizer::Lbfgs { objective: risk(-1.0), c: 1.0, memory: 5 }, "gamma is -1"),
        (
            Optimizer::PassiveAggressive { update: Update::PaI { c: 0.0 }, cost: Cost::Sqrt },
            "C is 0",
        ),
    ] {
        let error = train(treebank(), &options(optimizer), &mut ()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn tables_that_no_model_file_can_hold_are_refused() {
    for bits in [31, 32] {
        let options = TrainingOptions { bits, ..options(Optimizer::Perceptron) };
        let error = train(treebank(), &options, &mut ()).unwrap_err().to_string();
        assert!(error.contains("choose 5 to 30 for `bits`"), "{error}");
    }
}

#[test]
fn divergence_is_reported_with_its_sentence() {
    let optimizer = Optimizer::AdaGrad {
        objective: likelihood(),
        rate: f32::MAX,
        damping: 1.0,
        dropout: 0.0,
        batch: 1,
    };
    let error = train(treebank(), &options(optimizer), &mut ()).unwrap_err();
    assert!(matches!(error, Error::Diverged { .. }), "{error}");
}
