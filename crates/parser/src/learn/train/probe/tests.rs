//! Tests of the temperature without development data.

use tutte_treebank::Sentence;
use tutte_trees::{TreeSet, arcs};

use crate::learn::temperature::HIGHEST;
use crate::learn::train::tests::{sentence, treebank};
use crate::learn::train::{SecondPassOptions, TrainingOptions, train};
use crate::learn::{Part, Preset, Recipe, train_pipeline};
use crate::{Calibrator, Method, Parser};

fn options() -> TrainingOptions {
    let second = SecondPassOptions { folds: 3, fold_passes: 2, ..SecondPassOptions::default() };
    TrainingOptions::default()
        .with_passes(4)
        .with_bits(14)
        .with_label_bits(8)
        .with_second_pass(Some(second))
}

/// Every sentence occurs twice in a row, so the probe is trained on a copy of each sentence that it is tested on. If the
/// trees of the copies differ, it is confident of errors.
#[test]
fn the_temperature_is_higher_for_models_that_are_confident_of_errors() {
    let chain = |words: usize, heads: fn(usize, usize) -> usize| -> Sentence {
        let word = |at: usize| format!("w{at}/NOUN/{}/x", heads(at, words));
        sentence(&(1..=words).map(word).collect::<Vec<_>>().join(" "))
    };
    let left = |words| chain(words, |at, _| at - 1);
    let right = |words| chain(words, |at, words| if at == words { 0 } else { at + 1 });
    let same: Vec<Sentence> = (0..16).map(|at| left(4 + at / 2)).collect();
    let different: Vec<Sentence> =
        (0..16).map(|at| if at % 2 == 0 { left(4 + at / 2) } else { right(4 + at / 2) }).collect();
    let temperature = |treebank| train(treebank, &options(), &mut ()).unwrap().temperature;
    let low = temperature(&same);
    let high = temperature(&different);
    assert!(low < high && high > 1.5, "{low} and {high}");
    assert!((1.0..=HIGHEST).contains(&low) && high <= HIGHEST, "within the range of the search");
}

/// A projective model learns the lifted trees by heart and is certain of them. Where the treebank has crossing arcs, it
/// is certain of errors.
#[test]
fn a_projective_model_is_judged_by_the_crossing_trees_of_the_treebank() {
    let crossing =
        |at: usize| format!("w{at}/NOUN/3/x v{at}/VERB/4/x u{at}/VERB/0/x t{at}/NOUN/3/x");
    let lifted = |at: usize| format!("w{at}/NOUN/3/x v{at}/VERB/3/x u{at}/VERB/0/x t{at}/NOUN/3/x");
    let temperatures = |tree: &dyn Fn(usize) -> String| {
        let treebank: Vec<Sentence> = (0..16).map(|at| sentence(&tree(at / 2))).collect();
        let options = options().with_tree_set(TreeSet::ProjectiveSingleRoot);
        let of_parser = train(&treebank, &options, &mut ()).unwrap().temperature;
        let recipe = Recipe::new()
            .with_parts([Part::Parser])
            .with_preset(Preset::Fast)
            .with_tree_set(TreeSet::ProjectiveSingleRoot);
        let trained = train_pipeline(treebank, Vec::new(), &recipe, &mut ()).unwrap();
        [of_parser, trained.model.require_parser().unwrap().temperature]
    };
    for (without, with) in temperatures(&lifted).into_iter().zip(temperatures(&crossing)) {
        assert!(without < 1.1 && with > 1.5, "{without} and {with}");
    }
}

#[test]
fn arcs_that_were_left_out_keep_the_probability_that_their_step_gave_them() {
    let treebank = treebank();
    for options in [options(), options().with_pruning(None)] {
        let model = train(&treebank, &options, &mut ()).unwrap();
        let mut parser = Parser::new(&model);
        for sentence in &treebank {
            let distribution = parser.distribution(sentence).unwrap();
            let marginals = distribution.arcs().marginals();
            let arc_probs = distribution.arc_probs();
            let (_, left_out) = parser.scores_and_left_out(sentence).unwrap();
            let left_out = left_out.unwrap();
            for word in 1..=sentence.len() {
                let heads = || (0..=sentence.len()).filter(move |&head| head != word);
                let sum: f64 = heads().map(|head| arc_probs[(head, word)]).sum();
                assert!((sum - 1.0).abs() < 1e-9, "{sum}");
            }
            for arc in arcs(sentence.len()) {
                assert!(arc_probs[arc] <= marginals[arc] || marginals[arc] == 0.0);
                assert_eq!(left_out[arc] > 0.0, marginals[arc] == 0.0 && arc_probs[arc] > 0.0);
            }
        }
    }
}

/// The calibrator measures what a parse reports.
#[test]
fn forecasts_are_the_probabilities_of_a_parse() {
    let treebank = treebank();
    let mut model = train(&treebank, &options(), &mut ()).unwrap();
    let calibrator = Calibrator::new(&model, &treebank, 1).unwrap();
    let forecasts = calibrator.compare().unwrap().before;
    let mut parser = Parser::new(&model);
    let parses = treebank.iter().map(|sentence| parser.parse(sentence).unwrap().head_probs);
    for (forecast, prob) in forecasts.iter().zip(parses.flatten()) {
        assert!((forecast.probability.get() - prob).abs() < 1e-9, "{forecast:?} and {prob}");
    }
    let (temperature, _) = calibrator.fit(Method::Temperature).unwrap();
    model.temperature = temperature;
    assert!(temperature > 0.0);
}
