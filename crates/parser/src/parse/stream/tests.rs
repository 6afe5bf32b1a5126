use tutte_treebank::{Reader, Writer};

use super::*;
use crate::{TrainingOptions, train};

/// Sentences of different lengths, one of 400 words, some without heads; with multiword tokens, empty nodes and
/// comments.
fn text() -> String {
    let mut text = String::new();
    for number in 0..200usize {
        let words = if number == 90 { 400 } else { 1 + number * 7 % 23 };
        text.push_str(&format!("# sent_id = {number}\n"));
        for word in 1..=words {
            if word == 2 && words > 3 {
                text.push_str("2-3\tinto\t_\t_\t_\t_\t_\t_\t_\t_\n");
            }
            let form = "abcde".split_at(word % 4 + 1).0;
            let tag = ["N", "V", "D"][word % 3];
            let arc = match (number % 5, word) {
                (0, _) => "_\t_".to_owned(),
                (_, 1) => "0\troot".to_owned(),
                _ => format!("{}\tdep:{tag}", word / 2),
            };
            text.push_str(&format!("{word}\t{form}\t{form}\t{tag}\t_\t_\t{arc}\t_\tA=b\n"));
        }
        text.push_str("5.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n".repeat(usize::from(words == 5)).as_str());
        text.push('\n');
    }
    text
}

fn model() -> ParserModel {
    let sentences: Vec<Sentence> =
        Reader::new(text().as_bytes()).collect::<Result<_, _>>().unwrap();
    let treebank: Vec<Sentence> =
        sentences.into_iter().filter(|s| s.heads().is_some() && s.len() < 30).collect();
    let options =
        TrainingOptions { passes: 1, bits: 12, label_bits: 8, ..TrainingOptions::default() };
    train(&treebank, &options, &mut ()).unwrap()
}

fn parsed(model: &ParserModel, text: &str, threads: usize) -> (String, Result<(), Error>) {
    let mut reader = Reader::new(text.as_bytes());
    let mut writer = Writer::new(Vec::new());
    let result = parse_stream(
        model,
        Decoding::Mbr,
        threads,
        |sentence| Ok(reader.read(sentence)?),
        |sentence| {
            writer.write(sentence).unwrap();
            Ok(())
        },
    );
    (String::from_utf8(writer.finish().unwrap()).unwrap(), result)
}

#[test]
fn any_number_of_threads_writes_the_same() {
    let model = model();
    let text = text();
    let (alone, result) = parsed(&model, &text, 1);
    result.unwrap();
    for threads in [2, 3, 7] {
        let (together, result) = parsed(&model, &text, threads);
        result.unwrap();
        assert!(alone == together, "{threads} threads");
    }
    // Only heads and labels are new.
    assert_eq!(alone.lines().count(), text.lines().count());
    for (new, old) in alone.lines().zip(text.lines()) {
        let others = |line: &str| {
            let columns = line.split('\t').map(str::to_owned).enumerate();
            columns.filter(|(at, _)| ![6, 7].contains(at)).collect::<Vec<_>>()
        };
        assert_eq!(others(new), others(old));
    }
    assert!(!alone.contains("N\t_\t_\t_\t"), "every word has a head");
}

#[test]
fn sentences_before_an_unreadable_one_are_written_by_any_number_of_threads() {
    let model = model();
    let text = text().replace("# sent_id = 150\n1\t", "# sent_id = 150\n7\t");
    let (alone, result) = parsed(&model, &text, 1);
    assert!(matches!(result, Err(Error::Treebank(_))), "{result:?}");
    assert!(alone.contains("sent_id = 149\n") && !alone.contains("sent_id = 150\n"));
    let (together, result) = parsed(&model, &text, 3);
    assert!(matches!(result, Err(Error::Treebank(_))), "{result:?}");
    assert!(alone == together);
}

#[test]
fn every_answer_comes_before_the_next_question() {
    let sentence: Sentence = "1\tTea\t_\tNOUN\t_\t_\t_\t_\t_\t_\n\n".parse().unwrap();
    for threads in [1, 2, 7] {
        let question = sentence.clone();
        let (ask, questions) = std::sync::mpsc::channel::<()>();
        ask.send(()).unwrap();
        let mut ask = Some(ask);
        let mut answers = 0;
        // Fails, instead of waiting for ever.
        let patience = std::time::Duration::from_secs(60);
        map_stream::<_, String, _>(
            threads,
            || |number, _: &mut Sentence| number,
            move |out: &mut Sentence| match questions.recv_timeout(patience) {
                Ok(()) => {
                    out.clone_from(&question);
                    Ok(true)
                }
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => Ok(false),
                Err(error) => Err(error.to_string()),
            },
            |_, number, is_next_known| {
                assert_eq!(number, answers);
                assert!(!is_next_known, "no question is open");
                answers += 1;
                let ended = if answers == 50 { ask.take() } else { None };
                drop(ended);
                ask.iter().for_each(|ask| ask.send(()).unwrap());
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(answers, 50, "{threads} threads");
    }
}

#[test]
fn a_panic_of_a_worker_ends_everything() {
    let model = model();
    let text = text();
    let result = std::panic::catch_unwind(|| {
        let mut reader = Reader::new(text.as_bytes());
        map_stream::<_, Error, _>(
            2,
            || |number, _: &mut Sentence| assert!(number < 30, "as this test wants it"),
            |sentence| Ok(reader.read(sentence)?),
            |_, (), _| Ok(()),
        )
    });
    assert!(result.is_err());
    parsed(&model, &text, 2).1.unwrap();
}

#[test]
fn a_failing_writer_ends_everything() {
    let model = model();
    let text = text();
    let mut reader = Reader::new(text.as_bytes());
    let mut written = 0;
    let result = parse_stream::<_, Error>(
        &model,
        Decoding::Map,
        2,
        |sentence| Ok(reader.read(sentence)?),
        |_| {
            written += 1;
            let full = tutte_treebank::Error::File {
                path: "full".into(),
                action: "write",
                source: std::io::ErrorKind::StorageFull.into(),
            };
            if written == 20 { Err(full.into()) } else { Ok(()) }
        },
    );
    assert!(result.is_err());
    assert_eq!(written, 20);
}

#[test]
fn the_output_of_the_model_is_its_own_gold() {
    let model = model();
    let text = text();
    let own = parsed(&model, &text, 1).0;
    let gold: Vec<Sentence> = Reader::new(own.as_bytes()).collect::<Result<_, _>>().unwrap();
    let score = model.evaluate(&gold, Decoding::Mbr, 2).unwrap();
    assert_eq!((score.uas(), score.las()), (1.0, 1.0));
    assert_eq!(score.complete.sentences, 200);
    assert_eq!(score, model.evaluate(&gold, Decoding::Mbr, 1).unwrap());
    assert_eq!(universal("nsubj:pass", Format::ConllU), "nsubj");
    assert_eq!(universal("nsubj:pass", Format::ConllX), "nsubj:pass");
}
