//! Tests of the model file: models survive it, and invalid files are refused with a reason.

use std::collections::HashMap;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use safetensors::SafeTensors;
use safetensors::tensor::TensorView;
use serde_json::{Value, json};
use tutte_treebank::Sentence;
use tutte_trees::TreeSet;

use super::header::DOCUMENT;
use super::tables::{NO_CHECKSUM, checksum};
use super::*;
use crate::features::{Conjoin, FeatureSet};
use crate::text::{Segmenter, Tagger, TaggerMemory, TaggerOptions, Tokenizer, TokenizerOptions};
use crate::{
    Calibration, Calibrator, Decoding, Dictionary, Error, Index, Labelling, Method, ModelProblem,
    Parser, Support, TrainingOptions, Weights, train,
};

const TREEBANK: &str = "\
1\tTea\ttea\tNOUN\tNN\tNumber=Sing\t2\tnsubj\t_\t_
2\tcools\tcool\tVERB\tVBZ\tNumber=Sing\t0\troot\t_\t_
3\tslowly\tslowly\tADV\tRB\t_\t2\tadvmod\t_\t_

1\tDrink\tdrink\tVERB\tVB\tMood=Imp\t0\troot\t_\t_
2\thot\thot\tADJ\tJJ\t_\t3\tamod\t_\t_
3\ttea\ttea\tNOUN\tNN\tNumber=Sing\t1\tobj\t_\t_

";

fn treebank() -> Vec<Sentence> {
    tutte_treebank::Reader::new(TREEBANK.as_bytes()).collect::<Result<_, _>>().unwrap()
}

fn model() -> ParserModel {
    let options =
        TrainingOptions { passes: 3, bits: 12, label_bits: 6, ..TrainingOptions::default() };
    train(treebank(), &options, &mut ()).unwrap()
}

fn about() -> About {
    About {
        language: Some("en".into()),
        data: Some("\"Tea\" ☕ 0000000000000000".into()),
        licence: Some("CC0".into()),
        command: Some("tutte train tea.conllu".into()),
        seed: 7,
        training: vec![("passes".into(), "3".into())],
        dev: Some(DevScores { pass: 2, words: 9, heads: 8, both: 6 }),
    }
}

/// A temporary folder that is removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("tutte-model-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, bytes: &[u8]) -> PathBuf {
        let path = self.0.join("some.tutte");
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Returns the problem of a file with these bytes.
    fn refusal(&self, bytes: &[u8]) -> ModelProblem {
        match ModelFile::open(self.file(bytes)) {
            Err(Error::Model { problem, .. }) => problem,
            other => panic!("{other:?}"),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Edits the tables of a file and corrects the checksum.
fn forged_tables(bytes: &[u8], edit: impl Fn(&str, &mut Vec<u8>)) -> Vec<u8> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).unwrap();
    let metadata = metadata.metadata().clone();
    let tensors = SafeTensors::deserialize(bytes).unwrap().tensors();
    let tables: Vec<_> = tensors
        .iter()
        .map(|(name, view)| {
            let mut data = view.data().to_vec();
            edit(name, &mut data);
            (name, view.dtype(), view.shape().to_vec(), data)
        })
        .collect();
    let views = tables.iter().map(|(name, dtype, shape, data)| {
        (name, safetensors::tensor::TensorView::new(*dtype, shape.clone(), data).unwrap())
    });
    forged(&safetensors::serialize(views, metadata).unwrap(), |_| {})
}

/// Edits the document of a file and corrects the checksum.
fn forged(bytes: &[u8], edit: impl FnOnce(&mut Value)) -> Vec<u8> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).unwrap();
    let text = &metadata.metadata().as_ref().unwrap()[DOCUMENT];
    let mut document: Value = serde_json::from_str(text).unwrap();
    document["checksum"] = json!(NO_CHECKSUM);
    edit(&mut document);
    let text = document.to_string();
    let tensors = SafeTensors::deserialize(bytes).unwrap();
    let tensors = tensors.tensors();
    let content = tensors.iter().map(|(name, view)| (name.as_str(), view.shape(), view.data()));
    let text = text.replacen(NO_CHECKSUM, &checksum(&text, content), 1);
    safetensors::serialize(tensors, Some(HashMap::from([(DOCUMENT.to_owned(), text)]))).unwrap()
}

/// Changes the shape of a table and corrects the checksum; surplus cells are left out.
fn with_shape(bytes: &[u8], table: &str, shape: &[usize]) -> Vec<u8> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).unwrap();
    let tensors = SafeTensors::deserialize(bytes).unwrap();
    let tables = tensors.tensors().into_iter().map(|(name, view)| {
        let (shape, data) = if name == table {
            (shape, &view.data()[..shape.iter().product()])
        } else {
            (view.shape(), view.data())
        };
        (name, TensorView::new(view.dtype(), shape.to_vec(), data).unwrap())
    });
    let metadata = metadata.metadata().clone();
    forged(&safetensors::serialize(tables.collect::<Vec<_>>(), metadata).unwrap(), |_| {})
}

#[test]
fn a_model_survives_its_file_to_the_bit() {
    let folder = Folder::new();
    let model = model().compact();
    let path = folder.0.join("tea.tutte");
    model.save(&path, &about()).unwrap();
    let file = ModelFile::open(&path).unwrap();
    assert_eq!(file.about, about());
    assert_eq!((file.format, file.tutte.as_str()), (7, env!("CARGO_PKG_VERSION")));
    assert_eq!(file.bytes, fs::metadata(&path).unwrap().len());
    assert_eq!(file.model.require_parser().unwrap().tree_set, model.tree_set);
    assert_eq!(file.model.require_parser().unwrap().labels.labels(), model.labels.labels());
    assert_eq!(
        file.model.require_parser().unwrap().arcs.features.to_string(),
        model.arcs.features.to_string()
    );
    assert_eq!(
        file.model.require_parser().unwrap().labels.features.to_string(),
        model.labels.features.to_string()
    );
    let transition = |model: &ParserModel<Compact>| {
        model.second_pass.as_ref().and_then(|second_pass| second_pass.transition.clone()).unwrap()
    };
    let factors = |model: &ParserModel<Compact>| {
        model.second_pass.as_ref().and_then(|second_pass| second_pass.factors.clone()).unwrap()
    };
    let read_factors = factors(file.model.require_parser().unwrap());
    let written_factors = factors(&model);
    assert_eq!(read_factors.features, written_factors.features);
    assert_eq!(
        (read_factors.bits(), read_factors.iterations),
        (written_factors.bits(), written_factors.iterations)
    );
    assert!(written_factors.weights.cells().iter().any(|cell| *cell != 0));
    let read = transition(file.model.require_parser().unwrap());
    let written = transition(&model);
    assert_eq!((read.bits(), read.labels), (written.bits(), model.labels.labels().len()));
    for (read, written) in [
        (&file.model.require_parser().unwrap().arcs.weights, &model.arcs.weights),
        (&file.model.require_parser().unwrap().labels.weights, &model.labels.weights),
        (&read_factors.weights, &written_factors.weights),
        (&read.steps, &written.steps),
        (&read.functions, &written.functions),
    ] {
        assert_eq!(read.cells(), written.cells());
        assert_eq!(read.scale().to_bits(), written.scale().to_bits());
        assert!(read.cells().iter().any(|cell| *cell != 0));
    }
    for sentence in treebank() {
        assert_eq!(
            Parser::new(file.model.require_parser().unwrap()).parse(&sentence).unwrap(),
            Parser::new(&model).parse(&sentence).unwrap()
        );
    }
    // A mapped model does not change when its file is replaced.
    let before = file.model.require_parser().unwrap().arcs.weights.cells().to_vec();
    model.save(&path, &About::default()).unwrap();
    assert_eq!(file.model.require_parser().unwrap().arcs.weights.cells(), before);
    assert_eq!(ModelFile::open(&path).unwrap().about, About::default());
}

#[test]
fn the_same_model_is_the_same_bytes() {
    let bytes = model().compact().to_bytes(&about()).unwrap();
    assert_eq!(bytes, model().compact().to_bytes(&about()).unwrap());
    assert_ne!(bytes, model().compact().to_bytes(&About::default()).unwrap());
    // A model that was read is written as the bytes that were read.
    let folder = Folder::new();
    let file = ModelFile::open(folder.file(&bytes)).unwrap();
    assert_eq!(bytes, file.model.to_bytes(&file.about).unwrap());
}

#[test]
fn calibrations_survive_too_and_invalid_ones_are_refused() {
    let mut model = model();
    let plain = model.compact().to_bytes(&about()).unwrap();
    let calibrator = Calibrator::new(&model, &treebank(), 1).unwrap();
    let (temperature, calibration) = calibrator.fit(Method::Isotonic).unwrap();
    let calibration = Calibration { data: Some("tea".into()), ..calibration };
    model.temperature = temperature;
    model.calibration = Some(calibration.clone());
    let folder = Folder::new();
    let bytes = model.compact().to_bytes(&about()).unwrap();
    let file = ModelFile::open(folder.file(&bytes)).unwrap();
    assert_eq!(file.model.require_parser().unwrap().calibration, Some(calibration));
    assert_eq!(file.model.require_parser().unwrap().temperature, temperature);
    assert_eq!(bytes, file.model.to_bytes(&file.about).unwrap());
    assert_eq!(
        ModelFile::open(folder.file(&plain)).unwrap().model.require_parser().unwrap().calibration,
        None
    );
    for (at, value) in [
        ("/calibration", json!("none")),
        ("/calibration/isotonic", json!([[0.5, 0.9], [0.7, 0.8]])),
        ("/calibration/isotonic", json!([[0.5, -0.9]])),
        ("/calibration/isotonic", json!([])),
        ("/calibration/precision", json!([[0.5, 3, 4]])),
        ("/calibration/precision", json!(vec![[0.0; 3]; 2])),
        ("/calibration/words", json!(-1)),
    ] {
        let edit = |document: &mut Value| *document.pointer_mut(at).unwrap() = value.clone();
        let problem = folder.refusal(&forged(&bytes, edit));
        assert!(matches!(problem, ModelProblem::Altered { .. }), "{at} {value}: {problem}");
    }
}

#[test]
fn eight_bits_hold_a_weight_to_half_a_step() {
    let model = model();
    let compact = model.compact();
    let scale = compact.arcs.weights.scale();
    for (weight, cell) in model.arcs.weights.iter().zip(compact.arcs.weights.cells()) {
        assert!((weight - f32::from(*cell) * scale).abs() <= 0.5001 * scale);
    }
    assert_eq!(Compact::new(&[0.0; 4]).cells(), [0; 4]);
    assert_eq!(Compact::new(&[]).cells(), [0i8; 0]);
}

fn dictionary_model() -> ParserModel<Compact> {
    let options = TrainingOptions {
        templates: FeatureSet::mcdonald(),
        dictionary: Some(Support::Gold),
        passes: 3,
        label_bits: 6,
        ..TrainingOptions::plain()
    };
    train(treebank(), &options, &mut ()).unwrap().compact()
}

#[test]
fn dictionaries_keep_their_keys_and_names() {
    let model = dictionary_model();
    let bytes = model.to_bytes(&About::default()).unwrap();
    assert_eq!(bytes, dictionary_model().to_bytes(&About::default()).unwrap());
    let folder = Folder::new();
    let read = ModelFile::open(folder.file(&bytes)).unwrap().model.parser.unwrap();
    let dictionary = |model: &ParserModel<Compact>| match &model.arcs.index {
        Index::Dictionary(dictionary) => dictionary.clone(),
        index => panic!("{index:?}"),
    };
    let (old, new) = (dictionary(&model), dictionary(&read));
    assert!(old.keys().eq(new.keys()) && old.len() > 50);
    let names = |dictionary: &Dictionary| -> Vec<String> {
        dictionary.names().read(&model.arcs.features).map(|name| name.to_string()).collect()
    };
    assert_eq!(names(&old), names(&new));
    assert_eq!(names(&old).len(), old.len());
    assert_eq!(read.arcs.weights.cells(), model.arcs.weights.cells());
    assert_eq!(read.to_bytes(&About::default()).unwrap(), bytes);
    for sentence in treebank() {
        let parse = |model| Parser::new(model).parse(&sentence).unwrap();
        assert_eq!(parse(&read), parse(&model));
    }
}

#[test]
fn invalid_dictionaries_are_refused() {
    let bytes = dictionary_model().to_bytes(&about()).unwrap();
    let folder = Folder::new();
    // Changes one byte of a table and corrects the checksum.
    let refused = |table: &'static str, at: usize, byte: u8| {
        let edit = |name: &str, bytes: &mut Vec<u8>| {
            if name == table {
                bytes[at] = byte;
            }
        };
        folder.refusal(&forged_tables(&bytes, edit))
    };
    for (table, at, byte, message) in [
        ("arcs.keys", 7, 0xFF, "keys that do not increase"),
        ("arcs.values", 0, 0xFF, "invalid utf-8"),
        ("arcs.names", 0, 0x7F, "no name at number 0"),
        ("arcs.names", 0, 0x80, "no name at number"),
        ("arcs.slots", 0, 0, "I8 ["),
    ] {
        let problem = refused(table, at, byte);
        assert!(matches!(problem, ModelProblem::Table { .. }), "{table}: {problem}");
        assert!(problem.to_string().contains(message), "{table}: {problem}");
    }
    // Names of other templates.
    let fewer = forged(&bytes, |document| document["arcs"]["templates"] = json!(["h.form"]));
    let problem = folder.refusal(&fewer);
    assert!(matches!(problem, ModelProblem::Table { name: "arcs.names", .. }), "{problem}");
}

#[test]
fn templates_keep_how_they_fire() {
    let options = TrainingOptions {
        templates: FeatureSet::passive_aggressive(),
        passes: 1,
        bits: 12,
        label_bits: 6,
        ..TrainingOptions::plain()
    };
    let model = train(treebank(), &options, &mut ()).unwrap().compact();
    let folder = Folder::new();
    let path = folder.file(&model.to_bytes(&about()).unwrap());
    let read = Model::load(path).unwrap().parser.unwrap().arcs.features;
    assert_eq!((read.conjoin(), read.pairs()), (Conjoin::Only, Some(64)));
    assert_eq!(read.to_string(), FeatureSet::passive_aggressive().to_string());
}

#[test]
fn clusters_survive_their_file() {
    let options = TrainingOptions {
        passes: 2,
        bits: 12,
        label_bits: 6,
        clusters: 3,
        ..TrainingOptions::plain()
    };
    let plain = train(treebank(), &options, &mut ()).unwrap();
    let second = TrainingOptions { second_pass: TrainingOptions::default().second_pass, ..options };
    let two_passes = train(treebank(), &second, &mut ()).unwrap();
    let folder = Folder::new();
    for (model, table) in [(plain.compact(), "arcs"), (two_passes.compact(), "guided")] {
        let bytes = model.to_bytes(&about()).unwrap();
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        assert_eq!(tensors.tensor(table).unwrap().shape(), [3, 1 << 12]);
        let file = ModelFile::open(folder.file(&bytes)).unwrap();
        assert_eq!(file.model.require_parser().unwrap().clusters(), 3);
        assert_eq!(bytes, file.model.to_bytes(&file.about).unwrap());
        for sentence in treebank() {
            for decoding in [Decoding::Mbr, Decoding::Map, Decoding::MaxZ] {
                let parse =
                    |model| Parser::new(model).with_decoding(decoding).parse(&sentence).unwrap();
                assert_eq!(parse(file.model.require_parser().unwrap()), parse(&model));
            }
        }
        let bits = |bits| json!({"hashed": {"bits": bits}});
        let edited = forged(&bytes, |document| document[table]["index"] = bits(13));
        let problem = folder.refusal(&edited);
        assert!(matches!(problem, ModelProblem::Table { name, .. } if name == table));
        let message = "is I8 [3, 4096], expected I8 [3, 8192]";
        assert!(problem.to_string().contains(message), "{problem}");
    }
    // Invalid shapes.
    let bytes = plain.compact().to_bytes(&about()).unwrap();
    for shape in [vec![0, 3 << 12], vec![1, 3 << 12], vec![3 << 12], vec![1, 3, 1 << 12]] {
        let problem = folder.refusal(&with_shape(&bytes, "arcs", &shape));
        assert!(matches!(problem, ModelProblem::Table { name: "arcs", .. }), "{shape:?} {problem}");
    }
}

#[test]
fn files_that_are_not_models_are_recognised() {
    let folder = Folder::new();
    let missing = ModelFile::open(folder.0.join("missing.tutte")).unwrap_err();
    assert!(matches!(&missing, Error::Model { problem: ModelProblem::Unreadable(_), .. }));
    assert!(missing.hint().unwrap().contains("tutte train"));
    let itself = ModelFile::open(&folder.0).unwrap_err();
    let found_folder = ModelProblem::NotAModel { found: "a folder" };
    assert_eq!(
        itself.to_string(),
        Error::Model { path: folder.0.clone(), problem: found_folder }.to_string()
    );
    let other = safetensors::serialize(Vec::<(String, TensorView<'_>)>::new(), None);
    for (bytes, expected) in [
        (&b""[..], "an empty file"),
        (TREEBANK.as_bytes(), "a text file"),
        ("☕".repeat(300).as_bytes(), "a text file"),
        (b"\x7fELF\0\0\0\0\0\0\0\0\0", "a file of another kind"),
        (&other.unwrap(), "tensors of another program"),
    ] {
        match folder.refusal(bytes) {
            ModelProblem::NotAModel { found } => assert_eq!(found, expected),
            other => panic!("{expected}: {other:?}"),
        }
    }
}

#[test]
fn a_packed_model_is_opened() {
    let folder = Folder::new();
    let model = model().compact();
    let bytes = model.to_bytes(&about()).unwrap();
    for name in ["some.tutte.gz", "some.tutte.zst"] {
        let path = folder.0.join(name);
        model.save(&path, &about()).unwrap();
        let packed = fs::read(&path).unwrap();
        assert!(packed.len() < bytes.len() / 2, "{name}: {} bytes", packed.len());
        let file = ModelFile::open(&path).unwrap();
        assert_eq!((file.bytes, &file.about), (bytes.len() as u64, &about()));
        assert_eq!(file.model.to_bytes(&file.about).unwrap(), bytes);

        for length in [12, packed.len() / 2, packed.len() - 9] {
            match folder.refusal(&packed[..length]) {
                ModelProblem::Altered { what } => assert!(what.contains("unpacked"), "{what}"),
                ModelProblem::Truncated { found, expected } => assert!(found < expected),
                other => panic!("{name}, {length} bytes: {other:?}"),
            }
        }
        let refusal = |bytes: &[u8]| {
            let mut output = tutte_treebank::Output::create(&path).unwrap();
            output.write_all(bytes).unwrap();
            output.commit().unwrap();
            folder.refusal(&fs::read(&path).unwrap())
        };
        let longer = [&bytes[..], &[0; 9]].concat();
        assert!(matches!(refusal(&longer), ModelProblem::Altered { .. }));
        let shorter = refusal(&bytes[..bytes.len() - 9]);
        assert!(matches!(shorter, ModelProblem::Truncated { .. }), "{shorter:?}");
        let problem = refusal(TREEBANK.as_bytes()).to_string();
        assert_eq!(problem, "not a model of tutte but something else that is packed");
        // A file that claims to be larger than the limit is not unpacked.
        let size = 3u64 << 30;
        let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
        let header = json!({
            "__metadata__": metadata.metadata(),
            "arcs": {"dtype": "I8", "shape": [size], "data_offsets": [0, size]},
        });
        let header = header.to_string();
        let huge = refusal(&[&header.len().to_le_bytes(), header.as_bytes(), &[0; 99]].concat());
        assert!(matches!(huge, ModelProblem::TooLargeToUnpack { .. }), "{huge:?}");
    }
}

/// Older programs read files without factors, and would ignore factors.
#[test]
fn only_models_with_factors_need_the_newest_format() {
    let mut model = model().compact();
    let format = |model: &ParserModel<Compact>| {
        let bytes = model.to_bytes(&about()).unwrap();
        ModelFile::open(Folder::new().file(&bytes)).unwrap().format
    };
    assert_eq!(format(&model), 7);
    model.second_pass.iter_mut().for_each(|second_pass| second_pass.factors = None);
    assert_eq!(format(&model), 6);
}

#[test]
fn factors_that_cannot_be_are_refused() {
    let bytes = model().compact().to_bytes(&about()).unwrap();
    let folder = Folder::new();
    let many = forged(&bytes, |document| document["guided"]["factors"]["iterations"] = json!(101));
    assert!(matches!(folder.refusal(&many), ModelProblem::Altered { .. }));
    let small = forged(&bytes, |document| document["guided"]["factors"]["bits"] = json!(3));
    assert!(matches!(folder.refusal(&small), ModelProblem::Altered { .. }));
    let other = |document: &mut serde_json::Value| {
        document["guided"]["factors"]["templates"][0] = json!("cousins h.upos");
    };
    let unknown = folder.refusal(&forged(&bytes, other));
    assert!(matches!(unknown, ModelProblem::UnknownTemplate(_)), "{unknown:?}");
}

#[test]
fn another_format_version_is_named() {
    let bytes = model().compact().to_bytes(&about()).unwrap();
    let folder = Folder::new();
    // A newer format may have anything else in its document.
    let newer = forged(&bytes, |document| *document = json!({"format": 9, "tutte": "4.2.0"}));
    let error = ModelFile::open(folder.file(&newer)).unwrap_err();
    assert!(error.to_string().ends_with("the model has format 9, but this tutte reads format 7"));
    assert!(error.hint().unwrap().contains("tutte 4.2.0: update"));
    let older = forged(&bytes, |document| document["format"] = json!(0));
    assert!(matches!(folder.refusal(&older), ModelProblem::FormatVersion { found: 0, .. }));
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    let bytes = model().compact().to_bytes(&about()).unwrap();
    let folder = Folder::new();
    let header = 8 + u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
    for length in (0..header).step_by(97).chain([header, header + 1, bytes.len() - 1]) {
        match folder.refusal(&bytes[..length]) {
            ModelProblem::Truncated { found, expected } => {
                assert_eq!(found, length as u64);
                assert!(expected == header as u64 || expected == bytes.len() as u64);
            }
            ModelProblem::NotAModel { .. } if length < 9 => {}
            other => panic!("{length}: {other:?}"),
        }
    }
    let longer = [&bytes[..], b"\0"].concat();
    assert!(matches!(folder.refusal(&longer), ModelProblem::Altered { .. }));
}

#[test]
fn one_bit_changed_anywhere_is_detected() {
    let mut bytes = model().compact().to_bytes(&about()).unwrap();
    let folder = Folder::new();
    let header = 8 + u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
    let places = (0..header).step_by(7).chain((header..bytes.len()).step_by(131));
    for (bit, at) in places.enumerate() {
        bytes[at] ^= 1 << (bit % 8);
        let problem = folder.refusal(&bytes);
        assert!(at < header || matches!(problem, ModelProblem::Altered { .. }), "{at}: {problem}");
        bytes[at] ^= 1 << (bit % 8);
    }
    ModelFile::open(folder.file(&bytes)).unwrap();
}

#[test]
fn documents_that_contradict_themselves_are_refused() {
    let bytes = model().compact().to_bytes(&about()).unwrap();
    let folder = Folder::new();
    ModelFile::open(folder.file(&forged(&bytes, |_| {}))).unwrap();
    let refusal = |edit: fn(&mut Value)| folder.refusal(&forged(&bytes, edit));

    let template = refusal(|document| document["arcs"]["templates"][3] = json!("h.aura m.form"));
    assert!(matches!(template, ModelProblem::UnknownTemplate(_)), "{template}");
    assert!(template.to_string().contains("\"aura\" is not an attribute"), "{template}");
    let template = refusal(|document| document["labels"]["templates"][0] = json!(""));
    assert!(matches!(template, ModelProblem::UnknownTemplate(_)), "{template}");

    let labels = refusal(|document| document["labels"]["names"] = json!(vec!["x"; 9]));
    assert!(matches!(labels, ModelProblem::LabelCount { labels: 9, columns: 8 }), "{labels}");
    let labels = refusal(|document| document["labels"]["names"] = json!([]));
    assert!(matches!(labels, ModelProblem::LabelCount { labels: 0, .. }), "{labels}");

    let limited = refusal(|document| document["single_labels"] = json!(["nsubj", "sbj"]));
    assert!(limited.to_string().contains("the label \"sbj\""), "{limited}");

    let trees = refusal(|document| document["tree_set"] = json!("forests"));
    assert!(matches!(trees, ModelProblem::UnknownTreeSet(_)), "{trees}");

    let table = refusal(|document| document["labels"]["bits"] = json!(7));
    assert!(matches!(table, ModelProblem::Table { name: "labels", .. }), "{table}");
    let table = refusal(|document| document["arcs"]["index"] = json!({"hashed": {"bits": 13}}));
    assert!(matches!(table, ModelProblem::Table { name: "arcs", .. }), "{table}");
    let table = refusal(|document| document["arcs"]["index"] = json!("dictionary"));
    assert!(matches!(table, ModelProblem::Table { name: "arcs.keys", .. }), "{table}");

    for bits in [0, 4, 64, u32::MAX] {
        let index = json!({"hashed": {"bits": bits}});
        let edited = forged(&bytes, |document| document["arcs"]["index"] = index);
        assert!(matches!(folder.refusal(&edited), ModelProblem::Altered { .. }));
    }
    let missing = refusal(|document| drop(document.as_object_mut().unwrap().remove("labels")));
    assert!(matches!(missing, ModelProblem::Altered { .. }), "{missing}");
}

#[test]
fn failing_to_save_is_an_error_and_leaves_nothing() {
    let folder = Folder::new();
    let model = model().compact();
    let error = model.save(folder.0.join("no/such/folder.tutte"), &about()).unwrap_err();
    assert!(matches!(error, Error::Treebank(tutte_treebank::Error::File { .. })), "{error}");
    assert!(fs::read_dir(&folder.0).unwrap().next().is_none());
}

#[test]
fn all_tree_sets_have_names_that_are_read_again() {
    let folder = Folder::new();
    let mut model = model().compact();
    for tree_set in TreeSet::ALL {
        model.tree_set = tree_set;
        let path = folder.file(&model.to_bytes(&About::default()).unwrap());
        assert_eq!(Model::load(path).unwrap().parser.unwrap().tree_set, tree_set);
    }
}

#[test]
fn labellings_survive_their_file() {
    let folder = Folder::new();
    for labelling in [Labelling::Staged, Labelling::Joint, Labelling::None] {
        let options = TrainingOptions {
            labelling,
            passes: 3,
            bits: 12,
            label_bits: 6,
            ..TrainingOptions::plain()
        };
        let model = train(treebank(), &options, &mut ()).unwrap().compact();
        let path = folder.file(&model.to_bytes(&About::default()).unwrap());
        let read = Model::load(path).unwrap().parser.unwrap();
        assert_eq!(read.labels.labelling(), labelling);
        assert_eq!(read.labels.labels().len(), if labelling == Labelling::None { 0 } else { 5 });
        for label in 0..model.labels.labels().len() {
            for head in [0, 1] {
                assert_eq!(read.labels.allows(head, label), model.labels.allows(head, label));
            }
            assert_ne!(read.labels.allows(0, label), read.labels.allows(1, label));
        }
        for sentence in treebank() {
            let parse = |model: &ParserModel<Compact>| Parser::new(model).parse(&sentence).unwrap();
            assert_eq!(parse(&read), parse(&model));
        }
    }
}

#[test]
fn labels_out_of_place_are_refused() {
    let bytes = model().compact().to_bytes(&about()).unwrap();
    let folder = Folder::new();
    let refusal = |edit: fn(&mut Value)| folder.refusal(&forged(&bytes, edit));
    let place = refusal(|document| document["labels"]["places"][1] = json!([0, 99]));
    assert!(matches!(place, ModelProblem::Altered { .. }), "{place}");
    let unknown = refusal(|document| document["labels"]["labelling"] = json!("clairvoyant"));
    assert!(matches!(unknown, ModelProblem::Altered { .. }), "{unknown}");
    let none = refusal(|document| document["labels"]["labelling"] = json!("none"));
    assert!(matches!(none, ModelProblem::LabelCount { labels: 5, .. }), "{none}");
}

/// A model with a tagger and a tokenizer.
fn tagging_model() -> Model<Compact> {
    let options = TaggerOptions::for_words(6).with_bits(6).with_fine_bits(6);
    let tagger = Tagger::train(&treebank(), &options).unwrap();
    let mut model = Model::from(model());
    model.tagger = Some(Arc::new(tagger));
    let tokenizer = Tokenizer::train(&treebank(), &TokenizerOptions::default()).unwrap();
    model.tokenizer = Some(Arc::new(tokenizer));
    model.compact()
}

#[test]
fn a_tagger_and_a_tokenizer_survive_the_file() {
    let folder = Folder::new();
    let model = tagging_model();
    let bytes = model.to_bytes(&about()).unwrap();
    let read = ModelFile::open(folder.file(&bytes)).unwrap();
    assert_eq!(bytes, read.model.to_bytes(&read.about).unwrap());
    let one = model.tagger.unwrap();
    let other = read.model.tagger.clone().unwrap();
    let mut memory = TaggerMemory::default();
    for sentence in treebank() {
        assert_eq!(one.tag(&sentence, &mut memory), other.tag(&sentence, &mut memory));
    }
    assert!(read.model.require_parser().unwrap().arcs.features.templates().len() > 1);
    let tokenizer = read.model.tokenizer.unwrap();
    let mut segmenter = Segmenter::new(&tokenizer, "Hot tea".as_bytes());
    let mut sentence = Sentence::default();
    assert!(segmenter.read(&mut sentence).unwrap());
    assert_eq!(sentence.len(), 2);
    // The same bytes as part of a program, packed and not.
    let packed = ModelFile::embedded_packed(&tutte_linear::packing::pack(&bytes)).unwrap();
    assert_eq!(packed.checksum, read.checksum);
    assert_eq!(packed.model.to_bytes(&packed.about).unwrap(), bytes);
    let embedded = ModelFile::embedded(bytes.leak()).unwrap();
    assert_eq!(embedded.checksum, read.checksum);
    let parse =
        Parser::new(embedded.model.require_parser().unwrap()).parse(&treebank()[0]).unwrap();
    assert_eq!(parse.tree.heads(), [2, 0, 2]);
}

#[test]
fn damaged_taggers_are_refused() {
    let folder = Folder::new();
    let bytes = tagging_model().to_bytes(&about()).unwrap();
    let refused = |edit: &dyn Fn(&mut Value)| {
        folder.refusal(&forged(&bytes, |document| edit(&mut document["tagger"]))).to_string()
    };
    assert!(refused(&|tagger| tagger["bits"] = json!(7)).contains("tagger"));
    assert!(refused(&|tagger| tagger["bits"] = json!(77)).contains("2^77"));
    assert!(refused(&|tagger| tagger["upos"] = json!([])).contains("0 tags"));
    assert!(refused(&|tagger| tagger["fine"][0] = json!([])).contains("lists"));
    assert!(refused(&|tagger| tagger["upos"][0] = json!("A\tB")).contains("no column can hold"));
    let not_a_number = |name: &str, data: &mut Vec<u8>| {
        if name == "tagger.pairs" {
            data[..4].copy_from_slice(&f32::NAN.to_le_bytes());
        }
    };
    assert!(
        folder
            .refusal(&forged_tables(&bytes, not_a_number))
            .to_string()
            .contains("without a finite score")
    );
    assert!(matches!(ModelFile::embedded(b"no model"), Err(Error::Model { .. })));
    assert!(matches!(ModelFile::embedded_packed(b"no model"), Err(Error::Model { .. })));
    let packed = tutte_linear::packing::pack(b"no model");
    assert!(matches!(ModelFile::embedded_packed(&packed), Err(Error::Model { .. })));
}

/// Rules survive the file, in the writing of their own, and damaged ones are refused.
#[test]
fn hard_constraints_survive_the_file() {
    let text = "no: * <- upos=\"PUNCT\" never\nverb: VERB[Mood=Imp]|xpos~/^VB$/ <- ROOT always\n";
    let rules = crate::rules::RuleSet::parse("rules.tut", text).unwrap();
    let mut parser = model();
    parser.rules = Some(Arc::new(rules.clone()));
    let folder = Folder::new();
    let path = folder.0.join("rules.tutte");
    parser.compact().save(&path, &about()).unwrap();
    let read = ModelFile::open(&path).unwrap().model.parser.unwrap();
    assert_eq!(*read.rules.unwrap(), rules);
}
