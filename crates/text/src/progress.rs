//! Learning that somebody watches: how many passes are over, and whether there are to be more.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Error;

/// How far learning has come, in passes over the treebank by any part of what is learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Passes that are over.
    pub done: usize,
    /// Passes in all.
    pub of: usize,
}

/// Whom learning tells of every pass, from whichever thread made it; [`ControlFlow::Break`] ends it with
/// [`Error::Stopped`] when passes under way are over.
pub type Observer<'a> = dyn Fn(Progress) -> ControlFlow<()> + Sync + 'a;

/// For those who do not observer.
pub(super) fn unobserved(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Counts passes for a watcher.
pub(super) struct PassCounter<'a> {
    observer: &'a Observer<'a>,
    done: AtomicUsize,
    of: usize,
}

impl<'a> PassCounter<'a> {
    /// So many are to come.
    pub(super) fn new(of: usize, observer: &'a Observer<'a>) -> Self {
        Self { observer, done: AtomicUsize::new(0), of }
    }

    /// One more is over. [`Error::Stopped`] if it is to be the last.
    pub(super) fn lap(&self) -> Result<(), Error> {
        self.pass_over(1)
    }

    /// So many more are over, or need not be made.
    pub(super) fn pass_over(&self, passes: usize) -> Result<(), Error> {
        let done = passes + self.done.fetch_add(passes, Ordering::Relaxed);
        match (self.observer)(Progress { done, of: self.of }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Stopped),
        }
    }
}

impl fmt::Debug for PassCounter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PassCounter").field("done", &self.done).field("of", &self.of).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

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

    /// Learns something twice: to the end, and up to its second pass.
    fn watched<T>(learn: impl Fn(&Observer<'_>) -> Result<T, Error>) {
        let told = Mutex::new(Vec::new());
        learn(&|lap| {
            told.lock().unwrap().push(lap);
            ControlFlow::Continue(())
        })
        .unwrap();
        let mut told = told.into_inner().unwrap();
        told.sort_by_key(|lap| lap.done);
        assert!(told.iter().all(|lap| lap.of == told[0].of));
        assert_eq!(told.last().map(|lap| lap.done), Some(told[0].of), "all that was promised");
        assert!(told.windows(2).all(|pair| pair[0].done < pair[1].done));

        let stop = |lap: Progress| match lap.done {
            0..2 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        };
        assert!(matches!(learn(&stop), Err(Error::Stopped)));
    }

    #[test]
    fn all_passes_are_told_and_any_may_be_the_last() {
        let treebank = treebank();
        for threads in [1, 4] {
            let options = TokenizerOptions { threads, ..TokenizerOptions::default() };
            watched(|observer| Tokenizer::train_observed(&treebank, &options, observer));
            let options = TaggerOptions::for_words(6);
            watched(|observer| jackknife_observed(&treebank, &options, 3, threads, observer));
        }
        watched(|observer| {
            Tagger::train_observed(&treebank, &TaggerOptions::for_words(6), observer)
        });
    }
}
