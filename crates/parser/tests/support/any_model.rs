//! Bytes in, a model or an error out: whatever the bytes, nothing may panic, and a model that was read
//! can be used, read about, written and read again.
//!
//! Fuzzing (`fuzz/`) and the tests (`tests/no_panic.rs`) share this file; a new promise is asked here,
//! once for both.

use std::fs;
use std::path::Path;

use tutte::features::FeatureSet;
use tutte::text::TaggerMemory;
use tutte::{Decoding, Index, Model, ModelFile, Parser};
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

/// Reads `data` as a model file, of which `path` is to be the place, and asks everything there is to
/// ask; says whether it was a model.
///
/// # Panics
/// If a promise is broken: that is how a finding shows.
pub(crate) fn ask_everything(data: &[u8], path: &Path) -> bool {
    fs::write(path, data).expect("a file can be written");
    let file = match ModelFile::open(path) {
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
        // Weights may be so large that scores are no numbers, and labels no labels.
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
            let tagging = tagging.expect("what was read can be written");
            assert!(tagging.upos_probs.iter().all(|p| (0.0..=1.0).contains(p)));
            let _ = tagger.kbest(&sentence, 3, &mut TaggerMemory::default());
        }
    }
    let passes =
        [Some(&parser.arcs), parser.second_pass.as_ref().map(|second_pass| &second_pass.arcs)];
    let pruner = parser.pruner.as_ref().map(|pruner| &pruner.arcs);
    let features = passes.into_iter().chain([pruner]).flatten().map(|arcs| &arcs.features);
    for features in features.chain([&parser.labels.features]) {
        let again = FeatureSet::parse(&features.to_string()).expect("templates are read again");
        assert_eq!(again.templates(), features.templates());
    }
    if let Index::Dictionary(dictionary) = &parser.arcs.index {
        let names = dictionary.names().read(&parser.arcs.features).map(|name| name.to_string());
        assert_eq!(names.count(), dictionary.len());
        assert_eq!(dictionary.slots().flatten().flatten().count(), dictionary.cells());
    }
    for p in [0.0, 0.3, 0.999, 1.0] {
        assert!((0.0..=1.0).contains(&parser.confidence(p)));
    }
    if let Some(calibration) = &parser.calibration {
        for precision in [0.0, 0.5, 0.98, 1.0] {
            let _ = calibration.precision.keeping(precision);
        }
        if let Some((precision, kept)) = calibration.precision.highest() {
            assert_eq!(calibration.precision.keeping(precision), Some(kept));
        }
    }
    let again = path.with_extension("again");
    model.save(&again, &file.about).expect("what was read is written");
    let read = Model::load(&again).expect("what was written is read");
    let read = read.parser.expect("a parser");
    assert_eq!(read.arcs.features.to_string(), parser.arcs.features.to_string());
    assert_eq!(read.labels.labels(), parser.labels.labels());
    assert_eq!(read.calibration.is_some(), parser.calibration.is_some());
    true
}
