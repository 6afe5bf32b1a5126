//! The treebank of a training: the check of its trees, and the choice of a tree set.

use tutte_treebank::stats::LabelRepeats;
use tutte_treebank::{Error as TreebankError, Sentence};
use tutte_trees::{Tree, TreeSet};

use super::observer::{Event, Watched};
use super::{Part, Recipe, TreeSetComparison, pilot};
use crate::learn::TrainingSet;
use crate::{Compact, Error, ParserModel, check_heads};

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
    /// Labels that (almost) no head has on several modifiers, in the trees of the treebank itself as they were given.
    single_labels: Vec<String>,
    /// Number of sentences, whatever the number of versions.
    pub(super) sentences: usize,
    /// Number of words, whatever the number of versions.
    pub(super) words: usize,
}

/// Fewer heads cannot show so small a share.
const LEAST_HEADS: u64 = 1000;
/// Heads of more than this share with a label on several modifiers are part of the language, not errors of annotation.
const REPEATED_SHARE: f64 = 0.001;

const NOTHING_TO_LEARN_FROM: Error = Error::NoSentences { purpose: "to learn from" };

/// A sentence, and its tree if all heads are known.
type Annotated = (Sentence, Option<Tree>);

/// Share of crossing arcs above which projective trees are not tried. A projective parser is wrong about all of these
/// arcs. Few held-out words cannot tell if it gains as much elsewhere, and on the development data of ten treebanks it
/// hardly ever did (docs/results/automatic.md).
const MANY_CROSSING_ARCS: f64 = 0.007;

/// The tree set for a treebank, and why: the smallest set that holds all its trees, or the projective part of that set
/// if few arcs cross and it parses held-out sentences better.
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
    /// Share of the arcs of whole trees that cross others: those to words that make the tree non-projective.
    pub crossing_arc_share: f64,
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
        let whole = || trees.iter().filter_map(|(_, tree)| tree.as_ref());
        let arcs: usize = whole().map(Tree::words).sum();
        let crossing_arcs: usize = whole().map(|tree| tree.nonprojective_arcs().len()).sum();
        let crossing_arc_share = crossing_arcs as f64 / arcs.max(1) as f64;
        let trees = trees.len();
        let comparison = None;
        Self { tree_set, trees, crossing, multi_root, crossing_arc_share, has_partial, comparison }
    }

    /// Returns `true` if too many arcs cross for projective trees.
    pub fn has_many_crossing_arcs(&self) -> bool {
        self.crossing_arc_share > MANY_CROSSING_ARCS
    }

    /// Chooses projective trees if few arcs cross, and if they are at least as accurate on held-out sentences.
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
        let is_open = !self.has_partial && !self.has_many_crossing_arcs();
        if !is_open || !recipe.wants(Part::Parser, &[]) {
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
        // A crossing arc that is lifted may make a second subject of the word above.
        let single_labels = single_labels(&train);
        check_trees(&mut silver, tree_set, recipe, watched)?;
        train.extend(silver);
        if tree_set.is_projective() {
            lift_crossing_arcs(&mut train, recipe.has_network(), watched)?;
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
            single_labels,
            sentences,
            words,
        })
    }

    /// Tells a parser the labels that its treebank (almost) never repeats under one head, if it has them.
    pub(super) fn add_single_labels(&self, parser: &mut ParserModel<Compact>) {
        let known = parser.labels.labels();
        let single = self.single_labels.iter().filter(|label| known.contains(label));
        parser.single_labels = single.cloned().collect();
    }
}

/// Returns the labels that at least [`LEAST_HEADS`] words have among their modifiers, and less than [`REPEATED_SHARE`] of
/// these words on several of them.
fn single_labels(treebank: &[Annotated]) -> Vec<String> {
    let mut repeats = LabelRepeats::default();
    treebank.iter().for_each(|(sentence, _)| repeats.add(sentence));
    let labels = repeats.single_labels(LEAST_HEADS, REPEATED_SHARE);
    labels.into_iter().map(str::to_owned).collect()
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

/// Reports how many crossing arcs must be lifted, since the trees of the set have none. A parser of features lifts them
/// itself when it learns a tree (`learn/corpus.rs`), and keeps the trees of the treebank to be judged by. So the
/// sentences change only if `is_lifting` says so.
fn lift_crossing_arcs(
    train: &mut [Annotated],
    is_lifting: bool,
    watched: &mut Watched<'_>,
) -> Result<(), Error> {
    let mut arcs = 0;
    let mut sentences = 0;
    for (sentence, tree) in train.iter_mut().filter(|(_, tree)| crosses(tree)) {
        if is_lifting {
            arcs += sentence.projectivise()?;
            *tree = Some(sentence.tree()?);
        } else if let Some(tree) = tree {
            let lifted = tree.projectivise();
            arcs += tree.heads().iter().zip(lifted.heads()).filter(|(a, b)| a != b).count();
        }
        sentences += 1;
    }
    if sentences > 0 {
        watched.notify(Event::Projectivised { arcs, sentences });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::learn::train::tests::sentence;
    use crate::learn::{Preset, train_pipeline};

    /// Sentences of eight words; one in `every` has two crossing arcs.
    fn treebank(every: usize) -> Vec<Sentence> {
        let heads = |at: usize| {
            let second = if at.is_multiple_of(every) { 4 } else { 3 };
            [3, second, 0, 3, 4, 5, 6, 3]
        };
        let word = |at: usize, head: usize| format!("w{at}/T{at}/{head}/x");
        let words =
            |at: usize| (1..).zip(heads(at)).map(|(at, head)| word(at, head)).collect::<Vec<_>>();
        (0..200).map(|at| sentence(&words(at).join(" "))).collect()
    }

    fn choice(treebank: Vec<Sentence>) -> TreeSetChoice {
        let mut chosen = None;
        let mut observer = |event: Event<'_>| {
            if let Event::TreeSetChosen(choice) = event {
                chosen = Some(choice);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        };
        let recipe = Recipe::new().with_parts([Part::Parser]).with_preset(Preset::Fast);
        // The observer stops the training, which may be an error.
        let _ = train_pipeline(treebank.clone(), treebank, &recipe, &mut observer);
        chosen.unwrap()
    }

    #[test]
    fn few_crossing_arcs_are_compared_with_projective_trees() {
        let choice = choice(treebank(50));
        assert!(choice.crossing == 4 && choice.crossing_arc_share < MANY_CROSSING_ARCS);
        let found = choice.comparison.unwrap();
        assert_eq!(choice.tree_set.is_projective(), found.projective >= found.nonprojective);
    }

    #[test]
    fn many_crossing_arcs_keep_crossing_trees() {
        let choice = choice(treebank(2));
        assert!(choice.crossing_arc_share > MANY_CROSSING_ARCS && choice.comparison.is_none());
        assert_eq!(choice.tree_set, TreeSet::NonProjectiveSingleRoot);
    }
}
