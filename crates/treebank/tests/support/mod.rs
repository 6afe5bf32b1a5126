//! Random unusual files, and helpers to inspect sentences.
#![allow(dead_code, unreachable_pub, reason = "not every test needs everything")]

use proptest::prelude::*;
use proptest::sample::select;
use tutte_treebank::{Column, Format, Id, Options, Reader, Sentence};

/// Reads CoNLL-U. The format is given, since random columns of the first sentence may look like
/// CoNLL-X.
pub fn conll_u<R: std::io::Read>(file: R) -> Reader<R> {
    Reader::with_options(file, &Options::default().with_format(Format::ConllU))
}

/// A random value of a column.
pub fn value() -> impl Strategy<Value = String> {
    const ODD: [&str; 12] =
        ["_", "a", "10 000", "x|y=z", "A=1|B=2,3", " _", "#", "\u{a0}", "ß", "水", "🐑", "\""];
    let character =
        any::<char>().prop_filter("no line", |c| !['\t', '\n', '\r', ' ', '\0'].contains(c));
    let any_text = proptest::collection::vec(character, 1..8).prop_map(String::from_iter);
    prop_oneof![4 => select(&ODD[..]).prop_map(str::to_owned), 1 => any_text]
}

/// Lines of a random sentence, without line ends: comments, ranges, empty nodes, words.
pub fn sentence_lines() -> impl Strategy<Value = Vec<String>> {
    let word =
        (proptest::collection::vec(value(), 9), 0..1000usize, 0..3usize, 0..4usize, 0..8usize);
    let comment = select(vec!["# sent_id = s", "#", "# text = a b ", "# newdoc", "#x\ty"]);
    (proptest::collection::vec(word, 1..8), proptest::collection::vec(comment, 0..3)).prop_map(
        |(words, comments)| {
            let n = words.len();
            let mut lines: Vec<String> = comments.iter().map(|c| c.to_string()).collect();
            let mut covered = 0;
            for (number, (columns, head, empties, range, oddity)) in (1..).zip(words) {
                let line = |id: String, head: String| {
                    let mut columns = columns.clone();
                    columns[5] = head;
                    format!("{id}\t{}", columns.join("\t"))
                };
                if range == 0 && number > covered {
                    covered = (number + head % 3).min(n);
                    lines.push(line(format!("{number}-{covered}"), "_".into()));
                }
                let head = head % (n + 2);
                let head = if head == number || head > n { "_".into() } else { head.to_string() };
                lines.push(line(number.to_string(), head));
                for empty in 1..=(empties * usize::from(oddity == 0)) {
                    lines.push(line(format!("{number}.{empty}"), "_".into()));
                }
                if oddity == 1 {
                    lines.push("# a comment where none should be".into());
                }
            }
            lines
        },
    )
}

/// A random file with its own line ends, separators, start and end.
pub fn file() -> impl Strategy<Value = String> {
    let sentences = proptest::collection::vec(
        (sentence_lines(), select(vec!["\n", "\r\n"]), select(vec!["", " \n", "\n", "\r\n\n"])),
        0..4,
    );
    let start = select(vec!["", "\u{feff}", "\n", "\u{feff}\r\n"]);
    (start, sentences, select(vec!["", " ", "   "]), 0..3usize).prop_map(
        |(start, sentences, spaces, cut)| {
            let mut file = String::from(start);
            for (lines, end, more) in sentences {
                for line in lines {
                    file.push_str(&line);
                    // Spaces at the end are not part of the last column; comments keep theirs.
                    file.push_str(spaces);
                    file.push_str(end);
                }
                file.push_str(end);
                file.push_str(more);
            }
            // The end of the file may be missing, even half of a line end.
            for _ in 0..cut {
                if file.ends_with(['\n', '\r']) {
                    file.pop();
                }
            }
            file
        },
    )
}

/// Returns all columns of all lines, and the comments.
pub fn content(sentence: &Sentence) -> (Vec<(Id, [String; 10])>, Vec<String>) {
    let columns = |token: tutte_treebank::Token<'_>| {
        (token.id(), Column::ALL.map(|column| token.column(column).to_owned()))
    };
    let comments = sentence.comments().map(str::to_owned).collect();
    (sentence.tokens().map(columns).collect(), comments)
}

/// Reading the text of a sentence again gives the same sentence, including offsets and heads.
pub fn assert_consistent(sentence: &Sentence) {
    let options = Options::default().with_format(sentence.format());
    let mut reader = Reader::with_options(sentence.as_str().as_bytes(), &options);
    let again = reader.next().unwrap().unwrap();
    assert_eq!(&again, sentence);
    assert_eq!(content(&again), content(sentence));
    assert!(again.partial_heads().eq(sentence.partial_heads()));
}
