//! Work on several threads whose results do not depend on their number.

use std::thread::{self, ScopedJoinHandle};

/// Waits for a thread and returns its result. If the thread panicked, so does the caller.
pub fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Splits a list into one part per thread, works on all parts at once, and returns the results in the
/// order of the list.
///
/// ```
/// let squares = tutte_linear::in_parts(&[1, 2, 3], 2, |part| {
///     Ok::<_, ()>(part.iter().map(|x| x * x).collect())
/// });
/// assert_eq!(squares, Ok(vec![1, 4, 9]));
/// ```
///
/// # Errors
/// The first error of `work`, in the order of the list.
pub fn in_parts<T: Sync, R: Send, E: Send>(
    list: &[T],
    threads: usize,
    work: impl Fn(&[T]) -> Result<Vec<R>, E> + Sync,
) -> Result<Vec<R>, E> {
    let part = list.len().div_ceil(threads.max(1)).max(1);
    let parts = thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> =
            list.chunks(part).map(|part| scope.spawn(move || work(part))).collect();
        threads.into_iter().map(join).collect::<Result<Vec<_>, _>>()
    })?;
    Ok(parts.into_iter().flatten().collect())
}

/// Works on every element of a list, in place, on several threads.
///
/// # Errors
/// The first error of `work`, in the order of the list.
pub fn for_each_part<T: Send, E: Send>(
    parts: &mut [T],
    threads: usize,
    work: impl Fn(&mut T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let at_once = parts.len().div_ceil(threads.max(1)).max(1);
    let work = |group: &mut [T]| group.iter_mut().try_for_each(&work);
    let work = &work;
    thread::scope(|scope| {
        let mut groups = parts.chunks_mut(at_once);
        let own = groups.next();
        let others: Vec<_> = groups.map(|group| scope.spawn(move || work(group))).collect();
        let first = own.map_or(Ok(()), work);
        // Every thread is joined before the first error is returned.
        let results: Vec<_> = std::iter::once(first).chain(others.into_iter().map(join)).collect();
        results.into_iter().collect()
    })
}
