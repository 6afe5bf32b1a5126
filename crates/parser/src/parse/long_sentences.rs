//! Sentences of thousands of words, parsed in pieces.
//!
//! A sentence of n words has n² arcs, whose marginals take O(n³): what is called a sentence but is a
//! chapter or a table would take hours and all memory. So above [`LONGEST_WHOLE`] words it is cut into
//! pieces of ½L to L words, each is parsed as if it were a sentence, and their trees are joined. That is
//! O(n L²) time and O(n + L²) memory, with L = 250. (`tutte parse` of English, preset `fast`, one thread,
//! model and input included: 500 words as a whole 0.4 s and 96 MB, 10,000 in pieces 2.7 s and 62 MB, 100,000
//! in 23 s and 94 MB; with `--probs` 0.5 s and 141 MB, 2.8 s and 64 MB, 21 s and 149 MB.)
//!
//! **Where it is cut** (`cut.rs`): never between heads that are given and their words, if that can be; not
//! inside a multiword token; after `.`, `!` or `?`, else after `;` or `:`, else after a comma, else
//! anywhere; of several such places, at the last.
//!
//! **How pieces are joined** (`join.rs`). Where trees may have several root words, those of all pieces are. Where they
//! have one, it is that r of the first piece (or of the piece in which a root word is given), and the root
//! words of the others become its dependents, with the label `parataxis` if the model has it, else with
//! the one they have. *That is a tree of the set:* every word descends from the root word of its piece,
//! which is r or has the head r, so there are no cycles and one root word. If pieces are projective, so is
//! the whole: an arc inside a piece covers words of that piece only, which descend from its head as they
//! did; an arc r → r′ covers only words that descend from r, for all do.
//!
//! **What it costs**, in heads for each cut, is measured in `docs/results/raw-text.md` (example `pieces`).
//!
//! **What probabilities are of.** Of the pieces: P(tree) = Π P(tree of piece), entropies add. No model has
//! looked at arcs between pieces. What is said of a word that joins its piece to r (and of r as another
//! head of a word) is the probability that it is the root word of its piece.

mod cut;
mod join;
mod split_constraints;

use tutte_treebank::Sentence;
use tutte_trees::Constraints;

use self::cut::{cut, piece, piece_of};
use self::join::Joined;
use self::split_constraints::{divide, renumbered};
use crate::parse::constraints;
use crate::{Analysis, Certainty, Error, LabelModel, Notes, Parse, Parser, Weights};

/// The most words of a sentence that is parsed as a whole; longer ones are parsed in pieces, and flagged
/// by the comment `# tutte_pieces`. At this length, a parse takes up to 120 MB and half a second.
pub const LONGEST_WHOLE: usize = 500;

/// The most words of a sentence of which there is a [distribution](Parser::distribution), which cannot be
/// had in pieces; it takes half a gigabyte.
pub const LONGEST_DISTRIBUTION: usize = 1000;

/// The comment that says in how many pieces a sentence was parsed.
const PIECES: &str = "tutte_pieces";

/// From how many words on a sentence is cut, and how many words a piece has at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most words of a sentence that is parsed as a whole; by default [`LONGEST_WHOLE`].
    pub whole: usize,
    /// The most words of a piece, at least 2.
    pub piece: usize,
}

impl Default for Limits {
    /// Pieces are shorter than what is left whole: once a sentence is cut, shorter ones lose little and
    /// take a third of the time.
    fn default() -> Self {
        Self { whole: LONGEST_WHOLE, piece: LONGEST_WHOLE / 2 }
    }
}

/// What is wanted of a sentence that is parsed in pieces, whose distributions do not stay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// Heads that are not the one of the tree are remembered if they are more probable than this.
    pub alternatives_above: f64,
    /// Heads less probable than this are left open, unless they are given.
    pub open_below: f64,
}

/// A sentence that was parsed in pieces, each as if it were a sentence.
#[derive(Clone, Debug)]
pub struct Pieces<'a> {
    /// The best trees of all pieces, joined.
    pub parse: Parse,
    /// Its heads, but for those that are left open.
    pub heads: Vec<Option<usize>>,
    /// How sure the pieces are of each word's head and label, and what else they may be. Of words that join
    /// pieces, it is about their being the root word of their piece.
    pub certainties: Vec<Certainty<'a>>,
    /// The sum of the log-probabilities of the heads and labels of all pieces, in nats.
    pub log_prob: f64,
    /// The sum of the entropies of all pieces, in nats.
    pub entropy: f64,
    names: &'a [String],
}

impl<'a, W: Weights> Parser<'a, W> {
    /// The same with other limits of what is parsed as a whole.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Whether a sentence is too long to be parsed as a whole.
    pub fn needs_pieces(&self, sentence: &Sentence) -> bool {
        sentence.len() > self.limits.whole
    }

    /// The best trees of the pieces of a sentence, joined.
    pub(crate) fn parse_in_pieces(&mut self, sentence: &Sentence) -> Result<Parse, Error> {
        let pieces = cut(sentence, &Constraints::new(), self.limits.piece);
        let mut whole = Joined::new(sentence.len(), pieces.len(), self);
        for words in pieces {
            let parse = self.parse_whole(&piece(sentence, &words)?)?;
            whole.add(&words, &parse, |_| false);
        }
        whole.parse()
    }

    /// Parses a sentence in pieces, whatever its length, with what [`analyse`](Self::analyse) would say of
    /// each piece as far as it is asked for. Heads that are given are kept within pieces; sentences are cut
    /// where no given arc is, as far as possible.
    ///
    /// ```
    /// # use tutte::{TrainingOptions, Parser, Thresholds, train};
    /// # let treebank: [tutte_treebank::Sentence; 1] = ["\
    /// # 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
    /// # 2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
    /// # 3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\t_
    /// # ".parse()?];
    /// # let options = TrainingOptions { bits: 14, label_bits: 8, passes: 2, ..TrainingOptions::plain() };
    /// # let model = train(&treebank, &options, |_, _| {})?;
    /// use tutte_treebank::Sentence;
    /// use tutte_trees::Constraints;
    ///
    /// let words = (1..=2000).map(|word| format!("{word}\tDogs\tdog\tNOUN\t_\t_\t_\t_\t_\t_\n"));
    /// let mut sentence: Sentence = words.collect::<String>().parse()?;
    /// let wanted = Thresholds { alternatives_above: 0.05, open_below: 0.0 };
    /// let pieces = Parser::new(&model).analyse_in_pieces(&sentence, &Constraints::new(), wanted)?;
    /// assert_eq!(pieces.parse.pieces, 8);
    /// pieces.write(&mut sentence)?;
    /// pieces.annotate(&mut sentence, &[])?;
    /// assert_eq!(sentence.comment("tutte_pieces"), Some("8"));
    /// assert!(sentence.tree()?.root_words().count() == 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Contradiction`] if no tree satisfies what is known, or a given arc joins two pieces;
    /// otherwise as [`parse`](Self::parse).
    pub fn analyse_in_pieces(
        &mut self,
        sentence: &Sentence,
        known: &Constraints,
        wanted: Thresholds,
    ) -> Result<Pieces<'a>, Error> {
        let (set, labels): (_, &'a LabelModel<W>) = (self.tree_set(), &self.model().labels);
        constraints::check(known, sentence, set, labels)?;
        let pieces = cut(sentence, known, self.limits.piece);
        let mut told = divide(known, sentence, &pieces)?;
        let is_root = |arc: &&(usize, usize)| arc.0 == 0;
        let given_root = known.required_arcs().iter().find(is_root).map(|&(_, word)| word);
        let first = given_root.map_or(0, |word| piece_of(&pieces, word));

        let mut whole = Joined::new(sentence.len(), pieces.len(), self);
        let mut heads = vec![None; sentence.len()];
        let mut certainties = vec![Certainty::default(); sentence.len()];
        let (mut log_prob, mut entropy) = (0.0, 0.0);
        // The root word that the others are joined to is found first.
        let others = (0..pieces.len()).filter(|&number| number != first);
        for number in std::iter::once(first).chain(others) {
            let words = &pieces[number];
            let told = told[number].given_root(whole.root);
            let mut piece = piece(sentence, words)?;
            let analysis = self.analyse(&piece, &told);
            let Analysis { parse, distribution } =
                analysis.map_err(|error| renumbered(error, sentence, words.start))?;
            whole.add(words, &parse, |word| {
                told.required_labels().iter().any(|(labelled, _)| *labelled == word)
            });

            let mut open: Vec<Option<usize>> = Vec::with_capacity(words.len());
            let mut names = Vec::with_capacity(words.len());
            for (arc, prob) in parse.tree.arcs().zip(&parse.head_probs) {
                let is_open = *prob < wanted.open_below && !told.required_arcs().contains(&arc);
                open.push((!is_open).then_some(arc.0));
                let name = distribution.name(parse.labels[arc.1 - 1]);
                names.push(if is_open { "_" } else { name });
            }
            piece.set_heads(&open)?;
            piece.set_deprels(&names)?;
            log_prob += distribution.log_prob_in(&piece)?;
            entropy += distribution.entropy();
            for (at, head) in open.into_iter().enumerate() {
                let place = words.start + at;
                let label = head.map(|_| names[at]).filter(|name| *name != "_");
                let above = wanted.alternatives_above;
                let mut sure = distribution.certainty(at + 1, head, label, above)?;
                sure.head = head.map(|_| parse.head_probs[at]);
                for other in &mut sure.alternatives {
                    if let (0, Some(_), Some(label)) =
                        (other.head, whole.target(words), whole.label)
                    {
                        other.label = distribution.name(label);
                    }
                    other.head = whole.head(words, other.head);
                }
                certainties[place] = sure;
                heads[place] = head.map(|head| whole.head(words, head));
            }
        }
        let (parse, names) = (whole.parse()?, labels.labels());
        Ok(Pieces { parse, heads, certainties, log_prob, entropy, names })
    }
}

impl Pieces<'_> {
    /// Gives a sentence the heads, but for those that are left open, and their labels, and flags it by the
    /// comment `# tutte_pieces`; what was noted of other heads goes.
    ///
    /// # Errors
    /// If the sentence has another length, or a label cannot be written.
    pub fn write(&self, sentence: &mut Sentence) -> Result<(), Error> {
        let name = |(head, label): (&Option<usize>, &usize)| match (head, self.names.get(*label)) {
            (Some(_), Some(name)) => name.as_str(),
            _ => "_",
        };
        let labels: Vec<&str> = self.heads.iter().zip(&self.parse.labels).map(name).collect();
        sentence.set_heads(&self.heads)?;
        sentence.set_deprels(&labels)?;
        Notes::clear(sentence)?;
        flag(sentence, self.parse.pieces)
    }

    /// Writes into a sentence how sure the pieces are, as [`LabelledDistribution::annotate`] does, and more
    /// comments: their keys, without prefix, and values.
    ///
    /// [`LabelledDistribution::annotate`]: crate::LabelledDistribution::annotate
    ///
    /// # Errors
    /// If the sentence has another length, or is CoNLL-X, which has no room for this.
    pub fn annotate(
        &self,
        sentence: &mut Sentence,
        comments: &[(&'static str, String)],
    ) -> Result<(), Error> {
        let entries: Vec<_> = self.certainties.iter().map(Certainty::entries).collect();
        Notes::write(sentence, self.log_prob, self.entropy, comments, Some(&entries))?;
        flag(sentence, self.parse.pieces)
    }
}

/// Says in how many pieces a sentence was parsed, where there is room for comments.
pub(crate) fn flag(sentence: &mut Sentence, pieces: usize) -> Result<(), Error> {
    if pieces > 1 && sentence.format() == tutte_treebank::Format::ConllU {
        sentence.set_comment(PIECES, Some(&pieces.to_string()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
