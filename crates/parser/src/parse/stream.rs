//! Parsing of many sentences by several threads, in order and in bounded memory.
//!
//! The thread of the caller reads and writes. Batch k is parsed by worker k mod T. Every worker has a short input queue
//! and a short output queue. Results are fetched from the workers in turn, so they arrive in the order of the input.
//! The number of batches in memory is bounded.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use tutte_treebank::eval::Attachment;
use tutte_treebank::{Format, Sentence};

use crate::{Decoding, Error, Parser, ParserModel, Weights};

/// Parses all sentences that `next` reads and passes them, with new heads and labels, to `write` in their order. The
/// result does not depend on the number of threads. `next` reads into a sentence whose memory is reused, and returns
/// `false` at the end, as [`Reader::read`](tutte_treebank::Reader::read) does.
///
/// ```
/// use tutte::{Decoding, TrainingOptions, parse_stream, train};
/// use tutte_treebank::{Reader, Writer};
///
/// let file = "1\tTea\ttea\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\tcool\tVERB\t_\t_\t0\troot\t_\t_\n\n";
/// let treebank: Vec<_> = Reader::new(file.as_bytes()).collect::<Result<_, _>>()?;
/// let options = TrainingOptions::default().with_passes(2).with_bits(12).with_label_bits(8);
/// let model = train(&treebank, &options, &mut ())?;
///
/// let mut reader = Reader::new(file.as_bytes());
/// let mut writer = Writer::new(Vec::new());
/// parse_stream::<_, Box<dyn std::error::Error>>(
///     &model,
///     Decoding::Mbr,
///     2,
///     |sentence| Ok(reader.read(sentence)?),
///     |sentence| Ok(writer.write(sentence)?),
/// )?;
/// assert_eq!(writer.finish()?, file.as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors of `next`, of `write` and of [`Parser::annotate`]. All sentences before the one that could not be read or
/// parsed have been written.
pub fn parse_stream<W: Weights, E: From<Error>>(
    model: &ParserModel<W>,
    decoding: Decoding,
    threads: usize,
    next: impl FnMut(&mut Sentence) -> Result<bool, E>,
    mut write: impl FnMut(&Sentence) -> Result<(), E>,
) -> Result<(), E> {
    decoding.check(model)?;
    let annotate = || {
        let mut parser = Parser::new(model).with_decoding(decoding);
        move |_, sentence: &mut Sentence| parser.annotate(sentence).map(|_| ())
    };
    map_stream(threads, annotate, next, |sentence, result: Result<(), Error>| {
        result?;
        write(sentence)
    })
}

/// Calls a function with all sentences that `next` reads, and passes the sentences and the results to `write` in their
/// order. The result does not depend on the number of threads. `worker` makes the function, once for each thread. The
/// function gets the number of the sentence, from 0.
///
/// ```
/// use tutte::map_stream;
/// use tutte_treebank::{Error, Reader};
///
/// let file = "1\tTea\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n1\tAh\t_\tINTJ\t_\t_\t0\troot\t_\t_\n\n";
/// let mut reader = Reader::new(file.as_bytes());
/// let mut found = Vec::new();
/// map_stream::<_, Error, _>(
///     2,
///     || |number, sentence: &mut tutte_treebank::Sentence| (number, sentence.len()),
///     |sentence| reader.read(sentence),
///     |_, words| Ok(found.push(words)),
/// )?;
/// assert_eq!(found, [(0, 1), (1, 1)]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// Errors of `next` and of `write`. All sentences before the one that could not be read have been written.
pub fn map_stream<T: Send, E, F: FnMut(usize, &mut Sentence) -> T + Send>(
    threads: usize,
    worker: impl Fn() -> F,
    mut next: impl FnMut(&mut Sentence) -> Result<bool, E>,
    mut write: impl FnMut(&Sentence, T) -> Result<(), E>,
) -> Result<(), E> {
    if threads <= 1 {
        return one_by_one(worker(), next, write);
    }
    thread::scope(|scope| {
        let mut workers: Vec<Worker<T>> = Vec::new();
        while workers.len() < threads {
            let (batches, todo) = sync_channel(QUEUE);
            let (done, parsed) = sync_channel(QUEUE);
            let worker = worker();
            let spawned =
                thread::Builder::new().spawn_scoped(scope, move || work(worker, &todo, &done));
            if spawned.is_err() {
                // The system has no more threads or memory for them. Those that there are do the work.
                break;
            }
            workers.push(Worker { batches, parsed });
        }
        let threads = workers.len();
        if threads == 0 {
            return one_by_one(worker(), next, write);
        }
        let mut spare = Vec::new();
        let mut sent = 0;
        let mut fetched = 0;
        let mut read = 0;
        let mut reading = Ok(true);
        loop {
            if matches!(reading, Ok(true)) {
                let mut batch: Batch<T> = spare.pop().unwrap_or_default();
                reading = batch.fill(read, &mut next);
                read += batch.filled;
                // A worker that does not receive has panicked. The scope ends with its message.
                if workers[sent % threads].batches.send(batch).is_ok() {
                    sent += 1;
                }
            }
            let full = sent - fetched == QUEUE * threads;
            if full || !matches!(reading, Ok(true)) {
                if fetched == sent {
                    return reading.map(|_| ());
                }
                let Ok(batch) = workers[fetched % threads].parsed.recv() else { return Ok(()) };
                fetched += 1;
                spare.push(batch.write(&mut write)?);
            }
        }
    })
}

/// Does the work of [`map_stream`] on this thread.
fn one_by_one<T, E>(
    mut worker: impl FnMut(usize, &mut Sentence) -> T,
    mut next: impl FnMut(&mut Sentence) -> Result<bool, E>,
    mut write: impl FnMut(&Sentence, T) -> Result<(), E>,
) -> Result<(), E> {
    let mut sentence = Sentence::default();
    let mut number = 0;
    while next(&mut sentence)? {
        let done = worker(number, &mut sentence);
        write(&sentence, done)?;
        number += 1;
    }
    Ok(())
}

/// Greatest number of batches in the input queue and in the output queue of a worker.
const QUEUE: usize = 4;

struct Worker<T> {
    batches: SyncSender<Batch<T>>,
    parsed: Receiver<Batch<T>>,
}

fn work<T>(
    mut worker: impl FnMut(usize, &mut Sentence) -> T,
    todo: &Receiver<Batch<T>>,
    done: &SyncSender<Batch<T>>,
) {
    for mut batch in todo {
        let sentences = batch.sentences[..batch.filled].iter_mut();
        let results = (batch.first..).zip(sentences).map(|(number, s)| worker(number, s));
        batch.results.extend(results);
        if done.send(batch).is_err() {
            return;
        }
    }
}

/// Sentences that are sent to a worker together.
struct Batch<T> {
    sentences: Vec<Sentence>,
    /// Number of sentences in use. The others keep their memory for later.
    filled: usize,
    /// Number of the first sentence of the batch.
    first: usize,
    /// Results of the worker.
    results: Vec<T>,
}

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Self { sentences: Vec::new(), filled: 0, first: 0, results: Vec::new() }
    }
}

impl<T> Batch<T> {
    /// Number of words after which a batch is full: work for a few milliseconds.
    const WORDS: usize = 500;

    /// Reads sentences, the first of which has this number. Returns `false` if there are no more.
    fn fill<E>(
        &mut self,
        first: usize,
        next: &mut impl FnMut(&mut Sentence) -> Result<bool, E>,
    ) -> Result<bool, E> {
        self.first = first;
        self.filled = 0;
        let mut words = 0;
        while words < Self::WORDS {
            if self.filled == self.sentences.len() {
                self.sentences.push(Sentence::default());
            }
            let sentence = &mut self.sentences[self.filled];
            if !next(sentence)? {
                return Ok(false);
            }
            words += sentence.len().max(1);
            self.filled += 1;
        }
        Ok(true)
    }

    /// Writes the sentences and results. Returns the batch, which can be used again.
    fn write<E>(
        mut self,
        write: &mut impl FnMut(&Sentence, T) -> Result<(), E>,
    ) -> Result<Self, E> {
        let results = self.results.drain(..);
        self.sentences
            .iter()
            .zip(results)
            .try_for_each(|(sentence, done)| write(sentence, done))?;
        Ok(self)
    }
}

impl<W: Weights> ParserModel<W> {
    /// Parses a treebank and counts the correct heads and labels. In CoNLL-U, labels are compared without their
    /// subtypes, as in LAS.
    ///
    /// # Errors
    /// If a sentence cannot be parsed.
    pub fn evaluate(
        &self,
        gold: &[Sentence],
        decoding: Decoding,
        threads: usize,
    ) -> Result<Attachment, Error> {
        let mut total = Attachment::default();
        let mut next = gold.iter();
        let mut compared = gold.iter();
        let read = |sentence: &mut Sentence| {
            let found = next.next();
            found.inspect(|found| sentence.clone_from(found));
            Ok(found.is_some())
        };
        let compare = |parsed: &Sentence| {
            if let Some(gold) = compared.next() {
                let label = |label| universal(label, gold.format());
                let words = gold.words().zip(parsed.words());
                total += Attachment::of_words(words.map(|(gold, parsed)| {
                    (gold.head() == parsed.head(), label(gold.deprel()) == label(parsed.deprel()))
                }));
            }
            Ok(())
        };
        parse_stream(self, decoding, threads, read, compare).map(|()| total)
    }
}

/// Returns a label without its subtype.
fn universal(label: &str, format: Format) -> &str {
    match format {
        Format::ConllU => label.split_once(':').map_or(label, |(universal, _)| universal),
        Format::ConllX => label,
    }
}

#[cfg(test)]
mod tests {
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
            text.push_str(
                "5.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n".repeat(usize::from(words == 5)).as_str(),
            );
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
}
