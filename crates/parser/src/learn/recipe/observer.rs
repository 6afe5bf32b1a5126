//! Events of a training, and observers that see them and can stop it.

use std::time::Duration;

use tutte_linear::Observer;
use tutte_text::TagScores;

use super::data::TreeSetChoice;
use crate::learn::train::Pass;
use crate::{DevScores, Error, Labelling};

/// An event of a training.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use tutte::learn::{Event, Observer};
///
/// /// Stops after the tagger.
/// struct TaggerOnly;
///
/// impl Observer<Event<'_>> for TaggerOnly {
///     fn observe(&mut self, event: Event<'_>) -> ControlFlow<()> {
///         match event {
///             Event::Finished { stage: tutte::learn::Stage::Tagger, .. } => ControlFlow::Break(()),
///             _ => ControlFlow::Continue(()),
///         }
///     }
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A sentence was left out, as a lenient recipe allows.
    Skipped(Error),
    /// Some trees are partial; unknown heads are summed over.
    PartialTrees {
        /// Number of trees.
        trees: usize,
        /// Number of partial ones.
        partial: usize,
        /// Number of words of partial trees.
        heads: usize,
        /// Number of these whose head is known.
        known_heads: usize,
    },
    /// The tree set was chosen by the treebank.
    TreeSetChosen(TreeSetChoice),
    /// Crossing arcs were lifted.
    Projectivised {
        /// Number of arcs.
        arcs: usize,
        /// Number of sentences.
        sentences: usize,
    },
    /// Some arcs have more pairs of morphological features than the templates allow.
    FeaturePairsLimited {
        /// Number of sentences with such arcs.
        sentences: usize,
        /// Number of pairs that count.
        pairs: usize,
    },
    /// The result of a stage was reused from an interrupted training.
    Reused(Stage),
    /// A stage before the parser has ended.
    Finished {
        /// The stage.
        stage: Stage,
        /// Its duration.
        took: Duration,
        /// Scores of the tagger on development data.
        scores: Option<&'a TagScores>,
    },
    /// Training of the parser resumes after this pass.
    Resumed {
        /// Number of the pass.
        pass: usize,
    },
    /// A pass of the parser has ended.
    Pass(&'a PassReport),
    /// A checkpoint could not be written. Training continues.
    CheckpointFailed(Error),
    /// Progress of the stage under way, reported several times a second.
    Working(&'a Work),
}

/// A stage of a training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Learning words and sentences.
    Tokenizer,
    /// Learning tags.
    Tagger,
    /// Tagging the treebank by taggers that were not trained on it.
    Jackknife,
    /// Comparing tree sets on held-out sentences.
    Pilot,
    /// Reading the treebank into memory.
    Preparing,
    /// Training the pruner.
    Pruner,
    /// A pass over the treebank that trains the first pass of parsing, or the only one.
    FirstPass {
        /// Its number, from 1.
        pass: usize,
        /// Number of passes.
        of: usize,
    },
    /// Parsing the treebank for the second pass.
    FirstPassOutputs,
    /// A pass over the treebank that trains the second pass of parsing.
    SecondPass {
        /// Its number, from 1.
        pass: usize,
        /// Number of passes.
        of: usize,
    },
    /// A pass over the treebank that trains a network.
    Epoch {
        /// Its number, from 1.
        epoch: usize,
        /// Number of epochs.
        of: usize,
    },
    /// Writing the model.
    Finishing,
}

/// Progress of a training.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Work {
    /// The stage under way.
    pub stage: Stage,
    /// Time since the start of the stage, or of the parser.
    pub elapsed: Duration,
    /// Number of words that passes have read so far.
    pub words: f64,
    /// Time that these passes took.
    pub took: Duration,
    /// Estimated time left.
    pub left: Duration,
    /// `true` if the training stops when the pass under way has ended.
    pub is_stopping: bool,
}

/// Report of a pass of the parser.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PassReport {
    /// The pass.
    pub pass: Pass,
    /// Its number, counted through the first and the second pass of parsing.
    pub number: usize,
    /// Scores on development data.
    pub dev: Option<DevScores>,
    /// `true` if its model is the best so far.
    pub is_best: bool,
    /// Labels of the model.
    pub labelling: Labelling,
    /// Time since the start of the parser.
    pub took: Duration,
}

/// An observer that remembers a request to stop.
pub(super) struct Watched<'a> {
    observer: &'a mut EventObserver<'a>,
    is_stopped: bool,
}

impl<'a> Watched<'a> {
    pub(super) fn new(observer: &'a mut EventObserver<'a>) -> Self {
        Self { observer, is_stopped: false }
    }

    pub(super) fn notify(&mut self, event: Event<'_>) {
        self.is_stopped |= self.observer.observe(event).is_break();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped
    }
}

/// Observer of the events of a training.
pub type EventObserver<'o> = dyn for<'a> Observer<Event<'a>> + 'o;
