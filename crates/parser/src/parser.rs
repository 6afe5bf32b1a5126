//! Parsing: a sentence and a model in, a tree or a distribution out.

use std::sync::Arc;

use tutte_treebank::Sentence;
use tutte_trees::{ArcMatrix, LabelledArcMatrix, LabelledTreeDistribution, Tree, Workspace};
use tutte_trees::{argmax_with, marginals_with, mbr_with};

use crate::features::{Atoms, Attribute, Prepared};
use crate::guided::{self, guide};
use crate::labels::{ArcLabels, normalise};
use crate::pruner::PrunerMemory;
use crate::signal::{arcs as arcs_of, latent};
use crate::{Candidates, Clock, Error, Guided, Labelling, Model, Stage, Weights};

/// Which tree of a distribution is the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decoding {
    /// The tree with the most arcs expected to be right: minimum Bayes risk.
    #[default]
    Mbr,
    /// The most probable tree: maximum a posteriori.
    Map,
    /// The most probable tree together with the kinds of its arcs, for models whose arcs are of
    /// several latent kinds ([`Model::kinds`]): the best of max_z θ_z(h → m).
    MaxZ,
}

impl Decoding {
    /// Refuses models that have no such tree.
    pub(crate) fn check<W>(self, model: &Model<W>) -> Result<(), Error> {
        match self {
            Decoding::MaxZ if model.kinds() == 1 => Err(Error::NoKinds),
            _ => Ok(()),
        }
    }
}

/// A model and the memory it works in.
#[derive(Debug)]
pub struct Parser<'a, W = Vec<f32>> {
    model: &'a Model<W>,
    decoding: Decoding,
    workspace: Workspace,
    pruner: PrunerMemory,
    /// What the templates of all passes look at.
    columns: Vec<Attribute>,
    atoms: Atoms,
    prepared: Prepared,
    scores: ArcMatrix,
    /// The scores of all arcs, each of its best kind; only for [`Decoding::MaxZ`].
    best_kinds: ArcMatrix,
    marginals: ArcMatrix,
    labels: Prepared,
    /// The scores of labels of all arcs, of a joint model.
    arc_labels: ArcLabels,
    rows: Vec<usize>,
    log_probs: Vec<f32>,
    clock: Clock,
}

/// The best tree of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Parse {
    /// Its heads.
    pub tree: Tree,
    /// For each word, the number of its label among the model's; 0 if that has none.
    pub labels: Vec<usize>,
    /// For each word, the probability of its head.
    pub head_probs: Vec<f64>,
    /// For each word, the probability of its label, given its head.
    pub label_probs: Vec<f64>,
}

impl<'a, W: Weights> Parser<'a, W> {
    /// A parser.
    pub fn new(model: &'a Model<W>) -> Self {
        Self {
            model,
            decoding: Decoding::default(),
            workspace: Workspace::default(),
            pruner: PrunerMemory::default(),
            columns: model.columns(),
            atoms: Atoms::default(),
            prepared: Prepared::default(),
            scores: ArcMatrix::default(),
            best_kinds: ArcMatrix::default(),
            marginals: ArcMatrix::default(),
            labels: Prepared::default(),
            arc_labels: ArcLabels::default(),
            rows: Vec::new(),
            log_probs: Vec::new(),
            clock: Clock::default(),
        }
    }

    /// The same, giving another tree.
    pub fn with_decoding(self, decoding: Decoding) -> Self {
        Self { decoding, ..self }
    }

    /// The same with a [clock](Parser::clock) that runs, from now on.
    pub fn timed(self) -> Self {
        Self { clock: Clock::start(), ..self }
    }

    /// Where the time goes.
    ///
    /// ```
    /// use tutte::{Options, Parser, Stage, train};
    ///
    /// # let treebank = ["1\tTea\ttea\tNOUN\t_\t_\t0\troot\t_\t_\n".parse::<tutte_treebank::Sentence>()?];
    /// # let options = Options { passes: 1, bits: 12, label_bits: 8, ..Options::plain() };
    /// # let model = train(&treebank, &options, |_, _| {})?;
    /// let mut parser = Parser::new(&model).timed();
    /// parser.parse(&treebank[0])?;
    /// let times = parser.clock().restart();
    /// for stage in Stage::ALL {
    ///     println!("{stage:12} {:?}", times.of(stage));
    /// }
    /// assert!(times.of(Stage::Inference) < times.whole());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn clock(&mut self) -> &mut Clock {
        &mut self.clock
    }

    /// The scores of all arcs, as probabilities are computed from them, those of a joint model
    /// summed over labels; −∞ for those that are left out.
    ///
    /// # Errors
    /// If the model's tree set has no tree for the sentence.
    pub fn scores(&mut self, sentence: &Sentence) -> Result<&ArcMatrix, Error> {
        let words = sentence.len();
        let Model { pruner, arcs, guided, tree_set, temperature, .. } = self.model;
        self.atoms.fill(sentence, &self.columns);
        let mut candidates = Candidates::all();
        if let Some(pruner) = pruner {
            self.prepared.fill(&pruner.arcs.features, &self.atoms, |_| true);
            self.clock.lap(Stage::Features);
            candidates = pruner.candidates(&self.prepared, *tree_set, &mut self.pruner)?;
            self.clock.lap_over(Stage::Pruning, || words * words);
        }
        let allowed = |head, modifier| candidates.allows(head, modifier);
        self.prepared.fill_for(&arcs.features, &self.atoms, |_| true, allowed);
        self.clock.lap(Stage::Features);
        self.scores.reset(words, f64::NEG_INFINITY);
        let (mut last, mut stage) = (arcs, Stage::FirstPass);
        if let Some(Guided { arcs: second, threshold }) = guided {
            arcs.score(&self.prepared, |h, m| candidates.allows(h, m), &mut self.scores);
            self.clock.lap_over(stage, || candidates.count(words));
            let guide = guide(&self.scores, *tree_set, &mut self.workspace)?;
            candidates = guided::candidates(&guide, *threshold);
            self.clock.lap(Stage::Guide);
            self.atoms.set_guide(sentence, Arc::new(guide));
            let allowed = |head, modifier| candidates.allows(head, modifier);
            self.prepared.fill_for(&second.features, &self.atoms, |_| true, allowed);
            self.clock.lap(Stage::Features);
            (last, stage) = (second, Stage::SecondPass);
        }
        let keep = |head, modifier| candidates.allows(head, modifier);
        if self.decoding == Decoding::MaxZ {
            let by_kind = last.score_by_kind(&self.prepared, keep);
            self.best_kinds = latent::best(&by_kind);
            self.scores = latent::summed(&by_kind);
        } else {
            last.score(&self.prepared, keep, &mut self.scores);
        }
        self.clock.lap_over(stage, || candidates.count(words));
        self.prepare_labels();
        self.clock.lap(Stage::Features);
        if self.is_joint() {
            self.model.labels.score_arcs(&self.labels, &self.scores, &mut self.arc_labels);
            self.arc_labels.add_sums(&mut self.scores);
            self.clock.lap(Stage::Labels);
        }
        if *temperature != 1.0 {
            for arc in arcs_of(words) {
                self.scores[arc] /= temperature;
            }
        }
        Ok(&self.scores)
    }

    fn is_joint(&self) -> bool {
        self.model.labels.labelling() == Labelling::Joint
    }

    /// The best tree, as [`Decoding`] says, with the most probable label of each arc. The most
    /// probable tree of a joint model is the most probable one together with its labels.
    ///
    /// # Errors
    /// If the model's tree set has no tree for the sentence; [`Error::NoKinds`].
    pub fn parse(&mut self, sentence: &Sentence) -> Result<Parse, Error> {
        let words = sentence.len();
        self.decoding.check(self.model)?;
        let tree_set = self.model.tree_set;
        let mut heads = Vec::with_capacity(words);
        self.scores(sentence)?;
        let is_joint = self.is_joint();
        let Self { scores, best_kinds, marginals, workspace, decoding, arc_labels, .. } = self;
        marginals_with(scores, tree_set, workspace, marginals)?;
        match decoding {
            Decoding::Mbr => mbr_with(scores, marginals, tree_set, workspace, &mut heads)?,
            Decoding::Map => {
                if is_joint {
                    arc_labels.add_best_log_probs(scores);
                }
                argmax_with(scores, tree_set, workspace, &mut heads)?
            }
            // Temperature does not matter, for it changes no order; nor do labels, which are staged.
            Decoding::MaxZ => argmax_with(best_kinds, tree_set, workspace, &mut heads)?,
        };
        self.clock.lap(Stage::Inference);
        let mut parse = Parse {
            labels: Vec::with_capacity(words),
            head_probs: Vec::with_capacity(words),
            label_probs: Vec::with_capacity(words),
            tree: Tree::new(&heads)?,
        };
        for (modifier, &head) in (1..).zip(parse.tree.heads()) {
            parse.head_probs.push(self.marginals[(head, modifier)]);
            let log_probs = self.label_log_probs(head, modifier);
            let best = log_probs.iter().enumerate().rev().max_by(|a, b| a.1.total_cmp(b.1));
            let (label, log_prob) = best.map_or((0, 0.0), |(label, log_prob)| (label, *log_prob));
            parse.labels.push(label);
            parse.label_probs.push(f64::from(log_prob).exp());
        }
        self.clock.lap(Stage::Labels);
        Ok(parse)
    }

    /// Gives a sentence the heads and labels of its best tree; nothing else of it changes. A model
    /// without labels writes `_`: the label that was there belonged to another arc.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), or if a label cannot be written.
    pub fn annotate(&mut self, sentence: &mut Sentence) -> Result<Parse, Error> {
        let parse = self.parse(sentence)?;
        sentence.set_tree(&parse.tree)?;
        let names = self.model.labels.labels();
        let name = |label: &usize| names.get(*label).map_or("_", String::as_str);
        let labels: Vec<&str> = parse.labels.iter().map(name).collect();
        sentence.set_deprels(&labels)?;
        self.clock.lap(Stage::Writing);
        Ok(parse)
    }

    /// The distribution over the labelled trees of a sentence. Without labels, all arcs have label
    /// 0.
    ///
    /// # Errors
    /// If the model's tree set has no tree for the sentence.
    pub fn distribution(&mut self, sentence: &Sentence) -> Result<LabelledTreeDistribution, Error> {
        let words = sentence.len();
        self.scores(sentence)?;
        let labels = self.model.labels.labels().len().max(1);
        let mut labelled = LabelledArcMatrix::zeros(words, labels);
        for (head, modifier) in arcs_of(words) {
            let score = self.scores[(head, modifier)];
            if score == f64::NEG_INFINITY {
                (0..labels).for_each(|label| labelled[(head, modifier, label)] = score);
                continue;
            }
            // Without labels, nothing is added.
            labelled[(head, modifier, 0)] = score;
            for (label, log_prob) in self.label_log_probs(head, modifier).iter().enumerate() {
                labelled[(head, modifier, label)] = score + f64::from(*log_prob);
            }
        }
        Ok(LabelledTreeDistribution::new(labelled, self.model.tree_set)?)
    }

    fn prepare_labels(&mut self) {
        let possible = |head, modifier| self.scores[(head, modifier)] != f64::NEG_INFINITY;
        let features = &self.model.labels.features;
        self.labels.fill_for(features, &self.atoms, |_| true, possible);
    }

    fn label_log_probs(&mut self, head: usize, modifier: usize) -> &[f32] {
        let Self { model, labels, arc_labels, rows, log_probs, .. } = self;
        match arc_labels.of(head, modifier) {
            Some(scores) => {
                log_probs.clear();
                log_probs.extend_from_slice(scores);
                normalise(log_probs);
            }
            None => {
                model.labels.rows(labels, head, modifier, rows);
                model.labels.log_probs(rows, head, 1.0, log_probs);
            }
        }
        log_probs
    }
}
