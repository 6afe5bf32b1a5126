//! Many inputs through the threads as one stream of sentences.
//!
//! No thread is idle between two short inputs, and none waits for the output of another. Reading records after which
//! sentence an input ended, and how. Writing counts sentences and acts when it reaches that one. What is written is
//! flushed when an input may pause and no other result is ready: another program may wait for it.
//!
//! ```text
//! read    a1 a2 a3 | b1 | c1 c2 ✗ | d1 …       inputs a, b, c; c cannot be read to its end
//! write   a1 a2 a3 end(a) b1 end(b) c1 c2 end(c, ✗) d1 …
//! ```

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use tutte::{WordSource, map_batches};
use tutte_treebank::Sentence;

use super::options::Task;
use super::page::Page;
use super::result::{ParseResult, Worker};
use crate::input::{ByteCounter, InputArgs, Sentences};
use crate::session::Session;

/// Receives the results of all inputs, in their order.
pub(crate) trait Sink {
    /// Returns the open output of an input, and creates it before the first sentence.
    fn page(&mut self, input: usize) -> Result<&mut Page>;

    /// Ends an input: with what followed its last sentence, or with the error that ended it. An error ends
    /// the run.
    fn end(&mut self, input: usize, end: Result<End>) -> Result<()>;
}

/// Observes the progress of reading.
pub(crate) trait Watcher: Send {
    /// Called before an input is opened.
    fn opens(&mut self, _input: usize) {}

    /// Called before a sentence is read. `false` stops reading; an input that was not read to its end is
    /// then not ended.
    fn reads(&mut self) -> bool;
}

/// End of an input that was read.
pub(crate) struct End {
    /// Text after the last sentence.
    pub(crate) tail: String,
    /// Number of skipped sentences.
    pub(crate) skipped: usize,
}

/// Inputs, and options for reading them.
pub(crate) struct Stream<'a, P> {
    pub(crate) paths: &'a [P],
    pub(crate) input_args: &'a InputArgs,
    pub(crate) counter: &'a ByteCounter,
    /// Counts the sentences of each input from 1, instead of through all inputs.
    pub(crate) apart: bool,
    pub(crate) session: &'a Session,
}

/// State of reading.
struct Reading<'a> {
    source: Option<Sentences<'a>>,
    /// Number of inputs opened so far.
    opened: usize,
    /// Number of sentences read so far.
    sentences: usize,
}

/// State that reading and writing share.
#[derive(Default)]
struct Shared {
    /// Ends of inputs that writing has not reached: the number of their last sentence, and how they ended.
    ends: Mutex<VecDeque<(usize, Result<End>)>>,
    /// Number of the last input, from 1, whose output was given up. The rest of it need not be read.
    given_up: AtomicUsize,
    /// The inputs that were opened so far.
    inputs: Mutex<Vec<OpenedInput>>,
}

/// An input that was opened.
#[derive(Clone, Copy)]
struct OpenedInput {
    /// Number of its first sentence.
    start: usize,
    /// Source of its words.
    words: WordSource,
}

impl Shared {
    /// Records the end of an input after a number of sentences.
    fn end(&self, sentences: usize, end: Result<End>) {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner).push_back((sentences, end));
    }

    /// Returns the end of an input that ended after this number of sentences.
    fn take_end(&self, sentences: usize) -> Option<Result<End>> {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        ends.pop_front_if(|(after, _)| *after == sentences).map(|(_, end)| end)
    }

    /// Records that an input was opened.
    fn open(&self, input: OpenedInput) {
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner).push(input);
    }

    /// Returns the input of sentence `number`.
    fn input_of(&self, number: usize) -> OpenedInput {
        let inputs = self.inputs.lock().unwrap_or_else(PoisonError::into_inner);
        let after = inputs.partition_point(|input| input.start <= number);
        inputs[after.saturating_sub(1)]
    }
}

/// State of writing.
struct Writing<'a, T> {
    sink: &'a mut T,
    session: &'a Session,
    shared: &'a Shared,
    /// Number of inputs that ended, which is the index of the current one.
    input: usize,
    sentences: usize,
    /// `true` if the current input was given up before its end.
    given_up: bool,
}

impl<'a, P: AsRef<Path> + Sync> Stream<'a, P> {
    /// Parses all inputs.
    ///
    /// # Errors
    /// The first of [`Sink::end`].
    pub(crate) fn run(
        &self,
        task: &Task<'_>,
        sink: &mut impl Sink,
        watcher: &mut impl Watcher,
    ) -> Result<()> {
        let shared = &Shared::default();
        let mut reading = Reading { source: None, opened: 0, sentences: 0 };
        let mut writing = Writing {
            sink,
            session: self.session,
            shared,
            input: 0,
            sentences: 0,
            given_up: false,
        };
        let worker = || task.worker();
        let answer = |worker: &mut Worker<'_>, number, sentence: &mut Sentence| {
            let OpenedInput { start, words } = shared.input_of(number);
            // Samples of an input that is numbered apart are those of the input alone.
            let number = if self.apart { number - start } else { number };
            worker.answer(number, words, sentence)
        };
        let read = |sentence: &mut Sentence| -> Result<bool> {
            Ok(watcher.reads() && self.read(&mut reading, task, shared, watcher, sentence))
        };
        let threads = task.model_args.threads.count();
        let pauses = self.paths.iter().any(|path| may_pause(path.as_ref()));
        map_batches(
            threads,
            worker,
            answer,
            read,
            |sentence, result: Result<ParseResult>, is_next_ready| {
                let flushes = pauses && !is_next_ready;
                // Reading may wait for standard input, for ever.
                writing.take(sentence, result, flushes).inspect_err(|_| self.session.stop_stdin())
            },
        )?;
        writing.settle()
    }

    /// Reads the next sentence of whichever input has one; `false` if none has.
    fn read<'m>(
        &self,
        reading: &mut Reading<'m>,
        task: &Task<'m>,
        shared: &Shared,
        watcher: &mut impl Watcher,
        sentence: &mut Sentence,
    ) -> bool
    where
        'a: 'm,
    {
        loop {
            if shared.given_up.load(Ordering::Relaxed) == reading.opened
                && reading.source.take().is_some()
            {
                shared.end(reading.sentences, Ok(End { tail: String::new(), skipped: 0 }));
            }
            let source = match &mut reading.source {
                Some(source) => source,
                None => {
                    let Some(path) = self.paths.get(reading.opened) else { return false };
                    watcher.opens(reading.opened);
                    reading.opened += 1;
                    let named = if self.apart { 0 } else { reading.sentences as u64 };
                    let path = path.as_ref();
                    match self.input_args.open(path, task.model, named, self.counter, self.session)
                    {
                        Ok(source) => {
                            let words = source.words();
                            shared.open(OpenedInput { start: reading.sentences, words });
                            reading.source.insert(source)
                        }
                        Err(error) => {
                            shared.end(reading.sentences, Err(error));
                            continue;
                        }
                    }
                }
            };
            let end = match source.read(sentence) {
                Ok(true) => {
                    reading.sentences += 1;
                    return true;
                }
                Ok(false) => Ok(End { tail: source.tail().to_owned(), skipped: source.skipped() }),
                Err(error) => Err(error),
            };
            shared.end(reading.sentences, end);
            reading.source = None;
        }
    }
}

/// Returns `true` if an input is not a plain file: another program may write to it, and wait for answers.
fn may_pause(path: &Path) -> bool {
    path == Path::new("-") || path.metadata().is_ok_and(|about| !about.is_file())
}

impl<T: Sink> Writing<'_, T> {
    /// Writes the result for the next sentence, and flushes what was written if `flushes`.
    fn take(
        &mut self,
        sentence: &Sentence,
        result: Result<ParseResult>,
        flushes: bool,
    ) -> Result<()> {
        self.settle()?;
        self.sentences += 1;
        if self.given_up {
            return Ok(());
        }
        let Self { sink, session, .. } = self;
        let taken = result.and_then(|result| {
            let page = sink.page(self.input)?;
            page.write(sentence, result, session)?;
            if flushes { page.flush() } else { Ok(()) }
        });
        if let Err(error) = taken {
            self.given_up = true;
            self.sink.end(self.input, Err(error))?;
            self.shared.given_up.store(self.input + 1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Ends the inputs whose sentences have all been taken.
    fn settle(&mut self) -> Result<()> {
        while let Some(end) = self.shared.take_end(self.sentences) {
            if !std::mem::take(&mut self.given_up) {
                self.sink.end(self.input, end)?;
            }
            self.input += 1;
        }
        Ok(())
    }
}
