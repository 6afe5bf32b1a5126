//! Suggestions for misspelt names.

/// Returns the candidate with the smallest edit distance to `text`.
///
/// The distance must be at most 2 and less than half the length of `text`.
pub(crate) fn closest<'a>(
    text: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = 2.min(text.chars().count().saturating_sub(1) / 2);
    candidates
        .map(|candidate| (edit_distance(text, candidate), candidate))
        .min()
        .filter(|(distance, _)| *distance <= limit)
        .map(|(_, candidate)| candidate)
}

/// Number of insertions, deletions and replacements (Levenshtein 1965), ignoring case.
fn edit_distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().flat_map(char::to_lowercase).collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for c in from.chars().flat_map(char::to_lowercase) {
        let mut diagonal = row[0];
        row[0] += 1;
        for (at, &d) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(c != d);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}
