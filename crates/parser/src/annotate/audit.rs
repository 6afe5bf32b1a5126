//! Audit of a treebank: arcs that are likely to be annotation errors.
//!
//! The treebank is divided into k [folds](Folds). For each fold, a model is trained on the others, and it scores the
//! arcs of the held-out fold. (Cross-validation to find noise: Brodley & Friedl 1999. Disagreement of a parser with a
//! treebank: van Halteren 2000, Dickinson & Meurers 2005.) Disagreement alone is not suspicious. An arc is suspicious
//! if another arc is probable, and if it is more surprising than arcs of its label usually are:
//!
//! ```text
//! suspicion = log P(other) + s − s̄_ℓ
//!
//! s(h → m, ℓ) = −log P(h → m, ℓ),        P(h → m, ℓ) = P(h → m) · p(ℓ | h → m)
//! s̄_ℓ = (Σ s + c s̄) / (n_ℓ + c)  over the n_ℓ arcs of label ℓ
//! ```
//!
//! The marginals are exact, at the temperature at which the probabilities of the model fit the held-out fold best.
//! *Other* is the most probable head and label that the word does not have. s̄ is the mean of s over all arcs, and c is
//! a small number of arcs. Where the parser is uncertain, log P(other) is low, and the arc is not suspicious. Without
//! s̄_ℓ, unpredictable labels (`reparandum`, `orphan`) would come first, right or wrong (by class, as in confident
//! learning: Northcutt, Jiang & Chuang 2021). `docs/results/audit.md` measures the value of each term.
//!
//! An arc that an early step of the model left out has the probability that this step gave it. Its label then has no
//! probability and does not count. A label that no other fold has on such an arc is impossible.
//!
//! The cost is k trainings on (k − 1)/k of the treebank, and one parse.
//!
//! ```
//! use tutte::TrainingOptions;
//! use tutte::audit::{Audit, Settings};
//! use tutte_treebank::Sentence;
//!
//! let sentence = |name: &str, head: usize| {
//!     format!(
//!         "# sent_id = {name}\n1\tThe\tthe\tDET\t_\t_\t{head}\tdet\t_\t_\n2\t{name}\t_\tNOUN\t_\t_\t3\t\
//!          nsubj\t_\t_\n3\tsings\tsing\tVERB\t_\t_\t0\troot\t_\t_\n"
//!     )
//!     .parse::<Sentence>()
//! };
//! let names = ["cat", "dog", "cow", "hen", "owl", "bee", "elk", "fox", "emu", "ant"];
//! let heads = [2, 2, 2, 2, 2, 2, 3, 2, 2, 2]; // an error: the article of "elk" depends on the verb
//! let treebank = names.iter().zip(heads).map(|(name, head)| sentence(name, head)).collect::<Result<Vec<_>, _>>()?;
//!
//! let options = TrainingOptions::fast().with_bits(14).with_label_bits(8);
//! let audit = Audit::run(&treebank, &Settings::default().with_options(options), &mut ())?;
//! let find = &audit.findings(0.5)[0];
//! assert_eq!((treebank[find.sentence].sent_id(), find.word), (Some("elk"), 1));
//! assert_eq!(find.pattern.to_string(), "DET ← VERB det → NOUN det");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod finding;
mod folds;
mod verdicts;

#[cfg(test)]
mod tests;

use tutte_linear::in_parts;
use tutte_treebank::Sentence;

use crate::learn::{Observer, TrainedPass};
use crate::{Error, Labelling, Parser, ParserModel, Pass, TrainingOptions, train};
pub use finding::{Finding, Pattern, PatternCount};
pub use folds::Folds;
pub use verdicts::{Decision, Verdicts, sentence_name};

/// Settings of an audit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// Number of folds.
    pub folds: usize,
    /// Options for training the models. With [no labels](crate::Labelling::None), only heads are audited. The seed
    /// also determines the folds.
    pub options: TrainingOptions,
}

impl Default for Settings {
    /// Five folds and [fast](TrainingOptions::fast) models.
    fn default() -> Self {
        Self { folds: 5, options: TrainingOptions::fast() }
    }
}

tutte_linear::setters! { Settings { with_folds => folds: usize, with_options => options: TrainingOptions } }

/// Progress of an audit.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// A pass of training the model of a fold is done.
    Trained {
        /// The fold, from 0.
        fold: usize,
        /// The pass.
        pass: Pass,
    },
    /// The arcs of a fold are scored.
    Scored {
        /// The fold, from 0.
        fold: usize,
        /// The temperature at which the probabilities of its model fit best.
        temperature: f64,
    },
}

/// Probability of the arc of a word under a model that was trained without its sentence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AuditedArc {
    /// Probability of the head.
    pub head_prob: f64,
    /// Probability of the label given the head; 1 if labels are not audited.
    pub label_prob: f64,
    /// The most probable other arc; `None` if there is none.
    pub other: Option<OtherArc>,
}

/// The most probable arc of a word that differs from the one it has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OtherArc {
    /// The head; it may be the same, with another label.
    pub head: usize,
    /// Number of the label in [`Audit::labels`].
    pub label: usize,
    /// Probability of head and label together.
    pub prob: f64,
}

impl AuditedArc {
    /// Lower bound of the probabilities of arcs. Smaller ones, and labels that the model does not have, are not
    /// distinguished.
    pub const LEAST: f64 = 1e-9;

    /// Returns P(head, label).
    pub fn prob(&self) -> f64 {
        self.head_prob * self.label_prob
    }

    /// Returns s = −log P(head, label), in nats.
    pub fn nats(&self) -> f64 {
        -self.prob().max(Self::LEAST).ln()
    }
}

/// A treebank with the probability of every arc under a model that was trained without its sentence.
#[derive(Clone, Debug)]
pub struct Audit<'a> {
    treebank: &'a [Sentence],
    folds: Folds,
    labels: Vec<String>,
    has_labels: bool,
    /// By sentence and word.
    arcs: Vec<Vec<AuditedArc>>,
    /// s̄_ℓ, by label.
    usual: Vec<f64>,
}

impl<'a> Audit<'a> {
    /// Audits a treebank. The observer sees every step, and may stop it. The result depends only on the treebank and the settings,
    /// not on the number of threads.
    ///
    /// # Errors
    /// As [`train`](crate::train()) and [`Folds::deal`]; [`Error::Setting`] if all sentences have the same words.
    pub fn run(
        treebank: &'a [Sentence],
        settings: &Settings,
        observer: &mut dyn Observer<Step>,
    ) -> Result<Self, Error> {
        let Settings { folds, options } = settings;
        let mut options = options.clone();
        // The temperature is chosen on the held-out fold.
        if let Some(second) = &mut options.second_pass {
            second.temperature = Some(1.0);
        }
        let folds = Folds::deal(treebank, *folds, options.seed)?;
        let mut labels: Vec<String> =
            treebank.iter().flat_map(|s| s.words().map(|word| word.deprel().to_owned())).collect();
        labels.sort_unstable();
        labels.dedup();
        let mut arcs = vec![Vec::new(); treebank.len()];
        for fold in 0..folds.count() {
            let learnt: Vec<Sentence> =
                folds.learnt_for(fold).map(|at| treebank[at].clone()).collect();
            if learnt.is_empty() {
                let why = "nothing is left to learn from: all other sentences have the same words";
                return Err(Error::Setting(why.to_owned()));
            }
            let mut model = train(&learnt, &options, &mut |event: TrainedPass<'_>| {
                observer.observe(Step::Trained { fold, pass: event.pass })
            })?;
            drop(learnt);
            let (numbers, held_out): (Vec<usize>, Vec<Sentence>) =
                folds.held_out(fold).map(|at| (at, treebank[at].clone())).unzip();
            model.temperature = model.best_temperature(&held_out, options.threads)?;
            let found =
                in_parts(&held_out, options.threads, |part| audit_arcs(&model, part, &labels))?;
            for (at, found) in numbers.into_iter().zip(found) {
                arcs[at] = found;
            }
            if observer.observe(Step::Scored { fold, temperature: model.temperature }).is_break() {
                return Err(Error::Stopped);
            }
        }
        let has_labels = options.labelling != Labelling::None;
        let usual = usual(treebank, &labels, &arcs);
        Ok(Self { treebank, folds, labels, has_labels, arcs, usual })
    }

    /// Returns the treebank.
    pub fn treebank(&self) -> &'a [Sentence] {
        self.treebank
    }

    /// Returns the folds.
    pub fn folds(&self) -> &Folds {
        &self.folds
    }

    /// Returns all labels by their number.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Returns `true` if labels were audited, and `false` if only heads were.
    pub fn has_labels(&self) -> bool {
        self.has_labels
    }

    /// Returns the arcs of a sentence, by its number; `[0]` is the arc of word 1.
    pub fn arcs(&self, sentence: usize) -> &[AuditedArc] {
        self.arcs.get(sentence).map_or(&[], Vec::as_slice)
    }

    /// Returns the suspicion of an arc with this label, log P(other) + s − s̄_ℓ, in nats.
    pub fn suspicion(&self, arc: &AuditedArc, label: &str) -> f64 {
        let label = self.labels.binary_search_by(|name| name.as_str().cmp(label)).ok();
        let usual = label.map_or(0.0, |label| self.usual[label]);
        let other = arc.other.map_or(0.0, |other| other.prob);
        other.max(AuditedArc::LEAST).ln() + arc.nats() - usual
    }

    /// Returns groups of sentences that have the same words and different trees.
    pub fn inconsistent(&self) -> Vec<&[usize]> {
        let arcs = |at: usize| {
            let words = self.treebank[at].words();
            words.map(|word| (word.head(), word.deprel())).collect::<Vec<_>>()
        };
        let differ = |group: &&[usize]| group.iter().skip(1).any(|&at| arcs(at) != arcs(group[0]));
        self.folds.repeated().filter(differ).collect()
    }
}

/// Returns s̄_ℓ of every label.
fn usual(treebank: &[Sentence], labels: &[String], arcs: &[Vec<AuditedArc>]) -> Vec<f64> {
    /// c: number of average arcs that are added to every label.
    const PRIOR: f64 = 5.0;
    let mut sums = vec![(0.0, 0.0); labels.len()];
    for (sentence, arcs) in treebank.iter().zip(arcs) {
        for (word, arc) in sentence.words().zip(arcs) {
            if let Ok(label) = labels.binary_search_by(|name| name.as_str().cmp(word.deprel())) {
                sums[label].0 += arc.nats();
                sums[label].1 += 1.0;
            }
        }
    }
    let (nats, arcs) =
        sums.iter().fold((0.0, 0.0), |(nats, arcs), sum| (nats + sum.0, arcs + sum.1));
    let mean = nats / f64::max(arcs, 1.0);
    sums.iter().map(|(nats, arcs)| (nats + PRIOR * mean) / (arcs + PRIOR)).collect()
}

/// Audits the arcs of held-out sentences.
fn audit_arcs(
    model: &ParserModel,
    sentences: &[Sentence],
    labels: &[String],
) -> Result<Vec<Vec<AuditedArc>>, Error> {
    let mut parser = Parser::new(model);
    let audit = |sentence: &Sentence| {
        let distribution = parser.distribution(sentence)?;
        let all = distribution.arc_probs();
        let scores = distribution.arcs().scores();
        let has_labels = !distribution.labels().is_empty();
        let number = |label: usize| {
            labels.binary_search_by(|name| name.as_str().cmp(distribution.name(label))).unwrap_or(0)
        };
        let word = |(word, token): (usize, tutte_treebank::Token<'_>)| {
            let gold = token.head().unwrap_or(0);
            let gold_label = distribution.label(token.deprel());
            let is_candidate = |head| scores[(head, word)] > f64::NEG_INFINITY;
            let label_prob = match (is_candidate(gold), gold_label) {
                (true, Some(label)) => distribution.label_probs(gold, word)?[label],
                (_, None) if has_labels => 0.0,
                _ => 1.0,
            };
            let mut other: Option<OtherArc> = None;
            for head in (0..=sentence.len()).filter(|&head| head != word && is_candidate(head)) {
                let head_prob = all[(head, word)];
                if other.is_some_and(|best| best.prob >= head_prob) || head_prob == 0.0 {
                    continue;
                }
                let probs =
                    if has_labels { distribution.label_probs(head, word)? } else { vec![1.0] };
                for (label, label_prob) in probs.into_iter().enumerate() {
                    let is_gold = head == gold && (!has_labels || gold_label == Some(label));
                    let prob = head_prob * label_prob;
                    if !is_gold && prob > other.map_or(0.0, |best| best.prob) {
                        other = Some(OtherArc { head, label: number(label), prob });
                    }
                }
            }
            Ok(AuditedArc { head_prob: all[(gold, word)], label_prob, other })
        };
        (1..).zip(sentence.words()).map(word).collect()
    };
    sentences.iter().map(audit).collect()
}
