//! Observers of long work: one trait for the progress and the interruption of every training and audit.

use std::ops::ControlFlow;

/// Observes events of long work, and can stop it.
///
/// Closures that return nothing or a [`ControlFlow`] are observers. So is `()`, which ignores everything.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use tutte_linear::Observer;
///
/// fn count_to(limit: usize, observer: &mut dyn Observer<usize>) -> usize {
///     (1..=limit).find(|number| observer.observe(*number).is_break()).unwrap_or(limit)
/// }
///
/// assert_eq!(count_to(9, &mut ()), 9);
/// let mut seen = Vec::new();
/// assert_eq!(count_to(3, &mut |number| seen.push(number)), 3);
/// assert_eq!(seen, [1, 2, 3]);
/// let mut stop_at_two =
///     |number| if number == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
/// assert_eq!(count_to(9, &mut stop_at_two), 2);
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
