//! Training of staged labels: −Σ log p(ℓ | x, h → m) over the gold arcs, minimised by AdaGrad, arc by arc, with
//! dropout of templates. It runs beside any optimizer of arcs.

use std::collections::BTreeSet;
use std::io;

use tutte_linear::{AdaGrad, Average, Checkpointed, Codec, Order, draw_templates};
use tutte_treebank::Sentence;

use super::{Corpus, Example, LabelOptions};
use crate::features::{FeatureSet, Prepared};
use crate::learn::corpus::UNKNOWN_LABEL;
use crate::{LabelModel, Labelling};

/// Returns an untrained model of the labels of a treebank.
pub(super) fn untrained(treebank: &[Sentence], labelling: Labelling, bits: u32) -> LabelModel {
    if labelling == Labelling::None {
        return LabelModel::none();
    }
    LabelModel::new(FeatureSet::labels(), names(treebank), bits).with_labelling(labelling)
}

/// Returns the labels of a treebank, sorted. If no arc has a label, `_` is the only one.
pub(super) fn names(treebank: &[Sentence]) -> Vec<String> {
    let words = treebank.iter().flat_map(|sentence| sentence.words());
    let known = words.filter(|word| word.head().is_some()).map(|word| word.deprel());
    let names: BTreeSet<&str> = known.filter(|name| *name != UNKNOWN_LABEL).collect();
    if names.is_empty() {
        return vec![UNKNOWN_LABEL.to_owned()];
    }
    names.into_iter().map(str::to_owned).collect()
}

/// Learns the weights of labels.
#[derive(Debug)]
pub(super) struct LabelTrainer {
    step: AdaGrad,
    dropout: f64,
    order: Order,
    average: Average,
    prepared: Prepared,
    kept: Vec<bool>,
    rows: Vec<usize>,
    log_probs: Vec<f32>,
}

impl LabelTrainer {
    pub(super) fn new(
        model: &LabelModel,
        options: &LabelOptions,
        passes: usize,
        seed: u64,
    ) -> Self {
        Self {
            step: AdaGrad::new(model.weights.len(), options.rate, options.damping),
            dropout: options.dropout,
            order: Order::new(seed, 1),
            average: Average::of_second_half(passes),
            prepared: Prepared::default(),
            kept: Vec::new(),
            rows: Vec::new(),
            log_probs: Vec::new(),
        }
    }

    /// Does one pass over all gold arcs.
    pub(super) fn pass(&mut self, corpus: &Corpus<'_>, model: &mut LabelModel) {
        for at in self.order.shuffled(corpus.examples.len()) {
            self.learn_sentence(&corpus.examples[at], model);
        }
        self.average.add(model.weights.iter());
    }

    /// Returns the averaged weights, once averaging has begun.
    pub(super) fn averaged(&self) -> Option<Vec<f32>> {
        self.average.mean()
    }

    fn learn_sentence(&mut self, example: &Example, model: &mut LabelModel) {
        /// Gold labels that are more probable than this need no step.
        const PROBABLE_ENOUGH: f32 = 0.998;
        let templates = model.features.templates().len();
        let scale =
            draw_templates(self.order.stream(), templates, self.dropout, &mut self.kept) as f32;
        let kept = &self.kept;
        let is_gold = |head, modifier: usize| example.gold[modifier - 1] == Some(head);
        self.prepared.fill_for(
            &model.features,
            &example.labels,
            |template| kept[template],
            is_gold,
        );
        for (modifier, gold) in (1..).zip(example.gold.iter().zip(&example.label_of)) {
            let (&Some(head), &Some(gold)) = gold else { continue };
            model.rows(&self.prepared, head, modifier, &mut self.rows);
            model.log_probs(&self.rows, head, scale, &mut self.log_probs);
            let gradient = &mut self.log_probs;
            if gradient[gold].exp() > PROBABLE_ENOUGH {
                continue;
            }
            // ∂ −log p(gold) / ∂ score = p − [gold].
            gradient.iter_mut().for_each(|log_prob| *log_prob = log_prob.exp());
            gradient[gold] -= 1.0;
            gradient.resize(model.width(), 0.0);
            for &row in &self.rows {
                self.step.descend_row(&mut model.weights, row, gradient);
            }
        }
    }
}

impl Checkpointed for LabelTrainer {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        self.step.checkpoint(codec)?;
        self.order.checkpoint(codec)?;
        self.average.checkpoint(codec)
    }
}
