//! Many inputs through the threads as one stream of sentences.
//!
//! Threads are never idle between two inputs, however short these are, and none waits for another's
//! output. Sentences are read and written by the caller's thread: reading notes after which sentence an
//! input ended, and how; writing counts sentences and acts when it gets there.
//!
//! ```text
//! read    a1 a2 a3 | b1 | c1 c2 ✗ | d1 …       inputs a, b, c; c cannot be read to its end
//! write   a1 a2 a3 end(a) b1 end(b) c1 c2 end(c, ✗) d1 …
//! ```

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use tutte::map_stream;
use tutte_treebank::Sentence;

use super::options::Task;
use super::result::ParseResult;
use crate::input::{ByteCounter, InputArgs, Sentences};
use crate::session::Session;

/// Who takes what comes of inputs, in their order.
pub(crate) trait Sink {
    /// A sentence of an input, and what was answered. An error is the end of this input.
    fn take(&mut self, input: usize, sentence: &Sentence, answer: ParseResult) -> Result<()>;

    /// An input was read to its end, which is what followed the last sentence; or why not. An error is the
    /// end of everything.
    fn end(&mut self, input: usize, end: Result<End>) -> Result<()>;
}

/// Who sees how far reading is.
pub(crate) trait Watcher {
    /// An input is about to be opened.
    fn opens(&mut self, _input: usize) {}

    /// A sentence is about to be read. With `false`, no more are read, and an input that was not read to its
    /// end has none.
    fn reads(&mut self) -> bool;
}

/// How an input ended that was read.
pub(crate) struct End {
    /// What followed the last sentence.
    pub(crate) tail: String,
    /// Sentences passed over.
    pub(crate) skipped: usize,
}

/// Inputs and how they are read.
pub(crate) struct Stream<'a, P> {
    pub(crate) paths: &'a [P],
    pub(crate) intake: &'a InputArgs,
    pub(crate) counter: &'a ByteCounter,
    /// Whether each input is as if it were alone; otherwise sentences are counted through all of them.
    pub(crate) apart: bool,
    pub(crate) session: &'a Session,
}

/// How far reading is.
struct Reading<'a> {
    source: Option<Sentences<'a>>,
    /// Inputs opened so far.
    opened: usize,
    /// Sentences read so far.
    sentences: usize,
    /// After which sentence inputs ended, and how; in their order, those that writing has not reached.
    ends: VecDeque<(usize, Result<End>)>,
}

/// How far writing is.
struct Writing<'a, T> {
    taker: &'a mut T,
    /// Inputs that ended, hence the one at hand.
    input: usize,
    sentences: usize,
    /// Whether the input at hand is done with before its end.
    given_up: bool,
}

impl<'a, P: AsRef<Path>> Stream<'a, P> {
    /// Parses all inputs.
    ///
    /// # Errors
    /// The first of [`Sink::end`].
    pub(crate) fn run(
        &self,
        task: &Task<'_>,
        taker: &mut impl Sink,
        watcher: &mut impl Watcher,
    ) -> Result<()> {
        let reading =
            RefCell::new(Reading { source: None, opened: 0, sentences: 0, ends: VecDeque::new() });
        let mut writing = Writing { taker, input: 0, sentences: 0, given_up: false };
        // The number of the first sentence of each input: chance is that of the input alone.
        let starts = Mutex::new(Vec::new());
        let worker = || {
            let mut worker = task.worker();
            let starts = &starts;
            move |number, sentence: &mut Sentence| {
                worker.answer(number - start_of(starts, number), sentence)
            }
        };
        let read = |sentence: &mut Sentence| -> Result<bool> {
            let mut reading = reading.borrow_mut();
            Ok(watcher.reads() && self.read(&mut reading, task, &starts, watcher, sentence))
        };
        let threads = task.using.threads.count();
        map_stream(threads, worker, read, |sentence, answer: Result<ParseResult>| {
            let given_up = writing.take(&mut reading.borrow_mut().ends, sentence, answer)?;
            let mut reading = reading.borrow_mut();
            // What is left of it need not be read.
            if given_up && reading.opened == writing.input + 1 && reading.source.take().is_some() {
                let end = Ok(End { tail: String::new(), skipped: 0 });
                let at = reading.sentences;
                reading.ends.push_back((at, end));
            }
            Ok(())
        })?;
        writing.settle(&mut reading.borrow_mut().ends)
    }

    /// Reads the next sentence of whichever input has one; `false` if none has.
    fn read<'m>(
        &self,
        reading: &mut Reading<'m>,
        task: &Task<'m>,
        starts: &Mutex<Vec<usize>>,
        watcher: &mut impl Watcher,
        sentence: &mut Sentence,
    ) -> bool
    where
        'a: 'm,
    {
        loop {
            let source = match &mut reading.source {
                Some(source) => source,
                None => {
                    let Some(path) = self.paths.get(reading.opened) else { return false };
                    watcher.opens(reading.opened);
                    reading.opened += 1;
                    if self.apart {
                        let mut starts = starts.lock().unwrap_or_else(PoisonError::into_inner);
                        starts.push(reading.sentences);
                    }
                    let named = if self.apart { 0 } else { reading.sentences as u64 };
                    let path = path.as_ref();
                    match self.intake.open(path, task.model, named, self.counter, self.session) {
                        Ok(source) => reading.source.insert(source),
                        Err(error) => {
                            reading.ends.push_back((reading.sentences, Err(error)));
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
            reading.ends.push_back((reading.sentences, end));
            reading.source = None;
        }
    }
}

/// The first sentence of the input that sentence `number` is of.
fn start_of(starts: &Mutex<Vec<usize>>, number: usize) -> usize {
    let starts = starts.lock().unwrap_or_else(PoisonError::into_inner);
    let after = starts.partition_point(|start| *start <= number);
    after.checked_sub(1).map_or(0, |at| starts[at])
}

impl<T: Sink> Writing<'_, T> {
    /// Takes the next sentence; says whether its input is given up now.
    fn take(
        &mut self,
        ends: &mut VecDeque<(usize, Result<End>)>,
        sentence: &Sentence,
        answer: Result<ParseResult>,
    ) -> Result<bool> {
        self.settle(ends)?;
        self.sentences += 1;
        if self.given_up {
            return Ok(false);
        }
        let taken = answer.and_then(|answer| self.taker.take(self.input, sentence, answer));
        if let Err(error) = taken {
            self.given_up = true;
            self.taker.end(self.input, Err(error))?;
        }
        Ok(self.given_up)
    }

    /// Ends the inputs whose sentences have all come.
    fn settle(&mut self, ends: &mut VecDeque<(usize, Result<End>)>) -> Result<()> {
        while let Some((_, end)) = ends.pop_front_if(|(after, _)| *after == self.sentences) {
            if !std::mem::take(&mut self.given_up) {
                self.taker.end(self.input, end)?;
            }
            self.input += 1;
        }
        Ok(())
    }
}
