//! Tags are read as they were written, and wrong ones are refused.

use super::*;
use crate::TaggerOptions;

fn sentence(first: &str, second: &str) -> Sentence {
    let text = format!(
        "1\tTea\ttea\tNOUN\tNN\t_\t2\tnsubj\t_\t{first}\n2\tcools\tcool\tVERB\tVBZ\t_\t0\troot\t_\t{second}\n"
    );
    text.parse().unwrap()
}

#[test]
fn probabilities_are_scaled_to_a_sum_of_one() {
    let sentence =
        sentence("TeacherTags=NOUN:NN:_:0.6,VERB:VB:_:0.2|SpaceAfter=No", "TeacherTags=X:_:_:0");
    let words = read_soft_tags(&sentence).unwrap();
    let found: Vec<_> = words[0].iter().map(|tag| (&*tag.upos, &*tag.xpos, &*tag.feats)).collect();
    assert_eq!(found, [("NOUN", "NN", "_"), ("VERB", "VB", "_")]);
    assert!((words[0][0].probability - 0.75).abs() < 1e-12);
    assert!((words[0][1].probability - 0.25).abs() < 1e-12);
    assert!(words[1].is_empty());
}

#[test]
fn a_sentence_without_entries_is_certain() {
    let empty: Vec<Vec<SoftTag<'_>>> = vec![Vec::new(); 2];
    assert_eq!(read_soft_tags(&sentence("_", "Teacher=0:root:1")).unwrap(), empty);
    assert_eq!(read_soft_tags(&sentence("Other=TeacherTags", "_")).unwrap(), empty);
}

#[test]
fn what_is_not_a_list_of_tags_is_named() {
    let wrong =
        ["", "NOUN", "NOUN:0.5", "NOUN:NN:0.5", "NOUN:NN:_:2", "NOUN:NN:_:nan", "NOUN:NN:_:x"];
    for wrong in wrong.into_iter().chain([":NN:_:0.5", "NOUN:NN:_:0.5:0.5", "NOUN:NN:_:0.5,"]) {
        let sentence = sentence("_", &format!("TeacherTags={wrong}"));
        let said = read_soft_tags(&sentence).unwrap_err().to_string();
        assert!(said.contains("word 2 has the tags TeacherTags="), "{wrong}: {said}");
        assert!(said.contains("UPOS:XPOS:FEATS:PROBABILITY"), "{said}");
    }
}

#[test]
fn certain_words_have_no_entry_and_old_entries_go() {
    let mut sentence = sentence("TeacherTags=X:_:_:0.5,NOUN:NN:_:0.5", "SpaceAfter=No");
    let list = |probability: f64| {
        let upos = [("NOUN", probability), ("VERB", 1.0 - probability)];
        SoftTag::list(&upos, 0.01, |_| vec![(("_", "_"), 1.0)])
    };
    write_soft_tags(&mut sentence, &[list(0.99), list(0.98)]).unwrap();
    assert_eq!(sentence.word(1).unwrap().misc(), "_");
    let second = sentence.word(2).unwrap();
    assert_eq!(second.misc(), "SpaceAfter=No|TeacherTags=NOUN:_:_:0.9800,VERB:_:_:0.0200");
    assert!(write_soft_tags(&mut sentence, &[list(0.5)]).is_err(), "another number of words");
}

#[test]
fn names_with_separators_survive() {
    let names = [",", ":", "%2C", "a|b", "Case=Acc,Dat|Poss[psor]=Yes", "a b", "100%"];
    for name in names {
        let mut sentence = sentence("_", "_");
        let tags = SoftTag::list(&[(name, 0.5), ("X", 0.5)], 0.01, |_| vec![((name, name), 1.0)]);
        write_soft_tags(&mut sentence, &[tags.clone(), Vec::new()]).unwrap();
        let sentence: Sentence = sentence.as_str().parse().unwrap();
        assert_eq!(read_soft_tags(&sentence).unwrap()[0], tags);
    }
}

#[test]
fn the_best_tags_stay_however_improbable() {
    let upos = [("A", 0.3), ("B", 0.4), ("C", 0.3)];
    let tags = SoftTag::list(&upos, 0.9, |_| vec![(("x", "_"), 0.4), (("y", "_"), 0.6)]);
    let found: Vec<_> = tags.iter().map(|tag| (&*tag.upos, &*tag.xpos)).collect();
    assert_eq!(found, [("B", "y")]);
    assert!(SoftTag::list(&[], 0.5, |_| Vec::new()).is_empty());
}

/// The sums over XPOS and FEATS are the marginals of the chain, and the conditionals those of `tag_probabilities`.
#[test]
fn a_tagger_gives_the_probabilities_that_it_reports() {
    let treebank: Vec<Sentence> = [
        "1\tDogs\tdog\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t_\t_\n2\twatch\twatch\tVERB\tVBP\t_\t0\troot\t_\t_\n",
        "1\tDogs\tdog\tNOUN\tNNS\tNumber=Plur\t2\tnmod\t_\t_\n2\twatch\twatch\tNOUN\tNN\tNumber=Sing\t0\troot\t_\t_\n",
        "1\tThey\tthey\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2\twatched\twatch\tVERB\tVBD\tTense=Past\t0\troot\t_\t_\n",
    ]
    .map(|text| text.parse().unwrap())
    .into();
    let tagger = Tagger::train(&treebank, &TaggerOptions::for_words(6)).unwrap();
    let mut memory = TaggerMemory::default();
    for sentence in &treebank {
        let words = tagger.soft_tags(sentence, 0.0, &mut memory);
        let expected = tagger.tag_probabilities(sentence, 0.0, &mut memory);
        let tagging = tagger.tag(sentence, &mut memory);
        for (word, (tags, expected)) in words.iter().zip(&expected).enumerate() {
            let upos = &tagger.upos()[tagging.upos[word]];
            let of_best = || tags.iter().filter(|tag| tag.upos == *upos);
            let marginal: f64 = of_best().map(|tag| tag.probability).sum();
            assert!((marginal - expected.upos).abs() < 1e-6);
            let best = of_best().next().unwrap();
            assert!((best.probability / marginal - tagging.fine_probs[word]).abs() < 1e-6);
            for other in &expected.alternatives {
                let sum: f64 = tags
                    .iter()
                    .filter(|tag| tag.upos == other.upos)
                    .map(|tag| tag.probability)
                    .sum();
                assert!((sum - other.probability).abs() < 1e-6);
            }
        }
    }
}
