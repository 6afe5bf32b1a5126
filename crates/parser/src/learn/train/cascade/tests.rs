//! Tests of training in stages.

use tutte_trees::TreeSet;

use super::*;
use crate::learn::TrainedPass;
use crate::learn::train::tests::{sentence, treebank};
use crate::learn::train::train;
use crate::{Parser, Weights as _};

fn options() -> TrainingOptions {
    let second =
        Some(SecondPassOptions { folds: 3, fold_passes: 2, ..SecondPassOptions::default() });
    TrainingOptions {
        passes: 4,
        bits: 14,
        label_bits: 8,
        second_pass: second,
        ..TrainingOptions::default()
    }
}

fn corpus_of(treebank: &[Sentence]) -> (Corpus<'_>, FeatureSet) {
    let features = FeatureSet::mcdonald();
    let set = TreeSet::NonProjectiveSingleRoot;
    (Corpus::new(treebank, &features, None, set).unwrap(), features)
}

fn jackknifed(treebank: &[Sentence], threads: usize) -> JackknifeResult {
    let (corpus, features) = corpus_of(treebank);
    let all = vec![Candidates::all(); corpus.examples.len()];
    let options = TrainingOptions { threads, ..options() };
    let second = options.second_pass.clone().unwrap();
    let first = ArcModel::new(features, Index::Hashed { bits: options.bits });
    let training_data = second.transition.as_ref();
    let training_data = training_data
        .and_then(|transition_options| {
            TransitionTrainingData::new(&corpus, transition_options, &options, 0)
        })
        .unwrap();
    jackknife(&corpus, corpus.examples.len(), &all, &second, &options, &first, Some(&training_data))
        .unwrap()
}

fn same(one: &FirstPassOutput, other: &FirstPassOutput) -> bool {
    let words = one.heads().len();
    one.heads() == other.heads()
        && one.transition_parse() == other.transition_parse()
        && tutte_trees::arcs(words).all(|(h, m)| one.marginal(h, m) == other.marginal(h, m))
}

#[test]
fn first_pass_outputs_come_from_models_not_trained_on_the_sentence() {
    let before = treebank();
    let mut after = before.clone();
    // Number 4 is in fold 1, like 1, 7, 10, …
    after[4] = sentence("birds/NOUN/3/x sing/VERB/1/x in/ADP/4/x the/DET/5/x morning/NOUN/0/x");
    let old = jackknifed(&before, 1).first_pass_outputs;
    let new = jackknifed(&after, 1).first_pass_outputs;
    for (number, (old, new)) in old.iter().zip(&new).enumerate() {
        // A single word has only one tree.
        let is_held_out = number % 3 == 1 || old.heads().len() == 1;
        assert_eq!(same(old, new), is_held_out, "the first-pass output of sentence {number}");
    }
}

#[test]
fn first_pass_outputs_do_not_depend_on_the_number_of_threads() {
    let treebank = treebank();
    let JackknifeResult { first_pass_outputs: one, transition, .. } = jackknifed(&treebank, 1);
    for threads in [2, 3, 8] {
        let many = jackknifed(&treebank, threads);
        assert_eq!(one.len(), many.first_pass_outputs.len());
        let mut both = one.iter().zip(&many.first_pass_outputs);
        assert!(both.all(|(one, many)| same(one, many)), "{threads} threads");
        let weights = |it: &Option<TransitionParser>| it.as_ref().unwrap().steps.clone();
        assert_eq!(weights(&transition), weights(&many.transition), "{threads} threads");
    }
}

/// Both versions of a sentence are in the same fold, so the model that parses one was trained on neither.
#[test]
fn versions_of_a_sentence_are_in_one_fold() {
    let chain = |words: usize, odd: bool| -> Sentence {
        let head = |at: usize| if odd && at == words { 1 } else { at - 1 };
        let word = |at: usize| format!("w{words}{at}/NOUN/{}/x", head(at));
        sentence(&(1..=words).map(word).collect::<Vec<_>>().join(" "))
    };
    // Ten sentences of two alternating shapes: three folds do not divide them.
    let one: Vec<Sentence> = (0..10).map(|at| chain(4 + at, at % 2 == 0)).collect();
    let twice = [one.clone(), one.clone()].concat();
    let right_heads = |first_version| {
        let options = options();
        let corpus =
            Corpus::new(&twice, &options.templates, None, TreeSet::NonProjectiveSingleRoot)
                .unwrap();
        let candidates = vec![Candidates::all(); twice.len()];
        let first = ArcModel::new(options.templates.clone(), Index::Hashed { bits: 14 });
        let second = options.second_pass.clone().unwrap();
        let first_pass_outputs =
            jackknife(&corpus, first_version, &candidates, &second, &options, &first, None)
                .unwrap()
                .first_pass_outputs;
        let right = |(first_pass_output, sentence): (&Arc<FirstPassOutput>, &Sentence)| {
            sentence
                .words()
                .zip(first_pass_output.heads())
                .filter(|(word, head)| word.head() == Some(**head))
                .count()
        };
        first_pass_outputs.iter().zip(&twice).map(right).sum::<usize>()
    };
    assert!(
        right_heads(10) < right_heads(20),
        "a model trained on the other version knows the tree"
    );
}

/// Sentences without any head do not change the pruner or the temperature, wherever they are in the treebank.
#[test]
fn stages_learn_from_annotated_sentences() {
    let whole = treebank();
    let mut mixed = Vec::new();
    for sentence in &whole {
        let mut unannotated = sentence.clone();
        unannotated.set_heads(&vec![None; sentence.len()]).unwrap();
        mixed.extend([unannotated.clone(), sentence.clone(), unannotated]);
    }
    let words = whole.iter().map(Sentence::len).sum::<usize>();
    // If it counted all sentences of the mixed treebank, the pruner would learn from one in three.
    let pruning = PrunerOptions { words, ..PrunerOptions::default() };
    let options = TrainingOptions { pruning: Some(pruning.clone()), ..options() };
    let one = train_pruner(&whole, &pruning, &options).unwrap();
    let other = train_pruner(&mixed, &pruning, &options).unwrap();
    assert_eq!(one.arcs.weights, other.arcs.weights);
    let model = train(&mixed, &options, &mut ()).unwrap();
    assert!(model.temperature >= 1.0);
}

#[test]
fn a_given_temperature_is_kept() {
    let train_with = |temperature| {
        let second = Some(SecondPassOptions { temperature, ..options().second_pass.unwrap() });
        train(treebank(), &TrainingOptions { second_pass: second, ..options() }, &mut ())
    };
    assert_eq!(train_with(Some(1.25)).unwrap().temperature, 1.25);
    assert!(train_with(Some(0.0)).unwrap_err().to_string().contains("temperature is 0"));
    let found = train_with(None).unwrap().temperature;
    assert!(found > 0.0 && found != 1.25);
}

#[test]
fn stages_do_not_depend_on_the_number_of_threads() {
    let treebank = treebank();
    let trained =
        |threads| train(&treebank, &TrainingOptions { threads, ..options() }, &mut ()).unwrap();
    let one = trained(1);
    let two = trained(2);
    let tables = |model: &ParserModel| {
        let second_pass = model.second_pass.clone().unwrap().arcs.weights;
        let pruner = model.pruner.clone().unwrap().arcs.weights;
        let labels = model.labels.weights.cells().to_vec();
        (pruner, model.arcs.weights.clone(), second_pass, labels, model.temperature)
    };
    assert!(tables(&one) == tables(&two));
}

#[test]
fn all_stages_together_fit_twenty_sentences() {
    let treebank = treebank();
    let labels = crate::LabelOptions { rate: 0.3, damping: 1.0, ..Default::default() };
    let options = TrainingOptions { passes: 20, bits: 18, label_bits: 12, labels, ..options() };
    let mut seen = Vec::new();
    let model = train(&treebank, &options, &mut |TrainedPass { pass, .. }: TrainedPass<'_>| {
        seen.push((pass.is_second, pass.number))
    })
    .unwrap();
    let both = [false, true].into_iter().flat_map(|second| (1..=20).map(move |n| (second, n)));
    assert!(seen.into_iter().eq(both), "first pass, then second");
    let mut parser = Parser::new(&model);
    for gold in &treebank {
        let parse = parser.parse(gold).unwrap();
        assert_eq!(parse.tree.heads(), gold.heads().unwrap(), "{gold}");
        let labels = parse.labels.iter().map(|&label| model.labels.labels()[label].as_str());
        assert!(labels.eq(gold.words().map(|word| word.deprel())), "{gold}");
    }
}

#[test]
fn a_first_pass_can_be_smaller_than_the_second() {
    let treebank = treebank();
    let options =
        TrainingOptions { passes: 15, bits: 18, label_bits: 12, ..TrainingOptions::fast() };
    let model = train(&treebank, &options, &mut ()).unwrap();
    assert!(model.pruner.is_none());
    assert_eq!(model.arcs.features.to_string(), FeatureSet::pruner().to_string());
    let second = &model.second_pass.as_ref().unwrap().arcs;
    let expected = FeatureSet::lean().with_transition_parse().to_string();
    assert_eq!(second.features.to_string(), expected, "it has first-pass features already");
    let expected = FeatureSet::lean_labels().with_transition_labels().to_string();
    assert_eq!(model.labels.features.to_string(), expected);
    let mut parser = Parser::new(&model);
    for gold in &treebank {
        assert_eq!(parser.parse(gold).unwrap().tree.heads(), gold.heads().unwrap(), "{gold}");
    }
}

/// The first pass is provisional until the mean of the models of the folds replaces it.
#[test]
fn the_mean_of_the_folds_can_be_the_first_pass() {
    let treebank = treebank();
    let second = SecondPassOptions { first_passes: Some(1), ..options().second_pass.unwrap() };
    let trained = |threads| {
        let second = Some(second.clone());
        let mut seen = Vec::new();
        let options = TrainingOptions { threads, second_pass: second, pruning: None, ..options() };
        let mut watch =
            |TrainedPass { pass, .. }: TrainedPass<'_>| seen.push((pass.is_second, pass.number));
        let model = train(&treebank, &options, &mut watch).unwrap();
        assert_eq!(seen, [(false, 1), (true, 1), (true, 2), (true, 3), (true, 4)]);
        (model, options)
    };
    let (model, options) = trained(1);
    let untrained = ArcModel::new(model.arcs.features.clone(), model.arcs.index.clone());
    let corpus = Corpus::new(&treebank, &untrained.features, None, options.tree_set).unwrap();
    let all = vec![Candidates::all(); corpus.examples.len()];
    let jackknifed =
        jackknife(&corpus, corpus.examples.len(), &all, &second, &options, &untrained, None)
            .unwrap();
    assert_eq!(jackknifed.mean_weights.as_ref(), Some(&model.arcs.weights));
    assert!(model.arcs.weights.iter().any(|weight| *weight != 0.0));
    let (other, _) = trained(2);
    assert_eq!(other.arcs.weights, model.arcs.weights, "for any number of threads");
}

#[test]
fn few_sentences_are_enough() {
    let treebank = treebank();
    for few in 1..4 {
        let model = train(&treebank[..few], &options(), &mut ()).unwrap();
        assert_eq!(
            model.second_pass.is_some(),
            few > 1,
            "one sentence leaves none to train its fold on"
        );
        assert!(Parser::new(&model).parse(&treebank[5]).is_ok());
    }
}

#[test]
fn stopping_the_first_pass_prevents_the_second() {
    let model =
        train(treebank(), &options(), &mut |TrainedPass { pass, .. }: TrainedPass<'_>| match pass
            .number
        {
            2 => std::ops::ControlFlow::Break(()),
            _ => std::ops::ControlFlow::Continue(()),
        });
    assert!(model.unwrap().second_pass.is_none());
}
