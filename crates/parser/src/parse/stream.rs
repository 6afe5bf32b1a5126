//! Parsing of many sentences by several threads, in order and in bounded memory.
//!
//! A thread reads sentences into batches, T workers parse them, and the thread of the caller writes the results. A
//! worker that is idle takes the batch that is being filled, however small it is. So a sentence is parsed and written
//! as soon as it was read, even if the input pauses after it. Large inputs go through in large batches.
//!
//! ```text
//! next ──▶ open batch ──▶ full batches ──▶ workers ──▶ parsed batches, by number ──▶ write
//! ```
//!
//! Batches are numbered when a worker takes them, and written in this order, which is that of the input. The number of
//! words in memory is bounded.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::channel;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
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
/// parse_stream::<_, Box<dyn std::error::Error + Send + Sync>>(
///     &model,
///     Decoding::Mbr,
///     2,
///     |sentence| Ok(reader.read(sentence)?),
///     |sentence| Ok(writer.write(sentence)?),
/// )?;
/// assert_eq!(writer.finish()?, file.as_bytes());
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
///
/// # Errors
/// Errors of `next`, of `write` and of [`Parser::annotate`]. All sentences before the one that could not be read or
/// parsed have been written.
pub fn parse_stream<W: Weights, E: From<Error> + Send>(
    model: &ParserModel<W>,
    decoding: Decoding,
    threads: usize,
    next: impl FnMut(&mut Sentence) -> Result<bool, E> + Send,
    mut write: impl FnMut(&Sentence) -> Result<(), E>,
) -> Result<(), E> {
    decoding.check(model)?;
    let annotate = || {
        let mut parser = Parser::new(model).with_decoding(decoding);
        move |_, sentence: &mut Sentence| parser.annotate(sentence).map(|_| ())
    };
    map_stream(threads, annotate, next, |sentence, result: Result<(), Error>, _| {
        result?;
        write(sentence)
    })
}

/// Calls a function with all sentences that `next` reads, and passes the sentences and the results to `write` in their
/// order. The result does not depend on the number of threads. `worker` makes the function, once for each thread. The
/// function gets the number of the sentence, from 0.
///
/// A result is written as soon as it and all results before it are known, while `next` waits for more input. The last
/// argument of `write` is `true` if the next result is already known. If it is `false`, flush what others wait for.
/// With one thread it is always `false`, and sentences are read, parsed and written in turn by the thread of the
/// caller. With more threads, `next` is called by a thread of its own.
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
///     |_, words, _| Ok(found.push(words)),
/// )?;
/// assert_eq!(found, [(0, 1), (1, 1)]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// Errors of `next` and of `write`. All sentences before the one that could not be read have been written. An error of
/// `write` is returned after the call of `next` that is under way.
pub fn map_stream<T: Send, E: Send, F: FnMut(usize, &mut Sentence) -> T + Send>(
    threads: usize,
    worker: impl Fn() -> F,
    next: impl FnMut(&mut Sentence) -> Result<bool, E> + Send,
    mut write: impl FnMut(&Sentence, T, bool) -> Result<(), E>,
) -> Result<(), E> {
    if threads <= 1 {
        return one_by_one(worker(), next, write);
    }
    let queue = Queue::new(threads);
    let queue = &queue;
    thread::scope(|scope| {
        // The system may have no more threads. Those that there are do the work.
        let spawn = thread::Builder::new;
        let (start_reading, reading) = channel();
        let reader = spawn().spawn_scoped(scope, move || {
            if let Ok(next) = reading.recv() {
                queue.read_all(next);
            }
        });
        let mut workers = 0;
        while workers < threads && reader.is_ok() {
            let worker = worker();
            if spawn().spawn_scoped(scope, move || queue.work(worker)).is_err() {
                break;
            }
            workers += 1;
        }
        if workers == 0 {
            drop(start_reading);
            return one_by_one(worker(), next, write);
        }
        // It is only lost if the reader has ended, which it has not.
        let _ = start_reading.send(next);
        let written = queue.write_all(&mut write);
        queue.stop();
        written
    })
}

/// Does the work of [`map_stream`] on this thread.
fn one_by_one<T, E>(
    mut worker: impl FnMut(usize, &mut Sentence) -> T,
    mut next: impl FnMut(&mut Sentence) -> Result<bool, E>,
    mut write: impl FnMut(&Sentence, T, bool) -> Result<(), E>,
) -> Result<(), E> {
    let mut sentence = Sentence::default();
    let mut number = 0;
    while next(&mut sentence)? {
        let done = worker(number, &mut sentence);
        write(&sentence, done, false)?;
        number += 1;
    }
    Ok(())
}

/// Batches on their way from the reader over the workers to the writer.
struct Queue<T, E> {
    state: Mutex<State<T, E>>,
    /// Greatest number of words that were read and not yet written.
    most_words: usize,
    /// Signals workers: there is a sentence to parse, or there will be no more.
    work: Condvar,
    /// Signals the reader: a batch was written.
    room: Condvar,
    /// Signals the writer: a batch was parsed, or there will be no more.
    parsed: Condvar,
}

struct State<T, E> {
    /// The batch that is being filled.
    open: Batch<T>,
    /// Full batches that no worker has taken.
    full: VecDeque<Batch<T>>,
    /// Parsed batches that are not yet written, by their number.
    parsed: BTreeMap<usize, Batch<T>>,
    /// Number of batches that workers took.
    taken: usize,
    /// Number of batches that the writer took.
    written: usize,
    /// Number of sentences read.
    sentences: usize,
    /// Number of words that were read and not yet written.
    words: usize,
    /// Number of workers that wait.
    idle: usize,
    /// Sentences whose memory can be reused.
    spare: Vec<Sentence>,
    /// The result of reading, once it has ended.
    end: Option<Result<(), E>>,
    /// `true` if no more results will be written.
    is_stopped: bool,
}

/// Sentences that a worker takes together.
struct Batch<T> {
    sentences: Vec<Sentence>,
    /// Number of the first sentence of the batch.
    first: usize,
    words: usize,
    /// Results of the worker.
    results: Vec<T>,
}

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Self { sentences: Vec::new(), first: 0, words: 0, results: Vec::new() }
    }
}

impl<T> Batch<T> {
    /// Number of words after which a batch is full: work for a few milliseconds.
    const WORDS: usize = 500;
}

impl<T, E> Queue<T, E> {
    /// Number of full batches per worker that are in memory at most.
    const BATCHES: usize = 4;

    fn new(threads: usize) -> Self {
        let state = State {
            open: Batch::default(),
            full: VecDeque::new(),
            parsed: BTreeMap::new(),
            taken: 0,
            written: 0,
            sentences: 0,
            words: 0,
            idle: 0,
            spare: Vec::new(),
            end: None,
            is_stopped: false,
        };
        Self {
            state: Mutex::new(state),
            most_words: Self::BATCHES * threads * Batch::<T>::WORDS,
            work: Condvar::new(),
            room: Condvar::new(),
            parsed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T, E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all threads as soon as they look.
    fn stop(&self) {
        self.lock().is_stopped = true;
        self.wake_all();
    }

    fn wake_all(&self) {
        self.work.notify_all();
        self.room.notify_all();
        self.parsed.notify_all();
    }

    /// Reads all sentences.
    fn read_all(&self, mut next: impl FnMut(&mut Sentence) -> Result<bool, E>) {
        let _guard = StopOnPanic(self);
        let mut sentence = Sentence::default();
        let end = loop {
            match next(&mut sentence) {
                Ok(true) => match self.push(sentence) {
                    Some(spare) => sentence = spare,
                    None => return,
                },
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        self.lock().end = Some(end);
        self.wake_all();
    }

    /// Adds a sentence, when there is room for it. Returns one whose memory can be reused, or `None` if no more are
    /// wanted.
    fn push(&self, sentence: Sentence) -> Option<Sentence> {
        let mut state = self.lock();
        while state.words >= self.most_words && !state.is_stopped {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_stopped {
            return None;
        }
        let words = sentence.len().max(1);
        if state.open.sentences.is_empty() {
            state.open.first = state.sentences;
        }
        state.open.sentences.push(sentence);
        state.open.words += words;
        state.sentences += 1;
        state.words += words;
        if state.open.words >= Batch::<T>::WORDS {
            let batch = std::mem::take(&mut state.open);
            state.full.push_back(batch);
        }
        if state.idle > 0 {
            self.work.notify_one();
        }
        Some(state.spare.pop().unwrap_or_default())
    }

    /// Parses batches until there are no more.
    fn work(&self, mut worker: impl FnMut(usize, &mut Sentence) -> T) {
        let _guard = StopOnPanic(self);
        while let Some((number, mut batch)) = self.take() {
            let sentences = (batch.first..).zip(&mut batch.sentences);
            batch.results.extend(sentences.map(|(number, sentence)| worker(number, sentence)));
            self.lock().parsed.insert(number, batch);
            self.parsed.notify_one();
        }
    }

    /// Takes the next batch and its number, even if it is not full. Returns `None` if there will be no more.
    fn take(&self) -> Option<(usize, Batch<T>)> {
        let mut state = self.lock();
        loop {
            if state.is_stopped {
                return None;
            }
            let full = state.full.pop_front();
            let batch = full.unwrap_or_else(|| std::mem::take(&mut state.open));
            if !batch.sentences.is_empty() {
                state.taken += 1;
                return Some((state.taken - 1, batch));
            }
            if state.end.is_some() {
                return None;
            }
            state.idle += 1;
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    /// Writes all results. Returns the first error of `write`, or the result of reading.
    fn write_all(
        &self,
        write: &mut impl FnMut(&Sentence, T, bool) -> Result<(), E>,
    ) -> Result<(), E> {
        let _guard = StopOnPanic(self);
        let mut state = self.lock();
        loop {
            let number = state.written;
            if let Some(mut batch) = state.parsed.remove(&number) {
                state.written += 1;
                let is_next_parsed = state.parsed.contains_key(&state.written);
                drop(state);
                let last = batch.sentences.len();
                for ((at, sentence), result) in
                    (1..).zip(&batch.sentences).zip(batch.results.drain(..))
                {
                    write(sentence, result, at < last || is_next_parsed)?;
                }
                state = self.lock();
                state.words -= batch.words;
                state.spare.append(&mut batch.sentences);
                self.room.notify_one();
                continue;
            }
            // If a worker has panicked, the scope ends with its message.
            if state.is_stopped {
                return Ok(());
            }
            let is_all = state.written == state.taken
                && state.full.is_empty()
                && state.open.sentences.is_empty();
            if let Some(end) = state.end.take_if(|_| is_all) {
                return end;
            }
            state = self.parsed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Ends the other threads if this one panics.
struct StopOnPanic<'a, T, E>(&'a Queue<T, E>);

impl<T, E> Drop for StopOnPanic<'_, T, E> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
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
}
