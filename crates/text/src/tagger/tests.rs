use proptest::prelude::*;
use tutte_treebank::Column;

use super::*;

/// A small language: determiners before nouns, verbs after them, and one word that is both.
fn treebank() -> Vec<Sentence> {
    let line = |number: usize, word: &str| {
        let (form, lemma, upos, xpos, feats) = match word {
            "the" | "The" => (word, "the", "DET", "DT", "_"),
            "duck" => ("duck", "duck", "NOUN", "NN", "Number=Sing"),
            "ducks" => ("ducks", "duck", "NOUN", "NNS", "Number=Plur"),
            "geese" => ("geese", "goose", "NOUN", "NNS", "Number=Plur"),
            "DUCK" => ("duck", "duck", "VERB", "VBP", "Tense=Pres"),
            "walked" => ("walked", "walk", "VERB", "VBD", "Tense=Past"),
            "talked" => ("talked", "talk", "VERB", "VBD", "Tense=Past"),
            _ => (".", ".", "PUNCT", ".", "_"),
        };
        format!("{number}\t{form}\t{lemma}\t{upos}\t{xpos}\t{feats}\t_\t_\t_\tA=b\n")
    };
    let sentences = [
        "The duck walked .",
        "The ducks DUCK .",
        "The geese talked .",
        "the duck talked",
        "The geese DUCK .",
        "the ducks walked .",
    ];
    let sentence = |text: &&str| {
        let lines: String = (1..).zip(text.split(' ')).map(|(n, word)| line(n, word)).collect();
        lines.parse().unwrap()
    };
    sentences.iter().map(sentence).collect()
}

fn bare(forms: &str) -> Sentence {
    let line =
        |(number, form): (usize, &str)| format!("{number}\t{form}\t_\t_\t_\t_\t_\t_\t_\tA=b\n");
    (1..).zip(forms.split(' ')).map(line).collect::<String>().parse().unwrap()
}

fn tagger() -> Tagger {
    Tagger::train(&treebank(), &TaggerOptions { passes: 20, ..TaggerOptions::for_words(24) })
        .unwrap()
}

#[test]
fn neighbours_decide_about_ambiguous_words() {
    let tagger = tagger();
    let mut memory = TaggerMemory::default();
    let mut sentence = bare("The duck duck .");
    let tagging = tagger.annotate(&mut sentence, &mut memory).unwrap();
    let column = |column| sentence.words().map(|word| word.column(column)).collect::<Vec<_>>();
    assert_eq!(column(Column::Upos), ["DET", "NOUN", "VERB", "PUNCT"]);
    assert_eq!(column(Column::Xpos), ["DT", "NN", "VBP", "."]);
    assert_eq!(column(Column::Feats), ["_", "Number=Sing", "Tense=Pres", "_"]);
    assert_eq!(column(Column::Lemma), ["the", "duck", "duck", "."]);
    assert_eq!(column(Column::Misc), ["A=b"; 4], "nothing else changes");
    assert!(tagging.upos_probs.iter().chain(&tagging.fine_probs).all(|p| (0.0..=1.0).contains(p)));
    // An unknown word is tagged like others with its ending.
    let mut sentence = bare("The squirrels stalked .");
    tagger.annotate(&mut sentence, &mut memory).unwrap();
    let found: Vec<_> = sentence.words().map(|word| (word.upos(), word.lemma())).collect();
    assert_eq!(found[2], ("VERB", "stalk"));
}

#[test]
fn the_same_seed_gives_the_same_bits_and_the_treebank_is_learnt() {
    let one = tagger();
    let other = tagger();
    assert_eq!(one.weights, other.weights);
    assert_eq!(one.fine.weights, other.fine.weights);
    assert_eq!(one.chain.scores(), other.chain.scores());
    let scores = one.evaluate(&treebank()).unwrap();
    assert_eq!((scores.upos, scores.xpos, scores.feats), (23, 23, 23));
    assert_eq!(one.compact().evaluate(&treebank()).unwrap(), scores);
}

#[test]
fn the_best_sequences_are_ranked_and_their_probabilities_sum_to_one() {
    let tagger = tagger();
    let sentence = bare("duck duck");
    let mut memory = TaggerMemory::default();
    let all = tagger.kbest(&sentence, 1000, &mut memory);
    assert_eq!(all.len(), 16);
    assert!(all.is_sorted_by(|a, b| a.prob >= b.prob));
    assert!((all.iter().map(|tagging| tagging.prob).sum::<f64>() - 1.0).abs() < 1e-9);
    let (tags, readings) = tagger.readings(&sentence, 3, 0.01, &mut memory);
    assert_eq!(tags, tagger.tag(&sentence, &mut memory));
    assert!(readings.iter().all(|reading| reading.prob >= 0.01) && readings.len() <= 3);
    assert_eq!(tagger.readings(&sentence, 1, 0.0, &mut memory).1, []);
    assert_eq!(tagger.readings(&sentence, 9, 0.9, &mut memory).1, [], "only one is that probable");
    // The marginal of a tag is the sum over all sequences with it.
    let tagging = tagger.tag(&sentence, &mut memory);
    let first = all.iter().filter(|other| other.upos[0] == tagging.upos[0]);
    assert!((first.map(|other| other.prob).sum::<f64>() - tagging.upos_probs[0]).abs() < 1e-9);
}

/// Returns the marginal of each tag of each word, summed over all tag sequences, `[word][tag]`.
fn enumerated_marginals(tagger: &Tagger, sentence: &Sentence) -> Vec<Vec<f64>> {
    let mut memory = TaggerMemory::default();
    tagger.score(sentence, &mut memory);
    let tags = tagger.upos.len();
    let mut sequences: Vec<(Vec<usize>, f64)> = vec![(Vec::new(), 0.0)];
    for own in memory.scores.chunks_exact(tags) {
        let longer = |(before, score): &(Vec<usize>, f64)| {
            let cell = |tag| tagger.chain.cell(before.last().copied(), tag);
            let step = |tag| f64::from(tagger.chain.scores()[cell(tag)]) + f64::from(own[tag]);
            let with = |tag| ([&before[..], &[tag]].concat(), score + step(tag));
            (0..tags).map(with).collect::<Vec<_>>()
        };
        sequences = sequences.iter().flat_map(longer).collect();
    }
    let best = sequences.iter().map(|(_, score)| *score).fold(f64::MIN, f64::max);
    let total: f64 = sequences.iter().map(|(_, score)| (score - best).exp()).sum();
    let mut marginals = vec![vec![0.0; tags]; sentence.len()];
    for (sequence, score) in &sequences {
        for (word, &tag) in sequence.iter().enumerate() {
            marginals[word][tag] += (score - best).exp() / total;
        }
    }
    marginals
}

#[test]
fn probabilities_of_tags_are_sums_over_all_sequences() {
    let mut memory = TaggerMemory::default();
    // Scores that are moderate, far apart, and too far apart for exponentials.
    for factor in [1.0, 30.0, 3e4] {
        let mut tagger = tagger();
        tagger.weights.iter_mut().for_each(|weight| *weight *= factor);
        tagger.chain.scores_mut().iter_mut().for_each(|score| *score *= factor);
        tagger.chain.update();
        for forms in ["duck", "goose", "duck duck", "the ducks duck .", "Odd . duck the"] {
            let sentence = bare(forms);
            let marginals = enumerated_marginals(&tagger, &sentence);
            let words = tagger.tag_probabilities(&sentence, -1.0, &mut memory);
            let tagging = tagger.tag(&sentence, &mut memory);
            assert_eq!(words.len(), sentence.len());
            for (at, (word, marginals)) in words.iter().zip(&marginals).enumerate() {
                let tag = tagging.upos[at];
                assert!((word.upos - marginals[tag]).abs() < 1e-9, "{forms}, {factor}");
                assert_eq!(word.alternatives.len(), tagger.upos.len() - 1);
                for other in &word.alternatives {
                    let number = tagger.upos.iter().position(|name| name == other.upos).unwrap();
                    assert_ne!(number, tag);
                    assert!((other.probability - marginals[number]).abs() < 1e-9);
                }
                assert!(word.alternatives.is_sorted_by(|a, b| a.probability >= b.probability));
            }
            let likely = tagger.tag_probabilities(&sentence, 0.2, &mut memory);
            let others = likely.iter().flat_map(|word| &word.alternatives);
            assert!(others.into_iter().all(|other| other.probability > 0.2));
        }
    }
}

#[test]
fn probabilities_of_fine_tags_are_sums_over_bundles() {
    let bundles =
        [("NN", "Case=Nom"), ("NN", "Case=Acc"), ("NNS", "Case=Nom"), ("NNS", "Case=Acc")];
    let lines = bundles.map(|(xpos, feats)| {
        format!(
            "1\ttea\ttea\tNOUN\t{xpos}\t{feats}\t_\t_\t_\t_\n2\t.\t.\tPUNCT\t.\t_\t_\t_\t_\t_\n"
        )
    });
    let treebank: Vec<Sentence> = lines.iter().map(|lines| lines.parse().unwrap()).collect();
    let tagger = Tagger::train(&treebank, &TaggerOptions::for_words(8)).unwrap();
    let sentence = bare("tea .");
    let mut memory = TaggerMemory::default();
    let tagging = tagger.tag(&sentence, &mut memory);
    let tag = tagging.upos[0];
    let known = tagger.fine.bundles().of_tag(tag);
    let probs = tagger.bundle_probs(0, tag, &mut memory).to_vec();
    let best = &known[tagging.fine[0]];
    let sum = |is_same: &dyn Fn(&morphology::Bundle) -> bool| -> f64 {
        let same = known.iter().zip(&probs).filter(|(bundle, _)| is_same(bundle));
        same.map(|(_, prob)| f64::from(*prob)).sum()
    };
    let xpos = sum(&|bundle| bundle.xpos == best.xpos);
    let feats = sum(&|bundle| bundle.feats == best.feats);
    assert!(xpos < 0.99 && xpos > tagging.fine_probs[0], "the example should be uncertain");
    let words = tagger.tag_probabilities(&sentence, 0.5, &mut memory);
    assert!((words[0].xpos.unwrap() - xpos).abs() < 1e-6);
    assert!((words[0].feats.unwrap() - feats).abs() < 1e-6);
    assert_eq!((words[1].xpos, words[1].feats), (Some(1.0), Some(1.0)), "it has one bundle");
}

#[test]
fn a_document_and_tables_are_all_there_is() {
    let tagger = tagger().compact();
    let text = serde_json::to_string(&tagger.document()).unwrap();
    let read = || serde_json::from_str::<TaggerDocument>(&text).unwrap();
    let shapes = read().shapes().unwrap();
    assert_eq!((shapes.coarse, shapes.fine), ((1024, 4), (1024, 16)));
    let again = read().tagger(tagger.tables()).unwrap();
    let mut memory = TaggerMemory::default();
    for sentence in treebank() {
        assert_eq!(again.tag(&sentence, &mut memory), tagger.tag(&sentence, &mut memory));
    }
    let damaged = |change: &dyn Fn(&mut super::document::TaggerTables)| {
        let mut tables = tagger.tables();
        change(&mut tables);
        read().tagger(tables).is_err()
    };
    assert!(damaged(&|tables| tables.pairs[3] = f32::NAN));
    assert!(damaged(&|tables| tables.pairs.truncate(3)));
    assert!(damaged(&|tables| tables.usual[0] = 77));
    let other: TaggerDocument =
        serde_json::from_str(&text.replacen("\"DET\"", "\"D\\tT\"", 1)).unwrap();
    assert!(other.tagger(tagger.tables()).is_err());
    let other: TaggerDocument = serde_json::from_str(&text.replacen("\"DET\",", "", 1)).unwrap();
    assert!(other.shapes().is_err());
}

#[test]
fn treebanks_without_tags_are_refused() {
    let refused = |sentences: &[Sentence]| {
        Tagger::train(sentences, &TaggerOptions::for_words(1)).unwrap_err().to_string()
    };
    assert!(refused(&[]).contains("no words"));
    assert!(refused(&[bare("The duck")]).contains("its UPOS are all _"));
    assert!(jackknife(&treebank()[..1], &TaggerOptions::for_words(4), 5, 2).is_err());
}

#[test]
fn jackknifing_is_the_same_for_any_number_of_threads() {
    let options = TaggerOptions::for_words(24);
    let one = jackknife(&treebank(), &options, 3, 1).unwrap();
    assert_eq!(one, jackknife(&treebank(), &options, 3, 6).unwrap());
    assert_eq!(one.len(), treebank().len());
    // The lemma "goose" is not learnt from the fold with "geese".
    let options = TaggerOptions { passes: 8, ..options };
    let alone = jackknife(&treebank()[1..3], &options, 2, 1).unwrap();
    assert_ne!(alone[1].word(2).unwrap().lemma(), "goose");
}

proptest! {
    #[test]
    fn any_words_are_tagged(forms in prop::collection::vec("[^\\t\\n\\r \\x00]{1,12}", 1..6)) {
        thread_local!(static TAGGER: Tagger<Compact> = tagger().compact());
        TAGGER.with(|tagger| {
            let mut sentence = bare(&forms.join(" "));
            let tagging = tagger.annotate(&mut sentence, &mut TaggerMemory::default()).unwrap();
            prop_assert_eq!(tagging.upos.len(), forms.len());
            prop_assert!(tagging.upos_probs.iter().all(|p| p.is_finite()));
            Ok(())
        })?;
    }
}
