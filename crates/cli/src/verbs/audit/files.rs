//! Files of an audit: finds as a table, the treebank with probabilities, verdicts.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use tutte::audit::{Audit, Verdicts};
use tutte_treebank::{AUDITED, AtomicFile, create};

use super::report::{AuditReport, Find};
use crate::failure::{advise, usage};
use crate::report::write_whole;

/// Entries of MISC that are written.
const PROB: &str = AUDITED[0];
const ALT: &str = AUDITED[1];

/// Columns of the table. The first five are those of a verdict file.
const COLUMNS: [&str; 12] = [
    "sent_id",
    "word",
    "verdict",
    "arc",
    "form",
    "suspicion",
    "prob",
    "rather",
    "rather_prob",
    "pattern",
    "file",
    "line",
];

/// Checks early that an output can be written.
pub(super) fn check(output: &Path) -> Result<()> {
    if output == Path::new("-") {
        return Err(usage("the summary goes to standard output; name a file to write"));
    }
    // The file is removed when it is dropped.
    AtomicFile::create(output)?;
    Ok(())
}

/// Refuses to overwrite verdicts.
pub(super) fn refuse_verdicts(output: &Path) -> Result<()> {
    // A device may have no end.
    if !output.is_file() {
        return Ok(());
    }
    let Ok(bytes) = fs::read(output) else { return Ok(()) };
    let path = output.display();
    // Lines with typing errors count too.
    let text = String::from_utf8_lossy(&bytes);
    let has_verdict = |line: &&str| {
        let verdict = line.split('\t').nth(2).unwrap_or_default().trim();
        !line.starts_with('#') && !["", "?", COLUMNS[2]].contains(&verdict)
    };
    match text.lines().filter(has_verdict).count() {
        0 => Ok(()),
        lines => {
            let found = crate::report::counted(lines, "verdict");
            Err(usage(format!(
                "{path} has {found}, which would be lost; rename it, and pass it with --verdicts"
            )))
        }
    }
}

/// Reads verdicts.
pub(super) fn verdicts(path: &Path) -> Result<Verdicts> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
    Verdicts::parse(&name, &text).map_err(|error| {
        advise(
            error,
            "a line has sent_id, word, and fine or error; head:label and form are optional",
        )
    })
}

/// Writes all finds as a table.
pub(super) fn table(path: &Path, report: &AuditReport) -> Result<()> {
    let mut text = COLUMNS.join("\t");
    text.push('\n');
    for find in &report.finds {
        let Find { sent_id, word, head, deprel, form, prob, pattern, file, line, .. } = find;
        let Find { suspicion, rather_head, rather_deprel, rather_prob, .. } = find;
        let _ = writeln!(
            text,
            "{sent_id}\t{word}\t?\t{head}:{deprel}\t{form}\t{suspicion:.3}\t{prob:.6}\t\
             {rather_head}:{rather_deprel}\t{rather_prob:.6}\t{pattern}\t{}\t{line}",
            file.replace(['\t', '\n', '\r'], " ")
        );
    }
    write_whole(path, &text)
}

/// Writes the treebank with probabilities and preferred arcs in MISC.
pub(super) fn conllu(path: &Path, audit: &Audit<'_>, report: &AuditReport) -> Result<()> {
    let failed = || format!("cannot write {}", path.display());
    let mut finds: Vec<&Find> = report.finds.iter().collect();
    finds.sort_by_key(|find| (find.sentence, find.word));
    let mut finds = finds.into_iter().peekable();
    let mut writer = create(path)?;
    for (number, sentence) in audit.treebank().iter().enumerate() {
        let judged = audit.arcs(number).iter();
        let mut entries: Vec<Vec<(&str, String)>> =
            judged.map(|judged| vec![(PROB, format!("{:.4}", judged.prob()))]).collect();
        while let Some(find) = finds.next_if(|find| find.sentence == number) {
            // `|` would end the entry; UD writes it as `\p`.
            let label = find.rather_deprel.replace('|', "\\p");
            let alternative = format!("{}:{label}:{:.4}", find.rather_head, find.rather_prob);
            if let Some(entries) = entries.get_mut(find.word - 1) {
                entries.push((ALT, alternative));
            }
        }
        let mut sentence = sentence.clone();
        sentence.replace_misc(&[PROB, ALT], &entries)?;
        writer.write(&sentence).with_context(failed)?;
    }
    Ok(writer.finish().with_context(failed)?.commit()?)
}
