//! Random unusual files, and arbitrary bytes: accepted input is written back unchanged, and a
//! setter changes only its column.

#[path = "../../../fuzz/dribble.rs"]
mod dribble;
mod support;

use dribble::Dribble;
use proptest::prelude::*;
use proptest::sample::select;
use support::{assert_consistent, conll_u, content, file, value};
use tutte_treebank::{Column, Format, Id, Options, Reader, Sentence, Writer};

/// Reads and writes.
fn round_trip<R: std::io::Read>(mut reader: Reader<R>) -> (Vec<Sentence>, Vec<u8>) {
    let mut writer = Writer::new(Vec::new());
    let sentences: Vec<_> = reader.by_ref().map(|sentence| sentence.unwrap()).collect();
    for sentence in &sentences {
        writer.write(sentence).unwrap();
    }
    writer.write_tail(reader.tail()).unwrap();
    (sentences, writer.finish().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        failure_persistence: None,
        max_local_rejects: 1_000_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn unusual_files_survive(file in file()) {
        let (sentences, written) = round_trip(conll_u(file.as_bytes()));
        prop_assert_eq!(String::from_utf8(written).unwrap(), file.clone());
        // The slow twin of the reader: runs of lines that are not blank.
        let plain = file.trim_start_matches('\u{feff}');
        let blank: Vec<bool> = plain.split('\n').map(|line| line.trim().is_empty()).collect();
        let starts = (0..blank.len()).filter(|&at| !blank[at] && (at == 0 || blank[at - 1]));
        prop_assert_eq!(sentences.len(), starts.count());
        // Lines are numbered as in the file.
        for token in sentences.iter().flat_map(|sentence| sentence.tokens()) {
            let line = plain.split('\n').nth(token.line() as usize - 1).unwrap();
            let (id, rest) = line.split_once('\t').unwrap();
            prop_assert_eq!(id, token.id().to_string());
            prop_assert_eq!(rest.split('\t').next().unwrap(), token.form());
        }
    }

    #[test]
    fn the_size_of_reads_does_not_matter(file in file()) {
        let whole: Vec<_> = conll_u(file.as_bytes()).map(Result::unwrap).collect();
        let dribble = Dribble { bytes: file.as_bytes(), at_once: 1 };
        let dribbled: Vec<_> = conll_u(dribble).map(Result::unwrap).collect();
        prop_assert_eq!(whole, dribbled);
    }

    #[test]
    fn bytes_never_panic_and_accepted_input_comes_back(
        bytes in proptest::collection::vec(
            select(vec![
                &b"1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n"[..], b"2\tb\t_\tX\t_\t_\t1\t_\t1\t_\n", b"1-2\ta\t_\t_\t_\t_\t_\t_\t_\t_\n",
                b"\n", b"\r\n", b"\t", b" ", b"#", b"1", b"1.1", b"\xff", b"\xef\xbb\xbf", b"\xc3", b"\0", b"_",
            ]),
            0..24,
        ).prop_map(|pieces| pieces.concat()),
    ) {
        let mut reader = Reader::new(&bytes[..]);
        let results: Vec<_> = reader.by_ref().collect();
        if results.iter().all(Result::is_ok) {
            prop_assert_eq!(round_trip(Reader::new(&bytes[..])).1, bytes.clone());
            for sentence in results.iter().flatten() {
                let _ = sentence.tree();
            }
        }
        // A lenient reader returns or skips every sentence.
        let mut lenient = Reader::new(&bytes[..]).lenient();
        let good = lenient.by_ref().filter(Result::is_ok).count();
        prop_assert_eq!(good + lenient.skipped(), results.len());
        prop_assert_eq!(lenient.errors().len(), lenient.skipped());
        for encoding in ["latin1", "utf-16le", "gb18030", "iso-2022-jp"] {
            let options = Options::default().with_encoding(encoding.parse().unwrap());
            let _ = Reader::with_options(&bytes[..], &options).count();
        }
    }

    #[test]
    fn noise_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for result in Reader::new(&bytes[..]) {
            if let Err(error) = result {
                prop_assert!(!error.to_string().is_empty());
            }
        }
        let decompressed = tutte_treebank::decompress(&bytes[..]).map(|input| Reader::new(input).count());
        prop_assert!(decompressed.is_ok() || bytes.len() > 2);
    }

    #[test]
    fn a_setter_changes_its_column_only(
        file in file(),
        row in any::<proptest::sample::Index>(),
        column in select(&Column::ALL[1..]),
        value in value(),
    ) {
        let file = format!("{file}\n\n1\tlast\t_\tX\t_\t_\t0\t_\t_\tA=1\n# end");
        for mut sentence in conll_u(file.as_bytes()).map(Result::unwrap) {
            let (mut rows, comments) = content(&sentence);
            let at = row.index(rows.len());
            let id = rows[at].0;
            let mut value = value.clone();
            if column == Column::Head {
                let mut others = (0..=sentence.len()).filter(|&head| Some(head) != id.word());
                value = id.word().and(others.next_back()).map_or("_".into(), |head| head.to_string());
            }
            let before = sentence.as_str().len();
            sentence.set(id, column, &value).unwrap();
            let old = std::mem::replace(&mut rows[at].1[column as usize], value.clone());
            prop_assert_eq!(content(&sentence), (rows, comments));
            prop_assert_eq!(sentence.as_str().len() + old.len(), before + value.len());
            assert_consistent(&sentence);
        }
    }

    #[test]
    fn heads_and_labels_change_nothing_else(file in file(), seed in 0..1000usize) {
        for mut sentence in conll_u(file.as_bytes()).map(Result::unwrap) {
            let n = sentence.len();
            let (mut rows, comments) = content(&sentence);
            let heads: Vec<_> = (1..=n)
                .map(|word| Some((seed * word) % (n + 1)).filter(|&head| head != word))
                .collect();
            let labels: Vec<_> = (1..=n).map(|word| "label".repeat(seed % (word + 1))).collect();
            sentence.set_heads(&heads).unwrap();
            sentence.set_deprels(&labels).unwrap();
            for (id, columns) in &mut rows {
                if let Id::Word(word) = *id {
                    columns[Column::Head as usize] =
                        heads[word - 1].map_or("_".to_owned(), |head| head.to_string());
                    columns[Column::Deprel as usize].clone_from(&labels[word - 1]);
                }
            }
            prop_assert_eq!(content(&sentence), (rows, comments));
            prop_assert!(sentence.partial_heads().eq(heads));
            assert_consistent(&sentence);
        }
    }
}

#[test]
fn misc_entries_are_set_replaced_and_removed_in_place() {
    let mut sentence: Sentence =
        "1\ta\t_\tX\t_\t_\t0\troot\t_\tA=1|Odd entry|B=2|B=3  \r\n".parse().unwrap();
    let mut set = |key, value| {
        sentence.set_misc(1, key, value).unwrap();
        assert_consistent(&sentence);
        assert!(sentence.as_str().ends_with("  \r\n"));
        sentence.word(1).unwrap().misc().to_owned()
    };
    assert_eq!(set("B", Some("9")), "A=1|Odd entry|B=9");
    assert_eq!(set("C", Some("=")), "A=1|Odd entry|B=9|C==");
    assert_eq!(set("D", None), "A=1|Odd entry|B=9|C==");
    assert_eq!(set("Odd entry", None), "A=1|B=9|C==");
    assert_eq!(set("A", None), "B=9|C==");
    assert_eq!(set("C", None), "B=9");
    assert_eq!(set("B", None), "_");
    assert_eq!(set("B", None), "_");
    assert_eq!(set("HeadProb", Some("0.5")), "HeadProb=0.5");
}

#[test]
fn annotations_are_replaced_in_all_words_at_once() {
    let mut sentence: Sentence = "\
# tutte_logprob = -1
# text = a b
#tutte_rank = 3
1-2\tab\t_\t_\t_\t_\t_\t_\t_\tHeadProb=kept
1\ta\t_\tX\t_\t_\t0\troot\t_\tHeadProb=1|A=1|HeadProb=0.5|AltHead=2:x:1
2\tb\t_\tX\t_\t_\t1\tdep\t_\t_  \r
3\tc\t_\tX\t_\t_\t1\tdep\t_\tHeadProb=0.1\r
"
    .parse()
    .unwrap();
    let entry = |key, value: &str| (key, value.to_owned());
    let entries = [vec![entry("HeadProb", "0.7")], vec![entry("B", "1"), entry("C", "=")], vec![]];
    let comments = [("tutte_entropy", "2"), ("tutte_rank", "1")];
    for _ in 0..2 {
        sentence.replace_misc(&["HeadProb", "AltHead", "B", "C"], &entries).unwrap();
        sentence.replace_comments("tutte_", &comments).unwrap();
        assert_consistent(&sentence);
        let misc: Vec<_> = sentence.tokens().map(|token| token.misc()).collect();
        assert_eq!(misc, ["HeadProb=kept", "A=1|HeadProb=0.7", "B=1|C==", "_"]);
        let found: Vec<_> = sentence.comments().collect();
        assert_eq!(found, ["# text = a b", "# tutte_entropy = 2", "# tutte_rank = 1"]);
        assert!(sentence.as_str().ends_with("C==  \r\n3\tc\t_\tX\t_\t_\t1\tdep\t_\t_\r\n"));
    }
    let before = sentence.clone();
    for (key, value) in
        [("", "1"), ("a=", "1"), ("a", "b|c"), ("a", "b\tc"), ("a", "b "), ("a\n", "")]
    {
        let entries = [vec![], vec![entry(key, value)], vec![]];
        assert!(sentence.replace_misc(&[], &entries).is_err(), "{key:?} {value:?}");
    }
    assert!(sentence.replace_misc(&[], &[vec![]]).is_err());
    assert!(sentence.replace_comments("tutte_", &[("a", "b\n")]).is_err());
    assert_eq!(sentence, before);
    let mut conllx: Sentence = "1\ta\t_\tX\tX\t_\t0\troot\t_\t_\n".parse().unwrap();
    tutte_treebank::Converter::new(Format::ConllX).convert(&mut conllx);
    assert!(conllx.replace_misc(&[], &[vec![entry("a", "b")]]).is_err());
    assert!(conllx.replace_misc(&["a"], &[vec![]]).is_err());
}

#[test]
fn views_agree_with_the_lines() {
    let sentence: Sentence = "\
# newdoc id = yard
# newpar
# sent_id = duck-1
# text = Ducks don't.
1\tDucks\tduck\tNOUN\tNNS\tNumber=Plur|Odd\t2\tnsubj\t2:nsubj|2.1:nsubj\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\tdo\tdo\tAUX\tVBP\t_\t0\troot\t0:root\t_
2.1\tswim\tswim\tVERB\t_\t_\t_\t_\t2:dep\t_
3\tn't\tnot\tPART\tRB\t_\t2\tadvmod\t2:advmod\t_
"
    .parse()
    .unwrap();
    assert_eq!(sentence.format(), Format::ConllU);
    assert_eq!(sentence.newdoc(), Some("yard"));
    assert_eq!(sentence.newpar(), Some(""));
    assert_eq!(sentence.sent_id(), Some("duck-1"));
    assert_eq!(sentence.text(), Some("Ducks don't."));
    assert_eq!(sentence.comments().count(), 4);
    let forms: Vec<_> = sentence.words().map(|word| word.form()).collect();
    assert_eq!(forms, ["Ducks", "do", "n't"]);
    let ducks = sentence.word(1).unwrap();
    assert_eq!((ducks.lemma(), ducks.upos(), ducks.xpos()), ("duck", "NOUN", "NNS"));
    assert_eq!((ducks.head(), ducks.deprel()), (Some(2), "nsubj"));
    assert_eq!(ducks.deps(), "2:nsubj|2.1:nsubj");
    assert!(ducks.features().eq([("Number", "Plur"), ("Odd", "")]));
    assert_eq!(sentence.multiword_tokens().next().unwrap().misc_entry("SpaceAfter"), Some("No"));
    let swim = sentence.empty_nodes().next().unwrap();
    assert_eq!(
        (swim.id(), swim.form(), swim.head(), swim.line()),
        (Id::Empty(2, 1), "swim", None, 8)
    );
    assert_eq!(sentence.heads().unwrap(), [2, 0, 2]);
    assert_eq!(sentence.tree().unwrap().root_words().collect::<Vec<_>>(), [2]);
    assert!(sentence.word(0).is_none() && sentence.word(4).is_none());

    let old: Sentence = "1\tand\t_\tN\tNC\tnum=s\t0\tROOT\t0\tROOT\n".parse().unwrap();
    let word = old.word(1).unwrap();
    assert_eq!(old.format(), Format::ConllX);
    assert_eq!((word.phead(), word.pdeprel(), word.deps(), word.misc()), ("0", "ROOT", "_", "_"));

    let first_version: Sentence =
        "# sent_id s-p1\n1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n".parse().unwrap();
    assert_eq!(first_version.sent_id(), Some("s-p1"));
}

#[test]
fn formats_are_recognised_by_the_documented_rules() {
    let line = |id: &str, tag: &str, ninth: &str, tenth: &str| {
        format!("{id}\tform\t_\t{tag}\t_\t_\t0\t_\t{ninth}\t{tenth}\n")
    };
    let (u, x) = (Some(Format::ConllU), Some(Format::ConllX));
    assert_eq!(Format::recognise(&format!("# c\n{}", line("1", "N", "0", "R"))), u);
    assert_eq!(Format::recognise(&line("1-2", "N", "_", "_")), u);
    assert_eq!(Format::recognise(&line("1.1", "N", "_", "_")), u);
    assert_eq!(Format::recognise(&line("1", "NOUN", "0", "ROOT")), x);
    assert_eq!(Format::recognise(&line("1", "N", "0:root", "_")), u);
    assert_eq!(Format::recognise(&line("1", "N", "_", "SpaceAfter=No")), u);
    assert_eq!(Format::recognise(&line("1", "CONJ", "_", "_")), u);
    assert_eq!(Format::recognise(&line("1", "_", "_", "_")), u);
    assert_eq!(Format::recognise(&line("1", "N", "_", "_")), x);
    assert_eq!(Format::recognise(&line("1", "N", "_", "_  ").replace('\n', "\r\n")), x);
    assert_eq!(Format::recognise("# c\n"), None);
    // In doubt, the name of the file decides.
    for (file, format) in [("a.conllu", u), ("b/a.conllu.gz", u), ("a.conll", x), ("conllu", x)] {
        let text = line("1", "N", "_", "_");
        let mut reader = Reader::with_options(text.as_bytes(), &Options::default().with_name(file));
        assert_eq!(reader.next().map(|sentence| sentence.unwrap().format()), format, "{file}");
    }
    let phead = line("1", "NOUN", "0", "ROOT");
    let named = Options::default().with_name("a.conllu");
    let mut reader = Reader::with_options(phead.as_bytes(), &named);
    assert_eq!(reader.next().map(|sentence| sentence.unwrap().format()), x);
    for (name, format) in [("CoNLL-U", u), ("conllx", x), ("conll2007", x)] {
        assert_eq!(name.parse::<Format>().ok(), format);
    }
    // A sentence that cannot be read does not determine the format.
    let file = format!("# oops\n\n{}", line("1", "N", "_", "_"));
    let mut reader = Reader::new(file.as_bytes()).lenient();
    assert_eq!(reader.next().unwrap().unwrap().format(), Format::ConllX);
}
