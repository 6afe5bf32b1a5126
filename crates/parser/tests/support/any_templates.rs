//! Checks on any text as feature templates: reading gives templates or an error, and templates can be written, trained
//! and parsed with.
//!
//! Fuzzing (`fuzz/`) and the tests (`tests/no_panic.rs`) share this file. Add new checks here, for both.

use tutte::features::FeatureSet;
use tutte::{Parser, Sentence, Support, TrainingOptions, train};

/// More templates are read and written, but not trained, since that would slow down the search.
const MOST_TEMPLATES: usize = 40;

const SENTENCES: [&str; 2] = [
    "\
1\tShe\tshe\tPRON\tPRP\tCase=Nom|Number=Sing\t2\tnsubj\t_\t_
2\tpoured\tpour\tVERB\tVBD\tTense=Past\t0\troot\t_\t_
3\ttea\ttea\tNOUN\tNN\tNumber=Sing\t2\tobj\t_\t_
4\t,\t,\tPUNCT\t,\t_\t5\tpunct\t_\t_
5\tslowly\tslowly\tADV\tRB\t_\t2\tadvmod\t_\t_
",
    "1\tÄ\t_\t_\t_\t_\t0\troot\t_\t_\n",
];

/// Reads `data` and checks all properties. Returns `true` if it is a list of templates.
///
/// # Panics
/// If a check fails.
pub(crate) fn ask_everything(data: &[u8]) -> bool {
    let features = match FeatureSet::parse(&String::from_utf8_lossy(data)) {
        Ok(features) => features,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            let _ = error.hint();
            return false;
        }
    };
    assert_reads_again(&features);
    let treebank: Vec<Sentence> =
        SENTENCES.iter().map(|text| text.parse().expect("a sentence")).collect();
    for more in [
        features.with_first_pass(),
        features.with_transition_parse(),
        features.with_transition_labels(),
        features.with_words(),
        features.with_coarse_tags(),
        features.clone().without_copies(&treebank),
    ] {
        assert_reads_again(&more);
    }
    for sentence in &treebank {
        let _ = features.leaves_out_pairs(sentence);
    }
    if features.templates().len() <= MOST_TEMPLATES {
        assert_trains(&features, &treebank);
    }
    true
}

/// Templates that are written are read as the same templates.
fn assert_reads_again(features: &FeatureSet) {
    let text = features.to_string();
    let again = FeatureSet::parse(&text).expect("templates can be read again");
    assert_eq!(again.templates(), features.templates(), "{text}");
    assert_eq!(again.conjoin(), features.conjoin());
    assert_eq!(again.pairs(), features.pairs());
    assert_eq!(again.to_string(), text);
}

/// Models with these templates parse, or training refuses them.
fn assert_trains(features: &FeatureSet, treebank: &[Sentence]) {
    for dictionary in [None, Some(Support::Gold)] {
        let options = TrainingOptions::plain()
            .with_templates(features.clone())
            .with_dictionary(dictionary)
            .with_passes(1)
            .with_bits(6)
            .with_label_bits(2);
        match train(treebank, &options, &mut ()) {
            Ok(model) => {
                for sentence in treebank {
                    let parse = Parser::new(&model).parse(sentence).expect("a tree");
                    assert_eq!(parse.tree.heads().len(), sentence.len());
                }
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}
