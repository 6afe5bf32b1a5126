//! Parsing: a sentence and a model in, a tree or a distribution out.

use tutte_treebank::Sentence;
use tutte_trees::{ArcMatrix, LabelledArcMatrix, LabelledTreeDistribution, Tree, Workspace};
use tutte_trees::{argmax_with, marginals_with, mbr_with};

use crate::features::{Atoms, Prepared};
use crate::{Error, Model, Weights};

/// Which tree of a distribution is the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decoding {
    /// The tree with the most arcs expected to be right: minimum Bayes risk.
    #[default]
    Mbr,
    /// The most probable tree: maximum a posteriori.
    Map,
}

/// A model and the memory it works in.
#[derive(Debug)]
pub struct Parser<'a, W = Vec<f32>> {
    model: &'a Model<W>,
    decoding: Decoding,
    workspace: Workspace,
    arcs: Prepared,
    labels: Prepared,
    rows: Vec<usize>,
    log_probs: Vec<f32>,
}

/// The best tree of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Parse {
    /// Its heads.
    pub tree: Tree,
    /// For each word, the number of its label among the model's.
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
            arcs: Prepared::default(),
            labels: Prepared::default(),
            rows: Vec::new(),
            log_probs: Vec::new(),
        }
    }

    /// The same, giving another tree.
    pub fn with_decoding(self, decoding: Decoding) -> Self {
        Self { decoding, ..self }
    }

    /// The scores of all arcs.
    pub fn scores(&mut self, sentence: &Sentence) -> ArcMatrix {
        let arcs = &self.model.arcs;
        let atoms = Atoms::new(sentence, arcs.features.columns());
        self.arcs.fill(&arcs.features, &atoms, |_| true);
        let mut scores = ArcMatrix::zeros(sentence.len());
        arcs.score(&self.arcs, |_, _| true, &mut scores);
        scores
    }

    /// The best tree, as [`Decoding`] says, with the most probable label of each arc.
    ///
    /// # Errors
    /// If the model's tree set has no tree for the sentence.
    pub fn parse(&mut self, sentence: &Sentence) -> Result<Parse, Error> {
        let words = sentence.len();
        let scores = self.scores(sentence);
        let mut marginals = ArcMatrix::zeros(words);
        marginals_with(&scores, self.model.tree_set, &mut self.workspace, &mut marginals)?;
        let mut heads = Vec::with_capacity(words);
        let tree_set = self.model.tree_set;
        let workspace = &mut self.workspace;
        match self.decoding {
            Decoding::Mbr => mbr_with(&scores, &marginals, tree_set, workspace, &mut heads)?,
            Decoding::Map => argmax_with(&scores, tree_set, workspace, &mut heads)?,
        };
        self.prepare_labels(sentence);
        let mut parse = Parse {
            labels: Vec::with_capacity(words),
            head_probs: Vec::with_capacity(words),
            label_probs: Vec::with_capacity(words),
            tree: Tree::new(&heads)?,
        };
        for (modifier, &head) in (1..).zip(parse.tree.heads()) {
            parse.head_probs.push(marginals[(head, modifier)]);
            let log_probs = self.label_log_probs(head, modifier);
            let best = log_probs.iter().enumerate().rev().max_by(|a, b| a.1.total_cmp(b.1));
            let (label, log_prob) = best.map_or((0, 0.0), |(label, log_prob)| (label, *log_prob));
            parse.labels.push(label);
            parse.label_probs.push(f64::from(log_prob).exp());
        }
        Ok(parse)
    }

    /// Gives a sentence the heads and labels of its best tree; nothing else of it changes.
    ///
    /// # Errors
    /// If the model's tree set has no tree for the sentence, or a label cannot be written.
    pub fn annotate(&mut self, sentence: &mut Sentence) -> Result<Parse, Error> {
        let parse = self.parse(sentence)?;
        sentence.set_tree(&parse.tree)?;
        let names = self.model.labels.labels();
        // A model that never saw a word has no labels.
        let name = |label: &usize| names.get(*label).map_or("_", String::as_str);
        let labels: Vec<&str> = parse.labels.iter().map(name).collect();
        sentence.set_deprels(&labels)?;
        Ok(parse)
    }

    /// The distribution over the labelled trees of a sentence.
    ///
    /// # Errors
    /// If the model's tree set has no tree for the sentence.
    pub fn distribution(&mut self, sentence: &Sentence) -> Result<LabelledTreeDistribution, Error> {
        let words = sentence.len();
        let scores = self.scores(sentence);
        self.prepare_labels(sentence);
        let labels = self.model.labels.labels().len();
        let mut labelled = LabelledArcMatrix::zeros(words, labels);
        for head in 0..=words {
            for modifier in (1..=words).filter(|&modifier| modifier != head) {
                for (label, log_prob) in self.label_log_probs(head, modifier).iter().enumerate() {
                    labelled[(head, modifier, label)] =
                        scores[(head, modifier)] + f64::from(*log_prob);
                }
            }
        }
        Ok(LabelledTreeDistribution::new(labelled, self.model.tree_set)?)
    }

    fn prepare_labels(&mut self, sentence: &Sentence) {
        let labels = &self.model.labels;
        let atoms = Atoms::new(sentence, labels.features.columns());
        self.labels.fill(&labels.features, &atoms, |_| true);
    }

    fn label_log_probs(&mut self, head: usize, modifier: usize) -> &[f32] {
        self.model.labels.rows(&self.labels, head, modifier, &mut self.rows);
        self.model.labels.log_probs(&self.rows, 1.0, &mut self.log_probs);
        &self.log_probs
    }
}
