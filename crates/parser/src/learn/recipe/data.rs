//! The treebank of a training: the check of its trees, and the choice of a tree set.

use tutte_treebank::{Error as TreebankError, Sentence};
use tutte_trees::{Tree, TreeSet};

use super::observer::{Event, Watched};
use super::{Part, Recipe, TreeSetComparison, pilot};
use crate::learn::TrainingSet;
use crate::{Error, check_heads};

/// The treebank and the development data, ready for a training.
#[derive(Debug)]
pub(super) struct Data {
    pub(super) train: TrainingSet<'static>,
    /// Number of sentences of the treebank itself, which come before the trees of another parser.
    pub(super) gold_sentences: usize,
    /// Development data with the tags that the parser will see.
    pub(super) dev: Vec<Sentence>,
    /// Development data as it was given.
    pub(super) gold: Vec<Sentence>,
    pub(super) tree_set: TreeSet,
    /// Number of sentences, whatever the number of versions.
    pub(super) sentences: usize,
    /// Number of words, whatever the number of versions.
    pub(super) words: usize,
}

const NOTHING_TO_LEARN_FROM: Error = Error::NoSentences { purpose: "to learn from" };

/// A sentence, and its tree if all heads are known.
type Annotated = (Sentence, Option<Tree>);

/// The tree set for a treebank, and why: the smallest set that holds all its trees, or the projective part of that set
/// if it parses held-out sentences better.
///
/// ```
/// use tutte::learn::TreeSetChoice;
/// use tutte_trees::TreeSet;
///
/// let sentence = "1\tTea\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\t_\tVERB\t_\t_\t0\troot\t_\t_\n";
/// let choice = TreeSetChoice::of(&[sentence.parse()?]);
/// assert_eq!(choice.tree_set, TreeSet::ProjectiveSingleRoot);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TreeSetChoice {
    /// The set.
    pub tree_set: TreeSet,
    /// Number of trees.
    pub trees: usize,
    /// Number of trees with crossing arcs.
    pub crossing: usize,
    /// Number of trees with several roots.
    pub multi_root: usize,
    /// `true` if some trees are partial: their arcs may cross.
    pub has_partial: bool,
    /// Accuracy of both kinds of trees on held-out sentences, if they were compared.
    pub comparison: Option<TreeSetComparison>,
}

impl TreeSetChoice {
    /// Chooses the set for the trees of sentences. Partial trees count as trees that may cross.
    pub fn of(treebank: &[Sentence]) -> Self {
        let trees: Vec<(&Sentence, Option<Tree>)> =
            treebank.iter().map(|sentence| (sentence, sentence.tree().ok())).collect();
        Self::choose(&trees)
    }

    fn choose(trees: &[(&Sentence, Option<Tree>)]) -> Self {
        let has_partial = trees.iter().any(|(_, tree)| tree.is_none());
        let crossing = trees.iter().filter(|(_, tree)| crosses(tree)).count();
        let roots = |s: &Sentence| s.partial_heads().filter(|head| *head == Some(0)).count();
        let multi_root = trees.iter().filter(|(sentence, _)| roots(sentence) > 1).count();
        let tree_set = match (has_partial || crossing > 0, multi_root > 0) {
            (true, true) => TreeSet::NonProjectiveMultiRoot,
            (true, false) => TreeSet::NonProjectiveSingleRoot,
            (false, true) => TreeSet::ProjectiveMultiRoot,
            (false, false) => TreeSet::ProjectiveSingleRoot,
        };
        let trees = trees.len();
        Self { tree_set, trees, crossing, multi_root, has_partial, comparison: None }
    }

    /// Chooses projective trees if they are at least as accurate on held-out sentences.
    fn compare(
        mut self,
        treebank: &[Annotated],
        dev: &[Sentence],
        recipe: &Recipe,
        watched: &mut Watched<'_>,
    ) -> Result<Self, Error> {
        let projective = match self.tree_set {
            TreeSet::NonProjectiveSingleRoot => TreeSet::ProjectiveSingleRoot,
            TreeSet::NonProjectiveMultiRoot => TreeSet::ProjectiveMultiRoot,
            TreeSet::ProjectiveSingleRoot | TreeSet::ProjectiveMultiRoot => return Ok(self),
        };
        // Partial trees cannot be made projective while heads are missing.
        if self.has_partial || !recipe.wants(Part::Parser, &[]) {
            return Ok(self);
        }
        let sentences: Vec<&Sentence> = treebank.iter().map(|(sentence, _)| sentence).collect();
        let sets = [projective, self.tree_set];
        self.comparison = pilot::compare(&sentences, dev, sets, recipe, watched)?;
        if self.comparison.is_some_and(|found| found.projective >= found.nonprojective) {
            self.tree_set = projective;
        }
        Ok(self)
    }
}

impl Data {
    /// Checks all trees, and chooses the tree set if the recipe leaves it open.
    pub(super) fn new(
        treebank: Vec<Sentence>,
        dev: Vec<Sentence>,
        recipe: &Recipe,
        watched: &mut Watched<'_>,
    ) -> Result<Self, Error> {
        let mut train = with_trees(treebank, true, recipe, watched)?;
        let gold_trees = train.len();
        train.extend(with_trees(recipe.silver.clone(), true, recipe, watched)?);
        if train.is_empty() {
            return Err(NOTHING_TO_LEARN_FROM);
        }
        let has_head = |(sentence, tree): &Annotated| {
            tree.is_some() || sentence.partial_heads().any(|head| head.is_some())
        };
        let needs_heads = recipe.wants(Part::Parser, &[]) && !recipe.has_rules();
        if needs_heads && !train.is_empty() && !train.iter().any(has_head) {
            return Err(Error::NoHeads);
        }
        let has_dev = !dev.is_empty();
        let dev: Vec<Sentence> = with_trees(dev, false, recipe, watched)?
            .into_iter()
            .map(|(sentence, _)| sentence)
            .collect();
        report_partial_trees(&train, watched);
        let tree_set = match recipe.tree_set {
            Some(tree_set) => tree_set,
            None => {
                let trees: Vec<_> = train.iter().map(|(s, tree)| (s, tree.clone())).collect();
                let choice =
                    TreeSetChoice::choose(&trees).compare(&train, &dev, recipe, watched)?;
                watched.notify(Event::TreeSetChosen(choice));
                choice.tree_set
            }
        };
        let mut silver = train.split_off(gold_trees);
        check_trees(&mut train, tree_set, recipe, watched)?;
        let gold_sentences = train.len();
        check_trees(&mut silver, tree_set, recipe, watched)?;
        train.extend(silver);
        if tree_set.is_projective() {
            projectivise(&mut train, watched)?;
        }
        let train: Vec<Sentence> = train.into_iter().map(|(sentence, _)| sentence).collect();
        // A lenient recipe may have left out all of them.
        if train.is_empty() {
            return Err(NOTHING_TO_LEARN_FROM);
        }
        if has_dev && dev.is_empty() {
            return Err(Error::NoSentences { purpose: "in the development data" });
        }
        let words = train.iter().map(Sentence::len).sum();
        let sentences = train.len();
        Ok(Self {
            train: train.into(),
            gold_sentences,
            gold: dev.clone(),
            dev,
            tree_set,
            sentences,
            words,
        })
    }
}

/// Keeps the sentences that have words and a tree; with `allow_partial`, a partial tree is enough. Others are
/// errors, or left out by a lenient recipe. The same holds for sentences that are too long for a parser.
fn with_trees(
    sentences: Vec<Sentence>,
    allow_partial: bool,
    recipe: &Recipe,
    watched: &mut Watched<'_>,
) -> Result<Vec<Annotated>, Error> {
    let mut all = Vec::with_capacity(sentences.len());
    let has_parser = recipe.wants(Part::Parser, &[]);
    for sentence in sentences {
        let length = if has_parser { sentence.check_words("training") } else { Ok(()) };
        match length.and_then(|()| sentence.tree()) {
            Ok(tree) => all.push((sentence, Some(tree))),
            Err(TreebankError::NoHead { .. }) if allow_partial => all.push((sentence, None)),
            Err(error) if recipe.lenient => watched.notify(Event::Skipped(error.into())),
            Err(error) => return Err(error.into()),
        }
    }
    all.retain(|(sentence, _)| !sentence.is_empty());
    Ok(all)
}

fn report_partial_trees(train: &[Annotated], watched: &mut Watched<'_>) {
    let partial: Vec<&Sentence> =
        train.iter().filter(|(_, tree)| tree.is_none()).map(|(sentence, _)| sentence).collect();
    if partial.is_empty() {
        return;
    }
    let known = |s: &&Sentence| s.partial_heads().filter(Option::is_some).count();
    watched.notify(Event::PartialTrees {
        trees: train.len(),
        partial: partial.len(),
        heads: partial.iter().map(|s| s.len()).sum(),
        known_heads: partial.iter().map(known).sum(),
    });
}

fn crosses(tree: &Option<Tree>) -> bool {
    tree.as_ref().is_some_and(|tree| !tree.is_projective())
}

/// Refuses trees with several roots if the set allows one, and partial trees that no tree of the set completes.
/// A lenient recipe leaves them out.
fn check_trees(
    train: &mut Vec<Annotated>,
    tree_set: TreeSet,
    recipe: &Recipe,
    watched: &mut Watched<'_>,
) -> Result<(), Error> {
    let mut refused = None;
    train.retain(|(sentence, tree)| {
        let error = match tree {
            Some(tree) if tree_set.is_single_root() => {
                // `projectivise` lifts crossing arcs.
                let Err(source) = tree.check_in(TreeSet::NonProjectiveSingleRoot) else {
                    return true;
                };
                let sentences = vec![sentence.place()];
                Error::NotInTreeSet { sentences, count: 1, tree_set, source }
            }
            Some(_) => return true,
            None => match check_heads(sentence, tree_set) {
                Ok(()) => return true,
                Err(error) => error,
            },
        };
        if recipe.lenient {
            watched.notify(Event::Skipped(error));
        } else {
            refused = refused.take().or(Some(error));
        }
        false
    });
    refused.map_or(Ok(()), Err)
}

/// Lifts crossing arcs, since the trees of the set have none.
fn projectivise(train: &mut [Annotated], watched: &mut Watched<'_>) -> Result<(), Error> {
    let mut arcs = 0;
    let mut sentences = 0;
    for (sentence, tree) in train.iter_mut().filter(|(_, tree)| crosses(tree)) {
        arcs += sentence.projectivise()?;
        *tree = Some(sentence.tree()?);
        sentences += 1;
    }
    if sentences > 0 {
        watched.notify(Event::Projectivised { arcs, sentences });
    }
    Ok(())
}
