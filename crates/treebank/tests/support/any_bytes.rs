//! Properties of the crate on any bytes: nothing panics, and reading, writing, changing and
//! converting keep their documented properties.
//!
//! The first eight bytes choose how to read and what to change; the rest is the file. Fuzzing
//! (`fuzz/`) and the tests (`tests/no_panic.rs`) share this file, so a new property is added here
//! once for both.

#[path = "../../../../fuzz/dribble.rs"]
mod dribble;

use std::io::Read;

use dribble::Dribble;
use tutte_treebank::check::Checker;
use tutte_treebank::eval::{
    Alignment, Arcs, Breakdown, Confusions, Druck, FrequentErrors, Grouping, Irregular, Metric,
    Metrics,
};
use tutte_treebank::select::Pool;
use tutte_treebank::stats::Statistics;
use tutte_treebank::{
    Column, ConllxPos, Converter, Encoding, Error, Format, Id, Options, Reader, Sentence, Token,
    Writer, decompress,
};

/// Encodings in which the bytes are read; mostly UTF-8.
const ENCODINGS: [&str; 12] = [
    "utf-8",
    "latin1",
    "utf-16le",
    "utf-16be",
    "gb18030",
    "iso-2022-jp",
    "shift_jis",
    "koi8-r",
    "utf-8",
    "utf-8",
    "utf-8",
    "utf-8",
];

/// Values, keys and labels to write.
const VALUES: [&str; 12] =
    ["_", "", "0", "3", "a b", "x|y=z", " ", "\u{a0}", "水", "a\tb", "a\nb", "a\r"];

/// Longer sentences are not projectivised, since O(n³) would slow down the search.
const LONGEST_TREE: usize = 40;

/// Reads `data` and checks all properties.
///
/// # Panics
/// If a property does not hold.
pub(crate) fn ask_everything(data: &[u8]) {
    let (choices, file) = data.split_at(data.len().min(8));
    let choice = |at: usize| choices.get(at).map_or(0, |&byte| usize::from(byte));
    let encoding: Encoding = ENCODINGS[choice(1) % ENCODINGS.len()].parse().expect("a known name");
    let format = [None, Some(Format::ConllU), Some(Format::ConllX)][choice(0) % 3];
    let options = Options::default().with_format(format).with_encoding(encoding);

    let mut reader = Reader::with_options(file, &options);
    let results: Vec<Result<Sentence, Error>> = reader.by_ref().collect();
    ask_other_ways(file, &options, &results, 1 + choice(2) % 64);
    for error in results.iter().filter_map(|result| result.as_ref().err()) {
        ask_error(error);
    }
    let sentences: Vec<&Sentence> = results.iter().flatten().collect();
    if sentences.len() == results.len() {
        ask_written(file, &options, &sentences, reader.tail());
    }
    for &sentence in &sentences {
        ask_views(sentence);
        ask_edits(sentence, choice(3), choice(4), VALUES[choice(5) % VALUES.len()]);
        ask_comment(sentence, VALUES[choice(6) % VALUES.len()], VALUES[choice(5) % VALUES.len()]);
        ask_conversions(sentence, choice(7));
        ask_trees(sentence);
    }
    ask_pool(&sentences);
    ask_counts(&results);
    ask_scores(&sentences, choice(2));
    // Compressed or not, but limited in size.
    if let Ok(input) = decompress(file) {
        let _ = Reader::new(input.take(1 << 20)).count();
    }
    let text = String::from_utf8_lossy(file);
    let _ = text.parse::<Sentence>().map_err(|error| ask_error(&error));
    let _ = (Format::recognise(&text), text.parse::<Format>(), text.parse::<Encoding>());
    if let Ok(id) = text.parse::<Id>() {
        assert!(id.to_string() == text || text.len() > 18, "{id} {text}");
    }
}

/// Reading in small pieces, into one sentence, and leniently gives the same result.
fn ask_other_ways(
    file: &[u8],
    options: &Options,
    results: &[Result<Sentence, Error>],
    piece: usize,
) {
    let same = |a: &Result<Sentence, Error>, b: &Result<Sentence, Error>| match (a, b) {
        (Ok(a), Ok(b)) => a == b && content(a) == content(b),
        (Err(a), Err(b)) => a.to_string() == b.to_string(),
        _ => false,
    };
    let dribbled: Vec<_> =
        Reader::with_options(Dribble { bytes: file, at_once: piece }, options).collect();
    assert_eq!(dribbled.len(), results.len());
    assert!(dribbled.iter().zip(results).all(|(a, b)| same(a, b)));

    let mut reader = Reader::with_options(file, options);
    let mut reused = Sentence::default();
    for expected in results {
        match reader.read(&mut reused) {
            Ok(found) => assert!(found && expected.as_ref().is_ok_and(|e| *e == reused)),
            Err(error) => assert!(same(&Err(error), expected)),
        }
    }
    assert!(!reader.read(&mut reused).expect("the end"));

    let mut lenient = Reader::with_options(file, options).lenient();
    let good: Vec<_> = lenient.by_ref().flatten().collect();
    assert!(good.iter().eq(results.iter().flatten()));
    let malformed = |result: &&Result<_, Error>| matches!(result, Err(Error::Malformed { .. }));
    assert_eq!(lenient.skipped(), results.iter().filter(malformed).count());
}

/// An error has a message and a place.
fn ask_error(error: &Error) {
    assert!(!error.to_string().is_empty());
    assert!(error.hint().is_none_or(|hint| !hint.is_empty()));
    assert!(error.place().is_some_and(|place| place.line > 0));
}

/// Input that was read without error is written unchanged.
fn ask_written(file: &[u8], options: &Options, sentences: &[&Sentence], tail: &str) {
    let mut writer = Writer::new(Vec::new());
    for sentence in sentences {
        writer.write(sentence).expect("memory");
    }
    writer.write_tail(tail).expect("memory");
    let written = writer.finish().expect("memory");
    if options.encoding == Encoding::default() {
        assert_eq!(written, file);
    }
    let utf8 = options.clone().with_encoding(Encoding::default());
    let again: Vec<_> = Reader::with_options(&written[..], &utf8).collect();
    assert_eq!(again.len(), sentences.len());
    assert!(again.iter().zip(sentences).all(|(a, b)| a.as_ref().is_ok_and(|a| a == *b)));
}

/// All views of a sentence agree with each other.
fn ask_views(sentence: &Sentence) {
    assert!(!sentence.is_empty());
    assert_eq!(sentence.words().len(), sentence.len());
    assert!(sentence.word(0).is_none() && sentence.word(sentence.len() + 1).is_none());
    let lines = sentence.words().count()
        + sentence.multiword_tokens().count()
        + sentence.empty_nodes().count();
    assert_eq!(sentence.tokens().len(), lines);
    let _ = (
        sentence.sent_id(),
        sentence.text(),
        sentence.newdoc(),
        sentence.newpar(),
        sentence.place(),
    );
    for (number, word) in (1..).zip(sentence.words()) {
        assert_eq!(word.id(), Id::Word(number));
        assert!(!word.form().is_empty());
        assert!(word.head().is_none_or(|head| head <= sentence.len() && head != number));
    }
    for token in sentence.tokens() {
        let written = Column::ALL.map(|column| token.column(column)).join("\t");
        assert!(sentence.as_str().contains(&written));
        assert_eq!(token.id().to_string(), token.column(Column::Id));
        let _ = (token.features().count(), token.misc_entries().count(), token.misc_entry("A"));
        let _ = (token.phead(), token.pdeprel(), format!("{token:?}"));
        for dependency in token.enhanced() {
            match dependency {
                Ok((head, label)) => {
                    let found = |token: Token<'_>| token.id() == head;
                    assert!(head == Id::Word(0) || sentence.tokens().any(found));
                    assert!(!label.is_empty());
                }
                Err(error) => ask_error(&error),
            }
        }
    }
}

/// Returns all columns of all lines, and the comments.
fn content(sentence: &Sentence) -> (Vec<[String; 10]>, Vec<String>) {
    let columns = |token: Token<'_>| Column::ALL.map(|column| token.column(column).to_owned());
    let comments = sentence.comments().map(str::to_owned).collect();
    (sentence.tokens().map(columns).collect(), comments)
}

/// The text of a sentence, read again, is the same sentence. A pool does that without the buffer of
/// a reader.
fn assert_consistent(sentence: &Sentence) {
    let mut pool = Pool::default();
    pool.push(sentence);
    let mut again = Sentence::default();
    assert!(pool.read(0, &mut again).expect("what was written can be read"));
    assert_eq!(&again, sentence);
    assert_eq!(content(&again), content(sentence));
    assert!(again.partial_heads().eq(sentence.partial_heads()));
}

/// A setter changes its column of its line, or returns an error and changes nothing.
fn ask_edits(sentence: &Sentence, row: usize, column: usize, value: &str) {
    let row = row % sentence.tokens().len();
    let column = Column::ALL[column % 10];
    let id = sentence.tokens().nth(row).expect("in range").id();
    let (mut rows, comments) = content(sentence);
    let mut changed = sentence.clone();
    match changed.set(id, column, value) {
        Ok(()) => {
            rows[row][column as usize] = value.to_owned();
            assert_eq!(content(&changed), (rows.clone(), comments.clone()));
            assert_consistent(&changed);
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert_eq!(&changed, sentence);
        }
    }
    let mut changed = sentence.clone();
    if changed.set_misc(id, "HeadProb", Some(value)).is_ok() {
        let token = changed.tokens().nth(row).expect("in range");
        assert_eq!(token.misc_entry("HeadProb"), Some(value));
        assert_consistent(&changed);
        changed.set_misc(id, "HeadProb", None).expect("it is there");
        assert_consistent(&changed);
    }
    let mut changed = sentence.clone();
    let heads: Vec<(Id, &str)> = sentence
        .tokens()
        .map(|token| (token.id(), value))
        .filter(|(id, _)| !matches!(id, Id::Multiword(..)))
        .collect();
    if changed.set_enhanced(id, &heads).is_ok() {
        let token = changed.tokens().nth(row).expect("in range");
        assert!(token.enhanced().map(|entry| entry.expect("just set")).eq(heads));
        assert_consistent(&changed);
    }
    let mut changed = sentence.clone();
    let heads: Vec<_> = sentence.partial_heads().collect();
    changed.set_heads(&heads).expect("those it has");
    assert!(changed.partial_heads().eq(heads));
    let labels = vec![value; sentence.len()];
    if changed.set_deprels(&labels).is_ok() {
        assert!(changed.words().all(|word| word.deprel() == value));
        assert_consistent(&changed);
    }
}

/// Setting a comment changes no column.
fn ask_comment(sentence: &Sentence, key: &str, value: &str) {
    for key in [key, "text", "sent_id", "newdoc"] {
        let mut changed = sentence.clone();
        if changed.set_comment(key, Some(value)).is_ok() {
            assert_eq!(changed.comment(key), Some(value));
            assert_eq!(content(&changed).0, content(sentence).0);
            assert_consistent(&changed);
            let once = changed.clone();
            changed.set_comment(key, Some(value)).expect("it is there");
            assert_eq!(changed, once);
            changed.set_comment(key, None).expect("it is there");
            assert_eq!(changed.comment(key), None);
            assert_consistent(&changed);
        } else {
            assert_eq!(&changed, sentence);
        }
    }
}

/// The other format keeps the common columns. Converting back and forth changes nothing more.
fn ask_conversions(sentence: &Sentence, pos: usize) {
    let converter = |to| match [None, Some(ConllxPos::Xpos), Some(ConllxPos::Upos)][pos % 3] {
        None => Converter::new(to),
        Some(pos) => Converter::new(to).with_conllx_pos(pos),
    };
    let to = |format, sentence: &Sentence| {
        let mut sentence = sentence.clone();
        converter(format).convert(&mut sentence);
        assert_eq!(sentence.format(), format);
        assert_consistent(&sentence);
        sentence
    };
    assert_eq!(&to(sentence.format(), sentence), sentence);
    let new = to(Format::ConllU, sentence);
    let old = to(Format::ConllX, &new);
    assert_eq!(old.tokens().len(), sentence.len());
    assert!(old.partial_heads().eq(sentence.partial_heads()));
    let new = to(Format::ConllU, &old);
    assert_eq!(new.as_str(), old.as_str());
    assert_eq!(to(Format::ConllX, &new), old);
    let mut bare = sentence.clone();
    bare.strip_heads().expect("short enough");
    assert!(bare.partial_heads().all(|head| head.is_none()));
    assert_eq!(bare.tokens().len(), sentence.tokens().len());
    assert_consistent(&bare);
}

/// A tree can be projectivised.
fn ask_trees(sentence: &Sentence) {
    let Ok(tree) = sentence.tree().map_err(|error| ask_error(&error)) else { return };
    if sentence.len() > LONGEST_TREE {
        return;
    }
    let mut changed = sentence.clone();
    let moved = changed.projectivise().expect("a tree");
    assert_eq!(moved == 0, tree.is_projective());
    assert!(changed.tree().expect("a tree").is_projective());
    assert_consistent(&changed);
    changed.set_tree(&tree).expect("its own tree");
    assert_eq!(&changed, sentence);
}

/// A pool returns its sentences in any order.
fn ask_pool(sentences: &[&Sentence]) {
    let mut pool = Pool::default();
    sentences.iter().for_each(|sentence| pool.push(sentence));
    let mut sentence = Sentence::default();
    for (number, expected) in sentences.iter().enumerate().rev() {
        assert!(pool.read(number, &mut sentence).expect("it was read before"));
        assert_eq!(&&sentence, expected);
        assert_eq!(sentence.place(), expected.place());
    }
    assert!(!pool.read(sentences.len(), &mut sentence).expect("there is none"));
}

/// Every sentence is checked and counted once.
fn ask_counts(results: &[Result<Sentence, Error>]) {
    let mut checker = Checker::new(2);
    let mut statistics = Statistics::default();
    checker.start("input".to_owned());
    for result in results {
        match result {
            Ok(sentence) => {
                checker.sentence(sentence);
                statistics.add(sentence);
            }
            Err(Error::Malformed { place, problem, line }) => {
                let place = place.clone();
                let problem = problem.clone();
                let line = line.clone();
                checker.unreadable(Error::Malformed { place, problem, line }).expect("a finding");
            }
            Err(_) => {}
        }
    }
    let file = &checker.finish().files[0];
    let summary = statistics.summary();
    assert_eq!((file.sentences, file.words), (summary.sentences, summary.words));
    assert_eq!(summary.sentences as usize, results.iter().flatten().count());
    assert_eq!(summary.trees.trees + summary.trees.without_tree, summary.sentences);
}

/// Sentences are scored against themselves, without multiword tokens, and with missing sentences.
fn ask_scores(sentences: &[&Sentence], missing: usize) {
    let gold: Vec<Sentence> = sentences.iter().copied().cloned().collect();
    let words: usize = gold.iter().map(Sentence::len).sum();
    let alignment = Alignment::new(&gold, &gold).expect("the same text");
    assert_eq!(alignment.pairs().len(), words);
    assert!(alignment.pairs().iter().all(|pair| pair.gold == pair.system && pair.label_correct));
    ask_alignment(&alignment);
    ask_alignment(&Alignment::by_position(&gold, &gold).expect("the same words"));
    assert!(Irregular::find(&gold).is_empty() <= gold.iter().all(|s| s.tree().is_ok()));

    let mut system = gold.clone();
    system.iter_mut().for_each(|sentence| Converter::new(Format::ConllX).convert(sentence));
    system.drain(..missing.min(gold.len()) / 8);
    for (gold, system) in [(&gold, &system), (&system, &gold)] {
        match Alignment::new(gold, system) {
            Ok(alignment) => ask_alignment(&alignment),
            Err(error) => ask_error(&error),
        }
        let _ = Alignment::by_position(gold, system).map_err(|error| ask_error(&error));
    }
}

fn ask_alignment(alignment: &Alignment<'_>) {
    match Metrics::new(alignment) {
        Ok(metrics) => {
            let counted = metrics.iter().filter(|(metric, _)| *metric != Metric::Eulas);
            for (metric, score) in counted {
                assert!(score.correct <= score.gold.min(score.system), "{metric} {score:?}");
            }
        }
        Err(error) => ask_error(&error),
    }
    let arcs = Arcs::new(alignment);
    for by in Grouping::ALL {
        let rows = Breakdown::new(&arcs, by).rows;
        let (gold, system): (usize, usize) = rows
            .iter()
            .map(|r| (r.gold, r.system))
            .fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
        let words = alignment.words();
        assert_eq!((gold, system), (words.gold, words.system), "{}", by.name());
    }
    assert_eq!(Confusions::new(&arcs).labels.words, alignment.pairs().len());
    assert!(FrequentErrors::new(&arcs, 3).by_tag.len() <= 3);
    assert!(Druck::new(&arcs, 3).false_positives.len() <= 3);
    let _ = arcs.head_probabilities().map_err(|error| ask_error(&error));
}
