//! The arcs of a sentence: all of them, or those that are candidates.

/// Returns all arcs `(head, modifier)` of a sentence of `words` words, those of the root first.
///
/// ```
/// let arcs: Vec<_> = tutte_trees::arcs(2).collect();
/// assert_eq!(arcs, [(0, 1), (0, 2), (1, 2), (2, 1)]);
/// ```
pub fn arcs(words: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..=words).flat_map(move |head| {
        (1..=words).filter(move |&modifier| modifier != head).map(move |modifier| (head, modifier))
    })
}

/// The arcs that may be part of a sentence's trees: all of them, or a pruner's choice.
///
/// ```
/// use tutte_trees::Candidates;
///
/// assert!(Candidates::all().allows(2, 1));
/// let few = Candidates::of(3, |head, modifier| head == 0 || modifier == 1);
/// assert!(few.allows(0, 3) && few.allows(2, 1) && !few.allows(1, 2));
/// assert_eq!(few.count(3), 5);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidates {
    /// Number of words and the root.
    places: usize,
    /// `[modifier · places + head]`; empty if all arcs are candidates.
    allowed: Vec<bool>,
}

impl Candidates {
    /// Returns all arcs of any sentence.
    pub fn all() -> Self {
        Self::default()
    }

    /// Returns the arcs of a sentence of `words` words for which `allowed(head, modifier)` holds.
    pub fn of(words: usize, mut allowed: impl FnMut(usize, usize) -> bool) -> Self {
        let places = words + 1;
        let mut candidates = Self { places, allowed: vec![false; places * places] };
        for modifier in 1..places {
            for head in (0..places).filter(|&head| head != modifier) {
                candidates.allowed[modifier * places + head] = allowed(head, modifier);
            }
        }
        candidates
    }

    /// Returns `true` if an arc is a candidate.
    #[inline]
    pub fn allows(&self, head: usize, modifier: usize) -> bool {
        self.allowed.is_empty() || self.allowed[modifier * self.places + head]
    }

    /// Adds an arc.
    pub fn allow(&mut self, head: usize, modifier: usize) {
        if let Some(allowed) = self.allowed.get_mut(modifier * self.places + head) {
            *allowed = true;
        }
    }

    /// Returns `true` for [`all`](Self::all).
    pub fn is_all(&self) -> bool {
        self.allowed.is_empty()
    }

    /// Keeps only the arcs that `others` allow too.
    pub fn restrict(&mut self, others: &Candidates) {
        if self.is_all() {
            self.clone_from(others);
        } else if !others.is_all() {
            for (own, other) in self.allowed.iter_mut().zip(&others.allowed) {
                *own &= other;
            }
        }
    }

    /// Returns the number of candidates in a sentence of `words` words.
    pub fn count(&self, words: usize) -> usize {
        if self.is_all() {
            words * words
        } else {
            self.allowed.iter().filter(|allowed| **allowed).count()
        }
    }
}
