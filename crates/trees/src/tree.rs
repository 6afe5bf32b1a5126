//! A dependency tree: one head per word.

use crate::{Error, NotATree, TreeSet};

/// A dependency tree over words `1..=n`: every word has one head, and every word is reached from
/// the root 0. A value of this type is always a tree; [`Tree::new`] checks that.
///
/// ```
/// use tutte_trees::{Tree, NotATree, Error};
/// let tree = Tree::new(&[2, 0, 2])?;            // 2 is the root word, 1 and 3 hang on it
/// assert_eq!(tree.head(3), Some(2));
/// assert_eq!(tree.root_words().collect::<Vec<_>>(), [2]);
/// assert!(tree.is_projective());
///
/// let circle = Tree::new(&[2, 1, 0]);           // 1 and 2 head each other
/// assert_eq!(circle, Err(Error::NotATree(NotATree::Cycle { words: vec![1, 2] })));
/// assert_eq!(circle.unwrap_err().to_string(), "the heads form a cycle: 1 → 2 → 1");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tree {
    /// `heads[modifier - 1]`.
    heads: Vec<usize>,
}

impl Tree {
    /// Makes a tree of a list of heads (`heads[0]` is the head of word 1).
    ///
    /// # Errors
    /// [`Error::NotATree`] naming the head out of range, or the words of the cycle.
    pub fn new(heads: &[usize]) -> Result<Self, Error> {
        check_heads(heads)?;
        Ok(Self { heads: heads.to_vec() })
    }

    /// Makes a tree of a decoder's heads, which form a tree by construction.
    pub(crate) fn from_decoder(heads: Vec<usize>) -> Self {
        debug_assert_eq!(check_heads(&heads), Ok(()));
        Self { heads }
    }

    /// The number of words.
    pub fn words(&self) -> usize {
        self.heads.len()
    }

    /// The head of a word (0 is the root), or `None` if there is no such word.
    pub fn head(&self, modifier: usize) -> Option<usize> {
        modifier.checked_sub(1).and_then(|index| self.heads.get(index).copied())
    }

    /// All heads; entry 0 is the head of word 1.
    pub fn heads(&self) -> &[usize] {
        &self.heads
    }

    /// The list of heads, without copying it.
    pub fn into_heads(self) -> Vec<usize> {
        self.heads
    }

    /// The arcs as `(head, modifier)`, by modifier.
    pub fn arcs(&self) -> impl ExactSizeIterator<Item = (usize, usize)> + '_ {
        self.heads.iter().enumerate().map(|(index, &head)| (head, index + 1))
    }

    /// The words attached to the root.
    pub fn root_words(&self) -> impl Iterator<Item = usize> + '_ {
        self.arcs().filter(|&(head, _)| head == 0).map(|(_, modifier)| modifier)
    }

    /// Checks that the tree belongs to a tree set.
    ///
    /// # Errors
    /// [`Error::NotATree`] naming the root words if there are too many, or the arc that is not projective.
    pub fn check_in(&self, tree_set: TreeSet) -> Result<(), Error> {
        if tree_set.is_single_root() && self.root_words().count() > 1 {
            return Err(NotATree::SeveralRoots { words: self.root_words().collect() }.into());
        }
        if tree_set.is_projective()
            && let Some((arc, between)) = self.first_nonprojective_arc()
        {
            return Err(NotATree::NotProjective { arc, between }.into());
        }
        Ok(())
    }

    /// True if every word under an arc descends from the head of that arc. O(n).
    pub fn is_projective(&self) -> bool {
        let intervals = Intervals::new(&self.heads);
        (1..=self.words()).all(|word| intervals.is_contiguous(word))
    }

    /// The arcs that cover a word which does not descend from their head.
    ///
    /// ```
    /// use tutte_trees::Tree;
    /// let tree = Tree::new(&[3, 4, 0, 3])?;      // 4 → 2 covers 3, which heads it
    /// assert_eq!(tree.nonprojective_arcs(), [(4, 2)]);
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    pub fn nonprojective_arcs(&self) -> Vec<(usize, usize)> {
        let intervals = Intervals::new(&self.heads);
        self.arcs().filter(|&arc| intervals.escapee(arc).is_some()).collect()
    }

    fn first_nonprojective_arc(&self) -> Option<((usize, usize), usize)> {
        let intervals = Intervals::new(&self.heads);
        self.arcs().find_map(|arc| intervals.escapee(arc).map(|between| (arc, between)))
    }

    /// The gap degree: over all words, the largest number of gaps in the span of a word and its
    /// descendants (Kuhlmann & Nivre 2006). Zero exactly for projective trees.
    ///
    /// ```
    /// use tutte_trees::Tree;
    /// assert_eq!(Tree::new(&[2, 0, 2])?.gap_degree(), 0);
    /// assert_eq!(Tree::new(&[3, 4, 0, 3])?.gap_degree(), 1); // 4 governs 2 and 4, not 3
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    pub fn gap_degree(&self) -> usize {
        let intervals = Intervals::new(&self.heads);
        let gaps = |word: usize| {
            if intervals.is_contiguous(word) {
                return 0;
            }
            let descends = |&other: &usize| intervals.descends(other, word);
            // The span starts and ends inside; a gap starts wherever a word outside follows one inside.
            (intervals.first[word]..intervals.last[word])
                .filter(|other| descends(other) && !descends(&(other + 1)))
                .count()
        };
        (1..=self.words()).map(gaps).max().unwrap_or(0)
    }

    /// True if `word` is `ancestor` or lies below it. Every word descends from 0; a word outside the
    /// tree descends from nothing.
    pub fn descends(&self, word: usize, ancestor: usize) -> bool {
        let mut at = word;
        while at != ancestor {
            match self.head(at) {
                Some(head) => at = head,
                None => return false,
            }
        }
        ancestor <= self.words()
    }
}

/// Depth-first entry and exit times, with which descent is a comparison instead of a walk; and the
/// first and last word of every subtree.
struct Intervals {
    enter: Vec<usize>,
    leave: Vec<usize>,
    first: Vec<usize>,
    last: Vec<usize>,
}

impl Intervals {
    fn new(heads: &[usize]) -> Self {
        let n = heads.len();
        let mut first_child = vec![0; n + 1];
        let mut next_sibling = vec![0; n + 1];
        for modifier in (1..=n).rev() {
            let head = heads[modifier - 1];
            next_sibling[modifier] = first_child[head];
            first_child[head] = modifier;
        }
        let mut enter = vec![0; n + 1];
        let mut leave = vec![0; n + 1];
        let mut first: Vec<usize> = (0..=n).collect();
        let mut last = first.clone();
        let mut clock = 0;
        let mut at = 0;
        loop {
            clock += 1;
            enter[at] = clock;
            if first_child[at] != 0 {
                at = first_child[at];
                continue;
            }
            loop {
                leave[at] = clock;
                if at == 0 {
                    return Self { enter, leave, first, last };
                }
                let head = heads[at - 1];
                first[head] = first[head].min(first[at]);
                last[head] = last[head].max(last[at]);
                if next_sibling[at] != 0 {
                    at = next_sibling[at];
                    break;
                }
                at = head;
            }
        }
    }

    /// True if the subtree of a word has no gap.
    fn is_contiguous(&self, word: usize) -> bool {
        self.last[word] - self.first[word] == self.leave[word] - self.enter[word]
    }

    fn descends(&self, word: usize, ancestor: usize) -> bool {
        self.enter[ancestor] <= self.enter[word] && self.enter[word] <= self.leave[ancestor]
    }

    /// A word strictly between the ends of the arc that does not descend from its head.
    fn escapee(&self, (head, modifier): (usize, usize)) -> Option<usize> {
        if self.is_contiguous(head) {
            return None; // in O(1): the arc may be long
        }
        let (low, high) = (head.min(modifier), head.max(modifier));
        (low + 1..high).find(|&between| !self.descends(between, head))
    }
}

/// `Ok` if every head is in range and every word reaches 0.
fn check_heads(heads: &[usize]) -> Result<(), NotATree> {
    let n = heads.len();
    if let Some(index) = heads.iter().position(|&head| head > n) {
        return Err(NotATree::HeadOutOfRange { modifier: index + 1, head: heads[index], words: n });
    }
    // 0 = not visited, otherwise the walk that visited it.
    let mut visited_by = vec![0; n + 1];
    for start in 1..=n {
        let mut at = start;
        while at != 0 && visited_by[at] == 0 {
            visited_by[at] = start;
            at = heads[at - 1];
        }
        if at != 0 && visited_by[at] == start {
            // `at` is its own ancestor: collect the cycle, heads before modifiers.
            let mut words = vec![at];
            let mut next = heads[at - 1];
            while next != at {
                words.push(next);
                next = heads[next - 1];
            }
            words.reverse();
            let smallest = words.iter().enumerate().min_by_key(|&(_, w)| w).map_or(0, |(i, _)| i);
            words.rotate_left(smallest);
            return Err(NotATree::Cycle { words });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
