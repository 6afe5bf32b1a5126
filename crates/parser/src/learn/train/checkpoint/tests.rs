//! Trainings that are interrupted and go on lead where they would have led.

use std::fs;
use std::ops::ControlFlow;
use std::time::Duration;

use super::*;
use crate::learn::train::tests::{optimizers, options, treebank};
use crate::learn::train::{Checkpoints, Pass, SecondPassOptions, train, train_resumable};
use crate::{Labelling, Optimizer};

/// A folder that goes away.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("tutte-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self, name: impl std::fmt::Display) -> PathBuf {
        self.0.join(name.to_string())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn few(optimizer: Optimizer) -> TrainingOptions {
    TrainingOptions { passes: 4, bits: 12, label_bits: 6, ..options(optimizer) }
}

fn with_second(options: TrainingOptions) -> TrainingOptions {
    let second =
        Some(SecondPassOptions { folds: 2, fold_passes: 1, ..SecondPassOptions::default() });
    let pruning =
        Some(crate::PrunerOptions { passes: 1, bits: 10, ..crate::PrunerOptions::default() });
    TrainingOptions { pruning, second_pass: second, ..options }
}

/// All weights of a model, bit by bit, and its temperature.
fn weights(model: &ParserModel) -> (Vec<Vec<u32>>, u64) {
    let second_pass = model.second_pass.as_ref().map(|second_pass| &second_pass.arcs.weights);
    let pruner = model.pruner.as_ref().map(|pruner| &pruner.arcs.weights);
    let tables = [Some(&model.arcs.weights), second_pass, pruner, Some(&model.labels.weights)];
    let bits = |table: &Vec<f32>| table.iter().map(|weight| weight.to_bits()).collect();
    (tables.into_iter().flatten().map(bits).collect(), model.temperature.to_bits())
}

/// What a training with a checkpoint after each pass says and leads to.
fn follow(
    options: &TrainingOptions,
    resumed: Option<Checkpoint>,
    save: &mut dyn FnMut(&mut Snapshot<'_>) -> Result<(), Error>,
    stop: impl Fn(usize) -> bool,
) -> Result<(Vec<Pass>, ParserModel), Error> {
    let mut passes = Vec::new();
    let checkpoints = Checkpoints { every: Duration::ZERO, dev: &[], save };
    let model = train_resumable(&treebank(), options, resumed, checkpoints, |pass, _| {
        passes.push(pass);
        if stop(passes.len()) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok((passes, model))
}

/// From each pass on, a training leads where it would have led.
fn goes_on_from_every_pass(name: &str, options: &TrainingOptions) {
    let folder = Folder::new(name);
    let told = options.optimizer.to_string();
    let path = |place: Place| folder.file(place.passes);
    let (passes, model) =
        follow(options, None, &mut |snapshot| snapshot.save(path(snapshot.place())), |_| false)
            .unwrap();
    let plain = train(&treebank(), options, |_, _| {}).unwrap();
    assert!(weights(&plain) == weights(&model), "{told}: saving changes nothing");
    for done in 1..=passes.len() {
        let checkpoint = Checkpoint::open(folder.file(done)).unwrap();
        let Pass { number, second, .. } = passes[done - 1];
        assert_eq!(checkpoint.place(), Place { passes: done, number, second });
        // The number of threads does not matter.
        let options = TrainingOptions { threads: 1 + done % 2, ..options.clone() };
        let (rest, resumed) =
            follow(&options, Some(checkpoint), &mut |_| Ok(()), |_| false).unwrap();
        assert_eq!(rest, passes[done..], "{told} from pass {done}");
        assert!(weights(&resumed) == weights(&model), "{told} from pass {done}");
    }
}

#[test]
fn every_learner_goes_on() {
    for optimizer in optimizers() {
        goes_on_from_every_pass("staged", &few(optimizer));
    }
    let dictionary = Some(crate::Support::Gold);
    goes_on_from_every_pass(
        "dictionary",
        &TrainingOptions { dictionary, ..few(Optimizer::Perceptron) },
    );
}

#[test]
fn every_learner_goes_on_jointly() {
    for optimizer in optimizers() {
        let labelling = Labelling::Joint;
        goes_on_from_every_pass(
            "joint",
            &TrainingOptions { labelling, passes: 3, ..few(optimizer) },
        );
    }
}

#[test]
fn every_learner_goes_on_in_both_stages() {
    for optimizer in optimizers() {
        goes_on_from_every_pass(
            "stages",
            &with_second(TrainingOptions { passes: 2, ..few(optimizer) }),
        );
    }
    let options = with_second(few(Optimizer::default()));
    let labelling = Labelling::Joint;
    goes_on_from_every_pass("joint-stages", &TrainingOptions { labelling, ..options.clone() });
    let early = SecondPassOptions { first_passes: Some(1), ..options.second_pass.clone().unwrap() };
    goes_on_from_every_pass(
        "early-stages",
        &TrainingOptions { second_pass: Some(early), ..options.clone() },
    );
    let labelling = Labelling::None;
    goes_on_from_every_pass("bare-stages", &TrainingOptions { labelling, ..options });
}

#[test]
fn kinds_of_arcs_go_on() {
    for optimizer in ["adagrad", "sgd"].map(|name| Optimizer::named(name).unwrap()) {
        let options = TrainingOptions { clusters: 3, ..few(optimizer) };
        goes_on_from_every_pass("kinds", &options);
        goes_on_from_every_pass(
            "kinds-stages",
            &with_second(TrainingOptions { passes: 2, ..options }),
        );
    }
}

#[test]
fn learners_that_have_converged_and_labels_that_have_not_go_on() {
    let mut options = few("eg-log-linear:gap=0.5,c=1".parse().unwrap());
    options.passes = 6;
    options.labels.passes = Some(8);
    let mut converged = 0;
    train(&treebank(), &options, |pass, _| converged += usize::from(pass.converged)).unwrap();
    assert!((3..8).contains(&converged), "{converged}");
    goes_on_from_every_pass("converged", &options);
}

#[test]
fn a_training_interrupted_after_every_pass_comes_to_its_end() {
    let folder = Folder::new("interrupted");
    let (path, options) = (folder.file("resume"), with_second(few(Optimizer::default())));
    let whole = train(&treebank(), &options, |_, _| {}).unwrap();
    let mut save = |snapshot: &mut Snapshot<'_>| snapshot.save(&path);
    follow(&options, None, &mut save, |_| true).unwrap();
    for sitting in 2..=8 {
        let checkpoint = Checkpoint::open(&path).unwrap();
        let (passes, model) = follow(&options, Some(checkpoint), &mut save, |_| true).unwrap();
        assert_eq!(passes.len(), 1);
        assert_eq!(weights(&model) == weights(&whole), sitting == 8, "sitting {sitting}");
    }
}

#[test]
fn checkpoints_keep_their_distance() {
    let mut places = Vec::new();
    let mut save = |snapshot: &mut Snapshot<'_>| {
        places.push((snapshot.place().second, snapshot.place().number));
        Ok(())
    };
    let every = Duration::from_secs(3600);
    let checkpoints = Checkpoints { every, dev: &[], save: &mut save };
    let options = with_second(few(Optimizer::Perceptron));
    train_resumable(&treebank(), &options, None, checkpoints, |_, _| {}).unwrap();
    assert_eq!(places, [(false, 1), (false, 4), (true, 1)]);
}

#[test]
fn another_training_is_named() {
    let folder = Folder::new("another");
    let (path, options) = (folder.file("resume"), few(Optimizer::Perceptron));
    follow(&options, None, &mut |snapshot| snapshot.save(&path), |_| true).unwrap();
    let go_on = |options: &TrainingOptions, treebank: &[Sentence], dev: &[Sentence]| {
        let save = &mut |_: &mut Snapshot<'_>| Ok(());
        let checkpoints = Checkpoints { every: Duration::ZERO, dev, save };
        let checkpoint = Checkpoint::open(&path)?;
        train_resumable(treebank, options, Some(checkpoint), checkpoints, |_, _| {})
    };
    let all = treebank();
    assert!(go_on(&options, &all, &[]).is_ok());
    for (other, said) in [
        (TrainingOptions { seed: 2, ..options.clone() }, "training: seed was 1 and is 2"),
        (
            TrainingOptions { passes: 5, bits: 13, ..options.clone() },
            "passes was 4 and is 5; bits was 12",
        ),
        (TrainingOptions { clusters: 2, ..options.clone() }, "clusters was 1 and is 2"),
        (
            TrainingOptions { dictionary: Some(crate::Support::Gold), ..options.clone() },
            "dictionary was None and is Some(Gold)",
        ),
        (few("mira:k=2".parse().unwrap()), "learner was perceptron and is mira:k=2"),
        (
            TrainingOptions { second_pass: Some(SecondPassOptions::default()), ..options.clone() },
            "second pass was None",
        ),
    ] {
        let error = go_on(&other, &all, &[]).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    for (treebank, dev, said) in [
        (&all[1..], &all[..0], "treebank was of 20 sentences"),
        (&all, &all[..2], "development data was of 0 sentences"),
    ] {
        let error = go_on(&options, treebank, dev).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        assert!(error.hint().unwrap().contains("without --resume"));
    }
}

#[test]
fn files_that_are_no_checkpoints_are_refused() {
    let folder = Folder::new("refused");
    let path = folder.file("resume");
    let options = few(Optimizer::Perceptron);
    follow(&options, None, &mut |snapshot| snapshot.save(&path), |_| true).unwrap();
    let whole = fs::read(&path).unwrap();
    let problem = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        match Checkpoint::open(&path) {
            Err(Error::Checkpoint { problem, .. }) => problem,
            other => panic!("{other:?}"),
        }
    };
    for bytes in [&b""[..], b"tutte", b"# sent_id = 1\n1\tTea\t_\t_\t_\t_\t0\troot\t_\t_\n"] {
        assert!(matches!(problem(bytes), CheckpointProblem::NotACheckpoint));
    }
    for end in (16..whole.len()).step_by(997).chain([17, 24, 31, 32, whole.len() - 1]) {
        let problem = problem(&whole[..end]);
        assert!(matches!(problem, CheckpointProblem::Damaged { .. }), "{end}: {problem}");
    }
    for at in (24..whole.len()).step_by(997) {
        let mut altered = whole.clone();
        altered[at] ^= 64;
        assert!(matches!(problem(&altered), CheckpointProblem::Damaged { .. }));
    }
    let mut newer = whole.clone();
    newer[16] += 1;
    let CheckpointProblem::FormatVersion { found, expected } = problem(&newer) else { panic!() };
    assert_eq!((found, expected), (FORMAT + 1, FORMAT));
    fs::remove_file(&path).unwrap();
    let error = Checkpoint::open(&path).unwrap_err();
    assert!(matches!(error, Error::Checkpoint { problem: CheckpointProblem::Unreadable(_), .. }));
}
