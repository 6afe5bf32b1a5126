//! Training of a tagger: maximises the likelihood of the treebank's tags by AdaGrad, sentence by sentence.
//!
//! Templates are dropped out at random, and the words themselves as well. The result is the mean of the weights of
//! the second half of the passes. Coarse and fine tags are trained at the same time, the fine ones given the gold
//! coarse tags.
//!
//! Where a teacher gave probabilities ([`soft_tags`](super::soft_tags)), the cross-entropy to these takes the place of
//! the likelihood (Hinton, Vinyals & Dean 2015). The teacher's probabilities qᵢ of the coarse tags of word i stand for a
//! distribution over sequences in which words are independent. So the sum over all sequences is exact:
//!
//! ```text
//! Σ_t Πᵢ qᵢ(tᵢ) · −log P(t₁ … tₙ) = log Z − Σᵢ Σ_t qᵢ(t) e(i, t) − Σᵢ Σ_{s, t} qᵢ₋₁(s) qᵢ(t) w(s, t)
//! ∂/∂e(i, t) = P(tᵢ = t) − qᵢ(t)        ∂/∂w(s, t) = Σᵢ P(tᵢ₋₁ = s, tᵢ = t) − qᵢ₋₁(s) qᵢ(t)
//! ```
//!
//! Bundles have the cross-entropy to q(b | t) with t the UPOS of the column, times q(t). Lemmas depend on tags, so a word
//! counts for the rules of lemmas with the probability of its tags. A teacher that is certain gives the likelihood, bit
//! for bit. Tokens have no such probabilities: the teacher's tokenizer and the student's learn from the same treebank.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::thread;

use tutte_linear::{AdaGrad, Average, Order, Weights, draw_templates, join};
use tutte_treebank::Sentence;

use super::chain::{Chain, ChainMemory};
use super::columns::{Columns, RowLayout};
use super::morphology::{Bundles, Morphology};
use super::soft_tags::Target;
use super::templates::{COARSE, FINE, Template, WORD_TEMPLATES};
use super::training_data::TrainingData;
use super::{MAX_PARTS, Tagger, TaggerMemory};
use crate::Error;
use crate::lemma::{LemmaExample, Lemmatizer};
use crate::progress::{PassCounter, ProgressObserver};

/// Options of training a [`Tagger`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaggerOptions {
    /// Number of passes over the treebank.
    pub passes: usize,
    /// Binary logarithm of the number of rows of weights of coarse tags.
    pub bits: u32,
    /// Binary logarithm of the number of rows of weights of fine tags and features.
    pub fine_bits: u32,
    /// Learning rate of AdaGrad.
    pub rate: f32,
    /// Damping of AdaGrad: a larger value makes the first steps smaller.
    pub damping: f32,
    /// Probability with which a template is left out.
    pub dropout: f64,
    /// Probability with which the templates of the word itself are left out. Unknown words depend on the others.
    pub word_dropout: f64,
    /// Seed of the order of sentences and of dropout.
    pub seed: u64,
}

tutte_linear::setters! {
    TaggerOptions {
        with_passes => passes: usize,
        with_bits => bits: u32,
        with_fine_bits => fine_bits: u32,
        with_rate => rate: f32,
        with_damping => damping: f32,
        with_dropout => dropout: f64,
        with_word_dropout => word_dropout: f64,
        with_seed => seed: u64,
    }
}

impl TaggerOptions {
    /// Returns the defaults, with tables of a size for a treebank of this many words.
    pub fn for_words(words: usize) -> Self {
        let size = words.max(2).ilog2();
        Self {
            passes: 6,
            bits: (size + 4).clamp(10, 18 + doublings_beyond_a_million(words)),
            fine_bits: (size + 3).clamp(10, 17),
            rate: 0.1,
            damping: 1.0,
            dropout: 0.1,
            word_dropout: 0.2,
            seed: 1,
        }
    }

    /// Returns the options of a small tagger for a treebank of this many words.
    ///
    /// ```
    /// use tutte_text::TaggerOptions;
    /// assert!(TaggerOptions::compact(200_000).bits < TaggerOptions::for_words(200_000).bits);
    /// ```
    pub fn compact(words: usize) -> Self {
        /// Binary logarithms of the largest tables that a treebank gets.
        const BITS: u32 = 17;
        const FINE_BITS: u32 = 14;
        let usual = Self::for_words(words);
        let more = doublings_beyond_a_million(words);
        let bits = usual.bits.min(BITS + more);
        let fine_bits = usual.fine_bits.min(FINE_BITS + more.min(1));
        usual.with_bits(bits).with_fine_bits(fine_bits)
    }
}

/// Returns how often a million words must be doubled to reach this many. Treebanks have fewer. The answers of a teacher
/// have more, and can fill larger tables.
fn doublings_beyond_a_million(words: usize) -> u32 {
    (words >> 20).max(1).ilog2()
}

impl Tagger {
    /// Trains a tagger on the tags of a treebank.
    ///
    /// # Errors
    /// [`Error::NoWords`] if the treebank has no words. [`Error::Setting`] if it has no UPOS tags, or more different
    /// ones than a tagger can have.
    pub fn train(treebank: &[Sentence], options: &TaggerOptions) -> Result<Self, Error> {
        Self::train_observed(treebank, options, &mut ())
    }

    /// Trains a tagger, and calls `observer` after every pass.
    ///
    /// # Errors
    /// As [`train`](Self::train), and [`Error::Stopped`].
    pub fn train_observed(
        treebank: &[Sentence],
        options: &TaggerOptions,
        observer: &mut ProgressObserver<'_>,
    ) -> Result<Self, Error> {
        let counter = PassCounter::new(MODELS * options.passes, observer);
        train(treebank.iter().collect(), options, &counter)
    }
}

/// Number of models: one of coarse tags, one of fine tags.
const MODELS: usize = 2;

fn train(
    sentences: Vec<&Sentence>,
    options: &TaggerOptions,
    counter: &PassCounter<'_>,
) -> Result<Tagger, Error> {
    let data = TrainingData::new(sentences)?;
    let (fine, coarse) = thread::scope(|scope| {
        let fine = scope.spawn(|| train_fine(&data, options, counter));
        let coarse = train_coarse(&data, options, counter);
        (join(fine), coarse)
    });
    let fine = fine?;
    let (weights, chain, rows) = coarse?;
    let words = data.sentences.iter().enumerate().flat_map(|(at, sentence)| {
        sentence.words().enumerate().map(move |(number, word)| (at, number, word))
    });
    let lemmas = Lemmatizer::train(words.map(|(sentence, number, word)| LemmaExample {
        form: word.form(),
        upos: word.upos(),
        feats: word.feats(),
        lemma: word.lemma(),
        confidence: data.confidence(sentence, number),
    }));
    let TrainingData { upos, lexicon, .. } = data;
    Ok(Tagger { upos, lexicon, rows, weights, chain, fine, lemmas: lemmas.map(Arc::new) })
}

/// Order of sentences, and dropout of templates and words.
pub(super) struct Dropout {
    pub(super) order: Order,
    /// `true` for each template that the sentence keeps.
    kept: Vec<bool>,
    /// Factor of the scores that makes up for the templates that are left out.
    pub(super) scale: f32,
    template_dropout: f64,
    word_dropout: f64,
}

impl Dropout {
    pub(super) fn new(options: &TaggerOptions, stream: u8) -> Self {
        let order = Order::new(options.seed, stream);
        let TaggerOptions { dropout: template_dropout, word_dropout, .. } = *options;
        Self { order, kept: Vec::new(), scale: 1.0, template_dropout, word_dropout }
    }

    /// Draws the templates that a new sentence keeps.
    pub(super) fn draw_templates(&mut self, templates: &[Template]) {
        let stream = self.order.stream();
        let count = templates.len();
        self.scale = draw_templates(stream, count, self.template_dropout, &mut self.kept) as f32;
    }

    /// Appends the rows of a word for the templates that are kept. It also draws the dropout of the word.
    pub(super) fn rows(
        &mut self,
        columns: &Columns,
        templates: &[Template],
        word: usize,
        table: RowLayout,
        rows: &mut Vec<usize>,
    ) {
        let drawn = (self.order.stream().draw() >> 11) as f64 / (1u64 << 53) as f64;
        let is_hidden = drawn < self.word_dropout;
        columns.keys(templates, word, |number, key| {
            if self.kept[number] && !(is_hidden && number < WORD_TEMPLATES) {
                rows.push(table.start(key));
            }
        });
    }
}

/// Probability of the gold tag above which an example moves no weights.
pub(super) const MAX_PROB: f32 = 0.998;

/// Returns `true` if probabilities are so near to those of the teacher that an example moves no weights.
fn is_learnt(probs: &[f32], targets: &[Target]) -> bool {
    if let [(gold, _)] = *targets {
        return probs[gold] > MAX_PROB;
    }
    let target = |at: usize| targets.iter().find(|(tag, _)| *tag == at).map_or(0.0, |(_, q)| *q);
    let distance = |(at, prob): (usize, &f32)| (prob - target(at) as f32).abs();
    probs.iter().enumerate().map(distance).fold(0.0, f32::max) < 1.0 - MAX_PROB
}

/// Subtracts the teacher's probabilities of the pairs of tags at a word and at the word before it, if there is one.
fn subtract_pairs(pairs: &mut [f64], chain: &Chain, before: Option<&[Target]>, targets: &[Target]) {
    for &(tag, target) in targets {
        match before {
            None => pairs[chain.cell(None, tag)] -= target,
            Some(before) => before.iter().for_each(|&(other, of_other)| {
                pairs[chain.cell(Some(other), tag)] -= of_other * target;
            }),
        }
    }
}

fn train_coarse(
    data: &TrainingData<'_>,
    options: &TaggerOptions,
    counter: &PassCounter<'_>,
) -> Result<(Vec<f32>, Chain, RowLayout), Error> {
    let tags = data.upos.len();
    let table = RowLayout { bits: options.bits, width: tags };
    let mut weights = vec![0.0; table.cells()];
    let mut chain = Chain::new(tags, vec![0.0; (tags + 1) * tags]);
    let TaggerOptions { rate, damping, .. } = *options;
    let mut step = AdaGrad::new(weights.len(), rate, damping);
    let mut pair_step = AdaGrad::new(chain.scores().len(), rate, damping);
    let mut average = Average::of_second_half(options.passes);
    let mut dropout = Dropout::new(options, 2);
    let mut columns = Columns::default();
    let mut memory = ChainMemory::default();
    // Rows of all words of a sentence, and the end of those of each word.
    let mut rows = Vec::new();
    let mut ends = Vec::new();
    let mut scores = Vec::new();
    let mut pairs = vec![0.0; chain.scores().len()];
    let mut sums = vec![0.0; table.width];
    for _ in 0..options.passes {
        for at in dropout.order.shuffled(data.sentences.len()) {
            data.fill_columns(at, &mut columns);
            dropout.draw_templates(COARSE);
            rows.clear();
            ends.clear();
            scores.clear();
            for word in 0..columns.words() {
                let start = rows.len();
                dropout.rows(&columns, COARSE, word, table, &mut rows);
                ends.push(rows.len());
                sums.fill(0.0);
                weights.add_rows(&rows[start..], &mut sums);
                scores.extend(sums[..tags].iter().map(|sum| sum * dropout.scale));
            }
            pairs.fill(0.0);
            chain.marginals(&scores, &mut memory, |cell, p| pairs[cell] += p);
            // ∂ −log P(gold) / ∂ score = P − [gold], for words and for pairs, or P − q with a teacher.
            let mut start = 0;
            for word in 0..columns.words() {
                let targets = data.upos_targets(at, word);
                let before = word.checked_sub(1).map(|before| data.upos_targets(at, before));
                subtract_pairs(&mut pairs, &chain, before, targets);
                let own = &memory.marginals[word * tags..][..tags];
                sums.fill(0.0);
                sums.iter_mut().zip(own).for_each(|(slope, p)| *slope = *p as f32);
                if !is_learnt(&sums[..tags], targets) {
                    targets.iter().for_each(|(tag, target)| sums[*tag] -= *target as f32);
                    for &row in &rows[start..ends[word]] {
                        step.descend_row(&mut weights, row, &sums);
                    }
                }
                start = ends[word];
            }
            for (cell, slope) in pairs.iter().enumerate() {
                if slope.abs() > 1e-6 {
                    pair_step.descend(&mut chain.scores_mut()[cell], cell, *slope as f32);
                }
            }
            chain.update();
        }
        average.add(weights.iter().chain(chain.scores()));
        counter.finish_pass()?;
    }
    if let Some(mut mean) = average.mean() {
        let pairs = mean.split_off(weights.len());
        weights = mean;
        chain = Chain::new(tags, pairs);
    }
    Ok((weights, chain, table))
}

fn train_fine(
    data: &TrainingData<'_>,
    options: &TaggerOptions,
    counter: &PassCounter<'_>,
) -> Result<Morphology<Vec<f32>>, Error> {
    let mut counts = vec![BTreeMap::<(&str, &str), u32>::new(); data.upos.len()];
    for (sentence, tags) in data.sentences.iter().zip(&data.tags) {
        for (word, &tag) in sentence.words().zip(tags) {
            *counts[usize::from(tag)].entry((word.xpos(), word.feats())).or_default() += 1;
        }
    }
    let mut numbers = Vec::with_capacity(counts.len());
    let mut of_tag = Vec::with_capacity(counts.len());
    for counts in counts {
        let mut list: Vec<((&str, &str), u32)> = counts.into_iter().collect();
        list.sort_by_key(|(_, count)| u32::MAX - count);
        numbers
            .push(list.iter().map(|(bundle, _)| *bundle).zip(0..).collect::<HashMap<_, usize>>());
        let owned = |((xpos, feats), _): ((&str, &str), u32)| (xpos.to_owned(), feats.to_owned());
        of_tag.push(list.into_iter().map(owned).collect());
    }
    let bundles = Bundles::new(of_tag);
    if bundles.parts() > MAX_PARTS {
        return Err(Error::Setting(format!(
            "the treebank has {} different morphological features (FEATS), but a tagger can have at most \
             {MAX_PARTS}: is FEATS another column by mistake?",
            bundles.parts()
        )));
    }
    let table = RowLayout { bits: options.fine_bits, width: bundles.width() };
    let mut model = Morphology::new(bundles, options.fine_bits, vec![0.0; table.cells()]);
    let mut step = AdaGrad::new(table.cells(), options.rate, options.damping);
    let mut average = Average::of_second_half(options.passes);
    let mut dropout = Dropout::new(options, 3);
    let mut memory = TaggerMemory::default();
    let mut gradient = Vec::new();
    let mut targets = Vec::new();
    for _ in 0..options.passes {
        for at in dropout.order.shuffled(data.sentences.len()) {
            let TaggerMemory { columns, rows, parts, probs, .. } = &mut memory;
            data.fill_columns(at, columns);
            dropout.draw_templates(FINE);
            let tags = &data.tags[at];
            for (word, &tag) in tags.iter().enumerate() {
                columns.set_upos(word, tag.into());
            }
            for (word, (token, &tag)) in data.sentences[at].words().zip(tags).enumerate() {
                let tag = usize::from(tag);
                if numbers[tag].len() == 1 {
                    continue;
                }
                let gold = numbers[tag][&(token.xpos(), token.feats())];
                let weight = data.bundle_targets(at, word, gold, &numbers[tag], &mut targets);
                rows.clear();
                dropout.rows(columns, FINE, word, table, rows);
                model.probs(tag, rows, dropout.scale, parts, probs);
                if is_learnt(probs, &targets) {
                    continue;
                }
                model.gradient(tag, &targets, weight as f32, probs, &mut gradient);
                for &row in &*rows {
                    step.descend_row(&mut model.weights, row, &gradient);
                }
            }
        }
        average.add(model.weights.iter());
        counter.finish_pass()?;
    }
    if let Some(mean) = average.mean() {
        model.weights = mean;
    }
    Ok(model)
}

/// Returns the treebank with jackknifed tags: it is cut into folds, and each fold is tagged by a tagger that was
/// trained on the others.
///
/// A parser that is trained on these tags learns how far predicted tags can be trusted. Folds are consecutive
/// sentences, since neighbouring sentences share words that new text does not have. `folds` is at most the number of
/// sentences.
///
/// ```
/// use tutte_text::{TaggerOptions, jackknife};
/// # let noun = "1\tTea\ttea\tNOUN\t_\t_\t0\troot\t_\t_\n".parse::<tutte_treebank::Sentence>()?;
/// # let verb = "1\tSip\tsip\tVERB\t_\t_\t0\troot\t_\t_\n".parse::<tutte_treebank::Sentence>()?;
/// let treebank = [noun.clone(), verb, noun];
/// let tagged = jackknife(&treebank, &TaggerOptions::for_words(3), 3, 1)?;
/// assert_eq!(tagged[1].word(1).unwrap().upos(), "NOUN"); // the only tag of the other folds
/// # Ok::<(), tutte_text::Error>(())
/// ```
///
/// # Errors
/// As [`Tagger::train`], and [`Error::Setting`] if there are fewer than two sentences or folds.
pub fn jackknife(
    treebank: &[Sentence],
    options: &TaggerOptions,
    folds: usize,
    threads: usize,
) -> Result<Vec<Sentence>, Error> {
    jackknife_observed(treebank, options, folds, threads, &mut ())
}

/// Returns the treebank with jackknifed tags, and calls `observer` after every pass of every fold.
///
/// # Errors
/// As [`jackknife`], and [`Error::Stopped`].
pub fn jackknife_observed(
    treebank: &[Sentence],
    options: &TaggerOptions,
    folds: usize,
    threads: usize,
    observer: &mut ProgressObserver<'_>,
) -> Result<Vec<Sentence>, Error> {
    let folds = folds.min(treebank.len());
    let counter = PassCounter::new(folds * MODELS * options.passes, observer);
    if folds < 2 {
        return Err(Error::Setting(
            "jackknifing needs at least two folds and two sentences: the tagger of a sentence is trained \
             on others"
                .into(),
        ));
    }
    let bounds = |fold: usize| fold * treebank.len() / folds..(fold + 1) * treebank.len() / folds;
    let fold = |number: usize| -> Result<Vec<Sentence>, Error> {
        let own = bounds(number);
        let others = treebank[..own.start].iter().chain(&treebank[own.end..]);
        let tagger = train(others.collect(), options, &counter)?;
        let mut memory = TaggerMemory::default();
        let tagged = treebank[own].iter().map(|sentence| {
            let mut sentence = sentence.clone();
            tagger.annotate(&mut sentence, &mut memory)?;
            Ok(sentence)
        });
        tagged.collect()
    };
    // Training of a fold uses two threads for most of its time.
    let at_once = threads.div_ceil(2).clamp(1, folds);
    let work = |first: usize| (first..folds).step_by(at_once).map(&fold).collect::<Vec<_>>();
    let mut found: Vec<Vec<_>> = thread::scope(|scope| {
        let work = &work;
        let others: Vec<_> = (1..at_once).map(|first| scope.spawn(move || work(first))).collect();
        let mut found = vec![work(0)];
        found.extend(others.into_iter().map(join));
        found
    });
    found.iter_mut().for_each(|folds| folds.reverse());
    let in_order = (0..folds).filter_map(|number| found[number % at_once].pop());
    Ok(in_order.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests;
