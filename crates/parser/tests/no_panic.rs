//! Checks that no file makes the model reader panic. Runs the shared checks of `support/any_model.rs` on the fuzzer's
//! seeds, on damaged models and on random bytes. `fuzz/` runs the same checks with coverage feedback, and without the
//! checksum, which would hide the code behind it.

#[path = "support/any_model.rs"]
mod any_model;

use std::fs;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use tutte::features::FeatureSet;
use tutte::{About, Calibrator, Method, PrunerOptions, Support, TrainingOptions, train};
use tutte_treebank::Sentence;

const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/model");

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
#[ignore = "writes fuzz/seeds/model"]
fn write_the_seeds_of_the_fuzzer() {
    let treebank: Sentence = "\
1\tTea\ttea\tNOUN\tNN\tNumber=Sing\t2\tnsubj\t_\t_
2\tcools\tcool\tVERB\tVBZ\tNumber=Sing\t0\troot\t_\t_
"
    .parse()
    .expect("a sentence");
    let treebank = [treebank.clone(), treebank];
    fs::create_dir_all(SEEDS).expect("a folder");
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
        let path = Path::new(SEEDS).join(name);
        model.compact().save(path, &About::default()).expect("a file");
    }
}

#[test]
fn seeds_of_the_fuzzer() {
    for name in SEED_MODELS {
        let seed = fs::read(Path::new(SEEDS).join(name)).expect("the seeds are in the repository");
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
        let mut data = fs::read(Path::new(SEEDS).join("dictionary.tutte")).expect("a seed");
        for (at, byte) in damage {
            let at = at.index(data.len());
            data[at] = byte;
        }
        any_model::ask_everything(&data, &place("damaged"));
    }
}
