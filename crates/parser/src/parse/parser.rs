//! The parser: from a sentence and a model to a tree or a distribution.

mod mixing;
mod scoring;

use std::sync::Arc;

use tutte_linear::log_sum;
use tutte_treebank::Sentence;
use tutte_trees::{
    ArcMatrix, Constraints, LabelledArcMatrix, LabelledTreeDistribution, Tree, TreeSet, Workspace,
    arcs as arcs_of, argmax_with, marginals_with, mbr_with,
};

#[cfg(all(feature = "train", feature = "neural"))]
pub(crate) use self::mixing::ScoreParts;
#[cfg(not(all(feature = "train", feature = "neural")))]
use self::mixing::ScoreParts;
pub(crate) use self::scoring::add_left_out;
use crate::features::{Atoms, Attribute, FirstPassOutput, Prepared};
use crate::model::factors::FactorMemory;
use crate::model::labels::ArcLabels;
use crate::model::network::{NetworkMemory, WordTags};
use crate::model::pruner::PrunerMemory;
use crate::model::transition::TransitionMemory;
use crate::parse::annotation::reported_head_probs;
use crate::parse::constraints::{allowed, check};
use crate::parse::label_limits::ChosenTree;
use crate::parse::long_sentences::Limits;
use crate::text::{SoftTag, Tagger};
use crate::{
    Annotation, Candidates, Clock, Contradiction, Decoding, Error, Isotonic, LabelLimits,
    LabelledDistribution, ParserModel, Repair, Stage, Weights, WordSource,
};

/// Parses sentences with a model, one at a time. It reuses its memory, so it is fastest if it is kept.
#[derive(Debug)]
pub struct Parser<'a, W = Vec<f32>> {
    model: &'a ParserModel<W>,
    decoding: Decoding,
    tree_set: TreeSet,
    label_limits: LabelLimits,
    words: WordSource,
    workspace: Workspace,
    pruner: PrunerMemory,
    transition: TransitionMemory,
    factors: FactorMemory,
    network: NetworkMemory,
    /// Columns that the templates of all passes read.
    columns: Vec<Attribute>,
    atoms: Atoms,
    prepared: Prepared,
    /// Output of the first of two passes for the current sentence.
    first_pass_output: Option<Arc<FirstPassOutput>>,
    scores: ArcMatrix,
    /// Scores of all arcs, each of its best cluster; only for [`Decoding::MaxZ`].
    best_clusters: ArcMatrix,
    marginals: ArcMatrix,
    /// Scratch memory of [`tree_arc_probs`](Self::tree_arc_probs).
    rests: (Vec<f64>, Vec<f64>),
    labels: Prepared,
    /// Label scores of all arcs, for a joint model.
    arc_labels: ArcLabels,
    /// Scores of features and of a network, for a model with both.
    parts: ScoreParts,
    rows: Vec<usize>,
    label_scores: Vec<f32>,
    clock: Clock,
    pub(crate) limits: Limits,
}

/// The best tree of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Parse {
    /// The heads.
    pub tree: Tree,
    /// Number of the label of each word, in the labels of the model; 0 if the model has no labels.
    pub labels: Vec<usize>,
    /// Probability of the head of each word, as it is reported: calibrated, see [`Isotonic`].
    pub head_probs: Vec<f64>,
    /// Probability of the label of each word given its head.
    pub label_probs: Vec<f64>,
    /// Number of pieces the sentence was parsed in: 1 up to [`LONGEST_WHOLE`](crate::LONGEST_WHOLE) words. The head
    /// probability of a piece's root word is the probability of being the root word, even if the word was joined to
    /// another piece.
    pub pieces: usize,
    /// Effect of [limits of labels](Parser::with_label_limits) on the tree. For several pieces, the last of
    /// [`Repair`]'s values that occurs.
    pub repair: Repair,
}

/// The best tree of a sentence, and the distribution over all trees.
#[derive(Clone, Debug)]
pub struct Analysis<'a> {
    /// The best tree.
    pub parse: Parse,
    /// The distribution.
    pub distribution: LabelledDistribution<'a>,
}

impl<'a, W: Weights> Parser<'a, W> {
    /// Makes a parser with the tree set of the model and the default decoding.
    pub fn new(model: &'a ParserModel<W>) -> Self {
        Self {
            model,
            decoding: Decoding::default(),
            tree_set: model.tree_set,
            label_limits: LabelLimits::default(),
            words: WordSource::default(),
            workspace: Workspace::default(),
            pruner: PrunerMemory::default(),
            transition: TransitionMemory::default(),
            factors: FactorMemory::default(),
            network: NetworkMemory::default(),
            columns: model.columns(),
            atoms: Atoms::default(),
            prepared: Prepared::default(),
            first_pass_output: None,
            scores: ArcMatrix::default(),
            best_clusters: ArcMatrix::default(),
            marginals: ArcMatrix::default(),
            rests: <(Vec<f64>, Vec<f64>)>::default(),
            labels: Prepared::default(),
            arc_labels: ArcLabels::default(),
            parts: ScoreParts::default(),
            rows: Vec::new(),
            label_scores: Vec::new(),
            clock: Clock::default(),
            limits: Limits::default(),
        }
    }

    /// Sets the decoding.
    pub fn with_decoding(self, decoding: Decoding) -> Self {
        Self { decoding, ..self }
    }

    /// Sets the tree set. Scores were learnt, and the temperature was chosen, for the tree set of the model.
    pub fn with_tree_set(self, tree_set: TreeSet) -> Self {
        Self { tree_set, ..self }
    }

    /// Sets labels that at most one modifier of each head may have in the best tree. Distributions do not change.
    pub fn with_label_limits(self, label_limits: LabelLimits) -> Self {
        Self { label_limits, ..self }
    }

    /// Sets the source of the words of the next sentences, which decides the calibration. At first, words are
    /// [given](WordSource::Given).
    pub fn set_words(&mut self, words: WordSource) {
        self.words = words;
    }

    fn temperature(&self) -> f64 {
        self.words.temperature(self.model)
    }

    /// Returns the map from probabilities of the best tree's arcs to confidences.
    fn isotonic(&self) -> Option<&'a Isotonic> {
        self.words.calibration(self.model)?.isotonic.as_ref()
    }

    /// Returns the tags of a sentence by the network of the model, if it finds tags. Other UPOS are listed if they are
    /// more probable than `others_above`. XPOS and FEATS are a combination that the tagger knows.
    pub(crate) fn network_tags(
        &mut self,
        sentence: &Sentence,
        others_above: f64,
        tagger: Option<&Tagger<W>>,
    ) -> Result<Option<Vec<WordTags<'a>>>, Error> {
        match &self.model.network {
            Some(network) => network.tags(sentence, &mut self.network, others_above, tagger),
            None => Ok(None),
        }
    }

    /// Returns the probable tags of each word by the network of the model, if it finds tags.
    pub(crate) fn network_soft_tags(
        &mut self,
        sentence: &Sentence,
        least: f64,
        tagger: Option<&Tagger<W>>,
    ) -> Result<Option<Vec<Vec<SoftTag<'a>>>>, Error> {
        match &self.model.network {
            Some(network) => network.soft_tags(sentence, &mut self.network, least, tagger),
            None => Ok(None),
        }
    }

    /// Returns `true` if the parser is faster if it is [prepared](Self::prepare) for several sentences at once.
    pub fn is_batched(&self) -> bool {
        self.model.network.is_some()
    }

    /// Runs the network of the model, if there is one, over several sentences at once. Then these sentences are parsed
    /// faster, one by one, in any order. The results are the same. About [`BATCH_WORDS`](crate::BATCH_WORDS) words
    /// are a good number; memory grows with it. Without a network, does nothing.
    ///
    /// ```
    /// # use tutte::{TrainingOptions, Parser, train};
    /// # let treebank: [tutte_treebank::Sentence; 1] = ["1\tTea\ttea\tNOUN\t_\t_\t0\troot\t_\t_\n".parse()?];
    /// # let options = TrainingOptions::plain().with_passes(1).with_bits(12).with_label_bits(8);
    /// # let model = train(&treebank, &options, &mut ())?;
    /// let mut parser = Parser::new(&model);
    /// parser.prepare(&treebank);
    /// for sentence in &treebank {
    ///     assert_eq!(parser.parse(sentence)?.tree.heads(), [0]);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn prepare<'s>(&mut self, sentences: impl IntoIterator<Item = &'s Sentence>) {
        if let Some(network) = &self.model.network {
            let longest = self.limits.whole;
            let whole = sentences.into_iter().filter(|sentence| sentence.len() <= longest);
            network.prepare(whole, &mut self.network);
            self.clock.lap(Stage::Network);
        }
    }

    pub(crate) fn model(&self) -> &'a ParserModel<W> {
        self.model
    }

    /// Returns the tree set.
    pub fn tree_set(&self) -> TreeSet {
        self.tree_set
    }

    /// Starts the [clock](Parser::clock).
    pub fn timed(self) -> Self {
        Self { clock: Clock::start(), ..self }
    }

    /// Returns the clock, which measures the time of each stage.
    ///
    /// ```
    /// use tutte::{TrainingOptions, Parser, Stage, train};
    ///
    /// # let treebank = ["1\tTea\ttea\tNOUN\t_\t_\t0\troot\t_\t_\n".parse::<tutte_treebank::Sentence>()?];
    /// # let options = TrainingOptions::plain().with_passes(1).with_bits(12).with_label_bits(8);
    /// # let model = train(&treebank, &options, &mut ())?;
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

    /// Returns the scores of all arcs from which probabilities are computed; −∞ for pruned arcs. Scores of a joint
    /// model are summed over labels.
    ///
    /// # Errors
    /// If scores are not numbers; [`TooManyWords`](tutte_treebank::Error::TooManyWords).
    pub fn scores(&mut self, sentence: &Sentence) -> Result<&ArcMatrix, Error> {
        self.scores_within(sentence, &Candidates::all())
    }

    /// Returns the best tree, as [`Decoding`] defines it, with the most probable label of each arc. A sentence of
    /// more than [`LONGEST_WHOLE`](crate::LONGEST_WHOLE) words is parsed in pieces ([`Parse::pieces`]), in time
    /// linear in its length and in the memory of one piece.
    ///
    /// # Errors
    /// If the tree set has no tree for the sentence; [`Error::NoClusters`].
    pub fn parse(&mut self, sentence: &Sentence) -> Result<Parse, Error> {
        self.decoding.check(self.model)?;
        if self.needs_pieces(sentence) {
            self.parse_in_pieces(sentence)
        } else {
            self.parse_whole(sentence)
        }
    }

    pub(crate) fn parse_whole(&mut self, sentence: &Sentence) -> Result<Parse, Error> {
        let words = sentence.len();
        self.scores(sentence)?;
        marginals_with(&self.scores, self.tree_set, &mut self.workspace, &mut self.marginals)?;
        let tree = self.best_tree()?;
        let limited = if self.label_limits.is_empty() {
            None
        } else {
            let labels = (1..).zip(tree.heads());
            let labels = labels.map(|(word, &head)| self.best_label(head, word).0).collect();
            Some(self.within_limits(tree.clone(), labels, None)?)
        };
        let (tree, labels, repair) = match limited {
            Some(ChosenTree { tree, labels, repair }) => (tree, Some(labels), repair),
            None => (tree, None, Repair::None),
        };
        let mut head_probs = self.tree_arc_probs(&tree);
        self.clock.lap(Stage::Inference);
        if let Some(isotonic) = self.isotonic() {
            head_probs.iter_mut().for_each(|prob| *prob = isotonic.confidence(*prob));
        }
        let mut parse = Parse {
            labels: Vec::with_capacity(words),
            head_probs,
            label_probs: Vec::with_capacity(words),
            pieces: 1,
            repair,
            tree,
        };
        for (modifier, &head) in (1..).zip(parse.tree.heads()) {
            let (label, log_prob) = match &labels {
                Some(labels) => {
                    let label = labels[modifier - 1];
                    let scores = self.label_scores(head, modifier);
                    (label, f64::from(scores[label] - log_sum(scores)))
                }
                None => self.best_label(head, modifier),
            };
            parse.labels.push(label);
            parse.label_probs.push(log_prob.exp());
        }
        self.clock.lap(Stage::Labels);
        Ok(parse)
    }

    /// Returns the best label of an arc and its log-probability given the arc.
    fn best_label(&mut self, head: usize, modifier: usize) -> (usize, f64) {
        let scores = self.label_scores(head, modifier);
        let best = scores.iter().enumerate().rev().max_by(|a, b| a.1.total_cmp(b.1));
        best.map_or((0, 0.0), |(label, score)| (label, f64::from(*score - log_sum(scores))))
    }

    /// Returns the best tree of the current scores and marginals with its labels, if they satisfy the limits of labels,
    /// and otherwise the best one that does. Labels are those of a distribution, or of the current sentence.
    fn within_limits(
        &mut self,
        tree: Tree,
        labels: Vec<usize>,
        distribution: Option<&LabelledDistribution<'_>>,
    ) -> Result<ChosenTree, Error> {
        let best = ChosenTree { tree, labels, repair: Repair::None };
        if self.label_limits.allow(best.tree.heads(), &best.labels) {
            return Ok(best);
        }
        let temperature = self.temperature();
        let mut scores = match self.decoding {
            Decoding::Mbr => self.marginals.clone(),
            Decoding::Map => self.scores.clone(),
            Decoding::MaxZ => self.best_clusters.clone(),
        };
        match self.decoding {
            Decoding::Mbr => {
                scores.map_in_place(|prob| if prob > 0.0 { prob } else { f64::NEG_INFINITY });
            }
            // The scores of a joint model are at temperature 1 already.
            Decoding::Map if !self.is_joint() => scores.map_in_place(|score| score * temperature),
            Decoding::Map | Decoding::MaxZ => {}
        }
        let count = self.model.labels.labels().len();
        let tree_set = self.tree_set;
        let limits = self.label_limits.clone();
        limits.repaired(best, &scores, count, tree_set, |head, modifier, values| {
            match distribution {
                Some(distribution) => values.extend(distribution.label_probs(head, modifier)?),
                None => {
                    let scores = self.label_scores(head, modifier);
                    let log_sum = log_sum(scores);
                    values.extend(scores.iter().map(|score| f64::from(score - log_sum).exp()));
                }
            }
            let marginal = self.marginals[(head, modifier)];
            values.iter_mut().for_each(|prob| {
                *prob = match self.decoding {
                    Decoding::Mbr if *prob > 0.0 => marginal * *prob,
                    Decoding::Mbr => f64::NEG_INFINITY,
                    Decoding::Map | Decoding::MaxZ => prob.ln(),
                };
            });
            Ok(())
        })
    }

    /// Returns the best tree of the current scores and marginals.
    fn best_tree(&mut self) -> Result<Tree, Error> {
        let mut heads = Vec::with_capacity(self.scores.words());
        let is_joint = self.is_joint();
        let tree_set = self.tree_set;
        let temperature = self.temperature();
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
            // The temperature does not change the order of trees, and labels are staged.
            Decoding::MaxZ => argmax_with(best_clusters, tree_set, workspace, &mut heads)?,
        };
        Ok(Tree::new(&heads)?)
    }

    /// Returns the tree of [`Decoding::Map`] for a joint model, with the labels that are possible in a distribution.
    /// The current scores become those of arcs with their best labels.
    fn best_with_labels(&mut self, distribution: &LabelledDistribution<'_>) -> Result<Tree, Error> {
        let words = distribution.words();
        let temperature = self.temperature();
        let mut best = ArcMatrix::default();
        best.reset(words, f64::NEG_INFINITY);
        for (head, modifier) in arcs_of(words) {
            let labels = distribution.trees().scores().labels_of(head, modifier);
            let labels = labels.unwrap_or_default().iter().copied().enumerate();
            let possible = labels.filter(|(_, score)| *score > f64::NEG_INFINITY);
            if let Some((label, score)) = possible.max_by(|a, b| a.1.total_cmp(&b.1)) {
                // The score is θ/T + log p(ℓ | h → m): only the first term was divided by T.
                let scores = self.label_scores(head, modifier);
                let log_prob = f64::from(scores[label] - log_sum(scores));
                best[(head, modifier)] = temperature * (score - log_prob) + log_prob;
            }
        }
        let mut heads = Vec::with_capacity(words);
        argmax_with(&best, self.tree_set, &mut self.workspace, &mut heads)?;
        self.scores = best;
        Ok(Tree::new(&heads)?)
    }

    /// Returns the best tree that satisfies constraints, and the distribution given the constraints. Constraints may
    /// come from the columns of the sentence ([`KeepColumns`](crate::KeepColumns)). Required arcs are candidates even
    /// if the model would prune them, and every step of the model is conditioned on the constraints. Without
    /// constraints, the tree is that of [`parse`](Self::parse), if the sentence is not too long. Longer sentences
    /// are analysed by [`analyse_in_pieces`](Self::analyse_in_pieces).
    ///
    /// ```
    /// # use tutte::{TrainingOptions, Parser, train};
    /// # let treebank: [tutte_treebank::Sentence; 1] = ["\
    /// # 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
    /// # 2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
    /// # 3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\t_
    /// # ".parse()?];
    /// # let options = TrainingOptions::default().with_bits(14).with_label_bits(8).with_passes(2);
    /// # let model = train(&treebank, &options, &mut ())?;
    /// use tutte_trees::Constraints;
    ///
    /// let constraints = Constraints::new().require_root(3); // "cats" is the root word
    /// let analysis = Parser::new(&model).analyse(&treebank[0], &constraints)?;
    /// assert_eq!(analysis.parse.tree.head(3), Some(0));
    /// assert_eq!(analysis.parse.head_probs[2], 1.0);
    ///
    /// let constraints = constraints.require_root(1);
    /// let error = Parser::new(&model).analyse(&treebank[0], &constraints).unwrap_err();
    /// assert!(error.to_string().contains("words 1 and 3 are given the root as head"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Contradiction`] if no tree satisfies the constraints; it names the cycle or the root words.
    /// [`TooManyWords`](tutte_treebank::Error::TooManyWords) above [`LONGEST_DISTRIBUTION`](crate::LONGEST_DISTRIBUTION) words. Otherwise as
    /// [`parse`](Self::parse).
    pub fn analyse(
        &mut self,
        sentence: &Sentence,
        constraints: &Constraints,
    ) -> Result<Analysis<'a>, Error> {
        self.decoding.check(self.model)?;
        let distribution = self.distribution_given(sentence, constraints)?;
        self.marginals.clone_from(distribution.arcs().marginals());
        let tree = match self.decoding {
            Decoding::Map if self.is_joint() => self.best_with_labels(&distribution)?,
            _ => self.best_tree()?,
        };
        let arcs = (1..).zip(tree.heads());
        let labels = arcs.map(|(word, &head)| distribution.best_label(head, word));
        let (labels, mut label_probs): (Vec<_>, Vec<_>) =
            labels.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        let chosen = self.within_limits(tree, labels, Some(&distribution))?;
        let ChosenTree { tree, labels, repair } = chosen;
        if repair != Repair::None {
            let arcs = (1..).zip(tree.heads()).zip(&labels);
            let prob = |((word, &head), &label): ((usize, &usize), &usize)| {
                Ok(distribution.label_probs(head, word)?[label])
            };
            label_probs = arcs.map(prob).collect::<Result<_, Error>>()?;
        }
        let arc_probs = distribution.arc_probs();
        let head_probs = reported_head_probs(self.isotonic(), tree.heads(), arc_probs, constraints);
        self.clock.lap(Stage::Inference);
        let parse = Parse { tree, labels, head_probs, label_probs, pieces: 1, repair };
        Ok(Analysis { parse, distribution })
    }

    /// Parses a sentence and [writes](Annotation::write) heads and labels into it. Nothing else changes, except that
    /// probabilities of other heads are removed and a sentence parsed in pieces gets a comment
    /// (`# tutte_pieces = 8`).
    ///
    /// # Errors
    /// As [`parse`](Self::parse), or if a label cannot be written.
    pub fn annotate(&mut self, sentence: &mut Sentence) -> Result<Annotation<'a>, Error> {
        let parse = self.parse(sentence)?;
        let annotation = Annotation::from_parse(&parse, self.model.labels.labels());
        annotation.write(sentence)?;
        self.clock.lap(Stage::Writing);
        Ok(annotation)
    }

    /// Returns the distribution over the labelled trees of a sentence. Without labels, all arcs have label 0.
    ///
    /// # Errors
    /// If scores are not numbers; [`TooManyWords`](tutte_treebank::Error::TooManyWords) above
    /// [`LONGEST_DISTRIBUTION`](crate::LONGEST_DISTRIBUTION) words.
    pub fn distribution(&mut self, sentence: &Sentence) -> Result<LabelledDistribution<'a>, Error> {
        self.scores(sentence)?;
        let distribution = self.labelled()?;
        Ok(self.with_left_out(distribution))
    }

    /// Returns the scores of all arcs, and the probabilities of those that the steps of the model left out, with 0 for
    /// all others. The probabilities are `None` if the model has no such steps.
    ///
    /// # Errors
    /// As [`scores`](Self::scores).
    #[cfg(feature = "train")]
    pub(crate) fn scores_and_left_out(
        &mut self,
        sentence: &Sentence,
    ) -> Result<(&ArcMatrix, Option<ArcMatrix>), Error> {
        self.scores(sentence)?;
        if self.first_pass_output.is_none() && self.model.pruner.is_none() {
            return Ok((&self.scores, None));
        }
        marginals_with(&self.scores, self.tree_set, &mut self.workspace, &mut self.marginals)?;
        let mut left_out = self.marginals.clone();
        self.add_left_out(&mut left_out);
        left_out.zip_in_place(&self.marginals, |prob, own| if own == 0.0 { prob } else { 0.0 });
        Ok((&self.scores, Some(left_out)))
    }

    /// Adds the probabilities of the arcs that the steps of the model left out.
    fn with_left_out(&self, distribution: LabelledDistribution<'a>) -> LabelledDistribution<'a> {
        if self.first_pass_output.is_none() && self.model.pruner.is_none() {
            return distribution;
        }
        let mut arc_probs = distribution.arcs().marginals().clone();
        self.add_left_out(&mut arc_probs);
        distribution.with_arc_probs(arc_probs)
    }

    /// Returns the distribution given constraints, see [`analyse`](Self::analyse).
    pub(crate) fn distribution_given(
        &mut self,
        sentence: &Sentence,
        constraints: &Constraints,
    ) -> Result<LabelledDistribution<'a>, Error> {
        if constraints.is_empty() {
            return self.distribution(sentence);
        }
        let labels = &self.model.labels;
        let tree_set = self.tree_set;
        check(constraints, sentence, tree_set, labels)?;
        let allowed = allowed(constraints, sentence.len(), tree_set, labels)?;
        let mut distribution = || -> Result<_, Error> {
            self.scores_within(sentence, &allowed)?;
            let distribution = self.labelled()?;
            if !constraints.mentions_labels() {
                return Ok(self.with_left_out(distribution));
            }
            let distribution = distribution.condition(constraints)?;
            self.scores.clone_from(distribution.arcs().scores());
            Ok(self.with_left_out(distribution))
        };
        distribution().map_err(|error| match error {
            Error::Trees(source @ tutte_trees::Error::NoTree { .. }) => {
                let place = Box::new(sentence.place());
                Error::Contradiction { place, problem: Contradiction::NoTree(source) }
            }
            other => other,
        })
    }

    /// Returns the distribution of the current scores: θ(h → m, ℓ) = θ(h → m) + log p(ℓ | h → m).
    fn labelled(&mut self) -> Result<LabelledDistribution<'a>, Error> {
        let words = self.scores.words();
        let names = self.model.labels.labels();
        let mut given_arcs = LabelledArcMatrix::sparse(words, names.len().max(1));
        for (head, modifier) in arcs_of(words) {
            if self.scores[(head, modifier)] == f64::NEG_INFINITY {
                continue;
            }
            // Without labels, there is one label.
            given_arcs[(head, modifier, 0)] = 0.0;
            let scores = self.label_scores(head, modifier);
            let cell = given_arcs.labels_of_mut(head, modifier).into_iter().flatten();
            cell.zip(scores).for_each(|(label, score)| *label = f64::from(*score));
        }
        let arcs = self.scores.clone();
        let trees = LabelledTreeDistribution::given_arcs(arcs, given_arcs, self.tree_set)?;
        self.clock.lap(Stage::Labels);
        Ok(LabelledDistribution::new(trees, names).with_isotonic(self.isotonic()))
    }
}
