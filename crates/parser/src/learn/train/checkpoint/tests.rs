//! Resumed trainings give the same models as uninterrupted ones.

use std::fs;
use std::ops::ControlFlow;
use std::time::Duration;

use super::*;
use crate::learn::TrainedPass;
use crate::learn::train::tests::{optimizers, options, treebank};
use crate::learn::train::{Checkpoints, Pass, SecondPassOptions, train, train_resumable};
use crate::{Labelling, Optimizer};

/// A folder that is removed when dropped.
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

/// Returns the bits of all weights of a model and of its temperature.
fn weights(model: &ParserModel) -> (Vec<Vec<u32>>, u64) {
    let second_pass = model.second_pass.as_ref().map(|second_pass| &second_pass.arcs.weights);
    let pruner = model.pruner.as_ref().map(|pruner| &pruner.arcs.weights);
    let tables = [Some(&model.arcs.weights), second_pass, pruner, Some(&model.labels.weights)];
    let bits = |table: &Vec<f32>| table.iter().map(|weight| weight.to_bits()).collect();
    (tables.into_iter().flatten().map(bits).collect(), model.temperature.to_bits())
}

/// Trains with a checkpoint after each pass. Returns the reports of the passes and the model.
fn train_saving(
    options: &TrainingOptions,
    resumed: Option<Checkpoint>,
    save: &mut dyn FnMut(&mut Snapshot<'_>) -> Result<(), Error>,
    stop: impl Fn(usize) -> bool,
) -> Result<(Vec<Pass>, ParserModel), Error> {
    let mut passes = Vec::new();
    let checkpoints = Checkpoints { every: Duration::ZERO, dev: &[], save };
    let model = train_resumable(
        treebank(),
        options,
        resumed,
        checkpoints,
        &mut |TrainedPass { pass, .. }: TrainedPass<'_>| {
            passes.push(pass);
            if stop(passes.len()) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    )?;
    Ok((passes, model))
}

/// Checks that a training resumed after any pass gives the same passes and model.
fn resumes_from_every_pass(folder: &str, options: &TrainingOptions) {
    let folder = Folder::new(folder);
    let name = options.optimizer.to_string();
    let path = |place: CheckpointPlace| folder.file(place.passes);
    let (passes, model) =
        train_saving(options, None, &mut |snapshot| snapshot.save(path(snapshot.place())), |_| {
            false
        })
        .unwrap();
    let plain = train(treebank(), options, &mut ()).unwrap();
    assert!(weights(&plain) == weights(&model), "{name}: saving changes nothing");
    for done in 1..=passes.len() {
        let checkpoint = Checkpoint::open(folder.file(done)).unwrap();
        let Pass { number, is_second, .. } = passes[done - 1];
        assert_eq!(checkpoint.place(), CheckpointPlace { passes: done, number, is_second });
        // The number of threads may differ.
        let options = TrainingOptions { threads: 1 + done % 2, ..options.clone() };
        let (rest, resumed) =
            train_saving(&options, Some(checkpoint), &mut |_| Ok(()), |_| false).unwrap();
        assert_eq!(rest, passes[done..], "{name} from pass {done}");
        assert!(weights(&resumed) == weights(&model), "{name} from pass {done}");
    }
}

#[test]
fn every_optimizer_resumes() {
    for optimizer in optimizers() {
        resumes_from_every_pass("staged", &few(optimizer));
    }
    let dictionary = Some(crate::Support::Gold);
    resumes_from_every_pass(
        "dictionary",
        &TrainingOptions { dictionary, ..few(Optimizer::Perceptron) },
    );
}

#[test]
fn every_optimizer_resumes_with_joint_labels() {
    for optimizer in optimizers() {
        let labelling = Labelling::Joint;
        resumes_from_every_pass(
            "joint",
            &TrainingOptions { labelling, passes: 3, ..few(optimizer) },
        );
    }
}

#[test]
fn every_optimizer_resumes_in_both_stages() {
    for optimizer in optimizers() {
        resumes_from_every_pass(
            "stages",
            &with_second(TrainingOptions { passes: 2, ..few(optimizer) }),
        );
    }
    let options = with_second(few(Optimizer::default()));
    let labelling = Labelling::Joint;
    resumes_from_every_pass("joint-stages", &TrainingOptions { labelling, ..options.clone() });
    let early = SecondPassOptions { first_passes: Some(1), ..options.second_pass.clone().unwrap() };
    resumes_from_every_pass(
        "early-stages",
        &TrainingOptions { second_pass: Some(early), ..options.clone() },
    );
    let labelling = Labelling::None;
    resumes_from_every_pass("bare-stages", &TrainingOptions { labelling, ..options });
}

#[test]
fn clusters_of_arcs_resume() {
    for optimizer in ["adagrad", "sgd"].map(|name| Optimizer::named(name).unwrap()) {
        let options = TrainingOptions { clusters: 3, ..few(optimizer) };
        resumes_from_every_pass("clusters", &options);
        resumes_from_every_pass(
            "clusters-stages",
            &with_second(TrainingOptions { passes: 2, ..options }),
        );
    }
}

#[test]
fn a_training_resumes_when_arcs_have_converged_and_labels_have_not() {
    let mut options = few("eg-log-linear:gap=0.5,c=1".parse().unwrap());
    options.passes = 6;
    options.labels.passes = Some(8);
    let mut converged = 0;
    train(treebank(), &options, &mut |TrainedPass { pass, .. }: TrainedPass<'_>| {
        converged += usize::from(pass.converged)
    })
    .unwrap();
    assert!((3..8).contains(&converged), "{converged}");
    resumes_from_every_pass("converged", &options);
}

#[test]
fn a_training_interrupted_after_every_pass_gives_the_same_model() {
    let folder = Folder::new("interrupted");
    let path = folder.file("resume");
    let options = with_second(few(Optimizer::default()));
    let whole = train(treebank(), &options, &mut ()).unwrap();
    let mut save = |snapshot: &mut Snapshot<'_>| snapshot.save(&path);
    train_saving(&options, None, &mut save, |_| true).unwrap();
    for run in 2..=8 {
        let checkpoint = Checkpoint::open(&path).unwrap();
        let (passes, model) =
            train_saving(&options, Some(checkpoint), &mut save, |_| true).unwrap();
        assert_eq!(passes.len(), 1);
        assert_eq!(weights(&model) == weights(&whole), run == 8, "run {run}");
    }
}

#[test]
fn checkpoints_are_at_least_the_given_time_apart() {
    let mut places = Vec::new();
    let mut save = |snapshot: &mut Snapshot<'_>| {
        places.push((snapshot.place().is_second, snapshot.place().number));
        Ok(())
    };
    let every = Duration::from_secs(3600);
    let checkpoints = Checkpoints { every, dev: &[], save: &mut save };
    let options = with_second(few(Optimizer::Perceptron));
    train_resumable(treebank(), &options, None, checkpoints, &mut ()).unwrap();
    assert_eq!(places, [(false, 1), (false, 4), (true, 1)]);
}

#[test]
fn checkpoints_of_another_training_are_refused() {
    let folder = Folder::new("another");
    let path = folder.file("resume");
    let options = few(Optimizer::Perceptron);
    train_saving(&options, None, &mut |snapshot| snapshot.save(&path), |_| true).unwrap();
    let resume_with = |options: &TrainingOptions, treebank: &[Sentence], dev: &[Sentence]| {
        let save = &mut |_: &mut Snapshot<'_>| Ok(());
        let checkpoints = Checkpoints { every: Duration::ZERO, dev, save };
        let checkpoint = Checkpoint::open(&path)?;
        train_resumable(treebank, options, Some(checkpoint), checkpoints, &mut ())
    };
    let all = treebank();
    assert!(resume_with(&options, &all, &[]).is_ok());
    for (other, expected) in [
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
        let error = resume_with(&other, &all, &[]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    for (treebank, dev, expected) in [
        (&all[1..], &all[..0], "treebank was of 20 sentences"),
        (&all, &all[..2], "development data was of 0 sentences"),
    ] {
        let error = resume_with(&options, treebank, dev).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.hint().unwrap().contains("without --resume"));
    }
}

#[test]
fn files_that_are_not_checkpoints_are_refused() {
    let folder = Folder::new("refused");
    let path = folder.file("resume");
    let options = few(Optimizer::Perceptron);
    train_saving(&options, None, &mut |snapshot| snapshot.save(&path), |_| true).unwrap();
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

/// Changes a checkpoint as a program would that knows the format: the checksum matches.
#[test]
fn a_checkpoint_that_was_edited_is_refused_and_does_not_end_the_program() {
    let folder = Folder::new("edited");
    let path = folder.file("resume");
    let options = few("adagrad".parse().unwrap());
    train_saving(&options, None, &mut |snapshot| snapshot.save(&path), |pass| pass == 3).unwrap();
    let whole = fs::read(&path).unwrap();
    let content = &whole[..whole.len() - CHECKSUM as usize];
    let resume = |content: &[u8]| {
        let mut hash = Checksum::default();
        hash.update(content);
        fs::write(&path, [content, &hash.value().to_ne_bytes()].concat()).unwrap();
        let checkpoint = Checkpoint::open(&path)?;
        train_saving(&options, Some(checkpoint), &mut |_| Ok(()), |_| false)
    };
    assert!(resume(content).is_ok());
    // The place: 3 passes in all, the third of its stage, not the second stage.
    let place = [3_usize.to_ne_bytes(), 3_usize.to_ne_bytes()].concat();
    let at = content.windows(16).position(|bytes| bytes == place).unwrap();
    for (passes, number, is_second) in
        [(usize::MAX, 3, 0), (usize::MAX, usize::MAX, 0), (3, 4, 0), (3, 3, 1)]
    {
        let mut edited = content.to_vec();
        edited[at..at + 8].copy_from_slice(&passes.to_ne_bytes());
        edited[at + 8..at + 16].copy_from_slice(&usize::to_ne_bytes(number));
        edited[at + 16] = is_second;
        let error = resume(&edited).unwrap_err().to_string();
        assert!(error.contains("damaged"), "{error}");
    }
    // Every number of the state that is small enough to be a count or an index becomes a large one.
    let mut refused = 0;
    for at in (at + 17..content.len() - 8).step_by(4) {
        let number = u64::from_ne_bytes(content[at..at + 8].try_into().unwrap());
        if (1..100).contains(&number) {
            let mut edited = content.to_vec();
            edited[at..at + 8].copy_from_slice(&(1_u64 << 40).to_ne_bytes());
            refused += usize::from(resume(&edited).is_err());
        }
    }
    assert!(refused > 10, "{refused}");
}
