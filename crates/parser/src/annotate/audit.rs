//! Which arcs of a treebank are likely to be annotation errors?
//!
//! The treebank is dealt into k [folds](Folds), a model is trained for each on the others, and every arc is
//! judged by the model that has not seen it (cross-validation to find noise: Brodley & Friedl 1999; for
//! treebanks by a parser's disagreement: van Halteren 2000, Dickinson & Meurers 2005). What is asked is not
//! whether the model agrees, which it often rightly does not, but how much surer it is of something else, and
//! how much more surprising the annotation is than arcs of its label usually are,
//!
//! ```text
//! suspicion = log P(other) + s − s̄_ℓ
//!
//! s(h → m, ℓ) = −log P(h → m, ℓ),        P(h → m, ℓ) = P(h → m) · p(ℓ | h → m)
//! s̄_ℓ = (Σ s + c s̄) / (n_ℓ + c)  over the n_ℓ arcs of label ℓ
//! ```
//!
//! with the exact marginals of the distribution over trees, at the temperature at which the model's
//! probabilities fit the fold as a whole. *Other* is the most probable head and label that the word does not
//! have; s̄ is the mean of all arcs, c a few of them. A parser that does not know says so, and what it does
//! not know is no find. Without s̄_ℓ, the labels that nobody can foresee (`reparandum`, `orphan`) would come
//! first, right or wrong (class by class, after confident learning: Northcutt, Jiang & Chuang 2021). What
//! each term is worth is measured in `docs/results/audit.md`.
//!
//! An arc that a step of the model left out before the last one has the probability which that step gave it.
//! Of its label nothing is known then, and nothing is said. A label that no other fold has there is
//! impossible.
//!
//! It costs k trainings on (k − 1)/k of the treebank, and one parse.
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
//! let heads = [2, 2, 2, 2, 2, 2, 3, 2, 2, 2]; // the elk's article hangs from the verb
//! let treebank = names.iter().zip(heads).map(|(name, head)| sentence(name, head)).collect::<Result<Vec<_>, _>>()?;
//!
//! let options = TrainingOptions { bits: 14, label_bits: 8, ..TrainingOptions::fast() };
//! let audit = Audit::run(&treebank, &Settings { folds: 5, options }, |_| {})?;
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

use crate::{Error, Labelling, Parser, ParserModel, Pass, TrainingOptions, train};
pub use finding::{Finding, Pattern, PatternCount};
pub use folds::Folds;
pub use verdicts::{Decision, Verdicts, sentence_name};

/// How to audit.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Into how many folds the treebank is dealt.
    pub folds: usize,
    /// How models are trained. If they have [no labels](crate::Labelling::None), only heads are judged.
    /// Folds are dealt by the same seed.
    pub options: TrainingOptions,
}

impl Default for Settings {
    /// Five folds, each judged by a [fast](TrainingOptions::fast) model.
    fn default() -> Self {
        Self { folds: 5, options: TrainingOptions::fast() }
    }
}

/// How far an audit is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// A pass of training the model of a fold, counted from 0, is over.
    Trained {
        /// The fold.
        fold: usize,
        /// The pass.
        pass: Pass,
    },
    /// A fold is judged.
    Judged {
        /// The fold.
        fold: usize,
        /// The temperature at which its model's probabilities fit.
        temperature: f64,
    },
}

/// The arc of a word, in the eyes of a model that has not seen it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The probability of its head.
    pub head_prob: f64,
    /// That of its label, given the head; 1 where labels are not judged.
    pub label_prob: f64,
    /// What the model would rather have; nothing if there is no other possibility.
    pub rather: Option<Rather>,
}

/// The most probable arc of a word that is not the one it has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rather {
    /// The head; it may be the same, with another label.
    pub head: usize,
    /// The label, by its number among [`Audit::labels`].
    pub label: usize,
    /// The probability of head and label together.
    pub prob: f64,
}

impl Judged {
    /// No arc is taken to be less probable than this: what is smaller, and labels that no model knew, cannot
    /// be told apart.
    pub const LEAST: f64 = 1e-9;

    /// P(head, label).
    pub fn prob(&self) -> f64 {
        self.head_prob * self.label_prob
    }

    /// s = −log P(head, label), in nats.
    pub fn nats(&self) -> f64 {
        -self.prob().max(Self::LEAST).ln()
    }
}

/// A treebank whose every arc was judged by a model that has not seen it.
#[derive(Clone, Debug)]
pub struct Audit<'a> {
    treebank: &'a [Sentence],
    folds: Folds,
    labels: Vec<String>,
    judges_labels: bool,
    /// By sentence and word.
    judged: Vec<Vec<Judged>>,
    /// s̄_ℓ, by label.
    usual: Vec<f64>,
}

impl<'a> Audit<'a> {
    /// Judges every arc; `watch` sees how far it is. The same for the same treebank and settings, with any
    /// number of threads.
    ///
    /// # Errors
    /// As [`train`](crate::train()) and [`Folds::deal`]; [`Error::Setting`] if all sentences have the same
    /// words.
    pub fn run(
        treebank: &'a [Sentence],
        settings: &Settings,
        mut watch: impl FnMut(Step),
    ) -> Result<Self, Error> {
        let Settings { folds, options } = settings;
        let mut options = options.clone();
        // It is chosen on what a model has not seen, whatever it was before.
        if let Some(second) = &mut options.second_pass {
            second.temperature = Some(1.0);
        }
        let folds = Folds::deal(treebank, *folds, options.seed)?;
        let mut labels: Vec<String> =
            treebank.iter().flat_map(|s| s.words().map(|word| word.deprel().to_owned())).collect();
        labels.sort_unstable();
        labels.dedup();
        let mut judged = vec![Vec::new(); treebank.len()];
        for fold in 0..folds.count() {
            let learnt: Vec<Sentence> =
                folds.learnt_for(fold).map(|at| treebank[at].clone()).collect();
            if learnt.is_empty() {
                let why = "nothing is left to learn from: all other sentences have the same words";
                return Err(Error::Setting(why.to_owned()));
            }
            let mut model =
                train(&learnt, &options, |pass, _| watch(Step::Trained { fold, pass }))?;
            drop(learnt);
            let (numbers, held_out): (Vec<usize>, Vec<Sentence>) =
                folds.held_out(fold).map(|at| (at, treebank[at].clone())).unzip();
            model.temperature = model.best_temperature(&held_out, options.threads)?;
            let found = in_parts(&held_out, options.threads, |part| judge(&model, part, &labels))?;
            for (at, found) in numbers.into_iter().zip(found) {
                judged[at] = found;
            }
            watch(Step::Judged { fold, temperature: model.temperature });
        }
        let judges_labels = options.labelling != Labelling::None;
        let usual = usual(treebank, &labels, &judged);
        Ok(Self { treebank, folds, labels, judges_labels, judged, usual })
    }

    /// What was judged.
    pub fn treebank(&self) -> &'a [Sentence] {
        self.treebank
    }

    /// By whom.
    pub fn folds(&self) -> &Folds {
        &self.folds
    }

    /// All labels, in the order of their numbers.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Whether labels were judged, or heads only.
    pub fn judges_labels(&self) -> bool {
        self.judges_labels
    }

    /// What became of a sentence's words, by the sentence's number; `[0]` is that of word 1.
    pub fn judged(&self, sentence: usize) -> &[Judged] {
        self.judged.get(sentence).map_or(&[], Vec::as_slice)
    }

    /// log P(other) + s − s̄_ℓ of an arc with this label, in nats: how suspicious it is.
    pub fn suspicion(&self, judged: &Judged, label: &str) -> f64 {
        let known = self.labels.binary_search_by(|name| name.as_str().cmp(label)).ok();
        let usual = known.map_or(0.0, |label| self.usual[label]);
        let other = judged.rather.map_or(0.0, |rather| rather.prob);
        other.max(Judged::LEAST).ln() + judged.nats() - usual
    }

    /// Sentences that have the same words and not the same trees, of several each.
    pub fn inconsistent(&self) -> Vec<&[usize]> {
        let arcs = |at: usize| {
            let words = self.treebank[at].words();
            words.map(|word| (word.head(), word.deprel())).collect::<Vec<_>>()
        };
        let differ = |group: &&[usize]| group.iter().skip(1).any(|&at| arcs(at) != arcs(group[0]));
        self.folds.repeated().filter(differ).collect()
    }
}

/// s̄_ℓ of every label.
fn usual(treebank: &[Sentence], labels: &[String], judged: &[Vec<Judged>]) -> Vec<f64> {
    /// c: as if a label had so many arcs more, as surprising as any.
    const PRIOR: f64 = 5.0;
    let mut sums = vec![(0.0, 0.0); labels.len()];
    for (sentence, judged) in treebank.iter().zip(judged) {
        for (word, judged) in sentence.words().zip(judged) {
            if let Ok(label) = labels.binary_search_by(|name| name.as_str().cmp(word.deprel())) {
                sums[label].0 += judged.nats();
                sums[label].1 += 1.0;
            }
        }
    }
    let (nats, arcs) =
        sums.iter().fold((0.0, 0.0), |(nats, arcs), sum| (nats + sum.0, arcs + sum.1));
    let mean = nats / f64::max(arcs, 1.0);
    sums.iter().map(|(nats, arcs)| (nats + PRIOR * mean) / (arcs + PRIOR)).collect()
}

/// Judges the arcs of sentences that a model has not seen.
fn judge(
    model: &ParserModel,
    sentences: &[Sentence],
    labels: &[String],
) -> Result<Vec<Vec<Judged>>, Error> {
    let mut parser = Parser::new(model);
    let judge = |sentence: &Sentence| {
        let distribution = parser.distribution(sentence)?;
        let seen = distribution.arcs().scores();
        let all = parser.with_left_out(distribution.arcs().marginals());
        let has_labels = !distribution.labels().is_empty();
        let number = |label: usize| {
            labels.binary_search_by(|name| name.as_str().cmp(distribution.name(label))).unwrap_or(0)
        };
        let word = |(word, token): (usize, tutte_treebank::Token<'_>)| {
            let gold = token.head().unwrap_or(0);
            let gold_label = distribution.label(token.deprel());
            let is_seen = |head| seen[(head, word)] > f64::NEG_INFINITY;
            let label_prob = match (is_seen(gold), gold_label) {
                (true, Some(label)) => distribution.label_probs(gold, word)?[label],
                (_, None) if has_labels => 0.0,
                _ => 1.0,
            };
            let mut rather: Option<Rather> = None;
            for head in (0..=sentence.len()).filter(|&head| head != word && is_seen(head)) {
                let head_prob = all[(head, word)];
                if rather.is_some_and(|best| best.prob >= head_prob) || head_prob == 0.0 {
                    continue;
                }
                let probs = match has_labels {
                    true => distribution.label_probs(head, word)?,
                    false => vec![1.0],
                };
                for (label, label_prob) in probs.into_iter().enumerate() {
                    let same = head == gold && (!has_labels || gold_label == Some(label));
                    let prob = head_prob * label_prob;
                    if !same && prob > rather.map_or(0.0, |best| best.prob) {
                        rather = Some(Rather { head, label: number(label), prob });
                    }
                }
            }
            Ok(Judged { head_prob: all[(gold, word)], label_prob, rather })
        };
        (1..).zip(sentence.words()).map(word).collect()
    };
    sentences.iter().map(judge).collect()
}
