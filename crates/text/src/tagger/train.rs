//! Learning a tagger: the likelihood of the treebank's tags, by AdaGrad, sentence by sentence, with
//! templates left out at random, and words as well; the mean of the second half of the passes is kept.
//!
//! Coarse tags and fine ones are learnt at the same time, the fine ones given the treebank's coarse tags.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::thread;

use tutte_linear::{AdaGrad, Average, Order, Weights, draw_templates, join};
use tutte_treebank::Sentence;

use super::chain::{Chain, ChainMemory};
use super::columns::{Columns, Rows};
use super::morphology::{Bundles, Morphology};
use super::templates::{COARSE, FINE, OF_THE_WORD, Template};
use super::training_data::Lessons;
use super::{Tagger, TaggerMemory};
use crate::Error;
use crate::lemma::{LemmaExample, Lemmatizer};
use crate::progress::{Observer, PassCounter, unobserved};

/// How to learn a tagger.
#[derive(Clone, Debug, PartialEq)]
pub struct TaggerOptions {
    /// Passes over the treebank.
    pub passes: usize,
    /// The binary logarithm of the number of rows of weights of coarse tags.
    pub bits: u32,
    /// The same of fine tags and features.
    pub fine_bits: u32,
    /// How far to step.
    pub rate: f32,
    /// How carefully to start.
    pub damping: f32,
    /// How often a template is left out.
    pub dropout: f64,
    /// How often the templates of the word itself are left out: new words are recognised by the others.
    pub word_dropout: f64,
    /// Of the order of sentences and of what is left out.
    pub seed: u64,
}

impl TaggerOptions {
    /// Tables of a size for so many words, and otherwise what has proved good.
    pub fn for_words(words: usize) -> Self {
        let size = words.max(2).ilog2();
        Self {
            passes: 6,
            bits: (size + 4).clamp(10, 18),
            fine_bits: (size + 3).clamp(10, 17),
            rate: 0.1,
            damping: 1.0,
            dropout: 0.1,
            word_dropout: 0.2,
            seed: 1,
        }
    }
}

impl Tagger {
    /// Learns from the tags of a treebank.
    ///
    /// # Errors
    /// [`Error::NoWords`]; [`Error::Setting`] if tags are none, or so many that they are no coarse tags.
    pub fn train(treebank: &[Sentence], options: &TaggerOptions) -> Result<Self, Error> {
        Self::train_observed(treebank, options, &unobserved)
    }

    /// The same, telling of every pass.
    ///
    /// # Errors
    /// As [`train`](Self::train), and [`Error::Stopped`].
    pub fn train_observed(
        treebank: &[Sentence],
        options: &TaggerOptions,
        observer: &Observer<'_>,
    ) -> Result<Self, Error> {
        let laps = PassCounter::new(MODELS * options.passes, observer);
        learn(treebank.iter().collect(), options, &laps)
    }
}

/// Of coarse tags, and of fine ones.
const MODELS: usize = 2;

fn learn(
    sentences: Vec<&Sentence>,
    options: &TaggerOptions,
    laps: &PassCounter<'_>,
) -> Result<Tagger, Error> {
    let lessons = Lessons::new(sentences)?;
    let (fine, coarse) = thread::scope(|scope| {
        let fine = scope.spawn(|| learn_fine(&lessons, options, laps));
        let coarse = learn_coarse(&lessons, options, laps);
        (join(fine), coarse)
    });
    let (fine, (weights, chain, rows)) = (fine?, coarse?);
    let words = lessons.sentences.iter().flat_map(|sentence| sentence.words());
    let lemmas = Lemmatizer::train(words.map(|word| LemmaExample {
        form: word.form(),
        upos: word.upos(),
        feats: word.feats(),
        lemma: word.lemma(),
    }));
    let Lessons { upos, lexicon, .. } = lessons;
    Ok(Tagger { upos, lexicon, rows, weights, chain, fine, lemmas: lemmas.map(Arc::new) })
}

/// What is left out of a sentence, and the rows of its words.
pub(super) struct Draw {
    pub(super) order: Order,
    kept: Vec<bool>,
    /// How much more what is left counts.
    pub(super) scale: f32,
    dropout: f64,
    word_dropout: f64,
}

impl Draw {
    pub(super) fn new(options: &TaggerOptions, stream: u8) -> Self {
        let TaggerOptions { dropout, word_dropout, seed, .. } = *options;
        let order = Order::new(seed, stream);
        Self { order, kept: Vec::new(), scale: 1.0, dropout, word_dropout }
    }

    /// For a new sentence.
    pub(super) fn sentence(&mut self, templates: &[Template]) {
        let stream = self.order.stream();
        self.scale = draw_templates(stream, templates.len(), self.dropout, &mut self.kept) as f32;
    }

    /// The rows of a word.
    pub(super) fn rows(
        &mut self,
        columns: &Columns,
        templates: &[Template],
        word: usize,
        table: Rows,
        rows: &mut Vec<usize>,
    ) {
        let drawn = (self.order.stream().draw() >> 11) as f64 / (1u64 << 53) as f64;
        let is_hidden = drawn < self.word_dropout;
        columns.keys(templates, word, |number, key| {
            if self.kept[number] && !(is_hidden && number < OF_THE_WORD) {
                rows.push(table.start(key));
            }
        });
    }
}

/// What is this sure already needs no step.
pub(super) const SURE: f32 = 0.998;

fn learn_coarse(
    lessons: &Lessons<'_>,
    options: &TaggerOptions,
    laps: &PassCounter<'_>,
) -> Result<(Vec<f32>, Chain, Rows), Error> {
    let tags = lessons.upos.len();
    let table = Rows { bits: options.bits, width: tags };
    let mut weights = vec![0.0; table.cells()];
    let mut chain = Chain::new(tags, vec![0.0; (tags + 1) * tags]);
    let (rate, damping) = (options.rate, options.damping);
    let mut step = AdaGrad::new(weights.len(), rate, damping);
    let mut pair_step = AdaGrad::new(chain.scores().len(), rate, damping);
    let mut average = Average::of_second_half(options.passes);
    let mut draw = Draw::new(options, 2);
    let (mut columns, mut memory) = (Columns::default(), ChainMemory::default());
    let (mut rows, mut ends, mut scores) = (Vec::new(), Vec::new(), Vec::new());
    let mut pairs = vec![0.0; chain.scores().len()];
    let mut sums = vec![0.0; table.width];
    for _ in 0..options.passes {
        for at in draw.order.shuffled(lessons.sentences.len()) {
            lessons.look(at, &mut columns);
            draw.sentence(COARSE);
            rows.clear();
            ends.clear();
            scores.clear();
            for word in 0..columns.words() {
                let start = rows.len();
                draw.rows(&columns, COARSE, word, table, &mut rows);
                ends.push(rows.len());
                sums.fill(0.0);
                weights.add_rows(&rows[start..], &mut sums);
                scores.extend(sums[..tags].iter().map(|sum| sum * draw.scale));
            }
            pairs.fill(0.0);
            chain.marginals(&scores, &mut memory, |cell, p| pairs[cell] += p);
            // ∂ −log P(gold) / ∂ score = P − [gold], of words and of pairs.
            let (mut start, mut before) = (0, None);
            for (word, &gold) in lessons.tags[at].iter().enumerate() {
                let gold = usize::from(gold);
                pairs[chain.cell(before, gold)] -= 1.0;
                before = Some(gold);
                let own = &memory.marginals[word * tags..][..tags];
                sums.fill(0.0);
                sums.iter_mut().zip(own).for_each(|(slope, p)| *slope = *p as f32);
                if sums[gold] <= SURE {
                    sums[gold] -= 1.0;
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
            chain.settle();
        }
        average.add(weights.iter().chain(chain.scores()));
        laps.finish_pass()?;
    }
    if let Some(mut mean) = average.mean() {
        let pairs = mean.split_off(weights.len());
        (weights, chain) = (mean, Chain::new(tags, pairs));
    }
    Ok((weights, chain, table))
}

fn learn_fine(
    lessons: &Lessons<'_>,
    options: &TaggerOptions,
    laps: &PassCounter<'_>,
) -> Result<Morphology<Vec<f32>>, Error> {
    let mut counts = vec![BTreeMap::<(&str, &str), u32>::new(); lessons.upos.len()];
    for (sentence, tags) in lessons.sentences.iter().zip(&lessons.tags) {
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
    let table = Rows { bits: options.fine_bits, width: bundles.width() };
    let mut model = Morphology::new(bundles, options.fine_bits, vec![0.0; table.cells()]);
    let mut step = AdaGrad::new(table.cells(), options.rate, options.damping);
    let mut average = Average::of_second_half(options.passes);
    let mut draw = Draw::new(options, 3);
    let mut memory = TaggerMemory::default();
    let mut slopes = Vec::new();
    for _ in 0..options.passes {
        for at in draw.order.shuffled(lessons.sentences.len()) {
            let TaggerMemory { columns, rows, parts, probs, .. } = &mut memory;
            lessons.look(at, columns);
            draw.sentence(FINE);
            let tags = &lessons.tags[at];
            for (word, &tag) in tags.iter().enumerate() {
                columns.set_upos(word, tag.into());
            }
            for (word, (token, &tag)) in lessons.sentences[at].words().zip(tags).enumerate() {
                let tag = usize::from(tag);
                let gold = numbers[tag][&(token.xpos(), token.feats())];
                if numbers[tag].len() == 1 {
                    continue;
                }
                rows.clear();
                draw.rows(columns, FINE, word, table, rows);
                model.probs(tag, rows, draw.scale, parts, probs);
                if probs[gold] > SURE {
                    continue;
                }
                model.slopes(tag, gold, probs, &mut slopes);
                for &row in &*rows {
                    step.descend_row(&mut model.weights, row, &slopes);
                }
            }
        }
        average.add(model.weights.iter());
        laps.finish_pass()?;
    }
    if let Some(mean) = average.mean() {
        model.weights = mean;
    }
    Ok(model)
}

/// The treebank as a tagger would have tagged it that had not seen it: it is cut into pieces, and each is
/// tagged by a tagger that learnt from the others. A parser that learns from these tags learns how far tags
/// can be trusted. Pieces are consecutive sentences, since neighbours share words that new text does not.
///
/// ```
/// use tutte_text::{TaggerOptions, jackknife};
/// # let noun = "1\tTea\ttea\tNOUN\t_\t_\t0\troot\t_\t_\n".parse::<tutte_treebank::Sentence>()?;
/// # let verb = "1\tSip\tsip\tVERB\t_\t_\t0\troot\t_\t_\n".parse::<tutte_treebank::Sentence>()?;
/// let treebank = [noun.clone(), verb, noun];
/// let tagged = jackknife(&treebank, &TaggerOptions::for_words(3), 3, 1)?;
/// assert_eq!(tagged[1].word(1).unwrap().upos(), "NOUN"); // all that was seen of words
/// # Ok::<(), tutte_text::Error>(())
/// ```
///
/// # Errors
/// As [`Tagger::train`], and if there are fewer than two sentences.
pub fn jackknife(
    treebank: &[Sentence],
    options: &TaggerOptions,
    folds: usize,
    threads: usize,
) -> Result<Vec<Sentence>, Error> {
    jackknife_observed(treebank, options, folds, threads, &unobserved)
}

/// The same, telling of every pass.
///
/// # Errors
/// As [`jackknife`], and [`Error::Stopped`].
pub fn jackknife_observed(
    treebank: &[Sentence],
    options: &TaggerOptions,
    folds: usize,
    threads: usize,
    observer: &Observer<'_>,
) -> Result<Vec<Sentence>, Error> {
    let folds = folds.min(treebank.len());
    let laps = PassCounter::new(folds * MODELS * options.passes, observer);
    if folds < 2 {
        return Err(Error::Setting(
            "a treebank of one sentence leaves nothing to tag it by".into(),
        ));
    }
    let bounds = |fold: usize| fold * treebank.len() / folds..(fold + 1) * treebank.len() / folds;
    let fold = |number: usize| -> Result<Vec<Sentence>, Error> {
        let own = bounds(number);
        let others = treebank[..own.start].iter().chain(&treebank[own.end..]);
        let tagger = learn(others.collect(), options, &laps)?;
        let mut memory = TaggerMemory::default();
        let tagged = treebank[own].iter().map(|sentence| {
            let mut sentence = sentence.clone();
            tagger.annotate(&mut sentence, &mut memory)?;
            Ok(sentence)
        });
        tagged.collect()
    };
    // Each fold is learnt by two threads for most of its time.
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
