//! Checks on arbitrary bytes as a model file: reading must not panic, and a model that was read must parse, print, save
//! and load again.
//!
//! Fuzzing (`fuzz/`) and the tests (`tests/no_panic.rs`) share this file. Add new checks here, for both.

use std::fs;
use std::path::Path;

use tutte::features::FeatureSet;
use tutte::text::TaggerMemory;
use tutte::{Decoding, Error, Index, Model, ModelFile, Parser, WordSource};
use tutte_linear::packing;
use tutte_treebank::Sentence;

const SENTENCES: [&str; 2] = [
    "1\tTea\ttea\tNOUN\tNN\tNumber=Sing\t_\t_\t_\t_\n",
    "\
1\tShe\tshe\tPRON\tPRP\tCase=Nom|Number=Sing\t_\t_\t_\t_
2\tpoured\tpour\tVERB\tVBD\tTense=Past\t_\t_\t_\t_
3\tthe\tthe\tDET\tDT\t_\t_\t_\t_\t_
4\ttea\ttea\tNOUN\tNN\tNumber=Sing\t_\t_\t_\t_
5\t,\t,\tPUNCT\t,\t_\t_\t_\t_\t_
6\tslowly\tslowly\tADV\tRB\t_\t_\t_\t_\t_
",
];

/// Writes `data` to `path`, reads it as a model and runs all checks. Returns `true` if it is a model.
///
/// # Panics
/// If a check fails.
pub(crate) fn ask_everything(data: &[u8], path: &Path) -> bool {
    fs::write(path, data).expect("a file can be written");
    ask_read(ModelFile::open(path), path)
}

/// Reads `data` as a model without its zeros, as it is inside the program, and as a file packed by gzip or Zstandard.
/// Runs all checks. Returns `true` if it is a model in one of these forms.
///
/// # Panics
/// If a check fails.
pub(crate) fn ask_packed(data: &[u8], path: &Path) -> bool {
    assert_eq!(packing::unpack(&packing::pack(data)).as_deref(), Some(data));
    if let Some(unpacked) = packing::unpack(data) {
        assert!(unpacked.len() <= 8 * data.len());
        assert_eq!(packing::unpack(&packing::pack(&unpacked)), Some(unpacked));
    }
    let is_without_zeros = ask_read(ModelFile::embedded_packed(data), path);
    ask_everything(data, path) || is_without_zeros
}

/// Runs all checks on the result of reading. Writes to files beside `path`.
fn ask_read(read: Result<ModelFile, Error>, path: &Path) -> bool {
    let file = match read {
        Ok(file) => file,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            let _ = error.hint();
            return false;
        }
    };
    let model = &file.model;
    let Some(parser) = &model.parser else { return true };
    for text in SENTENCES {
        let mut sentence: Sentence = text.parse().expect("a sentence");
        // Parsing may fail: large weights can give infinite or NaN scores.
        for decoding in [Decoding::Mbr, Decoding::Map] {
            if let Ok(parse) = Parser::new(parser).with_decoding(decoding).parse(&sentence) {
                assert_eq!(parse.tree.heads().len(), sentence.len());
                parse.tree.check_in(parser.tree_set).expect("a tree of the set");
            }
        }
        let _ = Parser::new(parser).distribution(&sentence);
        let _ = Parser::new(parser).annotate(&mut sentence);
        if let Some(tagger) = &model.tagger {
            let tagging = tagger.annotate(&mut sentence, &mut TaggerMemory::default());
            let tagging = tagging.expect("the tags can be written");
            assert!(tagging.upos_probs.iter().all(|p| (0.0..=1.0).contains(p)));
            let _ = tagger.kbest(&sentence, 3, &mut TaggerMemory::default());
        }
    }
    let passes =
        [Some(&parser.arcs), parser.second_pass.as_ref().map(|second_pass| &second_pass.arcs)];
    let pruner = parser.pruner.as_ref().map(|pruner| &pruner.arcs);
    let features = passes.into_iter().chain([pruner]).flatten().map(|arcs| &arcs.features);
    for features in features.chain([&parser.labels.features]) {
        let again = FeatureSet::parse(&features.to_string()).expect("templates can be read again");
        assert_eq!(again.templates(), features.templates());
    }
    if let Index::Dictionary(dictionary) = &parser.arcs.index {
        let names = dictionary.names().read(&parser.arcs.features).map(|name| name.to_string());
        assert_eq!(names.count(), dictionary.len());
        assert_eq!(dictionary.slots().flatten().flatten().count(), dictionary.cells());
    }
    for words in [WordSource::Given, WordSource::Model] {
        assert!(words.temperature(parser) > 0.0);
        let Some(calibration) = words.calibration(parser) else { continue };
        for p in [0.0, 0.3, 0.999, 1.0] {
            let confidence = calibration.isotonic.as_ref().map_or(p, |map| map.confidence(p));
            assert!((0.0..=1.0).contains(&confidence));
        }
        for precision in [0.0, 0.5, 0.98, 1.0] {
            let _ = calibration.precision.keeping(precision);
        }
        if let Some((precision, kept)) = calibration.precision.highest() {
            assert_eq!(calibration.precision.keeping(precision), Some(kept));
        }
    }
    let again = path.with_extension("again");
    model.save(&again, &file.about).expect("the model can be written");
    let read = Model::load(&again).expect("the written model can be read");
    let read = read.parser.expect("a parser");
    assert_eq!(read.arcs.features.to_string(), parser.arcs.features.to_string());
    assert_eq!(read.labels.labels(), parser.labels.labels());
    assert_eq!(read.calibration.is_some(), parser.calibration.is_some());
    true
}
