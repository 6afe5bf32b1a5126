//! Conversion between the formats keeps the common columns, counts the losses, and changes nothing
//! else.

mod support;

use proptest::prelude::*;
use proptest::sample::select;
use support::{assert_consistent, conll_u, content, file};
use tutte_treebank::select::{Choices, Pool, Reservoir, split};
use tutte_treebank::{
    Column, ConllxPos, Converter, Format, Id, Losses, Options, Reader, Sentence, Writer,
};

/// Columns 1 to 8 of the words.
fn common(sentence: &Sentence) -> Vec<[String; 8]> {
    sentence
        .words()
        .map(|word| std::array::from_fn(|at| word.column(Column::ALL[at]).to_owned()))
        .collect()
}

/// Returns a value as CoNLL-X writes it.
fn without_spaces(value: &str) -> String {
    if value.trim().is_empty() { "_".into() } else { value.replace(char::is_whitespace, "_") }
}

/// The slow twin: converts to CoNLL-X line by line.
fn to_conllx_by_lines(text: &str) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines = String::new();
    for line in text.trim_start_matches('\u{feff}').lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        if columns.len() == 10 && columns[0].bytes().all(|byte| byte.is_ascii_digit()) {
            let kept: Vec<_> = columns[..8].iter().map(|value| without_spaces(value)).collect();
            lines.push_str(&format!("{}\t_\t_{newline}", kept.join("\t")));
        }
    }
    lines + newline
}

fn options(format: Format) -> Options {
    Options::default().with_format(format)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..Default::default() })]

    #[test]
    fn there_and_back_keeps_the_common_columns(file in file()) {
        let mut to_x = Converter::new(Format::ConllX);
        let mut to_u = Converter::new(Format::ConllU);
        for before in conll_u(file.as_bytes()).map(Result::unwrap) {
            let mut sentence = before.clone();
            to_x.convert(&mut sentence);
            prop_assert_eq!(sentence.format(), Format::ConllX);
            prop_assert_eq!(sentence.as_str(), to_conllx_by_lines(before.as_str()));
            assert_consistent(&sentence);
            let plain: Vec<[String; 8]> = common(&before)
                .into_iter()
                .map(|columns| columns.map(|value| without_spaces(&value)))
                .collect();
            prop_assert_eq!(&common(&sentence), &plain);
            prop_assert!(sentence.partial_heads().eq(before.partial_heads()));
            // Errors still point to the file that was read.
            prop_assert!(sentence.words().map(|w| w.line()).eq(before.words().map(|w| w.line())));

            let as_x = sentence.clone();
            to_x.convert(&mut sentence);
            prop_assert_eq!(&sentence, &as_x);
            to_u.convert(&mut sentence);
            prop_assert_eq!(sentence.format(), Format::ConllU);
            prop_assert_eq!(&common(&sentence), &plain);
            assert_consistent(&sentence);
            // Once the losses are gone, the two formats are the same bytes.
            prop_assert_eq!(sentence.as_str(), as_x.as_str());
        }
        prop_assert_eq!(to_u.losses(), Losses::default());
    }

    #[test]
    fn converting_to_the_same_format_changes_nothing(file in file()) {
        let mut converter = Converter::new(Format::ConllU);
        let mut reader = conll_u(file.as_bytes());
        let mut writer = Writer::new(Vec::new());
        for sentence in &mut reader {
            let mut sentence = sentence.unwrap();
            converter.convert(&mut sentence);
            writer.write(&sentence).unwrap();
        }
        writer.write_tail(reader.tail()).unwrap();
        prop_assert_eq!(String::from_utf8(writer.finish().unwrap()).unwrap(), file);
        prop_assert_eq!(converter.losses(), Losses::default());
    }

    #[test]
    fn losses_are_counted(file in file()) {
        let mut converter = Converter::new(Format::ConllX);
        let mut lines = 0;
        let mut kept = 0;
        for mut sentence in conll_u(file.as_bytes()).map(Result::unwrap) {
            lines += sentence.comments().count() + sentence.tokens().len();
            converter.convert(&mut sentence);
            kept += sentence.tokens().len();
        }
        let lost = converter.losses();
        prop_assert_eq!(lines - kept, lost.comments + lost.multiword_tokens + lost.empty_nodes);
    }

    #[test]
    fn stripped_sentences_have_no_analysis_and_all_else(file in file(), x: bool) {
        for before in conll_u(file.as_bytes()).map(Result::unwrap) {
            let mut before = before;
            if x {
                Converter::new(Format::ConllX).convert(&mut before);
            }
            let mut sentence = before.clone();
            sentence.strip_heads().unwrap();
            assert_consistent(&sentence);
            let gone = if x { 6..10 } else { 6..9 };
            let (mut rows, comments) = content(&before);
            for (_, columns) in &mut rows {
                columns[gone.clone()].fill("_".into());
            }
            prop_assert_eq!(content(&sentence), (rows, comments));
            prop_assert!(sentence.partial_heads().all(|head| head.is_none()));
            let once = sentence.clone();
            sentence.strip_heads().unwrap();
            prop_assert_eq!(sentence, once);
        }
    }

    #[test]
    fn projectivised_sentences_differ_in_heads_only(heads in proptest::collection::vec(0..9usize, 1..9)) {
        let lines: String = (1..).zip(&heads).map(|(word, head)| {
            let head = if *head == word || *head > heads.len() { 0 } else { *head };
            format!("{word}\tw\t_\tX\t_\t_\t{head}\tlabel{word}\t_\tA=1  \r\n")
        }).collect();
        let before: Sentence = format!("# c\r\n{lines}\r\n").parse().unwrap();
        let mut sentence = before.clone();
        let Ok(tree) = before.tree() else {
            prop_assert!(sentence.projectivise().is_err());
            prop_assert_eq!(sentence, before);
            return Ok(());
        };
        let found = sentence.projectivise().unwrap();
        let projective = sentence.tree().unwrap();
        prop_assert!(projective.is_projective());
        let moved = tree.heads().iter().zip(projective.heads()).filter(|(a, b)| a != b).count();
        prop_assert_eq!(found, moved);
        prop_assert_eq!(moved == 0, tree.is_projective());
        prop_assert_eq!(moved == 0, sentence == before);
        let (mut rows, comments) = content(&before);
        for ((_, columns), head) in rows.iter_mut().zip(projective.heads()) {
            columns[Column::Head as usize] = head.to_string();
        }
        prop_assert_eq!(content(&sentence), (rows, comments));
    }

    #[test]
    fn a_pool_returns_its_sentences(file in file(), format in select(vec![Format::ConllU, Format::ConllX])) {
        let mut pool = Pool::default();
        let sentences: Vec<_> = conll_u(file.as_bytes())
            .map(|sentence| {
                let mut sentence = sentence.unwrap();
                Converter::new(format).convert(&mut sentence);
                sentence
            })
            .collect();
        sentences.iter().for_each(|sentence| pool.push(sentence));
        prop_assert_eq!((pool.len(), pool.is_empty()), (sentences.len(), sentences.is_empty()));
        let mut sentence = Sentence::default();
        for (number, expected) in sentences.iter().enumerate().rev() {
            prop_assert!(pool.read(number, &mut sentence).unwrap());
            prop_assert_eq!(&sentence, expected);
            if format == Format::ConllU {
                prop_assert_eq!(sentence.place(), expected.place());
            }
        }
        prop_assert!(!pool.read(sentences.len(), &mut sentence).unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn shuffles_splits_and_samples_lose_no_sentence(
        files in proptest::collection::vec(file(), 1..4),
        seed: u64,
        size in 0..6usize,
        shares in proptest::collection::vec(1..90u32, 1..4),
    ) {
        let sentences: Vec<Sentence> =
            files.iter().flat_map(|file| conll_u(file.as_bytes()).map(Result::unwrap)).collect();
        let mut pool = Pool::default();
        sentences.iter().for_each(|sentence| pool.push(sentence));
        let parts = || {
            let mut order: Vec<usize> = (0..pool.len()).collect();
            Choices::new(seed).shuffle(&mut order);
            let cuts = split(&vec![1; order.len()], &shares);
            let starts = std::iter::once(0).chain(cuts.clone());
            starts.zip(cuts).map(|(start, end)| written(&pool, &order[start..end])).collect()
        };
        let first: Vec<Vec<u8>> = parts();
        prop_assert_eq!(&first, &parts());

        // Every sentence is in exactly one part, except for byte order marks and missing blank
        // lines.
        let bare = |sentence: &Sentence| sentence.as_str().trim_matches(['\u{feff}', '\r', '\n', ' ']).to_owned();
        let mut found: Vec<String> =
            first.iter().flat_map(|part| conll_u(&part[..]).map(|s| bare(&s.unwrap()))).collect();
        let mut expected: Vec<String> = sentences.iter().map(bare).collect();
        found.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(found, expected);

        let sample = || {
            let mut sample = Reservoir::new(size, seed);
            sentences.iter().for_each(|sentence| sample.offer(|| sentence));
            sample.into_items()
        };
        let drawn = sample();
        prop_assert_eq!(drawn.len(), size.min(sentences.len()));
        prop_assert_eq!(&drawn, &sample());
        let mut rest = sentences.iter();
        prop_assert!(drawn.iter().all(|&item| rest.any(|other| std::ptr::eq(item, other))));
    }
}

/// Writes sentences of a pool as a file.
fn written(pool: &Pool, numbers: &[usize]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new());
    let mut sentence = Sentence::default();
    for &number in numbers {
        assert!(pool.read(number, &mut sentence).unwrap());
        writer.write(&sentence).unwrap();
    }
    writer.finish().unwrap()
}

const HERON: &str = "\u{feff}\r
# newdoc id = marsh\r
# text = Der Reiher's 10 000 Fische\r
1\tDer\tder\tDET\t_\t_\t2\tdet\t2:det\t_\r
2-3\tReiher's\t_\t_\t_\t_\t_\t_\t_\t_\r
2\tReiher\tReiher\t_\tNN\tCase=Nom\t5\tnsubj\t5:nsubj\t_\r
3\t's\t\tPART\tPOS\t_\t2\tcase\t2:case\t_\r
4\t10 000\t10 000\tNUM\tCARD\t_\t5\tnummod\t5:nummod\tA=1 \r
5\tFische\tFisch\tNOUN\tNN\t_\t0\troot\t0:root\tSpaceAfter=No\r
5.1\tfing\tfangen\tVERB\t_\t_\t_\t_\t0:root\t_\r
";

#[test]
fn everything_at_once() {
    let mut sentence: Sentence = HERON.parse().unwrap();
    let mut converter = Converter::new(Format::ConllX);
    converter.convert(&mut sentence);
    assert_eq!(
        sentence.as_str(),
        "1\tDer\tder\tDET\t_\t_\t2\tdet\t_\t_\r\n\
         2\tReiher\tReiher\t_\tNN\tCase=Nom\t5\tnsubj\t_\t_\r\n\
         3\t's\t_\tPART\tPOS\t_\t2\tcase\t_\t_\r\n\
         4\t10_000\t10_000\tNUM\tCARD\t_\t5\tnummod\t_\t_\r\n\
         5\tFische\tFisch\tNOUN\tNN\t_\t0\troot\t_\t_\r\n\r\n"
    );
    insta::assert_debug_snapshot!(converter.losses(), @r"
    Losses {
        comments: 2,
        multiword_tokens: 1,
        empty_nodes: 1,
        deps: 5,
        misc: 2,
        pheads: 0,
        spaces: 2,
        without_postag: 1,
    }
    ");
}

#[test]
fn tags_of_conllx_come_from_the_chosen_columns() {
    let tags = |pos: Option<ConllxPos>| {
        let mut sentence: Sentence = HERON.parse().unwrap();
        let converter = Converter::new(Format::ConllX);
        let mut converter = match pos {
            None => converter,
            Some(pos) => converter.with_conllx_pos(pos),
        };
        converter.convert(&mut sentence);
        let tags = sentence.words().map(|word| format!("{} {}", word.upos(), word.xpos()));
        tags.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(tags(None), "DET _, _ NN, PART POS, NUM CARD, NOUN NN");
    assert_eq!(tags(Some(ConllxPos::Xpos)), "DET DET, NN NN, PART POS, NUM CARD, NOUN NN");
    assert_eq!(tags(Some(ConllxPos::Upos)), "DET DET, NN NN, PART PART, NUM NUM, NOUN NOUN");
}

#[test]
fn projective_heads_of_conllx_are_dropped_and_counted() {
    let file = "# odd\n1\tEn\ten\tPI\tPI\tnum=s|gend=c\t2\tmod\t2\tmod\n\
                # here\n2\tand\t\tN\tNC\t_\t0\tROOT\t_\t_\n";
    let mut sentence =
        Reader::with_options(file.as_bytes(), &options(Format::ConllX)).next().unwrap().unwrap();
    let mut converter = Converter::new(Format::ConllU);
    converter.convert(&mut sentence);
    assert_eq!(
        sentence.as_str(),
        "# odd\n# here\n1\tEn\ten\tPI\tPI\tnum=s|gend=c\t2\tmod\t_\t_\n\
         2\tand\t_\tN\tNC\t_\t0\tROOT\t_\t_\n\n"
    );
    assert_eq!((converter.losses().pheads, converter.losses().comments), (1, 0));
    assert_consistent(&sentence);
}

#[test]
fn a_stray_carriage_return_does_not_move_into_the_line_end() {
    let file = "1\tEn\t_\tPI\tPI\t_\t0\tROOT\t_\t_\n# odd\r\r";
    let mut sentence =
        Reader::with_options(file.as_bytes(), &options(Format::ConllX)).next().unwrap().unwrap();
    assert_eq!(sentence.comments().next(), Some("# odd\r"));
    Converter::new(Format::ConllU).convert(&mut sentence);
    assert_consistent(&sentence);
}

#[test]
fn stripping_removes_the_output_of_a_parser() {
    let mut sentence: Sentence = "\
# sent_id = otter-1
# tutte_logprob = -3.2
1\tSo\t_\tADV\t_\t_\t2\tadvmod\t2:advmod\tHeadProb=0.9
2\tschlau\t_\tADJ\t_\t_\t0\troot\t_\tA=1 |HeadProb=1|LabelProb=0.5
3\t!\t_\tPUNCT\t_\t_\t2\tpunct\t_\tHeadProb=1|SpaceAfter=No|HeadProbable=1
"
    .parse()
    .unwrap();
    sentence.strip_heads().unwrap();
    assert_consistent(&sentence);
    assert_eq!(
        sentence.as_str(),
        "\
# sent_id = otter-1
1\tSo\t_\tADV\t_\t_\t_\t_\t_\t_
2\tschlau\t_\tADJ\t_\t_\t_\t_\t_\tA=1
3\t!\t_\tPUNCT\t_\t_\t_\t_\t_\tSpaceAfter=No|HeadProbable=1
"
    );
    assert_eq!(sentence.word(1).unwrap().id(), Id::Word(1));
}

#[test]
fn long_sentences_are_projectivised_only_if_projective() {
    let sentence = |crossing: bool| -> Sentence {
        let head = |word| if crossing && word == 3 { 1 } else { word - 1 };
        let lines = (1..=1_001).map(|word| {
            let head = if crossing && word == 4 { 2 } else { head(word) };
            format!("{word}\tw\t_\tX\t_\t_\t{head}\tdep\t_\t_\n")
        });
        lines.collect::<String>().parse().unwrap()
    };
    assert_eq!(sentence(false).projectivise().unwrap(), 0);
    let error = sentence(true).projectivise().unwrap_err();
    assert_eq!(
        error.to_string(),
        "input:1: the sentence has 1001 words, but projectivising is limited to 1000"
    );
    assert!(error.hint().unwrap().contains("--max-length 1000"));
}

#[test]
fn projectivising_changes_as_few_heads_as_possible() {
    let lines = (1..).zip([4, 5, 1, 0, 4]);
    let lines: String =
        lines.map(|(word, head)| format!("{word}\tw\t_\tX\t_\t_\t{head}\tx\t_\t_\n")).collect();
    let mut sentence: Sentence = lines.parse().unwrap();
    // Lifting alone would have to move two words to the root word, 4.
    assert_eq!(sentence.projectivise().unwrap(), 1);
    assert_eq!(sentence.heads().unwrap(), [4, 3, 1, 0, 4]);
}
