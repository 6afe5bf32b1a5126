//! How sure a model is of a sentence's heads, written into the sentence.
//!
//! In MISC of every word, `HeadProb`, the probability of its head; `LabelProb`, that of its label given
//! the head; and `AltHead`, other heads as `head:label:probability`, several separated by commas. In
//! comments, `# tutte_logprob`, the log-probability of the heads and labels together, and
//! `# tutte_entropy`, that of the distribution, both in nats; of a sentence that was parsed in pieces, whose
//! number is in `# tutte_pieces`, they are sums over these. What was noted before is replaced.

use std::collections::BTreeMap;

use tutte_treebank::{AUDITED, Format, PROBABILITIES, Sentence};

use crate::{Alternative, Error, LabelledDistribution, Mixture};

/// The comments that are ours.
const COMMENTS: &str = "tutte_";

/// The one of them that is about the words, and stays: which part of a long sentence this is.
const SPLIT: &str = "tutte_split";

/// What to write of a distribution into a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Notes {
    /// Whether to write into MISC; comments always are written.
    pub in_misc: bool,
    /// Heads that are not the one of the tree are mentioned if they are more probable than this.
    pub alternatives_above: f64,
    /// Whether to write the rank of the head among all heads, `HeadRank`: 1 for the most probable.
    pub ranks: bool,
    /// What is written as `HeadProb` of each word, if not the probabilities of the distribution: those of
    /// [`Parse::head_probs`](crate::Parse), as calibration reports them.
    pub head_probs: Option<Vec<f64>>,
    /// What is to be said of the labels of words whose heads the distribution knows nothing of, by word.
    pub label_probs: BTreeMap<usize, f64>,
    /// The log-probability to write, if it is not that of the distribution ([`TreeScore`](crate::TreeScore)).
    pub log_prob: Option<f64>,
    /// More comments, `# tutte_key = value`: their keys, without the prefix, and values.
    pub comments: Vec<(&'static str, String)>,
}

/// How sure a distribution is of what is said of a word.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Certainty<'a> {
    /// The probability of its head, if it has one.
    pub head: Option<f64>,
    /// The probability of its label, given its head, if it has both.
    pub label: Option<f64>,
    /// Other heads, the most probable first.
    pub alternatives: Vec<Alternative<'a>>,
}

impl Certainty<'_> {
    /// The other heads as an entry of MISC lists them, `4:nmod:0.3801,1:obl:0.0610`; nothing if there
    /// are none.
    pub fn alternatives_listed(&self) -> Option<String> {
        let others = self.alternatives.iter().map(|other| {
            // A bar would end the entry; UD writes it so.
            let label = other.label.replace('|', "\\p");
            format!("{}:{label}:{}", other.head, probability(other.probability))
        });
        let others: Vec<String> = others.collect();
        (!others.is_empty()).then(|| others.join(","))
    }

    /// The entries of MISC that say all this.
    pub(crate) fn entries(&self) -> Vec<(&'static str, String)> {
        let [head_prob, label_prob, alternatives, _] = PROBABILITIES;
        let mut entries = Vec::new();
        entries.extend(self.head.map(|prob| (head_prob, probability(prob))));
        entries.extend(self.label.map(|prob| (label_prob, probability(prob))));
        entries.extend(self.alternatives_listed().map(|others| (alternatives, others)));
        entries
    }
}

impl Notes {
    /// Removes all that was noted of a sentence's heads, when these are no more.
    ///
    /// # Errors
    /// None that a sentence which was read can cause.
    pub fn clear(sentence: &mut Sentence) -> Result<(), Error> {
        let [head_prob, _, alternatives, _] = PROBABILITIES;
        // Most have no notes, which one look at their text tells; the others never come without these.
        let signs = [head_prob, alternatives, AUDITED[0]];
        let is_noted = signs.iter().any(|key| sentence.as_str().contains(key));
        if is_noted && sentence.format() == Format::ConllU {
            let words = sentence.len();
            let keys: Vec<&str> = PROBABILITIES.into_iter().chain(AUDITED).collect();
            sentence.replace_misc(&keys, &vec![Vec::new(); words])?;
        }
        let is_ours = |comment: &str| comment.trim_start_matches('#').trim().starts_with(COMMENTS);
        if sentence.format() == Format::ConllU && sentence.comments().any(is_ours) {
            replace(sentence, Vec::new())?;
        }
        Ok(())
    }

    /// Writes a log-probability, an entropy and more comments, and entries of MISC if there are to be any.
    pub(crate) fn write(
        sentence: &mut Sentence,
        log_prob: f64,
        entropy: f64,
        more: &[(&'static str, String)],
        entries: Option<&[Vec<(&'static str, String)>]>,
    ) -> Result<(), Error> {
        let mut comments = vec![
            (format!("{COMMENTS}logprob"), nats(log_prob)),
            (format!("{COMMENTS}entropy"), nats(entropy)),
        ];
        comments
            .extend(more.iter().map(|(key, value)| (format!("{COMMENTS}{key}"), value.clone())));
        if let Some(entries) = entries {
            sentence.replace_misc(&PROBABILITIES, entries)?;
        }
        replace(sentence, comments)
    }
}

/// Writes comments in the place of those noted before.
fn replace(sentence: &mut Sentence, mut comments: Vec<(String, String)>) -> Result<(), Error> {
    if let Some(part) = sentence.comment(SPLIT) {
        comments.insert(0, (SPLIT.to_owned(), part.to_owned()));
    }
    let comments: Vec<_> = comments.iter().map(|(key, value)| (key.as_str(), value)).collect();
    Ok(sentence.replace_comments(COMMENTS, &comments)?)
}

impl Default for Notes {
    /// Alternatives above 0.05.
    fn default() -> Self {
        Self {
            in_misc: true,
            alternatives_above: 0.05,
            ranks: false,
            head_probs: None,
            label_probs: BTreeMap::new(),
            log_prob: None,
            comments: Vec::new(),
        }
    }
}

impl<'a> LabelledDistribution<'a> {
    /// Writes into a sentence how probable its heads and labels are, and what else they might be. A
    /// word without head gets its alternatives only.
    ///
    /// ```
    /// # use tutte::{Notes, TrainingOptions, Parser, train};
    /// # let treebank: [tutte_treebank::Sentence; 1] =
    /// #     ["1\tTea\ttea\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No\n".parse()?];
    /// # let options = TrainingOptions { passes: 1, bits: 12, label_bits: 8, ..TrainingOptions::plain() };
    /// # let model = train(&treebank, &options, |_, _| {})?;
    /// let mut sentence = treebank[0].clone(); // "Tea"
    /// let distribution = Parser::new(&model).distribution(&sentence)?;
    /// distribution.annotate(&mut sentence, &Notes::default())?;
    /// let misc = "SpaceAfter=No|HeadProb=1.0000|LabelProb=1.0000";
    /// assert_eq!(sentence.word(1).map(|word| word.misc()), Some(misc));
    /// assert_eq!(sentence.comment("tutte_logprob"), Some("0.0000"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the sentence has another length, or is CoNLL-X, which has no room for this.
    pub fn annotate(&self, sentence: &mut Sentence, notes: &Notes) -> Result<(), Error> {
        Mixture::new(vec![(1.0, self)]).annotate(sentence, notes)
    }

    /// How sure it is that a word has this head and this label, and what else is more probable than a
    /// threshold. A label that the model does not have has probability zero; if the model has no
    /// labels at all, nothing is said of it.
    ///
    /// # Errors
    /// If there is no such arc.
    pub fn certainty(
        &self,
        word: usize,
        head: Option<usize>,
        label: Option<&str>,
        above: f64,
    ) -> Result<Certainty<'a>, Error> {
        Mixture::new(vec![(1.0, self)]).certainty(word, head, label, above)
    }

    /// How many heads of a word are more probable than this one, and one: 1 for the most probable.
    ///
    /// # Errors
    /// If there is no such arc.
    pub fn head_rank(&self, word: usize, head: usize) -> Result<usize, Error> {
        Mixture::new(vec![(1.0, self)]).head_rank(word, head)
    }
}

impl<'a> Mixture<'a, '_> {
    /// Writes into a sentence how probable its heads and labels are, and what else they might be, as
    /// [`LabelledDistribution::annotate`] does.
    ///
    /// # Errors
    /// If the sentence has another length, or is CoNLL-X, which has no room for this.
    pub fn annotate(&self, sentence: &mut Sentence, notes: &Notes) -> Result<(), Error> {
        let log_prob = notes.log_prob.map_or_else(|| self.log_prob_in(sentence), Ok)?;
        let words = (1..).zip(sentence.words()).filter(|_| notes.in_misc);
        let entries = words
            .map(|(word, token)| self.entries(word, token.head(), token.deprel(), notes))
            .collect::<Result<Vec<_>, _>>()?;
        let entries = notes.in_misc.then_some(entries.as_slice());
        Notes::write(sentence, log_prob, self.entropy(), &notes.comments, entries)
    }

    /// The entries of MISC of a word.
    fn entries(
        &self,
        word: usize,
        head: Option<usize>,
        label: &str,
        notes: &Notes,
    ) -> Result<Vec<(&'static str, String)>, Error> {
        let [.., rank] = PROBABILITIES;
        let label = Some(label).filter(|label| *label != "_");
        let mut sure = self.certainty(word, head, label, notes.alternatives_above)?;
        let reported = notes.head_probs.as_ref().and_then(|reported| reported.get(word - 1));
        sure.head = sure.head.map(|own| reported.copied().unwrap_or(own));
        sure.label = sure.label.map(|own| notes.label_probs.get(&word).copied().unwrap_or(own));
        let mut entries = sure.entries();
        if let Some(head) = head.filter(|_| notes.ranks) {
            entries.push((rank, self.head_rank(word, head)?.to_string()));
        }
        Ok(entries)
    }

    /// How sure it is of a word's head and label, as [`LabelledDistribution::certainty`] says.
    ///
    /// # Errors
    /// If there is no such arc.
    pub fn certainty(
        &self,
        word: usize,
        head: Option<usize>,
        label: Option<&str>,
        above: f64,
    ) -> Result<Certainty<'a>, Error> {
        let number = |name: &str| self.labels().iter().position(|other| other == name);
        let label_probability = |(head, label): (usize, &str)| match number(label) {
            Some(label) => self.label_probs(head, word).map(|probs| probs[label]),
            None => Ok(0.0),
        };
        let labelled = head.zip(label).filter(|_| !self.labels().is_empty());
        Ok(Certainty {
            head: head.map(|head| self.marginal(head, word)).transpose()?,
            label: labelled.map(label_probability).transpose()?,
            alternatives: self.others_above(word, head, above)?,
        })
    }
}

/// Four digits behind the point. Every word has some of these numbers, and formatting any number to the exact
/// digit takes ten times as long.
fn probability(probability: f64) -> String {
    let parts = (probability.clamp(0.0, 1.0) * 1e4).round() as u32;
    let digit = |power: u32| char::from(b'0' + (parts / power % 10) as u8);
    [digit(10_000), '.', digit(1_000), digit(100), digit(10), digit(1)].iter().collect()
}

/// Minus nothing is nothing.
fn nats(nats: f64) -> String {
    let text = format!("{nats:.4}");
    if text == "-0.0000" { "0.0000".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_have_four_digits() {
        for parts in 0..=100_000 {
            // Not halfway between two, where it does not matter.
            let p = (f64::from(parts) + 0.2) / 100_000.2;
            assert_eq!(probability(p), format!("{p:.4}"));
        }
        let odd = [-1e-9, 1.0 + 1e-9, f64::NAN].map(probability);
        assert_eq!(odd, ["0.0000", "1.0000", "0.0000"]);
    }
}
