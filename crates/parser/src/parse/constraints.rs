//! What is known of a sentence before it is parsed: heads and labels to keep, arcs to avoid.
//!
//! Conditioning a distribution is masking its scores: p(y | known) ∝ p(y) for the trees y that
//! satisfy what is known. But a model that goes about it in steps has left arcs out before there is a
//! distribution, and a second pass has been guided by a tree that knew nothing. So what is known is told
//! to every step. The pruner's distribution is conditioned before it chooses, the first pass's before it
//! guides, and the last one's before it answers; an arc that is given is looked at however hopeless it
//! seems, and the words around it see that it is there.
//!
//! Probabilities are then P(y | known) of the last pass, guided by the best tree *that satisfies what is
//! known*. That is not the quotient P(y) / P(known) of the parse that knew nothing, whose guide was
//! another; that one is [`LabelledDistribution::condition`](crate::LabelledDistribution::condition).

use std::cmp::Reverse;

use tutte_treebank::{Column, Format, Place, Sentence};
use tutte_trees::{ArcMatrix, Constraints, NotATree, Tree, TreeSet, Workspace, argmax_with};

use crate::features::Prepared;
use crate::model::pruner::choose;
use crate::model::second_pass::first_pass_output;
use crate::{Candidates, Contradiction, Error, LabelModel, Pruner, Weights};

/// The entry of MISC that lists heads which a word must not have, `Forbid=4,7`; 0 is the root.
pub(crate) const FORBID: &str = "Forbid";

/// Which columns of a sentence are taken for known. Heads that MISC forbids (`Forbid=4,7`, where 0 is
/// the root) always are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeepColumns {
    /// HEAD, where it is not `_`.
    pub heads: bool,
    /// DEPREL, where it is not `_`.
    pub labels: bool,
}

impl KeepColumns {
    /// What a sentence's columns say, in terms of the labels of a model.
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
    /// let known = KeepColumns { heads: true, labels: false }.known(&sentence, &[])?;
    /// assert_eq!(known, Constraints::new().require_arc(2, 1).forbid_root(3).forbid_arc(1, 3));
    /// # Ok::<(), tutte::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Contradiction`] for a label that the model does not have, and for a `Forbid` that is no
    /// list of heads.
    pub fn known(self, sentence: &Sentence, labels: &[String]) -> Result<Constraints, Error> {
        let mut known = Constraints::new();
        // Most sentences forbid nothing, which one look at their text tells.
        let forbids = sentence.format() == Format::ConllU && sentence.as_str().contains(FORBID);
        for (word, token) in (1..).zip(sentence.words()) {
            if let Some(head) = token.head().filter(|_| self.heads) {
                known = known.require_arc(head, word);
            }
            if self.labels && token.deprel() != "_" {
                let found = labels.iter().position(|label| label == token.deprel());
                known = known.require_label(
                    word,
                    found.ok_or_else(|| {
                        let label = token.deprel().to_owned();
                        Contradiction::UnknownLabel { word, label }.at(
                            sentence,
                            word,
                            Column::Deprel,
                        )
                    })?,
                );
            }
            let entries = token.misc().split('|').filter(|_| forbids);
            let lists = entries.filter_map(|entry| entry.strip_prefix(FORBID)?.strip_prefix('='));
            for (list, head) in lists.flat_map(|list| list.split(',').map(move |head| (list, head)))
            {
                let head = head.trim().parse().ok();
                let head = head.filter(|&head| head <= sentence.len() && head != word);
                known = known.forbid_arc(
                    head.ok_or_else(|| {
                        let (found, words) = (list.to_owned(), sentence.len());
                        Contradiction::NotHeads { found, words }.at(sentence, word, Column::Misc)
                    })?,
                    word,
                );
            }
        }
        Ok(known)
    }
}

impl Contradiction {
    /// The error about a word of a sentence.
    pub(crate) fn at(self, sentence: &Sentence, word: usize, column: Column) -> Error {
        let line = sentence.word(word).map(|token| token.line());
        let place = sentence.place();
        let line = line.unwrap_or(place.line);
        let place = Box::new(Place { line, column: Some(column), ..place });
        Error::Contradiction { place, problem: self }
    }
}

/// Refuses heads of a sentence that no tree of a set has together, and says why. Those that are `_` may
/// be anything.
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
    let known = arcs.fold(Constraints::new(), |known, (head, word)| known.require_arc(head, word));
    check(&known, sentence, tree_set, &labels)?;
    let words = sentence.len();
    let all = scores_of(words, &Candidates::all(), &heads);
    // Unlike a sum, decoding says which words are in the way.
    match argmax_with(&all, tree_set, &mut Workspace::default(), &mut Vec::new()) {
        Ok(_) => Ok(()),
        Err(source) => {
            let place = Box::new(sentence.place());
            Err(Error::Contradiction { place, problem: Contradiction::NoTree(source) })
        }
    }
}

/// Whether some arcs make a tree that has the heads which are known.
pub(crate) fn has_tree(
    candidates: &Candidates,
    heads: &[Option<usize>],
    tree_set: TreeSet,
) -> bool {
    let scores = scores_of(heads.len(), candidates, heads);
    argmax_with(&scores, tree_set, &mut Workspace::default(), &mut Vec::new()).is_ok()
}

/// 0 for the arcs that are left, −∞ for the others.
fn scores_of(words: usize, candidates: &Candidates, heads: &[Option<usize>]) -> ArcMatrix {
    ArcMatrix::from_fn(words, |head, word| {
        let known = word.checked_sub(1).and_then(|at| heads[at]);
        match candidates.allows(head, word) && known.is_none_or(|known| known == head) {
            true => 0.0,
            false => f64::NEG_INFINITY,
        }
    })
}

/// Refuses what cannot be true together, and names it.
pub(crate) fn check<W>(
    known: &Constraints,
    sentence: &Sentence,
    tree_set: TreeSet,
    labels: &LabelModel<W>,
) -> Result<(), Error> {
    let words = sentence.len();
    let mut heads = vec![None; words];
    let refuse = |problem: Contradiction, word| Err(problem.at(sentence, word, Column::Head));
    for &(head, word) in known.required_arcs() {
        let Some(known) = word.checked_sub(1).and_then(|at| heads.get_mut(at)) else {
            return Err(tutte_trees::Error::NoSuchArc { head, modifier: word, words }.into());
        };
        match *known {
            Some(other) if other != head => {
                return refuse(Contradiction::TwoHeads { word, heads: [other, head] }, word);
            }
            _ => *known = Some(head),
        }
    }
    if let Some(&(head, word)) =
        known.forbidden_arcs().iter().find(|&&(head, word)| is_head(&heads, head, word))
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
    for &(word, label) in known.required_labels() {
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

/// A cycle of known heads. Unknown ones are taken for the root, which breaks none.
fn cycle(heads: &[Option<usize>]) -> Option<Vec<usize>> {
    let heads: Vec<usize> = heads.iter().map(|head| head.unwrap_or(0)).collect();
    match Tree::new(&heads) {
        Err(tutte_trees::Error::NotATree(NotATree::Cycle { words })) => Some(words),
        _ => None,
    }
}

/// Two known arcs that cross: one ends strictly inside the other and begins strictly outside of it. The
/// root is left of all words.
fn crossing(heads: &[Option<usize>]) -> Option<[(usize, usize); 2]> {
    let mut arcs: Vec<(usize, usize)> =
        (1..).zip(heads).filter_map(|(word, head)| Some(((*head)?, word))).collect();
    let ends = |(head, word): (usize, usize)| (head.min(word), head.max(word));
    // From left to right, the longer ones first, so that arcs which have begun and not ended lie within
    // each other: if any of them ends inside the next, so does the last.
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

/// The arcs that what is known leaves: by arcs, and by labels that were never seen there.
pub(crate) fn allowed<W>(
    known: &Constraints,
    words: usize,
    tree_set: TreeSet,
    labels: &LabelModel<W>,
) -> Result<Candidates, Error> {
    let mut allowed = ArcMatrix::zeros(words);
    known.exclude(words, tree_set, |head, word| allowed.forbid(head, word))?;
    for &(word, label) in known.required_labels() {
        for head in (0..=words).filter(|&head| !labels.allows(head, label)) {
            allowed.forbid(head, word);
        }
    }
    Ok(Candidates::of(words, |head, word| allowed[(head, word)] == 0.0))
}

/// What a pruner would look at if it knew: its distribution is conditioned on the arcs that are allowed,
/// and its best tree stays, so that there always is one.
pub(crate) fn prune<W: Weights>(
    pruner: &Pruner<W>,
    sentence: &Prepared,
    allowed: &Candidates,
    tree_set: TreeSet,
    workspace: &mut Workspace,
) -> Result<Candidates, tutte_trees::Error> {
    let mut scores = ArcMatrix::forbidden(sentence.words());
    pruner.arcs.score(sentence, |head, word| allowed.allows(head, word), &mut scores);
    let first_pass_output = first_pass_output(&scores, tree_set, workspace)?;
    let mut candidates = choose(first_pass_output.marginals(), pruner.threshold);
    candidates.restrict(allowed);
    for (word, &head) in (1..).zip(first_pass_output.heads()) {
        candidates.allow(head, word);
    }
    Ok(candidates)
}

#[cfg(test)]
mod tests;
