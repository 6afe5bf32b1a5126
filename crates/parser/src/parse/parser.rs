//! Parsing: a sentence and a model in, a tree or a distribution out.

mod scoring;

use std::sync::Arc;

use tutte_linear::log_sum;
use tutte_treebank::Sentence;
use tutte_trees::{
    ArcMatrix, Constraints, LabelledArcMatrix, LabelledTreeDistribution, Tree, TreeSet, Workspace,
    arcs as arcs_of, argmax_with, marginals_with, mbr_with,
};

use crate::features::{Atoms, Attribute, FirstPassOutput, Prepared};
use crate::model::labels::ArcLabels;
use crate::model::pruner::PrunerMemory;
use crate::model::transition::TransitionMemory;
use crate::parse::constraints;
use crate::parse::long_sentences::{Limits, flag};
use crate::{
    Candidates, Clock, Contradiction, Decoding, Error, LabelledDistribution, Notes, ParserModel,
    Stage, Weights,
};

/// A model and the memory it works in.
#[derive(Debug)]
pub struct Parser<'a, W = Vec<f32>> {
    model: &'a ParserModel<W>,
    decoding: Decoding,
    tree_set: TreeSet,
    workspace: Workspace,
    pruner: PrunerMemory,
    transition: TransitionMemory,
    /// What the templates of all passes look at.
    columns: Vec<Attribute>,
    atoms: Atoms,
    prepared: Prepared,
    /// What the first of two passes thought of the sentence.
    first_pass_output: Option<Arc<FirstPassOutput>>,
    scores: ArcMatrix,
    /// The scores of all arcs, each of its best kind; only for [`Decoding::MaxZ`].
    best_clusters: ArcMatrix,
    marginals: ArcMatrix,
    labels: Prepared,
    /// The scores of labels of all arcs, of a joint model.
    arc_labels: ArcLabels,
    rows: Vec<usize>,
    label_scores: Vec<f32>,
    clock: Clock,
    pub(crate) limits: Limits,
}

/// The best tree of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Parse {
    /// Its heads.
    pub tree: Tree,
    /// For each word, the number of its label among the model's; 0 if that has none.
    pub labels: Vec<usize>,
    /// For each word, the probability of its head, as it is reported ([`ParserModel::confidence`]).
    pub head_probs: Vec<f64>,
    /// For each word, the probability of its label, given its head.
    pub label_probs: Vec<f64>,
    /// In how many pieces it was parsed: 1, but for sentences of more than
    /// [`LONGEST_WHOLE`](crate::LONGEST_WHOLE) words. The probabilities of a root word of a piece are then
    /// those of its being one, whatever it was joined to.
    pub pieces: usize,
}

/// The best tree of a sentence, and all the others.
#[derive(Clone, Debug)]
pub struct Analysis<'a> {
    /// The best one.
    pub parse: Parse,
    /// All of them.
    pub distribution: LabelledDistribution<'a>,
}

impl<'a, W: Weights> Parser<'a, W> {
    /// A parser.
    pub fn new(model: &'a ParserModel<W>) -> Self {
        Self {
            model,
            decoding: Decoding::default(),
            tree_set: model.tree_set,
            workspace: Workspace::default(),
            pruner: PrunerMemory::default(),
            transition: TransitionMemory::default(),
            columns: model.columns(),
            atoms: Atoms::default(),
            prepared: Prepared::default(),
            first_pass_output: None,
            scores: ArcMatrix::default(),
            best_clusters: ArcMatrix::default(),
            marginals: ArcMatrix::default(),
            labels: Prepared::default(),
            arc_labels: ArcLabels::default(),
            rows: Vec::new(),
            label_scores: Vec::new(),
            clock: Clock::default(),
            limits: Limits::default(),
        }
    }

    /// The same, giving another tree.
    pub fn with_decoding(self, decoding: Decoding) -> Self {
        Self { decoding, ..self }
    }

    /// The same with other trees than the model's own. Scores were learnt, and their temperature chosen,
    /// for the model's.
    pub fn with_tree_set(self, tree_set: TreeSet) -> Self {
        Self { tree_set, ..self }
    }

    pub(crate) fn model(&self) -> &'a ParserModel<W> {
        self.model
    }

    /// The trees that are possible.
    pub fn tree_set(&self) -> TreeSet {
        self.tree_set
    }

    /// The same with a [clock](Parser::clock) that runs, from now on.
    pub fn timed(self) -> Self {
        Self { clock: Clock::start(), ..self }
    }

    /// Where the time goes.
    ///
    /// ```
    /// use tutte::{TrainingOptions, Parser, Stage, train};
    ///
    /// # let treebank = ["1\tTea\ttea\tNOUN\t_\t_\t0\troot\t_\t_\n".parse::<tutte_treebank::Sentence>()?];
    /// # let options = TrainingOptions { passes: 1, bits: 12, label_bits: 8, ..TrainingOptions::plain() };
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
    /// If scores are no numbers; [`Error::TooLong`].
    pub fn scores(&mut self, sentence: &Sentence) -> Result<&ArcMatrix, Error> {
        self.scores_within(sentence, &Candidates::all())
    }

    /// The best tree, as [`Decoding`] says, with the most probable label of each arc. A sentence of more than
    /// [`LONGEST_WHOLE`](crate::LONGEST_WHOLE) words is parsed in pieces, in time that grows with its length
    /// and in the memory of one piece ([`Parse::pieces`]).
    ///
    /// # Errors
    /// If the model's tree set has no tree for the sentence; [`Error::NoClusters`].
    pub fn parse(&mut self, sentence: &Sentence) -> Result<Parse, Error> {
        self.decoding.check(self.model)?;
        match self.needs_pieces(sentence) {
            true => self.parse_in_pieces(sentence),
            false => self.parse_whole(sentence),
        }
    }

    pub(crate) fn parse_whole(&mut self, sentence: &Sentence) -> Result<Parse, Error> {
        let words = sentence.len();
        self.scores(sentence)?;
        marginals_with(&self.scores, self.tree_set, &mut self.workspace, &mut self.marginals)?;
        let tree = self.best_tree()?;
        self.clock.lap(Stage::Inference);
        let mut parse = Parse {
            labels: Vec::with_capacity(words),
            head_probs: Vec::with_capacity(words),
            label_probs: Vec::with_capacity(words),
            pieces: 1,
            tree,
        };
        for (modifier, &head) in (1..).zip(parse.tree.heads()) {
            parse.head_probs.push(self.model.confidence(self.marginals[(head, modifier)]));
            let scores = self.label_scores(head, modifier);
            let best = scores.iter().enumerate().rev().max_by(|a, b| a.1.total_cmp(b.1));
            let (label, log_prob) = best
                .map_or((0, 0.0), |(label, score)| (label, f64::from(*score - log_sum(scores))));
            parse.labels.push(label);
            parse.label_probs.push(log_prob.exp());
        }
        self.clock.lap(Stage::Labels);
        Ok(parse)
    }

    /// The best tree of the scores there are, and their marginals.
    fn best_tree(&mut self) -> Result<Tree, Error> {
        let mut heads = Vec::with_capacity(self.scores.words());
        let (is_joint, tree_set) = (self.is_joint(), self.tree_set);
        let temperature = self.model.temperature;
        let Self { scores, best_clusters, marginals, workspace, decoding, arc_labels, .. } = self;
        match decoding {
            Decoding::Mbr => mbr_with(scores, marginals, tree_set, workspace, &mut heads)?,
            Decoding::Map => {
                if is_joint {
                    arcs_of(scores.words()).for_each(|arc| scores[arc] *= temperature);
                    arc_labels.add_best_log_probs(scores);
                }
                argmax_with(scores, tree_set, workspace, &mut heads)?
            }
            // Temperature does not matter, for it changes no order; nor do labels, which are staged.
            Decoding::MaxZ => argmax_with(best_clusters, tree_set, workspace, &mut heads)?,
        };
        Ok(Tree::new(&heads)?)
    }

    /// The tree of [`Decoding::Map`] of a joint model, with the labels that a distribution leaves.
    fn best_with_labels(&mut self, distribution: &LabelledDistribution<'_>) -> Result<Tree, Error> {
        let (words, temperature) = (distribution.words(), self.model.temperature);
        let mut best = ArcMatrix::default();
        best.reset(words, f64::NEG_INFINITY);
        for (head, modifier) in arcs_of(words) {
            let labels = distribution.trees().scores().labels_of(head, modifier);
            let labels = labels.unwrap_or_default().iter().copied().enumerate();
            let possible = labels.filter(|(_, score)| *score > f64::NEG_INFINITY);
            if let Some((label, score)) = possible.max_by(|a, b| a.1.total_cmp(&b.1)) {
                // θ/T + log p(ℓ | h → m), of which only the first was divided.
                let scores = self.label_scores(head, modifier);
                let log_prob = f64::from(scores[label] - log_sum(scores));
                best[(head, modifier)] = temperature * (score - log_prob) + log_prob;
            }
        }
        let mut heads = Vec::with_capacity(words);
        argmax_with(&best, self.tree_set, &mut self.workspace, &mut heads)?;
        Ok(Tree::new(&heads)?)
    }

    /// The best tree and the distribution it is of, given what is known of the sentence, for instance by
    /// its columns ([`KeepColumns`](crate::KeepColumns)). Heads that are known are looked at even if the model by itself
    /// would not, and all its steps are told of them; so probabilities are P(tree | known) of a parser
    /// that knows. With nothing known, the tree is that of [`parse`](Self::parse), if the sentence is parsed
    /// as a whole there; what this says of longer ones, [`analyse_in_pieces`](Self::analyse_in_pieces) does.
    ///
    /// ```
    /// # use tutte::{TrainingOptions, Parser, train};
    /// # let treebank: [tutte_treebank::Sentence; 1] = ["\
    /// # 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
    /// # 2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
    /// # 3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\t_
    /// # ".parse()?];
    /// # let options = TrainingOptions { bits: 14, label_bits: 8, passes: 2, ..TrainingOptions::default() };
    /// # let model = train(&treebank, &options, |_, _| {})?;
    /// use tutte_trees::Constraints;
    ///
    /// let known = Constraints::new().require_root(3); // however odd: "cats" is the root word
    /// let analysis = Parser::new(&model).analyse(&treebank[0], &known)?;
    /// assert_eq!(analysis.parse.tree.head(3), Some(0));
    /// assert_eq!(analysis.parse.head_probs[2], 1.0);
    ///
    /// let known = known.require_root(1);
    /// let error = Parser::new(&model).analyse(&treebank[0], &known).unwrap_err();
    /// assert!(error.to_string().contains("words 1 and 3 are given the root as head"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Contradiction`] if no tree satisfies what is known, naming the cycle or the root words;
    /// [`Error::TooLong`] above [`LONGEST_DISTRIBUTION`](crate::LONGEST_DISTRIBUTION) words; otherwise as [`parse`](Self::parse).
    pub fn analyse(
        &mut self,
        sentence: &Sentence,
        known: &Constraints,
    ) -> Result<Analysis<'a>, Error> {
        self.decoding.check(self.model)?;
        let distribution = self.distribution_given(sentence, known)?;
        self.marginals.clone_from(distribution.arcs().marginals());
        let tree = match self.decoding {
            Decoding::Map if self.is_joint() => self.best_with_labels(&distribution)?,
            _ => self.best_tree()?,
        };
        let arcs = (1..).zip(tree.heads());
        let labels = arcs.map(|(word, &head)| distribution.best_label(head, word));
        let (labels, label_probs) = labels.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        let marginals = distribution.arcs().marginals();
        // Of what it was told, the model has no opinion.
        let head_probs = tree.arcs().map(|arc| match known.required_arcs().contains(&arc) {
            true => marginals[arc],
            false => self.model.confidence(marginals[arc]),
        });
        let head_probs = head_probs.collect();
        self.clock.lap(Stage::Inference);
        let parse = Parse { tree, labels, head_probs, label_probs, pieces: 1 };
        Ok(Analysis { parse, distribution })
    }

    /// Gives a sentence the heads and labels of its best tree. A model without labels writes `_`: the
    /// label that was there belonged to another arc. Nothing else of it changes, but that what was
    /// [noted](crate::Notes) of the probabilities of other heads goes with them, and that a sentence which was
    /// parsed in pieces says so (`# tutte_pieces = 8`).
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
        Notes::clear(sentence)?;
        flag(sentence, parse.pieces)?;
        self.clock.lap(Stage::Writing);
        Ok(parse)
    }

    /// The distribution over the labelled trees of a sentence. Without labels, all arcs have label
    /// 0.
    ///
    /// # Errors
    /// If scores are no numbers; [`Error::TooLong`] above
    /// [`LONGEST_DISTRIBUTION`](crate::LONGEST_DISTRIBUTION) words.
    pub fn distribution(&mut self, sentence: &Sentence) -> Result<LabelledDistribution<'a>, Error> {
        self.scores(sentence)?;
        self.labelled()
    }

    /// The same, given what is known, see [`analyse`](Self::analyse).
    pub(crate) fn distribution_given(
        &mut self,
        sentence: &Sentence,
        known: &Constraints,
    ) -> Result<LabelledDistribution<'a>, Error> {
        if known.is_empty() {
            return self.distribution(sentence);
        }
        let (labels, tree_set) = (&self.model.labels, self.tree_set);
        constraints::check(known, sentence, tree_set, labels)?;
        let allowed = constraints::allowed(known, sentence.len(), tree_set, labels)?;
        let mut distribution = || -> Result<_, Error> {
            self.scores_within(sentence, &allowed)?;
            let distribution = self.labelled()?;
            if !known.mentions_labels() {
                return Ok(distribution);
            }
            let distribution = distribution.condition(known)?;
            self.scores.clone_from(distribution.arcs().scores());
            Ok(distribution)
        };
        distribution().map_err(|error| match error {
            Error::Trees(source @ tutte_trees::Error::NoTree { .. }) => {
                let place = Box::new(sentence.place());
                Error::Contradiction { place, problem: Contradiction::NoTree(source) }
            }
            other => other,
        })
    }

    /// The distribution of the scores there are: θ(h → m, ℓ) = θ(h → m) + log p(ℓ | h → m).
    fn labelled(&mut self) -> Result<LabelledDistribution<'a>, Error> {
        let (words, names) = (self.scores.words(), self.model.labels.labels());
        let mut given_arcs = LabelledArcMatrix::sparse(words, names.len().max(1));
        for (head, modifier) in arcs_of(words) {
            if self.scores[(head, modifier)] == f64::NEG_INFINITY {
                continue;
            }
            // Without labels, nothing tells them apart.
            given_arcs[(head, modifier, 0)] = 0.0;
            let scores = self.label_scores(head, modifier);
            let cell = given_arcs.labels_of_mut(head, modifier).into_iter().flatten();
            cell.zip(scores).for_each(|(label, score)| *label = f64::from(*score));
        }
        let arcs = self.scores.clone();
        let trees = LabelledTreeDistribution::given_arcs(arcs, given_arcs, self.tree_set)?;
        self.clock.lap(Stage::Labels);
        Ok(LabelledDistribution::new(trees, names))
    }
}
