//! The arcs of a sentence that are considered at all.

/// Which arcs of a sentence may be part of its trees: all of them, or a pruner's
/// choice.
///
/// ```
/// use tutte::Candidates;
///
/// assert!(Candidates::all().allows(2, 1));
/// let few = Candidates::of(3, |head, modifier| head == 0 || modifier == 1);
/// assert!(few.allows(0, 3) && few.allows(2, 1) && !few.allows(1, 2));
/// assert_eq!(few.count(3), 5);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidates {
    /// Places of the sentence, the root's included.
    places: usize,
    /// `[modifier · places + head]`; empty if all are.
    allowed: Vec<bool>,
}

impl Candidates {
    /// All arcs of any sentence.
    pub fn all() -> Self {
        Self::default()
    }

    /// The arcs of a sentence of `words` words that `allowed(head, modifier)` says.
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

    /// Whether an arc is one of them.
    #[inline]
    pub fn allows(&self, head: usize, modifier: usize) -> bool {
        self.allowed.is_empty() || self.allowed[modifier * self.places + head]
    }

    /// Adds an arc.
    pub(crate) fn allow(&mut self, head: usize, modifier: usize) {
        if let Some(allowed) = self.allowed.get_mut(modifier * self.places + head) {
            *allowed = true;
        }
    }

    /// Whether they are all arcs, of any sentence.
    pub(crate) fn is_all(&self) -> bool {
        self.allowed.is_empty()
    }

    /// Leaves only those that others allow too.
    pub(crate) fn restrict(&mut self, others: &Candidates) {
        if self.is_all() {
            self.clone_from(others);
        } else if !others.is_all() {
            for (own, other) in self.allowed.iter_mut().zip(&others.allowed) {
                *own &= other;
            }
        }
    }

    /// How many they are, in a sentence of `words` words.
    pub fn count(&self, words: usize) -> usize {
        match self.allowed.is_empty() {
            true => words * words,
            false => self.allowed.iter().filter(|allowed| **allowed).count(),
        }
    }
}
