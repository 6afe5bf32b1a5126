//! Labels, tags and features over all files: rare values, too many values, values that differ only
//! in case, and values missing from other files.

use std::collections::{BTreeMap, HashMap};

use super::kind::Kind;
use super::tally::{Example, Found};
use crate::{Column, Format, Sentence, Token};

/// Minimum number of words for reporting values that occur once.
const ENOUGH_WORDS: u64 = 1000;
/// No known scheme has more labels, universal or coarse tags.
const MANY: usize = 100;

/// The inspected columns, and the kind of finding for values that occur once.
const COLUMNS: [(Column, Kind); 4] = [
    (Column::Deprel, Kind::LabelOnce),
    (Column::Upos, Kind::TagOnce),
    (Column::Xpos, Kind::FineTagOnce),
    (Column::Feats, Kind::FeatureOnce),
];

/// A value in one file: the file, its count, and the line of its first occurrence.
#[derive(Clone, Copy, Debug)]
struct Seen {
    file: u32,
    count: u64,
    line: u64,
}

/// The values of a column, each with its files.
type Values = HashMap<Box<str>, Vec<Seen>>;

#[derive(Debug, Default)]
pub(super) struct Inventory {
    columns: [Values; 4],
    /// Number of words of every file.
    words: Vec<u64>,
    /// The format of the first sentence, for the names of columns.
    format: Option<Format>,
    /// Words with an XPOS. The other counts are of those where XPOS is LEMMA, is FORM, or contains
    /// `=`.
    xpos: u64,
    xpos_is_lemma: u64,
    xpos_is_form: u64,
    xpos_has_features: u64,
}

impl Inventory {
    /// Adds a sentence of file number `file`. Files come in order.
    pub(super) fn add(&mut self, sentence: &Sentence, file: usize) {
        self.format.get_or_insert(sentence.format());
        self.words.resize(self.words.len().max(file + 1), 0);
        self.words[file] += sentence.len() as u64;
        for word in sentence.words() {
            self.add_word(word, file as u32);
        }
    }

    fn add_word(&mut self, word: Token<'_>, file: u32) {
        let line = word.line();
        for (values, (column, _)) in self.columns.iter_mut().zip(COLUMNS) {
            let field = word.column(column);
            if column == Column::Feats {
                for feature in field.split('|') {
                    add_value(values, feature, file, line);
                }
            } else {
                add_value(values, field, file, line);
            }
        }
        let xpos = word.xpos();
        if !matches!(xpos, "_" | "") {
            self.xpos += 1;
            self.xpos_is_lemma += u64::from(xpos == word.lemma());
            self.xpos_is_form += u64::from(xpos == word.form());
            self.xpos_has_features += u64::from(xpos.contains('='));
        }
    }

    pub(super) fn report(&self, files: &[String], found: &mut Found) {
        for (values, (column, once)) in self.columns.iter().zip(COLUMNS) {
            let name = column.name(self.format.unwrap_or_default());
            let sight = |seen: &Seen, text: String| Example {
                file: files[seen.file as usize].clone(),
                line: seen.line,
                column: Some(column.number()),
                sent_id: None,
                found: text,
            };
            if self.words.iter().sum::<u64>() >= ENOUGH_WORDS {
                let seen_once = values.iter().filter_map(|(value, seen)| match seen.as_slice() {
                    [only] if only.count == 1 => Some((only, &**value)),
                    _ => None,
                });
                for (seen, value) in sorted_by_place(seen_once) {
                    found.add(once, || sight(seen, value.to_string()));
                }
            }
            if matches!(column, Column::Deprel | Column::Upos) {
                self.case_variants(values, name, &sight, found);
                if values.len() > MANY {
                    self.report_many_values(values, &sight, String::new(), name, found);
                }
                self.compare_files(values, name, files, &sight, found);
            }
            if column == Column::Xpos
                && let Some(guess) = self.guess_xpos(values.len())
            {
                self.report_many_values(values, &sight, guess, name, found);
            }
        }
    }

    /// Guesses what an XPOS with suspiciously many values really is.
    fn guess_xpos(&self, values: usize) -> Option<String> {
        let most = |part: u64| 2 * part > self.xpos;
        let looks_like = |what: &str| Some(format!("; it looks like {what}"));
        if self.xpos < 100 || values <= MANY {
            None
        } else if most(self.xpos_is_form) {
            looks_like("FORM")
        } else if most(self.xpos_is_lemma) {
            looks_like("LEMMA")
        } else if most(self.xpos_has_features) {
            looks_like("FEATS")
        } else {
            // Positional tag sets have up to a few values per hundred words.
            (10 * values as u64 > self.xpos).then(String::new)
        }
    }

    fn report_many_values(
        &self,
        values: &Values,
        sight: &impl Fn(&Seen, String) -> Example,
        guess: String,
        name: &str,
        found: &mut Found,
    ) {
        let once = values.values().filter(|seen| matches!(seen.as_slice(), [s] if s.count == 1));
        let once = once.count();
        if let Some((seen, _)) = sorted_by_place(values.iter().map(|(v, s)| (&s[0], &**v))).first()
        {
            found.add(Kind::ManyValues, || {
                let text =
                    format!("{name} has {} values; {once} of them occur once{guess}", values.len());
                sight(seen, text)
            });
        }
    }

    fn case_variants(
        &self,
        values: &Values,
        name: &str,
        sight: &impl Fn(&Seen, String) -> Example,
        found: &mut Found,
    ) {
        let mut variants: BTreeMap<String, Vec<(&str, u64)>> = BTreeMap::new();
        for (value, seen) in values {
            let count = seen.iter().map(|seen| seen.count).sum();
            variants.entry(value.to_lowercase()).or_default().push((value, count));
        }
        for mut variants in variants.into_values().filter(|variants| variants.len() > 1) {
            variants.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
            let (usual, often) = variants[0];
            for (value, count) in &variants[1..] {
                found.add_many(Kind::CaseVariants, *count as usize, || {
                    let text = format!("{name} {value} ({count}×) beside {usual} ({often}×)");
                    sight(&values[*value][0], text)
                });
            }
        }
    }

    /// Compares every file with the largest one.
    fn compare_files(
        &self,
        values: &Values,
        name: &str,
        files: &[String],
        sight: &impl Fn(&Seen, String) -> Example,
        found: &mut Found,
    ) {
        let largest = (0..self.words.len()).rev().max_by_key(|&file| self.words[file]);
        let Some(largest) = largest.map(|file| file as u32) else { return };
        let known = |seen: &[Seen]| seen.iter().any(|seen| seen.file == largest);
        if !values.values().any(|seen| known(seen)) {
            return; // a file without labels has nothing to compare with
        }
        for file in (0..self.words.len() as u32).filter(|&file| file != largest) {
            let mut total = 0;
            let mut new: Vec<(&Seen, &str)> = Vec::new();
            for (value, seen) in values {
                if let Some(here) = seen.iter().find(|seen| seen.file == file) {
                    total += here.count;
                    if !known(seen) {
                        new.push((here, value));
                    }
                }
            }
            let new = sorted_by_place(new.into_iter());
            let count: u64 = new.iter().map(|(seen, _)| seen.count).sum();
            if count >= 5 && 5 * count >= total {
                let (seen, value) = new[0];
                found.add_many(Kind::OtherValues, count as usize, || {
                    let text = format!(
                        "{name} {value} and {} more that are not in {}, on {count} of {total} words",
                        new.len() - 1,
                        files[largest as usize]
                    );
                    sight(seen, text)
                });
            } else if self.words[largest as usize] >= ENOUGH_WORDS {
                for (seen, value) in new {
                    found.add(Kind::NewValue, || {
                        sight(seen, format!("{name} {value} ({}×)", seen.count))
                    });
                }
            }
        }
    }
}

fn add_value(values: &mut Values, value: &str, file: u32, line: u64) {
    if matches!(value, "_" | "") {
        return;
    }
    let Some(seen) = values.get_mut(value) else {
        values.insert(value.into(), vec![Seen { file, count: 1, line }]);
        return;
    };
    match seen.last_mut() {
        Some(last) if last.file == file => last.count += 1,
        _ => seen.push(Seen { file, count: 1, line }),
    }
}

/// Sorts by place, so that reports do not depend on the order of a hash table.
fn sorted_by_place<'a>(
    seen: impl Iterator<Item = (&'a Seen, &'a str)>,
) -> Vec<(&'a Seen, &'a str)> {
    let mut sorted: Vec<_> = seen.collect();
    sorted.sort_unstable_by_key(|(seen, value)| (seen.file, seen.line, *value));
    sorted
}
