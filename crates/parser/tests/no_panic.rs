//! Checks that no file makes a reader panic: models, packed models, checkpoints, feature templates, verdicts. Runs the
//! shared checks of `support` on the inputs of the fuzzer, on damaged files and on random bytes. `fuzz/` runs the same
//! checks with coverage feedback, and without the checksum of models, which would hide the code behind it.

#[path = "support/any_checkpoint.rs"]
mod any_checkpoint;
#[path = "support/any_model.rs"]
mod any_model;
#[path = "support/any_templates.rs"]
mod any_templates;
#[path = "support/any_verdicts.rs"]
mod any_verdicts;
#[path = "../../../fuzz/inputs.rs"]
mod inputs;

use std::fs;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use tutte::features::FeatureSet;
use tutte::{About, Calibrator, Method, PrunerOptions, Support, TrainingOptions, train};
use tutte_treebank::Sentence;

const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds");

/// Returns a path for a test's file.
fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("no-panic-{name}"))
}

/// Feature templates: one of each form, so that models are small.
const TEMPLATES: &str = "\
conjoin only
pairs 3
h.form m.tag
m.lemma
h.upos b*.tag m.upos
h-1.upos b.upos m+2.tag
h.feat m.feat
h.cut2 m.cut5
h.upos m.marker a.punctuation";

const SEED_MODELS: [&str; 2] = ["hashed.tutte", "dictionary.tutte"];

/// Writes the seeds. Run it after a change of the format: `cargo test -p tutte --test no_panic -- --ignored`.
#[test]
#[ignore = "writes fuzz/seeds/model and fuzz/seeds/packed"]
fn write_the_seeds_of_the_fuzzer() {
    let treebank: Sentence = "\
1\tTea\ttea\tNOUN\tNN\tNumber=Sing\t2\tnsubj\t_\t_
2\tcools\tcool\tVERB\tVBZ\tNumber=Sing\t0\troot\t_\t_
"
    .parse()
    .expect("a sentence");
    let treebank = [treebank.clone(), treebank];
    let folder = |target: &str| {
        let folder = Path::new(SEEDS).join(target);
        fs::create_dir_all(&folder).expect("a folder");
        folder
    };
    let small = |dictionary, options: TrainingOptions| {
        options
            .with_templates(FeatureSet::parse(TEMPLATES).expect("templates"))
            .with_dictionary(dictionary)
            .with_passes(2)
            .with_bits(6)
            .with_label_bits(2)
    };
    // One model with every component, and one with a single pass.
    let pruning = Some(PrunerOptions::default().with_bits(6));
    let cascade = small(None, TrainingOptions::default().with_pruning(pruning));
    let dictionary = small(Some(Support::Gold), TrainingOptions::plain());
    for (name, options) in SEED_MODELS.into_iter().zip([cascade, dictionary]) {
        let mut model = train(&treebank, &options, &mut ()).expect("a model");
        if options.pruning.is_some() {
            let calibrator = Calibrator::new(&model, &treebank, 1).expect("trees");
            let (temperature, calibration) = calibrator.fit(Method::Isotonic).expect("a fit");
            model.temperature = temperature;
            model.calibration = Some(calibration);
        }
        let path = folder("model").join(name);
        let compact = model.compact();
        compact.save(&path, &About::default()).expect("a file");
        for ending in ["gz", "zst"] {
            let packed = folder("packed").join(format!("{name}.{ending}"));
            compact.save(packed, &About::default()).expect("a file");
        }
        let without_zeros = tutte_linear::packing::pack(&fs::read(path).expect("the model"));
        fs::write(folder("packed").join(format!("{name}.zeros")), without_zeros).expect("a file");
    }
}

#[test]
fn inputs_of_the_fuzzer() {
    for (_, input) in inputs::inputs("model") {
        any_model::ask_everything(&input, &place("model-input"));
    }
    for (path, input) in inputs::inputs("packed") {
        let is_model = any_model::ask_packed(&input, &place("packed-input"));
        let is_seed = path.parent().is_some_and(|folder| folder.ends_with("seeds/packed"));
        assert!(is_model || !is_seed, "{} is not readable; write the seeds again", path.display());
    }
    for (path, input) in inputs::inputs("checkpoint") {
        let resumes = any_checkpoint::ask_everything(&input, &place("checkpoint-input"));
        assert!(resumes || input.len() > 2, "{} does not resume", path.display());
    }
    let count = |target: &str, ask: fn(&[u8]) -> bool| {
        inputs::inputs(target).iter().filter(|(_, input)| ask(input)).count()
    };
    assert!(count("templates", any_templates::ask_everything) >= 2);
    assert!(count("verdicts", any_verdicts::ask_everything) >= 2);
}

#[test]
fn models_cut_anywhere() {
    for name in SEED_MODELS {
        let seed = fs::read(Path::new(SEEDS).join("model").join(name)).expect("a seed");
        let path = place("seed");
        assert!(
            any_model::ask_everything(&seed, &path),
            "{name} is not readable; write the seeds again"
        );
        for end in (0..seed.len()).step_by(13) {
            assert!(!any_model::ask_everything(&seed[..end], &path));
        }
    }
}

proptest! {
    // A failing input is added to the seeds by hand, not to a file of proptest.
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_bytes(data in vec(any::<u8>(), 0..200)) {
        any_model::ask_everything(&data, &place("random"));
    }

    #[test]
    fn damaged_models(damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut data = fs::read(Path::new(SEEDS).join("model/dictionary.tutte")).expect("a seed");
        for (at, byte) in damage {
            let at = at.index(data.len());
            data[at] = byte;
        }
        any_model::ask_everything(&data, &place("damaged"));
    }

    #[test]
    fn damaged_checkpoints(data in vec(any::<u8>(), 2..30)) {
        any_checkpoint::ask_everything(&data, &place("checkpoint"));
    }

    #[test]
    fn random_templates_and_verdicts(data in vec(any::<u8>(), 0..200)) {
        any_templates::ask_everything(&data);
        any_verdicts::ask_everything(&data);
        any_model::ask_packed(&data, &place("packed"));
    }
}
