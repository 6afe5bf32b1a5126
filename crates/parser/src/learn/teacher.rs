//! The answers of a teacher: probabilities of labelled arcs, in place of one tree.
//!
//! They are stored in MISC of each word, as `Teacher=HEAD:LABEL:PROBABILITY,…`:
//!
//! ```text
//! 5  telescope  …  2  obl  _  Teacher=2:obl:0.8671,3:nmod:0.1279
//! ```
//!
//! So a file of answers is a treebank that every program reads, and HEAD and DEPREL are the teacher's best tree.
//! Improbable arcs are left out. When answers are read, the probabilities of each word are scaled to a sum of 1.
//! Probabilities of tags are beside them, where the teacher was not sure ([`crate::text::SoftTag`]).

use std::collections::HashMap;

use tutte_treebank::Sentence;

use crate::{Error, Mixture};

/// Key of the answers in MISC.
pub const TEACHER: &str = "Teacher";

/// An arc, and the probability that a teacher gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftArc {
    /// The head, 0 for the root.
    pub head: usize,
    /// The dependent, from 1.
    pub modifier: usize,
    /// The label, as its index in the student; `None` if the teacher has no labels.
    pub label: Option<usize>,
    /// Probability of the labelled arc.
    pub probability: f64,
}

/// Writes the labelled arcs of a distribution into MISC of a sentence: those with at least the probability `least`, or the
/// most probable one of a word that has none. Earlier answers are replaced.
///
/// ```
/// # use tutte::{TrainingOptions, Mixture, Parser, train};
/// # let treebank: [tutte_treebank::Sentence; 1] =
/// #     ["1\tTea\ttea\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No\n".parse()?];
/// # let options = TrainingOptions::plain().with_passes(1).with_bits(12).with_label_bits(8);
/// # let model = train(&treebank, &options, &mut ())?;
/// use tutte::learn::write_answers;
///
/// let mut sentence = treebank[0].clone(); // "Tea"
/// let distribution = Parser::new(&model).distribution(&sentence)?;
/// write_answers(&mut sentence, &Mixture::from(&distribution), 0.01)?;
/// assert_eq!(sentence.word(1).unwrap().misc(), "SpaceAfter=No|Teacher=0:root:1.0000");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the sentence has another length, or is CoNLL-X, which has no MISC.
pub fn write_answers(
    sentence: &mut Sentence,
    teacher: &Mixture<'_, '_>,
    least: f64,
) -> Result<(), Error> {
    let mut entries = Vec::with_capacity(teacher.words());
    for modifier in 1..=teacher.words() {
        let mut answers = Vec::new();
        let of_head = |head: usize| teacher.marginals()[(head, modifier)];
        let heads = || (0..=teacher.words()).filter(|head| *head != modifier);
        let highest = heads().map(of_head).fold(0.0, f64::max);
        for head in heads().filter(|&head| of_head(head) >= least.min(highest)) {
            let of_head = of_head(head);
            let labels = teacher.label_probs(head, modifier)?;
            for (label, share) in labels.into_iter().enumerate() {
                answers.push((of_head * share, head, label));
            }
        }
        // The most probable first; of equals, that of the first head.
        answers.sort_by(|a, b| b.0.total_cmp(&a.0));
        let count = answers.iter().take_while(|(probability, ..)| *probability >= least).count();
        answers.truncate(count.max(1));
        let written = |(probability, head, label): &(f64, usize, usize)| {
            format!("{head}:{}:{probability:.4}", escaped(teacher.name(*label)))
        };
        let written: Vec<String> = answers.iter().map(written).collect();
        entries.push(vec![(TEACHER, written.join(","))]);
    }
    sentence.replace_misc(&[TEACHER], &entries)?;
    Ok(())
}

/// Returns `true` if a sentence has answers of a teacher.
pub fn has_answers(sentence: &Sentence) -> bool {
    // Most sentences have none, so the text is searched first.
    sentence.as_str().contains(TEACHER)
        && sentence.words().any(|word| word.misc_entry(TEACHER).is_some())
}

/// Reads the answers in a sentence. Returns none unless every word has one. Labels that `numbers` lacks are left out.
///
/// # Errors
/// [`Error::Setting`] for an answer that is not an arc of the sentence, or whose probability is not a number from 0
/// to 1.
pub(crate) fn read_answers(
    sentence: &Sentence,
    numbers: &HashMap<&str, usize>,
) -> Result<Vec<SoftArc>, Error> {
    if !has_answers(sentence) {
        return Ok(Vec::new());
    }
    let mut arcs = Vec::new();
    for (modifier, word) in (1..).zip(sentence.words()) {
        let first = arcs.len();
        let answers = word.misc_entry(TEACHER).unwrap_or_default();
        for answer in answers.split(',').filter(|answer| !answer.is_empty()) {
            let (head, label, probability) =
                parsed(answer, modifier, sentence.len()).ok_or_else(|| {
                    Error::Setting(format!(
                        "{}: word {modifier} has the answer {TEACHER}={answer}; write \
                         HEAD:LABEL:PROBABILITY, with another word of the sentence or 0 as the head",
                        sentence.place()
                    ))
                })?;
            let label = match label {
                "_" => None,
                name => match numbers.get(unescaped(name).as_str()) {
                    Some(number) => Some(*number),
                    // Unlabelled training has no numbers at all.
                    None if numbers.is_empty() => None,
                    None => continue,
                },
            };
            arcs.push(SoftArc { head, modifier, label, probability });
        }
        let sum: f64 = arcs[first..].iter().map(|arc| arc.probability).sum();
        if sum <= 0.0 {
            return Ok(Vec::new());
        }
        arcs[first..].iter_mut().for_each(|arc| arc.probability /= sum);
    }
    Ok(arcs)
}

/// Returns head, label and probability of an answer, if it is an arc to this word.
fn parsed(answer: &str, modifier: usize, words: usize) -> Option<(usize, &str, f64)> {
    let (head, rest) = answer.split_once(':')?;
    let (label, probability) = rest.rsplit_once(':')?;
    let head = head.parse().ok().filter(|head| *head <= words && *head != modifier)?;
    let probability = probability.parse().ok().filter(|it| (0.0..=1.0).contains(it))?;
    Some((head, label, probability))
}

/// Escapes the comma, which separates answers.
fn escaped(label: &str) -> String {
    label.replace('%', "%25").replace(',', "%2C")
}

fn unescaped(label: &str) -> String {
    label.replace("%2C", ",").replace("%25", "%")
}

#[cfg(test)]
mod tests;
