//! What is learnt from: the trees, and the set that they are from.

use anyhow::{Result, anyhow};
use tutte_treebank::Sentence;
use tutte_trees::{Tree, TreeSet};

use super::{Train, Wanted};
use crate::failure::advise;
use crate::report::{count, counted};
use crate::session::Session;

/// Sentences with trees.
#[derive(Debug)]
pub(super) struct Material {
    pub(super) train: Vec<Sentence>,
    pub(super) dev: Vec<Sentence>,
    pub(super) tree_set: TreeSet,
    /// Words to learn from.
    pub(super) words: usize,
}

impl Material {
    /// Reads all files, and chooses or checks the tree set.
    pub(super) fn read(arguments: &Train, session: &Session) -> Result<Self> {
        let lenient = arguments.reading.lenient;
        let read = |files: &[std::path::PathBuf]| -> Result<Vec<(Sentence, Tree)>> {
            let mut all = Vec::new();
            for path in files {
                for sentence in session.sentences(path, &arguments.reading)? {
                    let sentence = sentence?;
                    match sentence.tree() {
                        Ok(tree) => all.push((sentence, tree)),
                        Err(error) if lenient => session.skip(&error.into()),
                        Err(error) => return Err(no_tree(error)),
                    }
                }
            }
            all.retain(|(sentence, _)| !sentence.is_empty());
            Ok(all)
        };
        let mut train = read(&arguments.files)?;
        let dev: Vec<Sentence> =
            read(&arguments.dev)?.into_iter().map(|(sentence, _)| sentence).collect();
        let tree_set = match arguments.tree_set {
            Wanted::Set(tree_set) => tree_set,
            Wanted::Auto => choose(&train, session),
        };
        if tree_set.is_single_root() {
            check_roots(&mut train, tree_set, lenient, session)?;
        }
        if tree_set.is_projective() {
            projectivise(&mut train, session)?;
        }
        let train: Vec<Sentence> = train.into_iter().map(|(sentence, _)| sentence).collect();
        for (sentences, what) in [(&train, "to learn from"), (&dev, "to judge by")] {
            if sentences.is_empty() && (what != "to judge by" || !arguments.dev.is_empty()) {
                return Err(anyhow!("there are no sentences {what}"));
            }
        }
        let words = train.iter().map(Sentence::len).sum();
        Ok(Self { train, dev, tree_set, words })
    }
}

fn no_tree(error: tutte_treebank::Error) -> anyhow::Error {
    advise(error, "learning needs whole trees; --lenient leaves out sentences without one")
}

/// The smallest set that holds all trees.
fn choose(train: &[(Sentence, Tree)], session: &Session) -> TreeSet {
    let crossing = train.iter().filter(|(_, tree)| !tree.is_projective()).count();
    let several = train.iter().filter(|(_, tree)| tree.root_words().count() > 1).count();
    let tree_set = match (crossing > 0, several > 0) {
        (true, true) => TreeSet::NonProjectiveMultiRoot,
        (true, false) => TreeSet::NonProjectiveSingleRoot,
        (false, true) => TreeSet::ProjectiveMultiRoot,
        (false, false) => TreeSet::ProjectiveSingleRoot,
    };
    let have = |number, what| match number {
        0 => format!("none has {what}"),
        1 => format!("one has {what}"),
        _ => format!("{} have {what}", count(number)),
    };
    let (crossing, several) = (have(crossing, "crossing arcs"), have(several, "several roots"));
    let trees = counted(train.len(), "tree");
    session.note(format!("tree set {tree_set}: of {trees} {crossing}, {several}"));
    tree_set
}

/// A tree with several roots in a set of trees with one is an error, or left out.
fn check_roots(
    train: &mut Vec<(Sentence, Tree)>,
    tree_set: TreeSet,
    lenient: bool,
    session: &Session,
) -> Result<()> {
    let mut refused = None;
    train.retain(|(sentence, tree)| {
        // Crossing arcs are dealt with elsewhere.
        let Err(source) = tree.check_in(TreeSet::NonProjectiveSingleRoot) else { return true };
        let place = sentence.place();
        let id = place.sent_id.as_ref().map_or(String::new(), |id| format!(" (sent_id = {id})"));
        let error = anyhow!("{place}: the tree is not in the set {tree_set}: {source}{id}");
        match lenient {
            true => session.skip(&error),
            false => refused = refused.take().or(Some(error)),
        }
        false
    });
    match refused {
        None => Ok(()),
        Some(error) => {
            let hint = "--tree-set auto allows several roots if the treebank has them; \
                        --lenient leaves such sentences out";
            Err(advise(error, hint))
        }
    }
}

/// Lifts crossing arcs, since no tree of the model has any.
fn projectivise(train: &mut [(Sentence, Tree)], session: &Session) -> Result<()> {
    let (mut arcs, mut sentences) = (0, 0);
    for (sentence, tree) in train.iter_mut().filter(|(_, tree)| !tree.is_projective()) {
        arcs += sentence.projectivise()?;
        *tree = sentence.tree()?;
        sentences += 1;
    }
    if sentences > 0 {
        let (arcs, sentences) = (counted(arcs, "arc"), counted(sentences, "sentence"));
        session.note(format!("lifted {arcs} in {sentences} so that none cross"));
    }
    Ok(())
}
