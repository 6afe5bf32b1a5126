//! Properties for any input.

use proptest::prelude::*;

use crate::check::{Checker, Kind, Report, Severity};
use crate::{Options, Reader};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// For any lines, nothing panics, every sentence is counted once, and the counts do not depend
    /// on the number of examples.
    #[test]
    fn counts_do_not_depend_on_examples(
        blocks in proptest::collection::vec(block(), 0..8),
        cut in 0usize..8,
    ) {
        let cut = cut.min(blocks.len());
        let files = [("a", blocks[..cut].concat()), ("b", blocks[cut..].concat())];
        let run = |examples| {
            let mut checker = Checker::new(examples);
            for (name, text) in &files {
                let options = Options { name: Some((*name).to_owned()), ..Options::default() };
                checker.read(&mut Reader::with_options(text.as_bytes(), &options)).unwrap();
            }
            checker.finish()
        };
        let none = run(0);
        let some = run(2);
        let counts = |report: &Report| {
            report.findings.iter().map(|f| (f.kind, f.severity, f.count)).collect::<Vec<_>>()
        };
        prop_assert_eq!(counts(&none), counts(&some));
        prop_assert_eq!(&none.overlaps, &some.overlaps);
        let read: u64 = some.files.iter().map(|file| file.sentences + file.unreadable).sum();
        prop_assert_eq!(read as usize, blocks.len());
        let mut previous = (Severity::Error, Kind::ColumnCount);
        for finding in &some.findings {
            prop_assert!(finding.count > 0);
            prop_assert!(finding.examples.len() <= finding.count.min(2));
            prop_assert!(!finding.examples.is_empty());
            // Most severe first, then in the order of kinds.
            prop_assert!(finding.severity < previous.0
                || (finding.severity == previous.0 && finding.kind >= previous.1));
            previous = (finding.severity, finding.kind);
        }
        for finding in &none.findings {
            prop_assert!(finding.examples.is_empty());
        }
    }
}

/// A sentence of up to three lines with common and rare columns.
fn block() -> impl Strategy<Value = String> {
    let id = prop_oneof![8 => Just(""), 1 => Just("1-2"), 1 => Just("1.1"), 1 => Just("7")];
    let line = (
        id,
        prop::sample::select(vec!["tea", "_", "a b", "\u{ad}"]),
        prop::sample::select(vec!["NOUN", "noun", "_", "CONJ", "CCONJ", ""]),
        prop::sample::select(vec!["_", "A=1", "B=1|A=1", "A", "|", ""]),
        prop::sample::select(vec!["0", "1", "2", "_", "9"]),
        prop::sample::select(vec!["root", "obj", "dobj", "SBJ", "_"]),
        prop::sample::select(vec!["_", "0:root", "9:x", "1.1:y", "2:", "x"]),
        prop::sample::select(vec!["_", "SpaceAfter=No", "A=1|A=2", "HeadProb=x", "="]),
    );
    let comments = prop::sample::select(vec!["", "# sent_id = s\n", "# text = tea tea\n"]);
    (comments, proptest::collection::vec(line, 1..4)).prop_map(|(comments, lines)| {
        let mut text = comments.to_owned();
        for (number, (id, form, upos, feats, head, deprel, deps, misc)) in (1..).zip(lines) {
            let id = if id.is_empty() { format!("{number}") } else { id.to_owned() };
            text.push_str(&format!(
                "{id}\t{form}\t_\t{upos}\t_\t{feats}\t{head}\t{deprel}\t{deps}\t{misc}\n"
            ));
        }
        text + "\n"
    })
}
