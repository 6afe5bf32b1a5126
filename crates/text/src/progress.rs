//! Progress of training: an observer that is called after every pass and may stop the training.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use tutte_linear::Observer;

use crate::Error;

/// Number of finished passes over the treebank, summed over all models that are trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Finished passes.
    pub done: usize,
    /// Passes in total.
    pub of: usize,
}

/// Called after every pass, on the thread that made the pass. Calls never overlap, and `done` always grows.
///
/// [`ControlFlow::Break`](std::ops::ControlFlow::Break) ends training with [`Error::Stopped`]. Passes that other
/// threads are making are finished first.
pub type ProgressObserver<'o> = dyn Observer<Progress> + Send + 'o;

/// Counts the finished passes of all threads, and calls the observer after each.
pub(crate) struct PassCounter<'a> {
    state: Mutex<State<'a>>,
    of: usize,
}

struct State<'a> {
    done: usize,
    observer: &'a mut ProgressObserver<'a>,
}

impl<'a> PassCounter<'a> {
    /// Starts counting; `of` is the total number of passes.
    pub(crate) fn new(of: usize, observer: &'a mut ProgressObserver<'a>) -> Self {
        Self { state: Mutex::new(State { done: 0, observer }), of }
    }

    /// Counts one more finished pass.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the observer stops the training.
    pub(crate) fn finish_pass(&self) -> Result<(), Error> {
        self.finish_passes(1)
    }

    /// Counts several passes that are finished or not needed, and calls the observer once.
    ///
    /// # Errors
    /// As [`finish_pass`](Self::finish_pass).
    pub(crate) fn finish_passes(&self, passes: usize) -> Result<(), Error> {
        // A lock is poisoned if an observer panicked. That thread's panic is passed on when it is joined.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done += passes;
        let progress = Progress { done: state.done, of: self.of };
        if state.observer.observe(progress).is_break() { Err(Error::Stopped) } else { Ok(()) }
    }
}

impl fmt::Debug for PassCounter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PassCounter").field("of", &self.of).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use tutte_treebank::Sentence;

    use super::*;
    use crate::{Tagger, TaggerOptions, Tokenizer, TokenizerOptions, jackknife_observed};

    fn treebank() -> Vec<Sentence> {
        let sentence = |noun: &str, verb: &str| {
            let text = format!(
                "1\t{noun}\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\t{verb}\t_\tVERB\t_\t_\t0\troot\t_\t_\n"
            );
            text.parse().unwrap()
        };
        vec![sentence("Tea", "cools"), sentence("Ice", "melts"), sentence("Cats", "purr")]
    }

    /// Trains a model twice: to the end, and up to its second pass.
    fn observed_and_stopped<T>(train: impl Fn(&mut ProgressObserver<'_>) -> Result<T, Error>) {
        let mut seen = Vec::new();
        train(&mut |progress: Progress| seen.push(progress)).unwrap();
        assert!(seen.iter().all(|progress| progress.of == seen[0].of));
        assert_eq!(
            seen.last().map(|progress| progress.done),
            Some(seen[0].of),
            "the last call reports the total"
        );
        assert!(seen.windows(2).all(|pair| pair[0].done < pair[1].done));

        let mut stop = |progress: Progress| match progress.done {
            0..2 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        };
        assert!(matches!(train(&mut stop), Err(Error::Stopped)));
    }

    #[test]
    fn every_pass_is_reported_and_any_may_be_the_last() {
        let treebank = treebank();
        for threads in [1, 4] {
            let options = TokenizerOptions { threads, ..TokenizerOptions::default() };
            observed_and_stopped(|observer| {
                Tokenizer::train_observed(&treebank, &options, observer)
            });
            let options = TaggerOptions::for_words(6);
            observed_and_stopped(|observer| {
                jackknife_observed(&treebank, &options, 3, threads, observer)
            });
        }
        observed_and_stopped(|observer| {
            Tagger::train_observed(&treebank, &TaggerOptions::for_words(6), observer)
        });
    }
}
