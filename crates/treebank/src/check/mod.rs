//! Validation of treebanks: findings grouped by kind and counted, with their first places.
//!
//! A [`Checker`] takes the sentences of one or several files, and the errors of their readers, and
//! returns a [`Report`]. A sentence that cannot be read is a finding; only its first problem is
//! reported. Readable sentences are checked for trees (roots, cycles, labels), the form of columns
//! and `# text`. Over all files, the checker looks for repeated names and sentences. It also
//! reports labels and tags that are rare, too many, or from another scheme.
//!
//! The severity of a finding depends on the scheme, which is recognised by the labels and tags of
//! the file. For example, several roots break Universal Dependencies, but are normal in treebanks
//! of the CoNLL-X shared tasks. [`Kind`] lists all kinds.
//!
//! Cost: near-linear in the size of the files. Memory: hashes of sentences and the sets of labels,
//! tags and features, never the text.
//!
//! ```
//! use tutte_treebank::{Reader, check::{Checker, Kind, Severity}};
//!
//! let file = "\
//! ## sent_id = loop-1
//! ## text = Round we go
//! 1\tRound\tround\tADV\t_\t_\t3\tadvmod\t_\t_
//! 2\twe\twe\tPRON\t_\t_\t0\troot\t_\t_
//! 3\tgo\tgo\tVERB\t_\t_\t1\txcomp\t_\t_
//!
//! ";
//! let mut checker = Checker::new(3);
//! checker.read(&mut Reader::new(file.as_bytes()))?;
//! let report = checker.finish();
//! let finding = &report.findings[0];
//! assert_eq!((finding.kind, finding.severity), (Kind::Cycle, Severity::Error));
//! assert_eq!(
//!     finding.examples[0].to_string(),
//!     "input:3:7: 1 Round → 3 go → 1 Round (sent_id = loop-1)"
//! );
//! # Ok::<(), tutte_treebank::Error>(())
//! ```

mod columns;
mod inventory;
mod kind;
mod repeats;
mod scheme;
mod tally;
#[cfg(test)]
mod tests;
mod tree;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::Read;

use crate::error::words_counted;
use crate::{Error, Format, Reader, Sentence};
use inventory::Inventory;
use repeats::Repeats;
use scheme::Evidence;
use tally::{Found, Tally};

pub use kind::{Kind, Severity};
pub use repeats::{Overlap, SHORT};
pub use scheme::Scheme;
pub use tally::Example;

/// Collects findings, file by file.
#[derive(Debug)]
pub struct Checker {
    examples: usize,
    /// Names of all files, including the current one.
    names: Vec<String>,
    files: Vec<CheckedFile>,
    current: Option<Current>,
    /// Most severe first.
    findings: BTreeMap<(Reverse<Severity>, Kind), Tally>,
    repeats: Repeats,
    inventory: Inventory,
}

/// Counts of the current file.
#[derive(Debug)]
struct Current {
    found: Found,
    evidence: Evidence,
    format: Option<Format>,
    sentences: u64,
    unreadable: u64,
    words: u64,
    heads: u64,
    labels: u64,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Report {
    /// The files, in the given order.
    pub files: Vec<CheckedFile>,
    /// The findings, most severe first, then in the order of [`Kind`].
    pub findings: Vec<Finding>,
    /// Pairs of files that share sentences.
    pub overlaps: Vec<Overlap>,
}

impl Report {
    /// Number of findings of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// The highest severity found.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}

/// A file that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CheckedFile {
    /// Name of the file.
    pub name: String,
    /// Its scheme, if a sentence could be read.
    pub scheme: Option<Scheme>,
    /// Sentences that could be read.
    pub sentences: u64,
    /// Sentences that could not be read.
    pub unreadable: u64,
    /// Words of the sentences that could be read.
    pub words: u64,
}

/// All findings of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Finding {
    /// Severity of the findings.
    pub severity: Severity,
    /// Kind of the findings.
    pub kind: Kind,
    /// Number of findings, in units of [`Kind::unit`].
    pub count: usize,
    /// The first places where it was found.
    pub examples: Vec<Example>,
}

impl Checker {
    /// Creates a checker that keeps the first `examples` places of every kind.
    pub fn new(examples: usize) -> Self {
        Self {
            examples,
            names: Vec::new(),
            files: Vec::new(),
            current: None,
            findings: BTreeMap::new(),
            repeats: Repeats::default(),
            inventory: Inventory::default(),
        }
    }

    /// Checks a whole file.
    ///
    /// # Errors
    /// If reading has to stop. Sentences that cannot be read are findings, not errors.
    pub fn read<R: Read>(&mut self, reader: &mut Reader<R>) -> Result<(), Error> {
        self.start(reader.name().to_owned());
        let mut sentence = Sentence::default();
        loop {
            match reader.read(&mut sentence) {
                Ok(true) => self.sentence(&sentence),
                Ok(false) => return Ok(()),
                Err(error) => self.unreadable(error)?,
            }
        }
    }

    /// Starts a file.
    pub fn start(&mut self, name: String) {
        self.finish_file();
        self.names.push(name);
        self.current = Some(Current {
            found: Found::new(self.examples),
            evidence: Evidence::default(),
            format: None,
            sentences: 0,
            unreadable: 0,
            words: 0,
            heads: 0,
            labels: 0,
        });
    }

    fn current(&mut self) -> &mut Current {
        if self.current.is_none() {
            self.start("input".to_owned());
        }
        self.current.as_mut().expect("a file was started")
    }

    /// Checks a sentence of the current file.
    pub fn sentence(&mut self, sentence: &Sentence) {
        let examples = self.examples;
        let current = self.current();
        current.format.get_or_insert(sentence.format());
        current.sentences += 1;
        current.words += sentence.len() as u64;
        current.heads += sentence.partial_heads().flatten().count() as u64;
        current.labels +=
            sentence.words().filter(|word| !matches!(word.deprel(), "_" | "")).count() as u64;
        current.evidence.add(sentence, examples);
        tree::check(sentence, &mut current.found);
        columns::check(sentence, &mut current.found);
        let Some(current) = &mut self.current else { return };
        self.repeats.add(sentence, &self.names, &mut current.found);
        self.inventory.add(sentence, self.names.len() - 1);
    }

    /// Records a sentence of the current file that could not be read.
    ///
    /// # Errors
    /// The error itself, if it affects more than one sentence.
    pub fn unreadable(&mut self, error: Error) -> Result<(), Error> {
        let Error::Malformed { place, problem, .. } = &error else { return Err(error) };
        let current = self.current();
        current.unreadable += 1;
        current.found.add(Kind::from(problem), || Example::at(place, problem.to_string()));
        Ok(())
    }

    /// Assigns severities to the findings of the current file, once its scheme is known.
    fn finish_file(&mut self) {
        let Some(mut current) = self.current.take() else { return };
        let name = self.names.last().cloned().unwrap_or_default();
        let scheme = current.evidence.scheme(current.format.unwrap_or_default());
        let whole_file = |found: String| Example {
            file: name.clone(),
            line: 1,
            column: None,
            sent_id: None,
            found,
        };
        // A problem of every word is reported once per file.
        let tallies = &mut current.found.tallies;
        if current.sentences + current.unreadable == 0 {
            current.found.add(Kind::NoSentences, || whole_file("nothing to read".to_owned()));
        } else if current.words > 0 && current.heads == 0 {
            tallies.remove(&Kind::UnknownHead);
            current.found.add(Kind::NoHeads, || whole_file(words_counted(current.words as usize)));
        } else if current.heads > 0 && current.labels == 0 {
            tallies.remove(&Kind::MissingLabel);
            current.found.add(Kind::NoLabels, || whole_file(words_counted(current.words as usize)));
        }
        if current.evidence.is_versioned(scheme) {
            let minority =
                std::mem::take(&mut current.evidence.only[usize::from(scheme.version == 1)]);
            self.tally(Kind::MixedVersions, scheme, minority);
        }
        if let Some(rarer) = current.evidence.second_label_set() {
            self.tally(Kind::TwoLabelSets, scheme, rarer);
        }
        for (kind, tally) in current.found.tallies {
            if kind.applies(scheme) {
                self.tally(kind, scheme, tally);
            }
        }
        self.compare_schemes(scheme, &current.evidence, &name);
        self.files.push(CheckedFile {
            name,
            scheme: current.format.map(|_| scheme),
            sentences: current.sentences,
            unreadable: current.unreadable,
            words: current.words,
        });
    }

    /// Reports a file whose format or version differs from that of the first file.
    fn compare_schemes(&mut self, scheme: Scheme, evidence: &Evidence, name: &str) {
        let Some((first, before)) =
            self.files.iter().find_map(|file| Some((&file.name, file.scheme?)))
        else {
            return;
        };
        let example = |found: String| Example {
            file: name.to_owned(),
            line: 1,
            column: None,
            sent_id: None,
            found,
        };
        if before.format != scheme.format {
            let found = format!("{}, but {first} is {}", scheme.format, before.format);
            let tally = Tally { count: 1, examples: vec![example(found)] };
            self.tally(Kind::MixedFormats, scheme, tally);
        } else if before.is_universal()
            && evidence.is_versioned(scheme)
            && before.version != scheme.version
        {
            let found = format!("{scheme}, but {first} is {before}");
            let majority = &evidence.only[usize::from(scheme.version == 2)];
            let tally = Tally { count: majority.count, examples: vec![example(found)] };
            self.tally(Kind::MixedVersions, scheme, tally);
        }
    }

    fn tally(&mut self, kind: Kind, scheme: Scheme, tally: Tally) {
        if tally.count > 0 {
            let key = (Reverse(kind.severity(scheme)), kind);
            self.findings.entry(key).or_default().merge(tally, self.examples);
        }
    }

    /// Returns the report.
    pub fn finish(mut self) -> Report {
        self.finish_file();
        let mut found = Found::new(self.examples);
        self.inventory.report(&self.names, &mut found);
        let scheme = Evidence::default().scheme(Format::default());
        for (kind, tally) in found.tallies {
            self.tally(kind, scheme, tally);
        }
        // Between different schemes, different trees are expected.
        let found = |kind: Kind| self.findings.keys().any(|(_, found)| *found == kind);
        if found(Kind::OtherValues) || found(Kind::MixedFormats) {
            self.findings.retain(|(_, kind), _| *kind != Kind::OtherTree);
        }
        let finding = |((Reverse(severity), kind), tally): (_, Tally)| Finding {
            severity,
            kind,
            count: tally.count,
            examples: tally.examples,
        };
        Report {
            files: self.files,
            findings: self.findings.into_iter().map(finding).collect(),
            overlaps: self.repeats.overlaps(&self.names),
        }
    }
}
