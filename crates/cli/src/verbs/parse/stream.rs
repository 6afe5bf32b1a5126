//! Many inputs through the threads as one stream of sentences.
//!
//! No thread is idle between two short inputs, and none waits for the output of another. The caller's thread
//! reads and writes sentences. Reading records after which sentence an input ended, and how. Writing counts
//! sentences and acts when it reaches that one.
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
use super::page::Page;
use super::result::ParseResult;
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
pub(crate) trait Watcher {
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
    /// Ends of inputs that writing has not reached: the number of their last sentence, and how they ended.
    ends: VecDeque<(usize, Result<End>)>,
}

/// State of writing.
struct Writing<'a, T> {
    sink: &'a mut T,
    session: &'a Session,
    /// Number of inputs that ended, which is the index of the current one.
    input: usize,
    sentences: usize,
    /// `true` if the current input was given up before its end.
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
        sink: &mut impl Sink,
        watcher: &mut impl Watcher,
    ) -> Result<()> {
        let reading =
            RefCell::new(Reading { source: None, opened: 0, sentences: 0, ends: VecDeque::new() });
        let mut writing =
            Writing { sink, session: self.session, input: 0, sentences: 0, given_up: false };
        // Number of the first sentence of each input: samples are those of the input alone.
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
        let threads = task.model_args.threads.count();
        map_stream(threads, worker, read, |sentence, result: Result<ParseResult>| {
            let given_up = writing.take(&mut reading.borrow_mut().ends, sentence, result)?;
            let mut reading = reading.borrow_mut();
            // The rest of it need not be read.
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
                    match self.input_args.open(path, task.model, named, self.counter, self.session)
                    {
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

/// Returns the first sentence of the input of sentence `number`.
fn start_of(starts: &Mutex<Vec<usize>>, number: usize) -> usize {
    let starts = starts.lock().unwrap_or_else(PoisonError::into_inner);
    let after = starts.partition_point(|start| *start <= number);
    after.checked_sub(1).map_or(0, |at| starts[at])
}

impl<T: Sink> Writing<'_, T> {
    /// Takes the next sentence. Returns `true` if its input is given up.
    fn take(
        &mut self,
        ends: &mut VecDeque<(usize, Result<End>)>,
        sentence: &Sentence,
        result: Result<ParseResult>,
    ) -> Result<bool> {
        self.settle(ends)?;
        self.sentences += 1;
        if self.given_up {
            return Ok(false);
        }
        let taken = result
            .and_then(|result| self.sink.page(self.input)?.write(sentence, result, self.session));
        if let Err(error) = taken {
            self.given_up = true;
            self.sink.end(self.input, Err(error))?;
        }
        Ok(self.given_up)
    }

    /// Ends the inputs whose sentences have all been taken.
    fn settle(&mut self, ends: &mut VecDeque<(usize, Result<End>)>) -> Result<()> {
        while let Some((_, end)) = ends.pop_front_if(|(after, _)| *after == self.sentences) {
            if !std::mem::take(&mut self.given_up) {
                self.sink.end(self.input, end)?;
            }
            self.input += 1;
        }
        Ok(())
    }
}
