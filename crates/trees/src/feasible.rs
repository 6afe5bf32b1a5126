//! Feasibility: is there any tree, and if not, which words are to blame?

use crate::nonprojective::feasible::unattachable;
use crate::projective::{self, ProjectiveWorkspace};
use crate::{ArcMatrix, Error, TreeSet};

/// Longest sentence that is searched word by word. In longer ones, a chart for each word would take
/// seconds, only for the text of an error.
const MAX_SEARCHED_WORDS: usize = 256;

/// True if the scores allow any tree of the set.
pub(crate) fn has_tree(scores: &ArcMatrix, tree_set: TreeSet) -> bool {
    if tree_set.is_projective() {
        projective::has_tree(scores, tree_set.roots(), &mut ProjectiveWorkspace::default())
    } else {
        unattachable(scores, tree_set.roots()).is_empty()
    }
}

/// The error for scores that allow no tree of the set.
///
/// If only crossing arcs prevent a tree, the error names each word that, free to take any head, would
/// make a projective tree possible. If there is no such word, or the sentence is very long, it names
/// the words with the fewest heads left.
pub(crate) fn no_tree(scores: &ArcMatrix, tree_set: TreeSet) -> Error {
    let mut words = unattachable(scores, tree_set.roots());
    if words.is_empty() && tree_set.is_projective() {
        words = projective_culprits(scores, tree_set);
    }
    Error::NoTree { tree_set, words }
}

fn projective_culprits(scores: &ArcMatrix, tree_set: TreeSet) -> Vec<usize> {
    let n = scores.words();
    let mut workspace = ProjectiveWorkspace::default();
    let mut freed = scores.clone();
    let mut culprits = Vec::new();
    for modifier in (1..=n).take_while(|_| n <= MAX_SEARCHED_WORDS) {
        for head in (0..=n).filter(|&head| head != modifier) {
            freed[(head, modifier)] = 0.0;
        }
        if projective::has_tree(&freed, tree_set.roots(), &mut workspace) {
            culprits.push(modifier);
        }
        for head in (0..=n).filter(|&head| head != modifier) {
            freed[(head, modifier)] = scores[(head, modifier)];
        }
    }
    if culprits.is_empty() {
        let heads = |modifier: usize| {
            (0..=n)
                .filter(|&head| head != modifier && scores[(head, modifier)] > f64::NEG_INFINITY)
                .count()
        };
        let fewest = (1..=n).map(heads).min().unwrap_or(0);
        culprits = (1..=n).filter(|&modifier| heads(modifier) == fewest).collect();
    }
    culprits
}
