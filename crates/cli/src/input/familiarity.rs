//! Warnings about text unlike the training data of a model.

use anyhow::anyhow;
use tutte::{About, Familiarity, Unfamiliar};

use crate::failure::advise;
use crate::report::{count, counted, percent};
use crate::session::Session;

/// Warns of text in a script or language that the model, of this name, was not trained on.
pub(crate) fn warn_unfamiliar(
    familiarity: &Familiarity,
    model: &str,
    about: &About,
    session: &Session,
) {
    let language = about.language.as_ref().map(|language| format!(" (language: {language})"));
    let language = language.unwrap_or_default();
    let warning = match familiarity.unfamiliar() {
        Some(Unfamiliar::Script { script, foreign, sentences, known }) => {
            let of = counted(sentences, "sentence");
            let are = if foreign == 1 { "is" } else { "are" };
            anyhow!(
                "{} of {of} {are} in {script} script, but {model}{language} was trained on {} script: its \
                 answers are guesses",
                count(foreign),
                known.join(" and ")
            )
        }
        Some(Unfamiliar::Words { unknown, words }) => anyhow!(
            "{} % of the words are not in the training data of {model}{language}: if the text is in another \
             language, its answers are guesses",
            percent(unknown, words)
        ),
        _ => return,
    };
    let hint = "name a model of that language with -m; `tutte train TREEBANK -o MODEL` trains one";
    session.warn(&advise(warning, hint));
}
