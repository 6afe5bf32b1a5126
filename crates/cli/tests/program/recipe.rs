//! The library trains the same model as the program, byte for byte.

use std::fs;
use std::path::Path;
use std::process::Command;

use tutte::learn::{Part, Preset, Recipe, train_pipeline};
use tutte::{About, ModelFile};
use tutte_treebank::Sentence;

fn example(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn sentences(name: &str) -> Vec<Sentence> {
    tutte_treebank::open(example(name)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Trains by the program with these options, and by the library with the same recipe.
fn trains_the_same_bytes(name: &str, options: &[&str], recipe: Recipe, has_dev: bool) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("recipe-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let [by_program, by_library] = ["program", "library"].map(|by| folder.join(by));

    let mut program = Command::new(env!("CARGO_BIN_EXE_tutte"));
    program
        .args(["train", "-q", "-o"])
        .args([&by_program, &example("garden.conllu")])
        .args(options);
    if has_dev {
        program.arg("--dev").arg(example("garden-test.conllu"));
    } else {
        program.arg("--no-dev");
    }
    let run = program.output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));

    // The recipe gets the command and the name of the development data from the model of the program.
    let ModelFile { model, about, .. } = ModelFile::open(&by_program).unwrap();
    let calibration = model.require_parser().unwrap().calibration.clone();
    let dev_name = calibration.and_then(|calibration| calibration.data).unwrap_or_default();
    let recipe = recipe
        .with_output(&by_library)
        .with_threads(2)
        .with_dev_name(dev_name)
        .with_description(About { command: about.command, ..About::default() });
    let dev = if has_dev { sentences("garden-test.conllu") } else { Vec::new() };
    let mut passes = 0;
    let mut observer = |event: tutte::learn::Event<'_>| {
        passes += usize::from(matches!(event, tutte::learn::Event::Pass(_)));
        std::ops::ControlFlow::Continue(())
    };
    let trained = train_pipeline(sentences("garden.conllu"), dev, &recipe, &mut observer).unwrap();
    assert_eq!(trained.passes, passes);
    assert!(fs::read(&by_program).unwrap() == fs::read(&by_library).unwrap(), "{name}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "no checkpoint is left");
}

#[test]
fn the_default_recipe_is_that_of_the_program() {
    trains_the_same_bytes("default", &[], Recipe::new(), true);
}

#[test]
fn a_fast_recipe_without_development_data_is_that_of_the_program() {
    let options = ["--preset", "fast", "--seed", "3"];
    let recipe = Recipe::new().with_preset(Preset::Fast).with_seed(3);
    trains_the_same_bytes("fast", &options, recipe, false);
}

#[test]
fn a_parser_alone_is_that_of_the_program() {
    let options = ["--with", "parser", "--passes", "2", "--labels", "staged"];
    let recipe = Recipe::new()
        .with_parts([Part::Parser])
        .with_passes(2)
        .with_labelling(tutte::Labelling::Staged);
    trains_the_same_bytes("parser", &options, recipe, true);
}
