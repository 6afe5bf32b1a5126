//! Annealed training, on the toy treebank.

use std::ops::ControlFlow;
use std::sync::Arc;

use tutte_trees::TreeSet;

use super::Annealer;
use crate::features::FactorSet;
use crate::learn::optimizer::{Joint, Schedule, Scorer};
use crate::learn::train::tests::{SMALL, at_most, corpus, small_model, treebank};
use crate::learn::{AnnealedStage, Annealing, Checkpoint, Checkpoints, TrainedPass};
use crate::{
    FactorModel, Labelling, Optimizer, ParserModel, TrainingOptions, train, train_further,
    train_resumable,
};

const LBFGS: &str = "lbfgs:objective=risk,c=1000";

fn options(cooling: &str, quench: &str) -> TrainingOptions {
    let annealing = Annealing::default()
        .with_cooling(cooling.parse().unwrap())
        .with_quench(quench.parse().unwrap());
    TrainingOptions::plain()
        .with_optimizer(LBFGS.parse().unwrap())
        .with_annealing(Some(annealing))
        .with_passes(15)
        .with_bits(12)
        .with_label_bits(8)
}

/// Trains, and returns the model and its stages.
fn anneal(model: ParserModel, options: &TrainingOptions) -> (ParserModel, Vec<AnnealedStage>) {
    let mut stages = Vec::new();
    let treebank = at_most(model.tree_set);
    let mut watch = |event: TrainedPass<'_>| stages.extend(event.pass.stage);
    let model = train_further(model, &treebank, options, &mut watch).unwrap();
    (model, stages)
}

fn likelihood_model(tree_set: TreeSet, labelling: Labelling) -> ParserModel {
    let treebank = at_most(tree_set);
    let mut model = small_model(&treebank, SMALL, tree_set);
    model.labels = model.labels.with_labelling(labelling);
    let options =
        TrainingOptions::plain().with_optimizer("lbfgs:c=0.1".parse().unwrap()).with_passes(30);
    train_further(model, &treebank, &options, &mut ()).unwrap()
}

#[test]
fn entropy_falls_with_the_temperature_and_the_first_stage_is_uniform() {
    for tree_set in TreeSet::ALL {
        let model = small_model(&at_most(tree_set), SMALL, tree_set);
        let options = options("1000:0.2:0.01", "2:4");
        let (model, stages) = anneal(model, &options);
        let uniform: f64 = at_most(tree_set)
            .iter()
            .map(|sentence| {
                let zeros = tutte_trees::ArcMatrix::zeros(sentence.len());
                tutte_trees::TreeDistribution::new(zeros, tree_set).unwrap().entropy()
            })
            .sum();
        // At a high temperature, the optimum is the uniform distribution.
        assert!((stages[0].entropy - uniform).abs() < 1e-3 * uniform, "{tree_set}");
        for pair in stages.windows(2) {
            let highest = 1.01 * pair[0].entropy + 1e-6;
            assert!(pair[1].entropy <= highest, "{tree_set}: {pair:?}");
        }
        let (first, last) = (stages[0], stages.last().unwrap());
        assert!(last.errors <= first.errors && last.risk < 0.2 * first.risk, "{last:?}");
        assert_eq!(last.temperature, Some(0.0));
        // The temperature of the model is that of its distribution, 1/γ.
        assert_eq!(model.temperature, 1.0 / last.gamma);
    }
}

#[test]
fn a_trained_model_starts_where_it_is_stationary() {
    for (tree_set, labelling) in TreeSet::ALL.into_iter().zip([
        Labelling::Staged,
        Labelling::Joint,
        Labelling::None,
        Labelling::Joint,
    ]) {
        let labelled = labelling != Labelling::None;
        let mut model = likelihood_model(tree_set, labelling);
        if !labelled {
            model.labels = crate::LabelModel::none();
        }
        // Nothing moves in a stage without passes.
        let options = options("auto:0.5:0.001", "0").with_passes(0);
        let (_, stages) = anneal(model.clone(), &options);
        assert_eq!(stages[0].temperature, None);
        let start = stages[1].temperature.unwrap();
        assert!(start > 0.0, "{start}");
        // R − T₀ H has no slope along the ray of weights.
        let value = |scale: f32| {
            let mut scaled = model.clone();
            scaled.last_pass().weights.iter_mut().for_each(|weight| *weight *= scale);
            if labelling == Labelling::Joint {
                scaled.labels.weights.iter_mut().for_each(|weight| *weight *= scale);
            }
            let (_, stages) = anneal(scaled, &options);
            let AnnealedStage { risk, entropy, .. } = stages[0];
            (risk - start * entropy, risk)
        };
        let h = 1.0 / 64.0;
        let slope = (value(1.0 + h).0 - value(1.0 - h).0) / (2.0 * f64::from(h));
        let of_risk = (value(1.0 + h).1 - value(1.0 - h).1) / (2.0 * f64::from(h));
        assert!(slope.abs() < 0.02 * of_risk.abs(), "{tree_set}: {slope}, of R {of_risk}");
    }
}

#[test]
fn annealing_lowers_the_risk_of_a_likelihood_model() {
    let model = likelihood_model(TreeSet::NonProjectiveSingleRoot, Labelling::Joint);
    let (_, stages) = anneal(model, &options("auto:0.5:0.01", "2:3"));
    let (first, last) = (stages[0], stages.last().unwrap());
    assert!(first.temperature.is_none() && last.risk < first.risk, "{first:?} {last:?}");
    assert!(last.errors <= first.errors);
}

#[test]
fn initial_weights_must_fit() {
    let treebank = treebank();
    let plain = TrainingOptions::plain().with_bits(12).with_label_bits(8).with_passes(2);
    let init = Arc::new(train(&treebank, &plain, &mut ()).unwrap().compact());
    let with = |options: TrainingOptions| {
        let options = options.with_init(Some(Arc::clone(&init)));
        train(&treebank, &options, &mut ()).map_err(|error| error.to_string())
    };
    let longer = with(plain.clone()).unwrap();
    assert_ne!(longer.arcs.weights, train(&treebank, &plain, &mut ()).unwrap().arcs.weights);
    for (other, what) in [
        (plain.clone().with_bits(13), "number of weights"),
        (plain.clone().with_labelling(Labelling::Joint), "labelling"),
        (plain.clone().with_templates(crate::features::FeatureSet::lean()), "templates"),
        (plain.clone().with_tree_set(TreeSet::NonProjectiveMultiRoot), "tree set"),
        (
            plain.clone().with_optimizer(Optimizer::named("eg-log-linear").unwrap()),
            "another learner",
        ),
    ] {
        let error = with(other).unwrap_err();
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn a_resumed_annealing_gives_the_same_bytes() {
    let folder = std::env::temp_dir().join(format!("tutte-anneal-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let treebank = treebank();
    let dev = &treebank[..5];
    for (labelling, learner, has_factors) in [
        (Labelling::Joint, LBFGS, false),
        (Labelling::Staged, LBFGS, false),
        (Labelling::Joint, "adagrad:objective=risk", true),
    ] {
        let options = options("10:0.2:0.3", "2:3")
            .with_passes(3)
            .with_labelling(labelling)
            .with_optimizer(learner.parse().unwrap())
            .with_threads(2);
        let second = TrainingOptions::fast().second_pass.filter(|_| has_factors);
        let options = options.with_second_pass(second);
        let path = folder.join(labelling.to_string());
        let mut stages = Vec::new();
        let mut run = |resumed: Option<Checkpoint>, stop_after: usize| {
            let mut save = |snapshot: &mut crate::Snapshot<'_>| snapshot.save(&path);
            let every = std::time::Duration::ZERO;
            let checkpoints = Checkpoints { every, dev, save: &mut save };
            let mut watch = |event: TrainedPass<'_>| {
                if event.pass.is_second != has_factors {
                    return ControlFlow::Continue(());
                }
                stages.push(event.pass);
                if event.pass.number == stop_after {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            train_resumable(&treebank, &options, resumed, checkpoints, &mut watch).unwrap()
        };
        let whole = run(None, 0);
        for stop_after in [1, 3, 4] {
            run(None, stop_after);
            let resumed = run(Some(Checkpoint::open(&path).unwrap()), 0);
            assert_eq!(resumed.arcs.weights, whole.arcs.weights);
            assert_eq!(resumed.labels.weights, whole.labels.weights);
            let factors = |model: &ParserModel| {
                let factors = model.second_pass.as_ref().and_then(|second| second.factors.as_ref());
                factors.map(|factors| factors.weights.clone())
            };
            assert_eq!(factors(&resumed), factors(&whole));
            assert_eq!(factors(&whole).is_some(), has_factors);
            assert_eq!(resumed.temperature, whole.temperature);
        }
        assert!(stages.iter().all(|pass| pass.stage.unwrap().held_out_errors.is_some()));
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn two_passes_of_parsing_are_annealed_in_the_second() {
    let treebank = treebank();
    let usual = TrainingOptions::default().with_bits(14).with_label_bits(8).with_passes(2);
    let second = usual.second_pass.clone().unwrap().with_factors(None);
    for (usual, has_factors) in
        [(usual.clone(), true), (usual.with_second_pass(Some(second)), false)]
    {
        let init = train(&treebank, &usual, &mut ()).unwrap();
        let annealing = Annealing::default().with_cooling("auto:0.5:0.2".parse().unwrap());
        let options = usual
            .with_optimizer("adagrad:objective=risk".parse().unwrap())
            .with_annealing(Some(annealing))
            .with_init(Some(Arc::new(init.compact())));
        let mut stages = Vec::new();
        let mut watch = |event: TrainedPass<'_>| stages.push(event.pass);
        let model = train(&treebank, &options, &mut watch).unwrap();
        // The first pass is trained by likelihood, as in the initial model.
        assert_eq!(model.arcs.weights, init.arcs.weights);
        assert!(stages.iter().all(|pass| pass.is_second == pass.stage.is_some()));
        assert!(stages.iter().filter(|pass| pass.is_second).count() > 1);
        let factors = |model: &ParserModel| model.second_pass.as_ref().unwrap().factors.clone();
        assert_eq!(factors(&model).is_some(), has_factors);
        if let (Some(before), Some(after)) = (factors(&init), factors(&model)) {
            assert_ne!(before.weights, after.weights);
            assert!(after.weights.iter().any(|weight| *weight != 0.0));
        }
    }
}

/// R and H of a model with factors are those of refined scores times γ, and T₀ is where R − T₀ H has no slope by γ.
#[test]
fn factors_are_annealed_by_their_refined_scores() {
    let learner: Optimizer = "adagrad:objective=risk".parse().unwrap();
    let options = options("1:0.5:0.1", "0").with_optimizer(learner);
    for tree_set in TreeSet::ALL {
        let treebank = at_most(tree_set);
        let mut model = small_model(&treebank, SMALL, tree_set);
        model.labels = model.labels.with_labelling(Labelling::Joint);
        let corpus = corpus(&treebank, &model);
        model.labels.observe(corpus.labelled_arcs());
        let templates = "grandparent g.upos h.upos m.upos\nsiblings h.upos m.upos s.upos";
        let factors = FactorModel::new(FactorSet::parse(templates).unwrap(), 10, 2);
        let factors = Some((factors, tree_set));
        let mut joint = Joint { arcs: model.arcs, labels: model.labels, factors };
        let any = |at: usize| ((at * 37 + at / 8) % 17) as f32 / 16.0 - 0.5;
        joint.weights_mut().enumerate().for_each(|(at, weight)| *weight = any(at));
        let without = Joint { factors: None, ..joint.clone() };
        let schedule = Schedule { passes: 1, seed: 1, threads: 2 };
        let annealing = options.annealing.unwrap();
        let annealer = Annealer::new(joint, annealing, &options, schedule);
        let at_one = annealer.survey(&corpus, 1.0).unwrap();
        let start = at_one.stationary_temperature();
        let value = |gamma: f64| {
            let survey = annealer.survey(&corpus, gamma).unwrap();
            (survey.risk - start * survey.entropy, survey.risk)
        };
        let slope = (value(1.001).0 - value(0.999).0) / 0.002;
        let of_risk = (value(1.001).1 - value(0.999).1) / 0.002;
        assert!(slope.abs() < 1e-4 * of_risk.abs(), "{tree_set}: {slope}, of R {of_risk}");
        let plain = Annealer::new(without, annealing, &options, schedule);
        let plain = plain.survey(&corpus, 1.0).unwrap();
        assert!((plain.risk - at_one.risk).abs() > 1e-3, "factors changed nothing");
    }
}

#[test]
fn what_cannot_be_annealed_is_refused() {
    let treebank = treebank();
    let annealed = options("1:0.5:0.1", "0");
    for (learner, what) in [
        ("mira", "no objective"),
        ("adagrad", "objective with risk"),
        ("adagrad:objective=risk(1..4)", "without a number"),
        ("lbfgs:objective=risk + -1*entropy", "leave it out"),
    ] {
        let options = annealed.clone().with_optimizer(learner.parse().unwrap());
        let error = train(&treebank, &options, &mut ()).unwrap_err().to_string();
        assert!(error.contains(what), "{learner}: {error}");
    }
    let error = {
        let adagrad = "adagrad:objective=risk".parse().unwrap();
        train(&treebank, &annealed.with_optimizer(adagrad).with_clusters(2), &mut ())
    }
    .unwrap_err()
    .to_string();
    assert!(error.contains("clusters"), "{error}");
}
