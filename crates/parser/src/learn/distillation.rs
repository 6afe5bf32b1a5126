//! Distillation: a teacher answers raw text, and a student learns from the answers.
//!
//! ```text
//! raw text ─▶ teacher ─▶ sentences with answers ─▶ train_pipeline, as trees of another parser ─▶ student
//! ```
//!
//! The answers are sentences with the teacher's tags and its best tree, with the probabilities of its arcs
//! ([`write_answers`]) and of its tags ([`write_soft_tags`]). Write them to a file once, and train students of several
//! sizes on it ([`Recipe::with_silver`](super::Recipe::with_silver)).

use tutte_treebank::Sentence;
use tutte_trees::{Constraints, TreeSet};

use super::teacher::write_answers;
use crate::text::write_soft_tags;
use crate::{AnnotationOptions, Annotator, Compact, Error, Model, Pipeline, map_batches};

/// Settings of a teacher.
///
/// ```
/// let options = tutte::learn::TeacherOptions::default().with_least_confidence(0.9);
/// assert_eq!(options.least_probability, 0.01);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TeacherOptions {
    /// Set of trees of the student, if the teacher's is another one.
    pub tree_set: Option<TreeSet>,
    /// Arcs and tags less probable than this are left out of answers.
    pub least_probability: f64,
    /// Sentences whose heads are less probable than this, in the mean, are left out.
    pub least_confidence: f64,
    /// Longer sentences are left out.
    pub most_words: usize,
    /// Number of threads. It does not change the answers.
    pub threads: usize,
}

impl Default for TeacherOptions {
    fn default() -> Self {
        Self {
            tree_set: None,
            least_probability: 0.01,
            least_confidence: 0.0,
            most_words: 100,
            threads: 1,
        }
    }
}

tutte_linear::setters! {
    TeacherOptions {
        with_tree_set => tree_set: Option<TreeSet>,
        with_least_probability => least_probability: f64,
        with_least_confidence => least_confidence: f64,
        with_most_words => most_words: usize,
        with_threads => threads: usize,
    }
}

/// Counts of a teacher's answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Coverage {
    /// Sentences that were read.
    pub sentences: usize,
    /// Words that were read.
    pub words: usize,
    /// Sentences with an answer.
    pub answered_sentences: usize,
    /// Words with an answer.
    pub answered_words: usize,
    /// Sentences that were left out because they are too long.
    pub long_sentences: usize,
    /// Sentences that were left out because the teacher was not sure enough of them.
    pub uncertain_sentences: usize,
    /// Mean probability of the heads of answered words.
    pub confidence: f64,
}

/// Lets a teacher answer all sentences that `next` reads. Passes those with an answer to `write`, in their order.
///
/// ```
/// # let treebank: Vec<tutte_treebank::Sentence> = vec![
/// #     "1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tbark\tbark\tVERB\t_\t_\t0\troot\t_\t_\n".parse()?,
/// # ];
/// # let options = tutte::TrainingOptions::plain().with_bits(14).with_label_bits(8).with_passes(2);
/// # let model = tutte::Model::from(tutte::train(&treebank, &options, &mut ())?).compact();
/// use tutte::learn::{TeacherOptions, answer, has_answers};
///
/// let mut sentences = treebank.iter();
/// let mut answers = Vec::new();
/// let next = |sentence: &mut tutte_treebank::Sentence| {
///     Ok(sentences.next().map(|next| sentence.clone_from(next)).is_some())
/// };
/// let coverage = answer(&model, &TeacherOptions::default(), next, |sentence| {
///     answers.push(sentence.clone());
///     Ok::<(), tutte::Error>(())
/// })?;
/// assert_eq!((coverage.answered_sentences, coverage.words), (1, 2));
/// assert!(has_answers(&answers[0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors of `next` and `write`; [`Error::NoParser`]; those of [`Annotator::analyse`].
pub fn answer<E: From<Error> + Send>(
    teacher: &Model<Compact>,
    options: &TeacherOptions,
    next: impl FnMut(&mut Sentence) -> Result<bool, E> + Send,
    mut write: impl FnMut(&Sentence) -> Result<(), E>,
) -> Result<Coverage, E> {
    let pipeline = Pipeline::new(teacher);
    let tree_set = options.tree_set.unwrap_or(pipeline.parser()?.tree_set);
    let pipeline = pipeline.with_tree_set(tree_set);
    let annotator = || pipeline.annotator();
    let answer = |annotator: &mut Annotator<'_>, _, sentence: &mut Sentence| {
        let is_left_out = sentence.is_empty() || sentence.len() > options.most_words;
        if is_left_out { Ok(None) } else { answered(annotator, sentence, options).map(Some) }
    };
    let mut coverage = Coverage::default();
    let mut sum = 0.0;
    map_batches(
        options.threads,
        annotator,
        answer,
        next,
        |sentence, answer: Result<_, Error>, _| {
            coverage.sentences += 1;
            coverage.words += sentence.len();
            match answer? {
                None => coverage.long_sentences += 1,
                Some(confidence) if confidence < options.least_confidence => {
                    coverage.uncertain_sentences += 1;
                }
                Some(confidence) => {
                    coverage.answered_sentences += 1;
                    coverage.answered_words += sentence.len();
                    sum += confidence * sentence.len() as f64;
                    write(sentence)?;
                }
            }
            Ok(())
        },
    )?;
    coverage.confidence = sum / coverage.answered_words.max(1) as f64;
    Ok(coverage)
}

/// Writes the answer into a sentence, and returns the mean probability of its heads.
fn answered(
    annotator: &mut Annotator<'_>,
    sentence: &mut Sentence,
    options: &TeacherOptions,
) -> Result<f64, Error> {
    let readings = annotator.tag(sentence)?;
    let tags = annotator.soft_tags(sentence, &readings, options.least_probability)?;
    // Tags that the sentence brought are certain.
    write_soft_tags(sentence, &tags.unwrap_or_else(|| vec![Vec::new(); sentence.len()]))?;
    let constraints = Constraints::new();
    let distributions = annotator.analyse(sentence, &readings, &constraints)?;
    let annotation = distributions.annotation(&constraints, &AnnotationOptions::tree())?;
    annotation.write(sentence)?;
    write_answers(sentence, &distributions.mixture(), options.least_probability)?;
    let heads = annotation.words.iter().filter_map(|word| word.head_prob);
    Ok(heads.sum::<f64>() / annotation.words.len().max(1) as f64)
}
