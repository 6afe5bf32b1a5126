//! What is learnt from: the trees, and the set that they are from.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use tutte_treebank::Sentence;
use tutte_trees::{Tree, TreeSet};

use super::{Train, Wanted};
use crate::failure::advise;
use crate::input::TreebankArgs;
use crate::report::{count, counted};
use crate::session::Session;

/// Sentences with trees, some of them perhaps known in part.
#[derive(Debug)]
pub(super) struct Material {
    pub(super) train: Vec<Sentence>,
    /// To judge by, with the tags that the parser will see.
    pub(super) dev: Vec<Sentence>,
    /// The same as it was given.
    pub(super) gold: Vec<Sentence>,
    pub(super) tree_set: TreeSet,
    /// Words to learn from, whatever the number of versions of them.
    pub(super) words: usize,
    /// How many versions of the sentences follow each other ([`tutte::TrainingOptions::versions`]).
    pub(super) versions: usize,
}

impl Material {
    /// Reads all files, and chooses or checks the tree set.
    pub(super) fn read(arguments: &Train, dev: &[PathBuf], session: &Session) -> Result<Self> {
        let lenient = arguments.reading.lenient;
        let read = |files: &[PathBuf], partial| trees(files, &arguments.reading, partial, session);
        let mut train = read(&arguments.files, true)?;
        let dev_files = dev;
        let dev: Vec<Sentence> =
            read(dev_files, false)?.into_iter().map(|(sentence, _)| sentence).collect();
        note_unknown(&train, session);
        let tree_set = match arguments.tree_set {
            Wanted::Set(tree_set) => tree_set,
            Wanted::Auto => choose(&train, session),
        };
        check_trees(&mut train, tree_set, lenient, session)?;
        if tree_set.is_projective() {
            projectivise(&mut train, session)?;
        }
        let train: Vec<Sentence> = train.into_iter().map(|(sentence, _)| sentence).collect();
        for (sentences, what) in [(&train, "to learn from"), (&dev, "to judge by")] {
            if sentences.is_empty() && (what != "to judge by" || !dev_files.is_empty()) {
                return Err(anyhow!("there are no sentences {what}"));
            }
        }
        let words = train.iter().map(Sentence::len).sum();
        Ok(Self { train, gold: dev.clone(), dev, tree_set, words, versions: 1 })
    }
}

/// A sentence, and its tree if all of it is known.
pub(crate) type Known = (Sentence, Option<Tree>);

/// The sentences of files that have trees, or parts of them if those may be `partial`; others are
/// errors, or left out.
pub(crate) fn trees(
    files: &[PathBuf],
    reading: &TreebankArgs,
    partial: bool,
    session: &Session,
) -> Result<Vec<Known>> {
    let mut all = Vec::new();
    for path in files {
        for sentence in reading.sentences(path, session)? {
            let sentence = sentence?;
            match sentence.tree() {
                Ok(tree) => all.push((sentence, Some(tree))),
                Err(tutte_treebank::Error::NoHead { .. }) if partial => all.push((sentence, None)),
                Err(error) if reading.lenient => session.skip(&error.into()),
                Err(error) => return Err(no_tree(error)),
            }
        }
    }
    all.retain(|(sentence, _)| !sentence.is_empty());
    Ok(all)
}

fn no_tree(error: tutte_treebank::Error) -> anyhow::Error {
    advise(error, "--lenient leaves out sentences without a tree")
}

/// Says how much of the trees is unknown, lest somebody believes that the file was complete.
fn note_unknown(train: &[Known], session: &Session) {
    let partial: Vec<&Sentence> =
        train.iter().filter(|(_, tree)| tree.is_none()).map(|(sentence, _)| sentence).collect();
    if partial.is_empty() {
        return;
    }
    let heads = |s: &Sentence| s.partial_heads().filter(Option::is_some).count();
    let words: usize = partial.iter().map(|s| s.len()).sum();
    let known: usize = partial.iter().map(|s| heads(s)).sum();
    session.note(format!(
        "partial trees: {} of {}, with {} of {} known; the others are summed over",
        count(partial.len()),
        counted(train.len(), "tree"),
        count(known),
        counted(words, "head"),
    ));
}

fn crosses(tree: &Option<Tree>) -> bool {
    tree.as_ref().is_some_and(|tree| !tree.is_projective())
}

/// The smallest set that holds all trees. That no arcs cross, partial trees do not tell.
pub(crate) fn choose(train: &[Known], session: &Session) -> TreeSet {
    let partial = train.iter().any(|(_, tree)| tree.is_none());
    let crossing = train.iter().filter(|(_, tree)| crosses(tree)).count();
    let roots = |s: &Sentence| s.partial_heads().filter(|head| *head == Some(0)).count();
    let several = train.iter().filter(|(sentence, _)| roots(sentence) > 1).count();
    let tree_set = match (partial || crossing > 0, several > 0) {
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
    let rest = if partial { " (arcs of partial trees may cross)" } else { "" };
    session.note(format!("tree set {tree_set}: of {trees} {crossing}, {several}{rest}"));
    tree_set
}

/// A tree with several roots in a set of trees with one is an error, or left out; so is a partial one
/// that is part of no tree of the set.
fn check_trees(
    train: &mut Vec<Known>,
    tree_set: TreeSet,
    lenient: bool,
    session: &Session,
) -> Result<()> {
    let mut refused = None;
    train.retain(|(sentence, tree)| {
        let error = match tree {
            Some(tree) if tree_set.is_single_root() => {
                // Crossing arcs are dealt with elsewhere.
                let Err(source) = tree.check_in(TreeSet::NonProjectiveSingleRoot) else {
                    return true;
                };
                let place = sentence.place();
                let id = place.sent_id.as_ref();
                let id = id.map_or(String::new(), |id| format!(" (sent_id = {id})"));
                let error = anyhow!("{place}: the tree is not in the set {tree_set}: {source}{id}");
                advise(error, ROOTS_HINT)
            }
            Some(_) => return true,
            None => match tutte::check_heads(sentence, tree_set) {
                Ok(()) => return true,
                Err(error) => error.into(),
            },
        };
        match lenient {
            true => session.skip(&error),
            false => refused = refused.take().or(Some(error)),
        }
        false
    });
    refused.map_or(Ok(()), Err)
}

const ROOTS_HINT: &str = "--tree-set auto allows several roots if the treebank has them; --lenient \
                          leaves such sentences out";

/// Lifts crossing arcs, since no tree of the model has any.
fn projectivise(train: &mut [Known], session: &Session) -> Result<()> {
    let (mut arcs, mut sentences) = (0, 0);
    for (sentence, tree) in train.iter_mut().filter(|(_, tree)| crosses(tree)) {
        arcs += sentence.projectivise()?;
        *tree = Some(sentence.tree()?);
        sentences += 1;
    }
    if sentences > 0 {
        let (arcs, sentences) = (counted(arcs, "arc"), counted(sentences, "sentence"));
        session.note(format!("lifted {arcs} in {sentences} so that none cross"));
    }
    Ok(())
}
