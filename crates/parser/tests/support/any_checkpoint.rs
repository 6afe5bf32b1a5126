//! Checks on any bytes as a checkpoint of a training: it is refused, or the training resumes and ends with a model that
//! parses.
//!
//! The first byte chooses a training and the second one of its checkpoints. The other bytes are changes of that
//! checkpoint, four bytes each. So inputs are small, get past the header, and outlive changes of the format. The
//! checksum is made to match, since it would hide the code behind it.
//!
//! Fuzzing (`fuzz/`) and the tests (`tests/no_panic.rs`) share this file. Add new checks here, for both.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use tutte::features::FeatureSet;
use tutte::{
    Checkpoint, Checkpoints, Labelling, Optimizer, Parser, PrunerOptions, SecondPassOptions,
    Sentence, Snapshot, Support, TrainingOptions, train_resumable,
};
use tutte_linear::hash_bytes;

const SENTENCES: [&str; 3] = [
    "1\tTea\ttea\tNOUN\tNN\t_\t2\tnsubj\t_\t_\n2\tcools\tcool\tVERB\tVBZ\t_\t0\troot\t_\t_\n",
    "1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n",
    "1\tTea\ttea\tNOUN\tNN\t_\t3\tobj\t_\t_\n2\twe\twe\tPRON\tPRP\t_\t3\tnsubj\t_\t_\n\
     3\tlike\tlike\tVERB\tVBP\t_\t0\troot\t_\t_\n",
];

const TEMPLATES: &str = "h.tag m.tag\nm.form\n";

/// Number of bytes of a checksum, at the end of a checkpoint.
const CHECKSUM: usize = 8;

/// A training, and the checkpoint after each of its passes.
struct Training {
    options: TrainingOptions,
    checkpoints: Vec<Vec<u8>>,
}

fn treebank() -> Vec<Sentence> {
    SENTENCES.iter().map(|text| text.parse().expect("a sentence")).collect()
}

/// Returns the options of small trainings: every optimizer, and every stage.
fn options() -> Vec<TrainingOptions> {
    let small = |options: TrainingOptions| {
        options
            .with_templates(FeatureSet::parse(TEMPLATES).expect("templates"))
            .with_passes(2)
            .with_bits(5)
            .with_label_bits(2)
    };
    let plain = |optimizer: &str| {
        let optimizer: Optimizer = optimizer.parse().expect("an optimizer");
        small(TrainingOptions::plain()).with_optimizer(optimizer)
    };
    let second_pass = SecondPassOptions::default().with_folds(2).with_fold_passes(1);
    let transition = second_pass.transition.clone().map(|transition| transition.with_passes(1));
    let second_pass = second_pass.with_transition(transition);
    let pruning = PrunerOptions::default().with_passes(1).with_bits(5);
    let cascade = small(TrainingOptions::default())
        .with_pruning(Some(pruning))
        .with_second_pass(Some(second_pass));
    vec![
        plain("adagrad"),
        plain("sgd"),
        plain("perceptron"),
        plain("mira:k=2"),
        plain("lbfgs"),
        plain("eg-log-linear"),
        plain("adagrad").with_labelling(Labelling::Joint),
        plain("adagrad").with_clusters(2),
        plain("perceptron").with_dictionary(Some(Support::Gold)),
        cascade.clone().with_labelling(Labelling::Joint),
        cascade,
    ]
}

/// Returns the trainings with their checkpoints, which are made once. `path` is a file to write.
fn trainings(path: &Path) -> &'static [Training] {
    static TRAININGS: OnceLock<Vec<Training>> = OnceLock::new();
    TRAININGS.get_or_init(|| {
        let training = |options: TrainingOptions| {
            let mut checkpoints = Vec::new();
            let mut save = |snapshot: &mut Snapshot<'_>| {
                snapshot.save(path)?;
                checkpoints.push(fs::read(path).expect("the checkpoint"));
                Ok(())
            };
            let saving = Checkpoints { every: Duration::ZERO, dev: &[], save: &mut save };
            train_resumable(treebank(), &options, None, saving, &mut ()).expect("a model");
            Training { options, checkpoints }
        };
        options().into_iter().map(training).collect()
    })
}

/// Numbers that checkpoints do not expect.
const NUMBERS: [[u8; 8]; 8] = [
    [0; 8],
    [255; 8],
    1_u64.to_ne_bytes(),
    (1_u64 << 40).to_ne_bytes(),
    i64::MAX.to_ne_bytes(),
    f64::NAN.to_ne_bytes(),
    f64::INFINITY.to_ne_bytes(),
    (-1e300_f64).to_ne_bytes(),
];

/// Makes one change: two bytes say where, one says which, and one is its value.
fn change(content: &mut Vec<u8>, [low, high, which, value]: [u8; 4]) {
    // Places count from the end, since the header comes first and is seldom of interest.
    let behind = usize::from(u16::from_le_bytes([low, high]));
    let Some(at) = content.len().checked_sub(1 + behind % content.len().max(1)) else { return };
    match which % 8 {
        0 => content[at] = value,
        1 => content.truncate(at),
        2 => drop(content.remove(at)),
        3 => content.insert(at, value),
        4 => content.extend([value; CHECKSUM]),
        5 => overwrite(content, at, &u64::from(value).to_ne_bytes()),
        6 => overwrite(content, at, &f64::from(value).to_ne_bytes()),
        _ => overwrite(content, at, &NUMBERS[usize::from(value) % NUMBERS.len()]),
    }
}

fn overwrite(content: &mut [u8], at: usize, number: &[u8]) {
    content[at..].iter_mut().zip(number).for_each(|(byte, new)| *byte = *new);
}

/// Changes a checkpoint as `data` says, writes it to `path`, and resumes from it. Returns `true` if the training ended
/// with a model.
///
/// # Panics
/// If a check fails.
pub(crate) fn ask_everything(data: &[u8], path: &Path) -> bool {
    let trainings = trainings(path);
    let (choices, changes) = data.split_at(data.len().min(2));
    let choice = |at: usize| choices.get(at).map_or(0, |&byte| usize::from(byte));
    let Training { options, checkpoints } = &trainings[choice(0) % trainings.len()];
    let whole = &checkpoints[choice(1) % checkpoints.len()];
    let mut content = whole[..whole.len() - CHECKSUM].to_vec();
    for bytes in changes.chunks(4).take(8) {
        let mut four = [0; 4];
        four[..bytes.len()].copy_from_slice(bytes);
        change(&mut content, four);
    }
    let checksum = hash_bytes(&content, 0);
    content.extend(checksum.to_ne_bytes());
    fs::write(path, &content).expect("a file can be written");

    let save = &mut |_: &mut Snapshot<'_>| Ok(());
    let checkpoints = Checkpoints { every: Duration::ZERO, dev: &[], save };
    let treebank = treebank();
    let resumed = Checkpoint::open(path).and_then(|checkpoint| {
        train_resumable(&treebank, options, Some(checkpoint), checkpoints, &mut ())
    });
    match resumed {
        Ok(model) => {
            // Parsing may fail: large weights can give infinite or NaN scores.
            for sentence in &treebank {
                if let Ok(parse) = Parser::new(&model).parse(sentence) {
                    assert_eq!(parse.tree.heads().len(), sentence.len());
                }
            }
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            let _ = error.hint();
            assert!(!changes.is_empty(), "a checkpoint without changes resumes: {error}");
            false
        }
    }
}
