//! Real treebanks are read and written unchanged.

#[path = "support/treebanks.rs"]
mod treebanks;

use std::fs;

use tutte_treebank::{Column, Converter, Format, Losses, Reader, Sentence, Writer, open};

use treebanks::{is_conllu, treebanks};

#[test]
fn every_treebank_is_written_as_it_was_read() {
    for path in treebanks() {
        let bytes = fs::read(&path).unwrap();
        let mut reader = open(&path).unwrap();
        let mut writer = Writer::new(Vec::with_capacity(bytes.len()));
        let mut words = 0;
        for sentence in &mut reader {
            let sentence = sentence.unwrap();
            words += sentence.len();
            writer.write(&sentence).unwrap();
        }
        writer.write_tail(reader.tail()).unwrap();
        assert!(writer.finish().unwrap() == bytes, "{} changed", path.display());

        // The slow twin: a word is a line that starts with digits and a tab.
        let is_word = |line: &&str| {
            line.split_once('\t').is_some_and(|(id, _)| id.bytes().all(|b| b.is_ascii_digit()))
        };
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(words, text.lines().filter(is_word).count(), "{}", path.display());
    }
}

#[test]
fn the_format_of_every_treebank_is_recognised() {
    for path in treebanks() {
        let mut reader = open(&path).unwrap();
        reader.next().unwrap().unwrap();
        let expected = if is_conllu(&path) { Format::ConllU } else { Format::ConllX };
        assert_eq!(reader.format(), Some(expected), "{}", path.display());
    }
}

#[test]
fn setting_what_is_already_there_changes_nothing() {
    for path in treebanks() {
        let file = fs::File::open(&path).unwrap();
        for sentence in Reader::new(file).step_by(50) {
            let sentence = sentence.unwrap();
            let mut copy = sentence.clone();
            let heads: Vec<_> = sentence.partial_heads().collect();
            let labels: Vec<_> = sentence.words().map(|word| word.deprel()).collect();
            copy.set_heads(&heads).unwrap();
            copy.set_deprels(&labels).unwrap();
            assert_eq!(copy, sentence);
            if sentence.heads().is_some() {
                copy.set_tree(&sentence.tree().unwrap()).unwrap();
                assert_eq!(copy, sentence);
            }
        }
    }
}

/// Columns 1 to 8 of the words, with white space in values replaced.
fn common_columns(sentence: &Sentence) -> Vec<String> {
    let plain = |value: &str| value.replace(char::is_whitespace, "_");
    let columns = &Column::ALL[..8];
    sentence
        .words()
        .flat_map(|word| columns.iter().map(move |&column| plain(word.column(column))))
        .collect()
}

#[test]
fn converting_back_and_forth_keeps_the_common_columns() {
    for path in treebanks() {
        let mut there = [Converter::new(Format::ConllX), Converter::new(Format::ConllU)];
        for sentence in open(&path).unwrap() {
            let before = sentence.unwrap();
            let columns = common_columns(&before);
            let mut sentence = before.clone();
            let first = usize::from(before.format() == Format::ConllX);
            for at in [first, 1 - first] {
                there[at].convert(&mut sentence);
                assert_eq!(common_columns(&sentence), columns, "{}", before.place());
            }
            assert_eq!(sentence.format(), before.format());
        }
        // Converting back from CoNLL-X loses nothing.
        if is_conllu(&path) {
            assert_eq!(there[1].losses(), Losses::default(), "{}", path.display());
        }
    }
}

#[test]
fn every_enhanced_dependency_is_understood_and_written_as_it_was() {
    for path in treebanks() {
        for (number, sentence) in open(&path).unwrap().enumerate() {
            let sentence = sentence.unwrap();
            let mut copy = sentence.clone();
            for token in sentence.tokens().filter(|token| token.deps() != "_") {
                let dependencies: Vec<_> = token.enhanced().collect::<Result<_, _>>().unwrap();
                if number % 20 == 0 {
                    copy.set_enhanced(token.id(), &dependencies).unwrap();
                }
            }
            assert_eq!(copy.as_str(), sentence.as_str());
        }
    }
}
