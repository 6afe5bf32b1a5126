//! Parsing of sentences with thousands of words, in pieces.
//!
//! A sentence of n words has n² arcs, and their marginals take O(n³). A chapter or a table that is read as one
//! sentence would take hours and all memory. Sentences of more than [`LONGEST_WHOLE`] words are therefore cut into
//! pieces of ½L to L words. Each piece is parsed like a sentence, and the trees are joined. This takes O(n L²) time
//! and O(n + L²) memory, with L = 250.
//!
//! **Cuts** (`cut.rs`). Cuts avoid required arcs as far as possible, and multiword tokens. They are after `.`, `!` or
//! `?`, else after `;` or `:`, else after a comma, else anywhere. Among equal places, the last one is chosen.
//!
//! **Joins** (`join.rs`). If trees may have several root words, the root words of all pieces are root words. Otherwise
//! the root word r is that of the first piece, or of the piece with a required root word. The root words of the other
//! pieces become dependents of r. Their label is `parataxis` if the model has it, else the one they have.
//!
//! *The result is a tree of the set.* Every word descends from the root word of its piece, which is r or a dependent of
//! r. Hence there is no cycle, and one root word. If the pieces are projective, the whole is projective. An arc inside
//! a piece covers only words of that piece, which descend from its head as before. An arc r → r′ covers only
//! descendants of r, because all words descend from r.
//!
//! Rules of the model hold in each piece, but not for the arcs between pieces.
//!
//! **Loss of accuracy.** `docs/results/raw-text.md` has the number of heads lost for each cut (example `pieces`).
//!
//! **Probabilities** are those of the pieces: P(tree) = Π P(tree of piece), and entropies add up. Arcs between pieces
//! have no score. If a word joins its piece to r, the probability of its head is the probability that it is the root
//! word of its piece. The same holds for r as an alternative head.

mod cut;
mod join;
mod split_constraints;

use std::ops::Range;

use tutte_treebank::Sentence;
use tutte_trees::Constraints;

use self::cut::{cut, piece, piece_of};
use self::join::Joined;
use self::split_constraints::{renumbered, split_constraints};
use crate::parse::constraints::check;
use crate::{
    Analysis, AnnotatedWord, Annotation, AnnotationOptions, Error, LabelModel, Mixture, Parse,
    Parser, Weights,
};

/// Greatest number of words of a sentence that is parsed as a whole. Longer sentences are parsed in pieces and get
/// the comment `# tutte_pieces`.
pub const LONGEST_WHOLE: usize = 500;

/// Greatest lengths of sentences that are parsed as a whole, and of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Greatest number of words of a sentence that is parsed as a whole; by default [`LONGEST_WHOLE`].
    pub whole: usize,
    /// Greatest number of words of a piece, at least 2.
    pub piece: usize,
}

impl Default for Limits {
    /// Pieces are half as long as the longest sentence that is parsed as a whole. Once a sentence is cut, shorter
    /// pieces cost little accuracy and save much time.
    fn default() -> Self {
        Self { whole: LONGEST_WHOLE, piece: LONGEST_WHOLE / 2 }
    }
}

/// The result for a long sentence that was parsed in pieces.
#[derive(Clone, Debug)]
pub struct LongSentenceParse<'a> {
    /// The best trees of all pieces, joined.
    pub parse: Parse,
    /// The annotation of the joined tree. Probabilities are those of the pieces.
    pub annotation: Annotation<'a>,
}

impl<'a, W: Weights> Parser<'a, W> {
    /// Sets the greatest lengths of whole sentences and of pieces.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns `true` if a sentence is too long to be parsed as a whole.
    pub fn needs_pieces(&self, sentence: &Sentence) -> bool {
        sentence.len() > self.limits.whole
    }

    /// Parses the pieces of a sentence and joins their best trees.
    pub(crate) fn parse_in_pieces(&mut self, sentence: &Sentence) -> Result<Parse, Error> {
        let pieces = cut(sentence, &Constraints::new(), self.limits.piece);
        let mut whole = Joined::new(sentence.len(), pieces.len(), self);
        for words in pieces {
            let parse = self.parse_whole(&piece(sentence, &words)?)?;
            whole.add(&words, &parse, |_| false);
        }
        whole.parse()
    }

    /// Parses a sentence of any length in pieces, and annotates it from the distributions of the pieces. Cuts avoid
    /// required arcs as far as possible. [`AnnotationOptions::marginals`] is ignored.
    ///
    /// ```
    /// # use tutte::{AnnotationOptions, TrainingOptions, Parser, train};
    /// # let treebank: [tutte_treebank::Sentence; 1] = ["\
    /// # 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
    /// # 2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
    /// # 3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\t_
    /// # ".parse()?];
    /// # let options = TrainingOptions::plain().with_bits(14).with_label_bits(8).with_passes(2);
    /// # let model = train(&treebank, &options, &mut ())?;
    /// use tutte_treebank::Sentence;
    /// use tutte_trees::Constraints;
    ///
    /// let words = (1..=2000).map(|word| format!("{word}\tDogs\tdog\tNOUN\t_\t_\t_\t_\t_\t_\n"));
    /// let mut sentence: Sentence = words.collect::<String>().parse()?;
    /// let options = AnnotationOptions::default();
    /// let found = Parser::new(&model).analyse_in_pieces(&sentence, &Constraints::new(), &options)?;
    /// assert_eq!(found.parse.pieces, 8);
    /// found.annotation.write(&mut sentence)?;
    /// assert_eq!(sentence.comment("tutte_pieces"), Some("8"));
    /// assert!(sentence.tree()?.root_words().count() == 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Contradiction`] if no tree satisfies the constraints, or a required arc connects two pieces.
    /// Otherwise as [`parse`](Self::parse).
    pub fn analyse_in_pieces(
        &mut self,
        sentence: &Sentence,
        constraints: &Constraints,
        options: &AnnotationOptions,
    ) -> Result<LongSentenceParse<'a>, Error> {
        let model = self.model();
        let labels: &'a LabelModel<W> = &model.labels;
        check(constraints, sentence, self.tree_set(), labels)?;
        let pieces = cut(sentence, constraints, self.limits.piece);
        let mut split = split_constraints(constraints, sentence, &pieces)?;
        let is_root = |arc: &&(usize, usize)| arc.0 == 0;
        let required_root = constraints.required_arcs().iter().find(is_root).map(|&(_, word)| word);
        let first = required_root.map_or(0, |word| piece_of(&pieces, word));
        let options = AnnotationOptions { marginals: false, ..options.clone() };

        let mut whole = Joined::new(sentence.len(), pieces.len(), self);
        let mut joined = Annotation::of_words(vec![AnnotatedWord::open(); sentence.len()]);
        // The piece with the root word that the others are joined to comes first.
        let others = (0..pieces.len()).filter(|&number| number != first);
        for number in std::iter::once(first).chain(others) {
            let words = &pieces[number];
            let constraints = split[number].given_root(whole.root);
            let analysis = self.analyse(&piece(sentence, words)?, &constraints);
            let Analysis { parse, distribution } =
                analysis.map_err(|error| renumbered(error, sentence, words.start))?;
            whole.add(words, &parse, |word| {
                constraints.required_labels().iter().any(|(labelled, _)| *labelled == word)
            });
            let mixture = Mixture::from(&distribution);
            let mut annotation = mixture.annotation(&parse, &constraints, &options)?;
            whole.renumber(words, &mut annotation.words, labels.labels());
            joined.add_piece(words, annotation);
        }
        joined.detail = options.detail;
        joined.pieces = pieces.len();
        let parse = whole.parse()?;
        joined.repair = parse.repair;
        Ok(LongSentenceParse { parse, annotation: joined })
    }
}

impl<'a> Annotation<'a> {
    /// Adds the words of a piece, whose heads have been renumbered, and its log-probability and entropy.
    fn add_piece(&mut self, words: &Range<usize>, piece: Annotation<'a>) {
        let sum = |sum: Option<f64>, added: Option<f64>| match added {
            Some(added) => Some(sum.unwrap_or(0.0) + added),
            None => sum,
        };
        self.log_prob = sum(self.log_prob, piece.log_prob);
        self.entropy = sum(self.entropy, piece.entropy);
        self.calibration = piece.calibration;
        for (word, annotated) in self.words[words.clone()].iter_mut().zip(piece.words) {
            *word = annotated;
        }
    }
}

#[cfg(test)]
mod tests;
