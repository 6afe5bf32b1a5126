//! Observers of long work: one trait for every training and audit.

use std::ops::ControlFlow;

/// Observes events of long work, and can stop it.
///
/// Closures that return nothing or a [`ControlFlow`] are observers. So is `()`, which ignores everything.
///
/// ```
/// # let text = "1\tTea\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\t_\tVERB\t_\t_\t0\troot\t_\t_\n";
/// # let treebank: Vec<tutte_treebank::Sentence> = vec![text.parse()?, text.parse()?];
/// use tutte::learn::TrainedPass;
/// use tutte::{TrainingOptions, train};
///
/// let options = TrainingOptions::plain().with_bits(12).with_passes(3);
/// let mut losses = Vec::new();
/// train(&treebank, &options, &mut |event: TrainedPass<'_>| losses.push(event.pass.loss))?;
/// assert_eq!(losses.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Observer<E> {
    /// Called for every event. [`ControlFlow::Break`] stops the work as soon as possible.
    fn observe(&mut self, event: E) -> ControlFlow<()>;
}

impl<E, R: Reply, F: FnMut(E) -> R> Observer<E> for F {
    fn observe(&mut self, event: E) -> ControlFlow<()> {
        self(event).flow()
    }
}

impl<E> Observer<E> for () {
    fn observe(&mut self, _: E) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Result of an observing closure: `()` always continues, a [`ControlFlow`] can stop the work.
pub trait Reply {
    /// Returns the reply as a [`ControlFlow`].
    fn flow(self) -> ControlFlow<()>;
}

impl Reply for () {
    fn flow(self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl Reply for ControlFlow<()> {
    fn flow(self) -> ControlFlow<()> {
        self
    }
}
