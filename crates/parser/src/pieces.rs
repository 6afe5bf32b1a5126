//! Sentences of thousands of words, parsed in pieces.
//!
//! A sentence of n words has n² arcs, whose marginals take O(n³): what is called a sentence but is a
//! chapter or a table would take hours and all memory. So above [`LONGEST_WHOLE`] words it is cut into
//! pieces of ½L to L words, each is parsed as if it were a sentence, and their trees are joined. That is
//! O(n L²) time and O(n + L²) memory, with L = 250. (`tutte parse` of English, preset `fast`, one thread,
//! model and input included: 500 words as a whole 0.4 s and 96 MB, 10,000 in pieces 2.7 s and 62 MB, 100,000
//! in 23 s and 94 MB; with `--probs` 0.5 s and 141 MB, 2.8 s and 64 MB, 21 s and 149 MB.)
//!
//! **Where it is cut** ([`cut`]): never between heads that are given and their words, if that can be; not
//! inside a multiword token; after `.`, `!` or `?`, else after `;` or `:`, else after a comma, else
//! anywhere; of several such places, at the last.
//!
//! **How pieces are joined.** Where trees may have several root words, those of all pieces are. Where they
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

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::ops::Range;

use tutte_treebank::{Column, Id, Sentence};
use tutte_trees::{Constraints, Tree};

use crate::known;
use crate::{Analysis, Certainty, Contradiction, Error, LabelModel, Notes, Parse, Parser, Weights};

/// The most words of a sentence that is parsed as a whole; longer ones are parsed in pieces, and flagged
/// by the comment `# tutte_pieces`. At this length, a parse takes up to 120 MB and half a second.
pub const LONGEST_WHOLE: usize = 500;

/// The most words of a sentence of which there is a [distribution](Parser::distribution), which cannot be
/// had in pieces; it takes half a gigabyte.
pub const LONGEST_DISTRIBUTION: usize = 1000;

/// The label of arcs that join pieces.
const JOIN: &str = "parataxis";

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
    /// # use tutte::{Options, Parser, Thresholds, train};
    /// # let treebank: [tutte_treebank::Sentence; 1] = ["\
    /// # 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
    /// # 2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
    /// # 3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\t_
    /// # ".parse()?];
    /// # let options = Options { bits: 14, label_bits: 8, passes: 2, ..Options::plain() };
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
        known::check(known, sentence, set, labels)?;
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

/// Trees of pieces as one. The first that is added has the root word, where there is one.
struct Joined {
    heads: Vec<usize>,
    labels: Vec<usize>,
    head_probs: Vec<f64>,
    label_probs: Vec<f64>,
    pieces: usize,
    single_root: bool,
    /// The root word that the root words of other pieces are joined to.
    root: Option<usize>,
    /// The label of arcs that join.
    label: Option<usize>,
}

impl Joined {
    fn new<W: Weights>(words: usize, pieces: usize, parser: &Parser<'_, W>) -> Self {
        let labels = &parser.model().labels;
        let label = labels.labels().iter().position(|name| name == JOIN);
        Self {
            heads: vec![0; words],
            labels: vec![0; words],
            head_probs: vec![0.0; words],
            label_probs: vec![0.0; words],
            pieces,
            single_root: parser.tree_set().is_single_root(),
            root: None,
            label: label.filter(|&label| labels.allows(1, label)),
        }
    }

    /// What root words of a piece have as head instead, if anything.
    fn target(&self, words: &Range<usize>) -> Option<usize> {
        self.root.filter(|root| !words.contains(&(root - 1)))
    }

    /// A head of a piece in the sentence.
    fn head(&self, words: &Range<usize>, head: usize) -> usize {
        match head {
            0 => self.target(words).unwrap_or(0),
            head => words.start + head,
        }
    }

    /// Adds the tree of a piece. Words whose label is given keep it.
    fn add(&mut self, words: &Range<usize>, parse: &Parse, keeps_label: impl Fn(usize) -> bool) {
        if self.single_root && self.root.is_none() {
            self.root = parse.tree.root_words().next().map(|root| words.start + root);
        }
        for (head, word) in parse.tree.arcs() {
            let joins = head == 0 && self.target(words).is_some();
            let label = self.label.filter(|_| joins && !keeps_label(word));
            self.heads[words.start + word - 1] = self.head(words, head);
            self.labels[words.start + word - 1] = label.unwrap_or(parse.labels[word - 1]);
        }
        self.head_probs[words.clone()].copy_from_slice(&parse.head_probs);
        self.label_probs[words.clone()].copy_from_slice(&parse.label_probs);
    }

    fn parse(self) -> Result<Parse, Error> {
        let Self { heads, labels, head_probs, label_probs, pieces, .. } = self;
        Ok(Parse { tree: Tree::new(&heads)?, labels, head_probs, label_probs, pieces })
    }
}

/// What is known of a piece.
#[derive(Clone, Default)]
struct Told {
    /// In the numbers of the piece.
    inside: Constraints,
    /// Arcs to its words from words of other pieces that must not be: the head in the sentence, and the
    /// word in the piece.
    forbidden: Vec<(usize, usize)>,
}

impl Told {
    /// All of it: a root word must not be joined to a head that is forbidden.
    fn given_root(&mut self, root: Option<usize>) -> Constraints {
        let forbidden = self.forbidden.iter().filter(|(head, _)| Some(*head) == root);
        let inside = std::mem::take(&mut self.inside);
        forbidden.fold(inside, |known, (_, word)| known.forbid_root(*word))
    }
}

/// What is known of each piece.
fn divide(
    known: &Constraints,
    sentence: &Sentence,
    pieces: &[Range<usize>],
) -> Result<Vec<Told>, Error> {
    let mut told = vec![Told::default(); pieces.len()];
    let place = |word: usize| {
        let number = piece_of(pieces, word);
        (number, word - pieces[number].start)
    };
    let change = |told: &mut Told, change: &dyn Fn(Constraints) -> Constraints| {
        told.inside = change(std::mem::take(&mut told.inside));
    };
    for &(head, word) in known.required_arcs() {
        let (number, inside) = place(word);
        match head {
            0 => change(&mut told[number], &|known| known.require_root(inside)),
            head if place(head).0 == number => {
                let head = place(head).1;
                change(&mut told[number], &|known| known.require_arc(head, inside));
            }
            head => {
                let (words, pieces) = (sentence.len(), pieces.len());
                let problem = Contradiction::AcrossPieces { word, head, words, pieces };
                return Err(problem.at(sentence, word, Column::Head));
            }
        }
    }
    for &(head, word) in known.forbidden_arcs() {
        let (number, inside) = place(word);
        match head {
            0 => change(&mut told[number], &|known| known.forbid_root(inside)),
            head if place(head).0 == number => {
                let head = place(head).1;
                change(&mut told[number], &|known| known.forbid_arc(head, inside));
            }
            head => told[number].forbidden.push((head, inside)),
        }
    }
    for &(word, label) in known.required_labels() {
        let (number, inside) = place(word);
        change(&mut told[number], &|known| known.require_label(inside, label));
    }
    for &(word, label) in known.forbidden_labels() {
        let (number, inside) = place(word);
        change(&mut told[number], &|known| known.forbid_label(inside, label));
    }
    Ok(told)
}

/// The piece that a word is in.
fn piece_of(pieces: &[Range<usize>], word: usize) -> usize {
    pieces.partition_point(|piece| piece.end < word).min(pieces.len() - 1)
}

/// An error about a piece, which starts after so many words, as one about the sentence.
fn renumbered(error: Error, sentence: &Sentence, start: usize) -> Error {
    use tutte_trees::Error::NoTree;
    match error {
        Error::Contradiction {
            problem: Contradiction::NoTree(NoTree { tree_set, words }), ..
        } => {
            let words: Vec<usize> = words.into_iter().map(|word| start + word).collect();
            let first = words.first().copied().unwrap_or(start + 1);
            Contradiction::NoTree(NoTree { tree_set, words }).at(sentence, first, Column::Head)
        }
        other => other,
    }
}

/// Words of a sentence as a sentence, with all that features look at.
fn piece(sentence: &Sentence, words: &Range<usize>) -> Result<Sentence, Error> {
    let mut lines = String::new();
    let words = words.clone().filter_map(|before| sentence.word(before + 1));
    for (number, word) in (1..).zip(words) {
        let (form, lemma, feats) = (word.form(), word.lemma(), word.feats());
        let (upos, xpos) = (word.upos(), word.xpos());
        // A string takes everything.
        let _ = writeln!(lines, "{number}\t{form}\t{lemma}\t{upos}\t{xpos}\t{feats}\t_\t_\t_\t_");
    }
    Ok(lines.parse()?)
}

/// Cuts a sentence into pieces of ½L to L words: the indices of their words, from 0.
pub(crate) fn cut(sentence: &Sentence, known: &Constraints, longest: usize) -> Vec<Range<usize>> {
    let (count, longest) = (sentence.len(), longest.max(2));
    let bonds = bonds(sentence, known);
    let grades = grades(sentence);
    let mut pieces = Vec::with_capacity(count / longest * 2 + 1);
    let mut start = 0;
    while count - start > longest {
        let ends = start + longest / 2..=(start + longest).min(count - longest / 2);
        let best = |end: &usize| (Reverse(bonds[end - 1]), grades[end - 1], *end);
        let end = ends.max_by_key(best).unwrap_or(start + longest);
        pieces.push(start..end);
        start = end;
    }
    pieces.push(start..count);
    pieces
}

/// After each word: how many given arcs are cut there, and whether a multiword token is.
fn bonds(sentence: &Sentence, known: &Constraints) -> Vec<(usize, bool)> {
    let words = sentence.len();
    let mut begins = vec![0; words + 2];
    let mut ends = vec![0; words + 2];
    let between_words =
        |arc: &&(usize, usize)| [arc.0, arc.1].iter().all(|end| (1..=words).contains(end));
    for &(head, word) in known.required_arcs().iter().filter(between_words) {
        begins[head.min(word)] += 1;
        ends[head.max(word)] += 1;
    }
    let mut open = 0;
    let mut bonds: Vec<(usize, bool)> = (1..=words)
        .map(|word| {
            open = open + begins[word] - ends[word];
            (open, false)
        })
        .collect();
    for token in sentence.multiword_tokens() {
        if let Id::Multiword(first, last) = token.id() {
            let inside = first.saturating_sub(1)..last.saturating_sub(1).min(words);
            bonds[inside].iter_mut().for_each(|bond| bond.1 = true);
        }
    }
    bonds
}

/// How good it is to cut after each word: 3 after the end of a sentence, down to 0. What closes a bracket
/// or a quotation belongs to what is before it.
fn grades(sentence: &Sentence) -> Vec<u8> {
    let mut grades: Vec<u8> = Vec::with_capacity(sentence.len());
    for word in sentence.words() {
        let grade = match is_closing(word.form()) {
            true => grades.last_mut().map(std::mem::take),
            false => word
                .form()
                .chars()
                .map(grade)
                .reduce(|a, b| if a.min(b) == 0 { 0 } else { a.max(b) }),
        };
        grades.push(grade.unwrap_or(0));
    }
    grades
}

fn grade(character: char) -> u8 {
    match character {
        '.' | '!' | '?' | '…' | '。' | '！' | '？' | '｡' | '؟' | '۔' | '।' | '॥' | '\u{37e}' => {
            3
        }
        ';' | ':' | '；' | '：' | '؛' | '·' => 2,
        ',' | '，' | '、' | '،' => 1,
        _ => 0,
    }
}

fn is_closing(form: &str) -> bool {
    matches!(form, ")" | "]" | "}" | "”" | "’" | "''" | "»" | "）" | "」" | "』")
}

#[cfg(test)]
mod tests;
