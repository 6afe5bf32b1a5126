//! Constraints on the tree of a sentence: heads and labels to keep, arcs to avoid.
//!
//! Conditioning a distribution means masking its scores: p(y | c) ∝ p(y) for the trees y that satisfy the constraints
//! c. But a model with several steps prunes arcs before there is a distribution, and its second pass sees a tree that
//! ignored the constraints. So every step is conditioned: the pruner before it chooses candidates, the first pass
//! before its tree becomes features, the last pass before it is queried. A required arc stays a candidate, however
//! improbable it is, and the features of other arcs see it.
//!
//! The rules of a model (`always`, `never`) are such constraints, too. They hold in every tree and distribution.
//!
//! Probabilities are then P(y | c) of the last pass, given the best first-pass tree *that satisfies c*. This is not
//! the quotient P(y) / P(c) of an unconstrained parse, whose first-pass tree is another one. That quotient is
//! [`LabelledDistribution::condition`](crate::LabelledDistribution::condition).

use std::cmp::Reverse;

use tutte_treebank::{Column, Format, Place, Sentence};
use tutte_trees::{ArcMatrix, Constraints, NotATree, Tree, TreeSet, Workspace, argmax_with};

use crate::{Candidates, Contradiction, Error, LabelModel};

/// The entry of MISC that lists forbidden heads of a word, `Forbid=4,7`; 0 is the root.
pub(crate) const FORBID: &str = "Forbid";

/// Columns of a sentence that become constraints. Heads that MISC forbids (`Forbid=4,7`, where 0 is the root) are
/// always constraints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeepColumns {
    /// HEAD, where it is not `_`.
    pub heads: bool,
    /// DEPREL, where it is not `_`.
    pub labels: bool,
}

impl KeepColumns {
    /// Returns the constraints that the columns of a sentence give, with labels as indices in `labels`.
    ///
    /// ```
    /// use tutte::KeepColumns;
    /// use tutte_treebank::Sentence;
    /// use tutte_trees::Constraints;
    ///
    /// let sentence: Sentence = "\
    /// 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
    /// 2\tchase\tchase\tVERB\t_\t_\t_\t_\t_\t_
    /// 3\tcats\tcat\tNOUN\t_\t_\t_\t_\t_\tForbid=0,1
    /// ".parse()?;
    /// let constraints = KeepColumns { heads: true, labels: false }.constraints(&sentence, &[])?;
    /// assert_eq!(constraints, Constraints::new().require_arc(2, 1).forbid_root(3).forbid_arc(1, 3));
    /// # Ok::<(), tutte::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Contradiction`] for a label that the model does not have, and for a `Forbid` that is not a list of
    /// heads.
    pub fn constraints(self, sentence: &Sentence, labels: &[String]) -> Result<Constraints, Error> {
        let mut constraints = Constraints::new();
        // Searching the text once is faster than splitting MISC of every word, and most sentences have no `Forbid`.
        let has_forbidden =
            sentence.format() == Format::ConllU && sentence.as_str().contains(FORBID);
        for (word, token) in (1..).zip(sentence.words()) {
            if let Some(head) = token.head().filter(|_| self.heads) {
                constraints = constraints.require_arc(head, word);
            }
            if self.labels && token.deprel() != "_" {
                let label = labels.iter().position(|label| label == token.deprel());
                let label = label.ok_or_else(|| {
                    let label = token.deprel().to_owned();
                    let problem = Contradiction::UnknownLabel { word, label };
                    problem.at(sentence, word, Column::Deprel)
                })?;
                constraints = constraints.require_label(word, label);
            }
            let entries = token.misc().split('|').filter(|_| has_forbidden);
            let lists = entries.filter_map(|entry| entry.strip_prefix(FORBID)?.strip_prefix('='));
            for (list, head) in lists.flat_map(|list| list.split(',').map(move |head| (list, head)))
            {
                let head = head.trim().parse().ok();
                let head = head.filter(|&head| head <= sentence.len() && head != word);
                let head = head.ok_or_else(|| {
                    let problem =
                        Contradiction::NotHeads { found: list.to_owned(), words: sentence.len() };
                    problem.at(sentence, word, Column::Misc)
                })?;
                constraints = constraints.forbid_arc(head, word);
            }
        }
        Ok(constraints)
    }
}

impl Contradiction {
    /// Makes an error about a column of a word.
    pub(crate) fn at(self, sentence: &Sentence, word: usize, column: Column) -> Error {
        let line = sentence.word(word).map(|token| token.line());
        let place = sentence.place();
        let line = line.unwrap_or(place.line);
        let place = Box::new(Place { line, column: Some(column), ..place });
        Error::Contradiction { place, problem: self }
    }
}

/// Refuses a sentence if no tree of a set has its heads, and says why. Heads that are `_` are not constrained.
///
/// ```
/// use tutte_treebank::Sentence;
/// use tutte_trees::TreeSet;
///
/// let sentence: Sentence = "\
/// 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
/// 2\tchase\tchase\tVERB\t_\t_\t1\troot\t_\t_
/// 3\tcats\tcat\tNOUN\t_\t_\t_\t_\t_\t_
/// ".parse()?;
/// let error = tutte::check_heads(&sentence, TreeSet::NonProjectiveSingleRoot).unwrap_err();
/// assert!(error.to_string().contains("form a cycle"));
/// # Ok::<(), tutte::Error>(())
/// ```
///
/// # Errors
/// [`Error::Contradiction`].
pub fn check_heads(sentence: &Sentence, tree_set: TreeSet) -> Result<(), Error> {
    let labels = LabelModel::none();
    let heads: Vec<Option<usize>> = sentence.partial_heads().collect();
    let arcs = (1..).zip(&heads).filter_map(|(word, head)| Some(((*head)?, word)));
    let constraints =
        arcs.fold(Constraints::new(), |all, (head, word)| all.require_arc(head, word));
    check(&constraints, sentence, tree_set, &labels)?;
    let words = sentence.len();
    let all = scores_of(words, &Candidates::all(), &heads);
    // Decoding names the words that cannot be attached. A sum over trees does not.
    match argmax_with(&all, tree_set, &mut Workspace::default(), &mut Vec::new()) {
        Ok(_) => Ok(()),
        Err(source) => {
            let place = Box::new(sentence.place());
            Err(Error::Contradiction { place, problem: Contradiction::NoTree(source) })
        }
    }
}

/// Returns `true` if the candidate arcs contain a tree with the given heads.
pub(crate) fn has_tree(
    candidates: &Candidates,
    heads: &[Option<usize>],
    tree_set: TreeSet,
) -> bool {
    tree_error(candidates, heads, tree_set).is_none()
}

/// Returns why the candidate arcs contain no tree with the given heads; `None` if they contain one.
pub(crate) fn tree_error(
    candidates: &Candidates,
    heads: &[Option<usize>],
    tree_set: TreeSet,
) -> Option<tutte_trees::Error> {
    let scores = scores_of(heads.len(), candidates, heads);
    argmax_with(&scores, tree_set, &mut Workspace::default(), &mut Vec::new()).err()
}

/// Returns 0 for candidate arcs that agree with the given heads, and −∞ for all others.
fn scores_of(words: usize, candidates: &Candidates, heads: &[Option<usize>]) -> ArcMatrix {
    ArcMatrix::from_fn(words, |head, word| {
        let given = word.checked_sub(1).and_then(|at| heads[at]);
        let is_possible = candidates.allows(head, word) && given.is_none_or(|given| given == head);
        if is_possible { 0.0 } else { f64::NEG_INFINITY }
    })
}

/// Refuses constraints that contradict each other, and names the words.
pub(crate) fn check<W>(
    constraints: &Constraints,
    sentence: &Sentence,
    tree_set: TreeSet,
    labels: &LabelModel<W>,
) -> Result<(), Error> {
    let words = sentence.len();
    let mut heads = vec![None; words];
    let refuse = |problem: Contradiction, word| Err(problem.at(sentence, word, Column::Head));
    for &(head, word) in constraints.required_arcs() {
        let Some(given) = word.checked_sub(1).and_then(|at| heads.get_mut(at)) else {
            return Err(tutte_trees::Error::NoSuchArc { head, modifier: word, words }.into());
        };
        match *given {
            Some(other) if other != head => {
                return refuse(Contradiction::TwoHeads { word, heads: [other, head] }, word);
            }
            _ => *given = Some(head),
        }
    }
    if let Some(&(head, word)) =
        constraints.forbidden_arcs().iter().find(|&&(head, word)| is_head(&heads, head, word))
    {
        return refuse(Contradiction::ForbiddenHead { word, head }, word);
    }
    if let Some(words) = cycle(&heads) {
        let first = words.first().copied().unwrap_or(1);
        return refuse(Contradiction::Cycle { words }, first);
    }
    let roots: Vec<usize> = (1..=words).filter(|&word| is_head(&heads, 0, word)).collect();
    if tree_set.is_single_root() && roots.len() > 1 {
        let second = roots[1];
        return refuse(Contradiction::SeveralRoots { words: roots, tree_set }, second);
    }
    if let Some(arcs) = crossing(&heads).filter(|_| tree_set.is_projective()) {
        return refuse(Contradiction::Crossing { arcs, tree_set }, arcs[1].1);
    }
    for &(word, label) in constraints.required_labels() {
        let head = heads.get(word.wrapping_sub(1)).copied().flatten();
        if let Some(head) = head.filter(|&head| !labels.allows(head, label))
            && let Some(name) = labels.labels().get(label)
        {
            let problem = Contradiction::LabelElsewhere { word, head, label: name.clone() };
            return Err(problem.at(sentence, word, Column::Deprel));
        }
    }
    Ok(())
}

fn is_head(heads: &[Option<usize>], head: usize, word: usize) -> bool {
    heads.get(word.wrapping_sub(1)) == Some(&Some(head))
}

/// Returns a cycle of given heads. Open heads count as the root, which is in no cycle.
fn cycle(heads: &[Option<usize>]) -> Option<Vec<usize>> {
    let heads: Vec<usize> = heads.iter().map(|head| head.unwrap_or(0)).collect();
    match Tree::new(&heads) {
        Err(tutte_trees::Error::NotATree(NotATree::Cycle { words })) => Some(words),
        _ => None,
    }
}

/// Returns two given arcs that cross: one has one end strictly inside the other and one end strictly outside. The root
/// is left of all words.
fn crossing(heads: &[Option<usize>]) -> Option<[(usize, usize); 2]> {
    let mut arcs: Vec<(usize, usize)> =
        (1..).zip(heads).filter_map(|(word, head)| Some(((*head)?, word))).collect();
    let ends = |(head, word): (usize, usize)| (head.min(word), head.max(word));
    // Arcs are sorted by their left end, longer ones first. Open arcs are then nested: if any of them ends inside
    // the next arc, so does the last one.
    arcs.sort_unstable_by_key(|&arc| (ends(arc).0, Reverse(ends(arc).1)));
    let mut open: Vec<(usize, usize)> = Vec::new();
    for arc in arcs {
        let (start, end) = ends(arc);
        while open.pop_if(|outer| ends(*outer).1 <= start).is_some() {}
        match open.last() {
            Some(&outer) if ends(outer).1 < end => {
                let mut both = [outer, arc];
                both.sort_unstable_by_key(|&(_, word)| word);
                return Some(both);
            }
            _ => open.push(arc),
        }
    }
    None
}

/// Returns the arcs that constraints allow. A required label excludes arcs on which the label never occurs.
pub(crate) fn allowed<W>(
    constraints: &Constraints,
    words: usize,
    tree_set: TreeSet,
    labels: &LabelModel<W>,
) -> Result<Candidates, Error> {
    let mut allowed = ArcMatrix::zeros(words);
    constraints.exclude(words, tree_set, |head, word| allowed.forbid(head, word))?;
    for &(word, label) in constraints.required_labels() {
        for head in (0..=words).filter(|&head| !labels.allows(head, label)) {
            allowed.forbid(head, word);
        }
    }
    Ok(Candidates::of(words, |head, word| allowed[(head, word)] == 0.0))
}

#[cfg(test)]
mod tests;
