//! The projective tree closest to a given one.
//!
//! The closest tree keeps the largest possible number of heads. Among such trees, it lifts the other
//! words by the fewest levels in total (Kahane, Nasr & Rambow 1998; Nivre & Nilsson 2005). One
//! [`argmax()`] with integer costs does both: to move a word to the ancestor l levels above its old
//! head costs M + l, with M larger than any sum of l. O(n³).
//!
//! A new head that is not an ancestor is needed in one case only: a tree with several root words
//! becomes one with a single root word. Its cost is that of climbing past the root.

use super::{ProjectiveWorkspace, argmax};
use crate::tree_set::Roots;
use crate::{ArcMatrix, Tree};

impl Tree {
    /// Returns the closest projective tree. It keeps the largest possible number of heads, and lifts
    /// the other words to the nearest possible ancestor (Nivre & Nilsson 2005).
    ///
    /// A tree with one root word keeps one. A projective tree is returned unchanged. O(n³) otherwise.
    ///
    /// ```
    /// use tutte_trees::Tree;
    /// let tree = Tree::new(&[3, 4, 0, 3])?;             // 4 → 2 crosses the root's arc to 3
    /// assert_eq!(tree.projectivise().heads(), [3, 3, 0, 3]); // 2 is lifted to 4's head
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    pub fn projectivise(&self) -> Tree {
        if self.is_projective() {
            return self.clone();
        }
        let has_one_root = self.root_words().count() == 1;
        closest(self, if has_one_root { Roots::Single } else { Roots::Multi })
    }
}

/// Returns the closest projective tree with one or with several root words; a tree that is already
/// one comes back unchanged.
pub(super) fn closest(tree: &Tree, roots: Roots) -> Tree {
    let n = tree.words();
    let far = n as f64; // more levels than any word can climb
    let moved = far * (far + 1.0);
    let mut scores = ArcMatrix::filled(n, -(moved + far));
    for (head, modifier) in tree.arcs() {
        scores[(head, modifier)] = 0.0;
        let mut ancestor = head;
        let mut levels = 0.0;
        while let Some(next) = tree.head(ancestor) {
            ancestor = next;
            levels += 1.0;
            scores[(ancestor, modifier)] = -(moved + levels);
        }
    }
    let mut heads = Vec::with_capacity(n);
    argmax(&scores, roots, &mut ProjectiveWorkspace::default(), &mut heads);
    Tree::from_decoder(heads)
}
