//! Checks which outputs calibration changes and which it must not.

use std::sync::LazyLock;

use proptest::prelude::*;
use tutte_trees::Constraints;

use super::*;
use crate::learn::train::tests::{sentence, treebank};
use crate::{
    AnnotationOptions, Decoding, Labelling, Mixture, Parse, Parser, SecondPassOptions,
    TrainingOptions, train,
};

/// Returns held-out sentences: words of the treebank in other orders, whose trees are harder to predict.
fn dev() -> Vec<Sentence> {
    [
        "the/DET/2/det dog/NOUN/3/nsubj sleeps/VERB/0/root there/ADV/3/advmod",
        "she/PRON/2/nsubj gave/VERB/0/root old/ADJ/4/amod books/NOUN/2/obj home/ADV/2/advmod",
        "birds/NOUN/2/nsubj rest/VERB/0/root in/ADP/5/case the/DET/5/det house/NOUN/2/obl",
        "who/PRON/2/nsubj reads/VERB/0/root the/DET/4/det letter/NOUN/2/obj on/ADP/6/case fire/NOUN/4/nmod",
        "a/DET/2/det child/NOUN/3/nsubj barks/VERB/0/root and/CCONJ/5/cc laughed/VERB/3/conj",
        "they/PRON/2/nsubj saw/VERB/0/root a/DET/4/det cat/NOUN/2/obj with/ADP/6/case milk/NOUN/4/nmod",
        "my/DET/2/det coat/NOUN/3/nsubj hangs/VERB/0/root in/ADP/6/case the/DET/6/det evening/NOUN/3/obl",
        "he/PRON/2/nsubj walked/VERB/0/root after/ADP/5/case the/DET/5/det rain/NOUN/2/obl today/ADV/2/advmod",
    ]
    .map(sentence)
    .into()
}

const LABELLINGS: [Labelling; 3] = [Labelling::None, Labelling::Staged, Labelling::Joint];

/// Returns a model with a second pass.
fn model(labelling: Labelling) -> ParserModel {
    static MODELS: LazyLock<[ParserModel; 3]> = LazyLock::new(|| {
        LABELLINGS.map(|labelling| {
            let second = Some(SecondPassOptions {
                folds: 3,
                fold_passes: 2,
                ..SecondPassOptions::default()
            });
            let small = TrainingOptions {
                passes: 3,
                bits: 14,
                label_bits: 8,
                ..TrainingOptions::default()
            };
            train(treebank(), &TrainingOptions { labelling, second_pass: second, ..small }, &mut ())
                .unwrap()
        })
    });
    let number = LABELLINGS.iter().position(|other| *other == labelling);
    number.and_then(|number| MODELS.get(number)).cloned().unwrap()
}

fn parses(model: &ParserModel, decoding: Decoding) -> Vec<Parse> {
    let mut parser = Parser::new(model).with_decoding(decoding);
    dev().iter().map(|sentence| parser.parse(sentence).unwrap()).collect()
}

#[test]
fn forecasts_are_those_of_the_parser() {
    let mut model = model(Labelling::Joint);
    for temperature in [1.0, 1.7] {
        model.temperature = temperature;
        let forecasts = Calibrator::new(&model, &dev(), 1).unwrap().compare().unwrap().before;
        let parsed = parses(&model, Decoding::Mbr);
        let parsed =
            parsed.iter().flat_map(|parse| parse.head_probs.iter().zip(parse.tree.heads()));
        let gold = dev();
        let gold = gold.iter().flat_map(|sentence| sentence.words().map(|word| word.head()));
        assert_eq!(forecasts.len(), 43);
        for ((forecast, (prob, head)), gold) in forecasts.iter().zip(parsed).zip(gold) {
            assert!((forecast.probability.get() - prob).abs() < 1e-9);
            assert_eq!(forecast.correct, gold == Some(*head));
        }
    }
}

#[test]
fn any_number_of_threads_finds_the_same() {
    let model = model(Labelling::Staged);
    let fit =
        |threads| Calibrator::new(&model, &dev(), threads).unwrap().fit(Method::Isotonic).unwrap();
    for threads in [2, 3, 16] {
        assert_eq!(fit(1), fit(threads));
    }
}

#[test]
fn calibration_lowers_the_calibration_error() {
    // The same trees, with probabilities that are far too low.
    let hot = ParserModel { temperature: 20.0, ..model(Labelling::Staged) };
    let ece = |model: &ParserModel| {
        let forecasts = Calibrator::new(model, &dev(), 1).unwrap().compare().unwrap().before;
        Reliability::new(&forecasts, forecasts.len(), NonZeroUsize::MIN).unwrap().ece.value
    };
    for method in [Method::Temperature, Method::Isotonic] {
        let (temperature, calibration) =
            Calibrator::new(&hot, &dev(), 1).unwrap().fit(method).unwrap();
        assert_eq!((calibration.method(), calibration.words), (method, 43));
        let calibrated = ParserModel { temperature, calibration: Some(calibration), ..hot.clone() };
        assert!(ece(&calibrated) < ece(&hot), "{method:?}");
    }
}

#[test]
fn isotonic_must_win_on_held_out_folds() {
    // Every second head is right.
    let every_second = |at: usize, p: f64| forecast(p, at.is_multiple_of(2)).unwrap();
    let good: Vec<Forecast> = (0..100).map(|at| every_second(at, 0.5)).collect();
    let bad: Vec<Forecast> = (0..100).map(|at| every_second(at, 0.9)).collect();
    let comparison = |temperature: &[Forecast], isotonic: &[Forecast]| Comparison {
        before: bad.clone(),
        temperature: temperature.to_vec(),
        isotonic: isotonic.to_vec(),
        folds: 5,
    };
    assert_eq!(comparison(&good, &bad).better(), Method::Temperature);
    assert_eq!(comparison(&bad, &good).better(), Method::Isotonic);
    assert_eq!(comparison(&good, &good).better(), Method::Temperature);
    assert_eq!(comparison(&[], &[]).better(), Method::Temperature);
}

#[test]
fn words_without_a_head_are_ignored() {
    let model = model(Labelling::None);
    let mut partial = dev();
    partial[0].set_heads(&[Some(2), None, None, None]).unwrap();
    let empty: Vec<Option<usize>> = vec![None; partial[1].len()];
    partial[1].set_heads(&empty).unwrap();
    let (_, calibration) =
        Calibrator::new(&model, &partial, 1).unwrap().fit(Method::Temperature).unwrap();
    assert_eq!((calibration.sentences, calibration.words), (7, 43 - 3 - 5));
    let none = Calibrator::new(&model, &partial[1..2], 1).map(|_| ()).unwrap_err();
    assert!(matches!(none, Error::NothingToJudge) && none.hint().is_some());
    // With a single sentence, there are no other folds to fit on.
    let one = Calibrator::new(&model, &partial[2..3], 1).unwrap().compare().unwrap();
    assert_eq!((one.folds, one.isotonic.len()), (1, 5));
}

fn any_isotonic() -> impl Strategy<Value = Isotonic> {
    let knots = prop::collection::btree_map(0u32..=1000, 0u32..=1000, 1..12);
    knots.prop_map(|knots| {
        let mut values: Vec<u32> = knots.values().copied().collect();
        values.sort_unstable();
        let share = |number: u32| f64::from(number) / 1000.0;
        let knots = knots.keys().zip(values).map(|(x, y)| (share(*x), share(y)));
        Isotonic::try_from(knots.collect::<Vec<_>>()).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// At any temperature, the most probable unlabelled tree, the decoded tree and its labels stay the same, with and
    /// without constraints.
    #[test]
    fn a_temperature_keeps_the_most_probable_tree(temperature in 0.2..5.0f64) {
        for labelling in LABELLINGS {
            let model = model(labelling);
            let other = ParserModel { temperature, ..model.clone() };
            for sentence in dev() {
                let best = |model: &ParserModel| {
                    let mut parser = Parser::new(model).with_decoding(Decoding::Map);
                    let trees = parser.distribution(&sentence).unwrap();
                    let parse = parser.parse(&sentence).unwrap();
                    let constraints = Constraints::new().require_arc(1, 2);
                    let constrained = parser.analyse(&sentence, &constraints).unwrap().parse;
                    let unlabelled = trees.arcs().argmax().tree.clone();
                    (unlabelled, parse.tree, parse.labels, constrained.tree, constrained.labels)
                };
                prop_assert_eq!(best(&model), best(&other), "{}", labelling);
            }
        }
    }

    /// An isotonic function changes the confidences of the best tree's arcs and nothing else.
    #[test]
    fn isotonic_changes_confidences_and_nothing_else(isotonic in any_isotonic()) {
        let model = model(Labelling::Joint);
        let calibration = Calibration { isotonic: Some(isotonic.clone()), ..Calibration::default() };
        let other = ParserModel { calibration: Some(calibration), ..model.clone() };
        for decoding in [Decoding::Mbr, Decoding::Map] {
            for (before, after) in parses(&model, decoding).iter().zip(parses(&other, decoding)) {
                let reported: Vec<f64> =
                    before.head_probs.iter().map(|p| isotonic.confidence(*p)).collect();
                prop_assert_eq!(&Parse { head_probs: reported, ..before.clone() }, &after);
            }
        }
        let sentence = &dev()[3];
        let distribution = |model| Parser::new(model).distribution(sentence).unwrap();
        let before = distribution(&model);
        let after = distribution(&other);
        prop_assert_eq!(before.entropy(), after.entropy());
        prop_assert_eq!(before.kbest(3), after.kbest(3));
        for word in 1..=sentence.len() {
            prop_assert_eq!(before.head_probs(word).unwrap(), after.head_probs(word).unwrap());
        }
    }
}

#[test]
fn required_heads_are_certain_and_reported_confidences_are_written() {
    let isotonic = Isotonic::try_from(vec![(0.0, 0.25), (1.0, 0.75)]).unwrap();
    let calibration = Calibration { isotonic: Some(isotonic), ..Calibration::default() };
    let model = ParserModel { calibration: Some(calibration), ..model(Labelling::Joint) };
    let mut sentence = dev()[0].clone();
    let constraints = Constraints::new().require_arc(3, 1);
    let analysis = Parser::new(&model).analyse(&sentence, &constraints).unwrap();
    let Parse { head_probs, .. } = &analysis.parse;
    assert_eq!(head_probs[0], 1.0);
    assert!(head_probs[1..].iter().all(|p| (0.25..=0.75).contains(p)), "{head_probs:?}");
    let mixture = Mixture::from(&analysis.distribution);
    let options = AnnotationOptions::default();
    let annotation = mixture.annotation(&analysis.parse, &constraints, &options).unwrap();
    annotation.write(&mut sentence).unwrap();
    let written = |word| sentence.word(word).unwrap().misc_entry("HeadProb").unwrap().to_owned();
    assert_eq!(written(1), "1.0000");
    assert!(written(2).parse::<f64>().unwrap() <= 0.75);
}
