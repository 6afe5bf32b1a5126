//! Summary of the probabilities of all trees of a treebank.

use serde::Serialize;
use tutte_treebank::Sentence;
use tutte_trees::TreeSet;

use super::sentence_score::{Impossible, SentenceScore};
use crate::report::{Align, Table, count, counted, percent};

/// Sums over all sentences, and the least probable sentences.
pub(super) struct ScoreSummary {
    tree_set: TreeSet,
    totals: Totals,
    /// Largest number of sentences in `worst`.
    most: usize,
    /// Least probable sentences, the worst first.
    worst: Vec<Unlikely>,
}

#[derive(Clone, Default, Serialize)]
struct Totals {
    sentences: usize,
    words: usize,
    /// Sentences with heads for some words.
    partial: usize,
    /// Sentences without any head, which are not scored.
    headless: usize,
    /// Sentences whose trees are possible.
    possible: usize,
    /// Words with a head in these sentences.
    possible_words: usize,
    /// Possible trees with arcs that the model leaves out: their probabilities are estimates.
    with_arcs_left_out: usize,
    /// Trees with probability zero, by the reason.
    cycles: usize,
    not_in_tree_set: usize,
    with_impossible_labels: usize,
    otherwise_impossible: usize,
    arcs: usize,
    arcs_left_out: usize,
    /// Arcs whose head is the most probable one; one of the two most probable; one of the five most
    /// probable.
    rank_1: usize,
    rank_2: usize,
    rank_5: usize,
    labels: usize,
    #[serde(skip)]
    logprob: f64,
    #[serde(skip)]
    entropy: f64,
    #[serde(skip)]
    head_prob: f64,
    #[serde(skip)]
    label_prob: f64,
}

/// A sentence with a low probability.
#[derive(Clone, Serialize)]
struct Unlikely {
    place: String,
    sent_id: Option<String>,
    words: usize,
    /// Null if it is impossible.
    logprob: Option<f64>,
    logprob_per_word: Option<f64>,
    arcs_left_out: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    impossible: Option<Impossible>,
    /// Its least probable head, and the head that the model prefers.
    #[serde(skip_serializing_if = "Option::is_none")]
    oddest: Option<LeastProbableHead>,
}

#[derive(Clone, Serialize)]
struct LeastProbableHead {
    word: usize,
    form: String,
    head: usize,
    deprel: Option<String>,
    head_prob: f64,
    rather_head: usize,
    rather_deprel: String,
    rather_prob: f64,
}

/// The summary for people and programs.
#[derive(Serialize)]
pub(super) struct Report<'a> {
    tree_set: String,
    #[serde(flatten)]
    totals: &'a Totals,
    /// Log-probability of possible trees, per tree and per word. The entropy is that of all sentences.
    nats_per_tree: Option<f64>,
    nats_per_word: Option<f64>,
    entropy_per_sentence: Option<f64>,
    mean_head_prob: Option<f64>,
    mean_label_prob: Option<f64>,
    least_likely: &'a [Unlikely],
}

impl ScoreSummary {
    pub(super) fn new(tree_set: TreeSet, most: usize) -> Self {
        Self { tree_set, totals: Totals::default(), most, worst: Vec::new() }
    }

    pub(super) fn add(&mut self, sentence: &Sentence, score: SentenceScore) {
        let totals = &mut self.totals;
        let heads = score.heads();
        totals.sentences += 1;
        totals.words += sentence.len();
        totals.entropy += score.entropy;
        if heads == 0 {
            totals.headless += usize::from(!sentence.is_empty());
            return;
        }
        totals.partial += usize::from(heads < sentence.len());
        totals.arcs_left_out += score.arcs_left_out;
        match score.impossible {
            None => {
                totals.possible += 1;
                totals.possible_words += heads;
                totals.with_arcs_left_out += usize::from(score.arcs_left_out > 0);
                totals.logprob += score.logprob;
            }
            Some(Impossible::NoTree) => totals.cycles += 1,
            Some(Impossible::NotInTreeSet) => totals.not_in_tree_set += 1,
            Some(Impossible::Labels) => totals.with_impossible_labels += 1,
            Some(Impossible::Together) => totals.otherwise_impossible += 1,
        }
        for word in &score.words {
            if let Some((prob, rank)) = word.head_prob.zip(word.head_rank) {
                totals.arcs += 1;
                totals.head_prob += prob;
                // Arcs that were left out share the last rank.
                let within = |most| usize::from(rank <= most && !word.left_out);
                totals.rank_1 += within(1);
                totals.rank_2 += within(2);
                totals.rank_5 += within(5);
            }
            // All labels of a head that was left out are equally probable.
            if let Some(prob) = word.label_prob.filter(|_| word.head_prob > Some(0.0)) {
                totals.labels += 1;
                totals.label_prob += prob;
            }
        }
        let unlikely = Unlikely::new(sentence, &score);
        let at = self.worst.partition_point(|other| other.key() <= unlikely.key());
        if at < self.most {
            self.worst.insert(at, unlikely);
            self.worst.truncate(self.most);
        }
    }

    pub(super) fn report(&self) -> Report<'_> {
        let mean = |sum: f64, count: usize| (count > 0).then(|| sum / count as f64);
        let totals = &self.totals;
        Report {
            tree_set: self.tree_set.to_string(),
            totals,
            nats_per_tree: mean(totals.logprob, totals.possible),
            nats_per_word: mean(totals.logprob, totals.possible_words),
            entropy_per_sentence: mean(totals.entropy, totals.sentences),
            mean_head_prob: mean(totals.head_prob, totals.arcs),
            mean_label_prob: mean(totals.label_prob, totals.labels),
            least_likely: &self.worst,
        }
    }
}

impl Unlikely {
    fn new(sentence: &Sentence, score: &SentenceScore) -> Self {
        let words = sentence.len();
        let logprob = Some(score.logprob).filter(|nats| nats.is_finite());
        let oddest = score.oddest().and_then(|word| {
            Some(LeastProbableHead {
                word: word.id,
                form: word.form.clone(),
                head: word.head?,
                deprel: word.deprel.clone(),
                head_prob: word.head_prob?,
                rather_head: word.rather.head,
                rather_deprel: word.rather.deprel.clone(),
                rather_prob: word.rather.prob,
            })
        });
        Self {
            place: sentence.place().to_string(),
            sent_id: sentence.sent_id().map(str::to_owned),
            words,
            logprob,
            logprob_per_word: logprob.map(|nats| nats / score.heads().max(1) as f64),
            arcs_left_out: score.arcs_left_out,
            impossible: score.impossible,
            oddest,
        }
    }

    /// Returns the sort key: impossible trees first, by their number of impossible arcs, then by
    /// log-probability per word, in millionths of nats.
    fn key(&self) -> (i64, i64) {
        let millionths = |share: f64| (share * 1e6) as i64;
        match self.logprob_per_word {
            Some(nats) => (1, millionths(nats)),
            None => (0, -millionths(self.arcs_left_out as f64 / self.words as f64)),
        }
    }
}

impl LeastProbableHead {
    /// `7 telescope: 2 obl 0.35, rather 4 nmod 0.65`.
    fn text(&self) -> String {
        let label = self.deprel.as_deref().unwrap_or("_");
        let own =
            format!("{} {}: {} {label} {:.2}", self.word, self.form, self.head, self.head_prob);
        if self.head == self.rather_head {
            own
        } else {
            format!(
                "{own}, rather {} {} {:.2}",
                self.rather_head, self.rather_deprel, self.rather_prob
            )
        }
    }
}

impl Report<'_> {
    pub(super) fn text(&self) -> String {
        let t = self.totals;
        let mut table = Table::new([("", Align::Left), ("", Align::Left)]);
        let but = |number, what: &str| match number {
            0 => String::new(),
            _ => format!("; {} {what}", count(number)),
        };
        let partial = but(t.partial, "known in part");
        let headless = but(t.headless, "without heads");
        let judged = t.sentences - t.headless;
        let trees = counted(judged, "tree");
        table.row([
            "judged".to_owned(),
            format!("{trees}, {} with heads{partial}{headless}", counted(t.arcs, "word")),
        ]);
        let of = |part, whole| format!("{} ({} %)", count(part), percent(part, whole));
        let estimated =
            but(t.with_arcs_left_out, "of them estimated, with arcs that the model leaves out");
        table.row(["possible".to_owned(), of(t.possible, judged) + &estimated]);
        table.row(["probability 0".to_owned(), of(judged - t.possible, judged)]);
        for (number, why) in [
            (t.cycles, "whose heads form a cycle".to_owned()),
            (t.not_in_tree_set, format!("that are not in the set {}", self.tree_set)),
            (t.with_impossible_labels, "with labels that the model does not have there".to_owned()),
            (t.otherwise_impossible, "whose arcs are not possible together".to_owned()),
        ] {
            if number > 0 {
                table.row([String::new(), format!("{} {why}", count(number))]);
            }
        }
        let number = |number: Option<f64>, unit: &str| match number {
            Some(number) => format!("{number:.4}{unit}"),
            None => "–".to_owned(),
        };
        let per_word = number(self.nats_per_word, " a word");
        let per_tree = number(self.nats_per_tree, " nats a tree");
        table.row(["log-probability".to_owned(), format!("{per_tree}, {per_word}, if possible")]);
        table.row(["entropy".to_owned(), number(self.entropy_per_sentence, " nats a sentence")]);
        let ranks = format!(
            "{} % most probable, {} % of the best 2, {} % of the best 5, {} % left out",
            percent(t.rank_1, t.arcs),
            percent(t.rank_2, t.arcs),
            percent(t.rank_5, t.arcs),
            percent(t.arcs_left_out, t.arcs),
        );
        table.row(["heads".to_owned(), ranks]);
        table.row([String::new(), number(self.mean_head_prob, " is their mean probability")]);
        if t.labels > 0 {
            let text = number(self.mean_label_prob, " is their mean probability, given the head");
            table.row(["labels".to_owned(), text]);
        }
        let mut text = table.text(0);
        if !self.least_likely.is_empty() {
            text.push_str(&format!(
                "\nThe least likely sentences, by word\n{}",
                self.worst().text(2)
            ));
        }
        text
    }

    fn worst(&self) -> Table {
        let mut table = Table::new([
            ("sentence", Align::Left),
            ("words", Align::Right),
            ("nats", Align::Right),
            ("a word", Align::Right),
            ("left out", Align::Right),
            ("least probable head", Align::Left),
        ]);
        for unlikely in self.least_likely {
            let nats =
                |nats: Option<f64>| nats.map_or("−∞".to_owned(), |nats| format!("{nats:.2}"));
            let odd = unlikely.oddest.as_ref().map(LeastProbableHead::text);
            table.row([
                unlikely.sent_id.clone().unwrap_or_else(|| unlikely.place.clone()),
                count(unlikely.words),
                nats(unlikely.logprob),
                nats(unlikely.logprob_per_word),
                count(unlikely.arcs_left_out),
                odd.unwrap_or_default(),
            ]);
        }
        table
    }
}
