//! The projective tree closest to a given one.
//!
//! Closest: as many words as possible keep their head; then, words that must move go up to as near
//! an ancestor as possible (*lifting*, Kahane, Nasr & Rambow 1998; Nivre & Nilsson 2005), the total
//! number of levels climbed being least. Both at once are one [`argmax()`] with integer costs: a move
//! to the ancestor l levels above the old head costs M + l with M larger than any sum of l. O(n³).
//!
//! A head that is no ancestor is needed only where a tree with several root words must become one
//! with a single root word; it costs as much as climbing past the root.

use super::{ProjectiveWorkspace, argmax};
use crate::tree_set::Roots;
use crate::{ArcMatrix, Tree};

/// The closest projective tree with that many root words; a tree that is one comes back unchanged.
pub(crate) fn projectivise(tree: &Tree, roots: Roots) -> Tree {
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
