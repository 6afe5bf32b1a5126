//! Parsing of many sentences by several threads, in order and in bounded memory.
//!
//! A thread reads sentences into batches, T workers parse them, and the thread of the caller writes the results. A
//! worker that is idle takes the batch that is being filled, however small it is. So a sentence is parsed and written
//! as soon as it was read, even if the input pauses after it. Large inputs go through in large batches. A network runs
//! over a whole batch at once ([`BatchWorker`]).
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

use crate::{Contradiction, Decoding, Error, Parser, ParserModel, Weights};

/// Number of words after which a batch is full: work for a few milliseconds, or for a fraction of a second with a
/// network.
pub const BATCH_WORDS: usize = 500;

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
/// Errors of `next`, of `write` and of [`Parser::annotate`], except that heads are `_` where the rules of the model leave
/// no tree. All sentences before the one that could not be read or
/// parsed have been written.
pub fn parse_stream<W: Weights, E: From<Error> + Send>(
    model: &ParserModel<W>,
    decoding: Decoding,
    threads: usize,
    next: impl FnMut(&mut Sentence) -> Result<bool, E> + Send,
    mut write: impl FnMut(&Sentence) -> Result<(), E>,
) -> Result<(), E> {
    decoding.check(model)?;
    let parser = || Parser::new(model).with_decoding(decoding);
    let annotate =
        |parser: &mut Parser<'_, W>, _, sentence: &mut Sentence| match parser.annotate(sentence) {
            Err(Error::Contradiction { problem: Contradiction::Rules(_), .. }) => {
                Ok(sentence.set_heads(&vec![None; sentence.len()])?)
            }
            result => result.map(|_| ()),
        };
    map_batches(threads, parser, annotate, next, |sentence, result: Result<(), Error>, _| {
        result?;
        write(sentence)
    })
}

/// A worker of [`map_batches`], which may look at a batch of sentences before it answers each of them.
pub trait BatchWorker {
    /// Returns `true` if the worker is faster with batches.
    fn is_batched(&self) -> bool;

    /// Called with a batch of sentences, before the first of them is answered. It must not change answers: batches
    /// depend on the speed of the input.
    fn prepare(&mut self, sentences: &[Sentence]);
}

impl<W: Weights> BatchWorker for Parser<'_, W> {
    fn is_batched(&self) -> bool {
        Parser::is_batched(self)
    }

    fn prepare(&mut self, sentences: &[Sentence]) {
        Parser::prepare(self, sentences);
    }
}

/// A worker that answers every sentence alone.
struct Alone<F>(F);

impl<F> BatchWorker for Alone<F> {
    fn is_batched(&self) -> bool {
        false
    }

    fn prepare(&mut self, _: &[Sentence]) {}
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
    write: impl FnMut(&Sentence, T, bool) -> Result<(), E>,
) -> Result<(), E> {
    let answer =
        |Alone(work): &mut Alone<F>, number, sentence: &mut Sentence| work(number, sentence);
    map_batches(threads, || Alone(worker()), answer, next, write)
}

/// Does the work of [`map_stream`] with workers that [prepare](BatchWorker::prepare) for batches, such as a
/// [`Parser`] with a network. A batch has up to about [`BATCH_WORDS`] words. It has fewer if the input is slow: each
/// sentence is answered as soon as a worker is free. If the workers are batched, `next` has a thread of its own even with one thread, so that
/// sentences are read while others are parsed.
///
/// ```
/// # let treebank: [tutte_treebank::Sentence; 1] = ["1\tTea\ttea\tNOUN\t_\t_\t0\troot\t_\t_\n".parse()?];
/// # let options = tutte::TrainingOptions::plain().with_passes(1).with_bits(12).with_label_bits(8);
/// # let model = tutte::train(&treebank, &options, &mut ())?;
/// use tutte::{Error, Parser, map_batches};
///
/// let mut sentences = treebank.iter();
/// let mut found = Vec::new();
/// map_batches::<_, _, Error>(
///     1,
///     || Parser::new(&model),
///     |parser, _, sentence| parser.parse(sentence),
///     |sentence| Ok(sentences.next().map(|next| sentence.clone_from(next)).is_some()),
///     |_, parse: Result<_, Error>, _| Ok(found.push(parse?.tree)),
/// )?;
/// assert_eq!(found[0].heads(), [0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`map_stream`].
pub fn map_batches<S: BatchWorker + Send, T: Send, E: Send>(
    threads: usize,
    worker: impl Fn() -> S,
    answer: impl Fn(&mut S, usize, &mut Sentence) -> T + Sync,
    next: impl FnMut(&mut Sentence) -> Result<bool, E> + Send,
    mut write: impl FnMut(&Sentence, T, bool) -> Result<(), E>,
) -> Result<(), E> {
    let first = worker();
    if threads <= 1 && !first.is_batched() {
        return one_by_one(first, answer, next, write);
    }
    let threads = threads.max(1);
    let queue = Queue::new(threads);
    let (queue, answer) = (&queue, &answer);
    let mut first = Some(first);
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
            let worker = first.take().unwrap_or_else(&worker);
            if spawn().spawn_scoped(scope, move || queue.work(worker, answer)).is_err() {
                break;
            }
            workers += 1;
        }
        if workers == 0 {
            drop(start_reading);
            return one_by_one(worker(), answer, next, write);
        }
        // It is only lost if the reader has ended, which it has not.
        let _ = start_reading.send(next);
        let written = queue.write_all(&mut write);
        queue.stop();
        written
    })
}

/// Does the work of [`map_stream`] on this thread.
fn one_by_one<S, T, E>(
    mut worker: S,
    answer: impl Fn(&mut S, usize, &mut Sentence) -> T,
    mut next: impl FnMut(&mut Sentence) -> Result<bool, E>,
    mut write: impl FnMut(&Sentence, T, bool) -> Result<(), E>,
) -> Result<(), E> {
    let mut sentence = Sentence::default();
    let mut number = 0;
    while next(&mut sentence)? {
        let done = answer(&mut worker, number, &mut sentence);
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
            most_words: Self::BATCHES * threads * BATCH_WORDS,
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
        if state.open.words >= BATCH_WORDS {
            let batch = std::mem::take(&mut state.open);
            state.full.push_back(batch);
        }
        if state.idle > 0 {
            self.work.notify_one();
        }
        Some(state.spare.pop().unwrap_or_default())
    }

    /// Parses batches until there are no more.
    fn work<S: BatchWorker>(
        &self,
        mut worker: S,
        answer: impl Fn(&mut S, usize, &mut Sentence) -> T,
    ) {
        let _guard = StopOnPanic(self);
        while let Some((number, mut batch)) = self.take() {
            worker.prepare(&batch.sentences);
            let sentences = (batch.first..).zip(&mut batch.sentences);
            let results = sentences.map(|(number, sentence)| answer(&mut worker, number, sentence));
            batch.results.extend(results);
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
mod tests;
