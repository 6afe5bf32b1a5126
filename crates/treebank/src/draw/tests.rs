//! Drawings of a few sentences, and properties of all drawings.

use insta::assert_snapshot;
use proptest::collection::vec;
use proptest::prelude::*;

use super::layout::{EndKind, Layout, Metrics, Side, levels};
use super::scene::{Arc, Kind, Scene};
use super::*;

/// Builds a sentence from columns FORM, UPOS, HEAD, DEPREL and MISC.
fn sentence(words: &[(&str, &str, &str, &str, &str)]) -> Sentence {
    let mut text = String::new();
    for (id, (form, tag, head, label, misc)) in (1..).zip(words) {
        text.push_str(&format!("{id}\t{form}\t_\t{tag}\t_\t_\t{head}\t{label}\t_\t{misc}\n"));
    }
    text.push('\n');
    let mut reader = crate::Reader::with_options(
        text.as_bytes(),
        &crate::Options { format: Some(crate::Format::ConllU), ..Default::default() },
    );
    reader.next().unwrap().unwrap()
}

fn tea() -> Sentence {
    sentence(&[
        ("She", "PRON", "2", "nsubj", "HeadProb=0.97"),
        ("poured", "VERB", "0", "root", "HeadProb=0.995"),
        ("tea", "NOUN", "2", "obj", "HeadProb=0.4"),
        ("&", "CCONJ", "5", "cc", "_"),
        ("milk_2%", "NOUN", "3", "conj", "HeadProb=1"),
    ])
}

/// A sentence with two crossing arcs and a covered root.
fn crossing() -> Sentence {
    sentence(&[
        ("Tea", "NOUN", "4", "obj", "_"),
        ("I", "PRON", "3", "nsubj", "_"),
        ("said", "VERB", "0", "root", "_"),
        ("want", "VERB", "3", "ccomp", "_"),
    ])
}

/// A multiword token, an empty node, enhanced dependencies, a cycle and a word without head.
fn odd() -> Sentence {
    "\
# sent_id = odd-1
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tdo\tdo\tAUX\t_\t_\t3\taux\t3:aux\t_
2\tn't\tnot\tPART\t_\tPolarity=Neg|Typo=Yes\t3\tadvmod\t3:advmod\t_
3\tgo\tgo\tVERB\t_\tVerbForm=Inf\t4\tccomp\t0:root\t_
3.1\tgone\tgo\tVERB\t_\t_\t_\t_\t3:conj:and\t_
4\tthere\tthere\tADV\t_\t_\t3\tadvmod\t3:advmod|3.1:advmod\t_
5\tnow\tnow\tADV\t_\t_\t_\t_\t_\t_

"
    .parse()
    .unwrap()
}

fn text(sentence: &Sentence, style: Style) -> String {
    Drawing::new(sentence, &style).text()
}

#[test]
fn arcs() {
    assert_snapshot!(text(&tea(), Style::default()));
    assert_snapshot!(text(&tea(), Style { probabilities: false, ..Style::default() }));
    assert_snapshot!(text(&crossing(), Style::default()));
    let tags = vec![Column::Upos, Column::Lemma, Column::Feats];
    assert_snapshot!(text(&odd(), Style { enhanced: true, tags, ..Style::default() }));
}

#[test]
fn wrapped_arcs() {
    let style = Style { text: TextArt::Arcs, width_columns: 36, ..Style::default() };
    assert_snapshot!(text(&tea(), style));
}

#[test]
fn branches() {
    let style = Style { text: TextArt::Branches, enhanced: true, ..Style::default() };
    assert_snapshot!(text(&tea(), style.clone()));
    assert_snapshot!(text(&crossing(), style.clone()));
    assert_snapshot!(text(&odd(), style));
}

#[test]
fn wide_and_combining_characters_take_the_cells_they_take() {
    let words = [
        ("我", "PRON", "2", "nsubj", "_"),
        ("喜欢", "VERB", "0", "root", "_"),
        ("cafe\u{301}", "NOUN", "2", "obj", "_"),
        ("👩‍🍳", "SYM", "2", "discourse", "_"),
    ];
    assert_snapshot!(text(&sentence(&words), Style::default()));
}

#[test]
fn right_to_left() {
    let words = [
        ("شربت", "VERB", "0", "root", "_"),
        ("Anna", "PROPN", "1", "nsubj", "_"),
        ("الشاي", "NOUN", "1", "obj", "_"),
    ];
    let arabic = sentence(&words);
    assert_snapshot!(text(&arabic, Style::default()));
    assert_snapshot!(text(&arabic, Style { text: TextArt::Arcs, ..Style::default() }));
    assert_snapshot!(Drawing::new(&arabic, &Style { fixed: true, ..Style::default() }).svg());
    let forced = Style { direction: Direction::LeftToRight, ..Style::default() };
    assert!(!Drawing::new(&arabic, &forced).scene.right_to_left);
}

#[test]
fn svg() {
    assert_snapshot!(Drawing::new(&tea(), &Style { width_pixels: 300, ..Style::default() }).svg());
    let fixed = Style { fixed: true, enhanced: true, ..Style::default() };
    assert_snapshot!(Drawing::new(&odd(), &fixed).with_caption("odd-1").svg());
    let fixed = Drawing::new(&tea(), &fixed).svg();
    for word in ["<style", "class=", "@media"] {
        assert!(!fixed.contains(word), "{word} in what is to be rendered anywhere");
    }
    assert!(!Drawing::new(&tea(), &Style::default()).svg_element().contains("<style"));
}

#[test]
fn tikz() {
    assert_snapshot!(Drawing::new(&tea(), &Style::default()).tikz());
    assert_snapshot!(Drawing::new(&tea(), &Style { width_pixels: 250, ..Style::default() }).tikz());
    assert_snapshot!(Drawing::new(&odd(), &Style { enhanced: true, ..Style::default() }).tikz());
}

#[test]
fn two_analyses() {
    let gold = tea();
    let mut system = tea();
    system.set_head(5, Some(2)).unwrap();
    system.set_deprel(4, "mark").unwrap();
    system.set(3, Column::Upos, "ADV").unwrap();
    let columns = [Column::Upos, Column::Head, Column::Deprel];
    let drawing = Drawing::of_two(&gold, &system, &columns, &Style::default());
    assert_snapshot!(drawing.text());
    assert_snapshot!(drawing.tikz());
    let kinds = |arcs: &[Arc]| arcs.iter().map(|arc| arc.kind).collect::<Vec<_>>();
    use Kind::{First, Second, Shared};
    assert_eq!(kinds(&drawing.scene.above), [Shared, Shared, Shared, First, First]);
    assert_eq!(kinds(&drawing.scene.below), [Shared, Shared, Shared, Second, Second]);
    assert_eq!(Drawing::of_two(&gold, &gold, &columns, &Style::default()).text(), "");
    // Labels and tags are not compared.
    let drawing = Drawing::of_two(&gold, &system, &[Column::Head], &Style::default());
    assert_eq!(drawing.text(), "5 milk_2%  HEAD  3 tea  2 poured\n");
    assert_eq!(kinds(&drawing.scene.above), [Shared, Shared, Shared, Shared, First]);
    assert!(!drawing.svg().contains("≠"));
}

#[test]
fn every_arabic_letter_has_its_cell() {
    for (text, cells) in [("لا", 2), ("لَا", 2), ("اَلأُمَمُ", 5), ("👨‍👩‍👧 لا", 5)]
    {
        assert_eq!(measure::cells(text), cells, "{text}");
    }
}

#[test]
fn shortened_texts_fit() {
    for text in
        ["", "a", "tea", "日本語", "السلام", "e\u{301}e\u{301}e\u{301}", "❤\u{fe0f}❤\u{fe0f}"]
    {
        for width in 0..8 {
            let short = measure::shorten(text, width);
            assert!(measure::cells(&short) <= width, "{short:?} in {width}");
            assert!(measure::cells(text) > width || short == text);
        }
    }
}

#[test]
fn words_stay_where_branches_leave_no_room() {
    let heads: Vec<String> = (0..20).map(|head: usize| head.to_string()).collect();
    let rows: Vec<_> = heads.iter().map(|head| ("word", "_", head.as_str(), "dep", "_")).collect();
    let style = Style { text: TextArt::Branches, width_columns: 24, ..Style::default() };
    let text = text(&sentence(&rows), style);
    assert!(text.lines().all(|line| line.contains(" word")), "{text}");
    assert_eq!(text.lines().last(), Some("           … word  dep …"));
}

#[test]
fn differences_of_long_words_show_both_values() {
    let long = "Donaudampfschifffahrtsgesellschaft".repeat(3);
    let gold = sentence(&[(&long, "NOUN", "0", "root", "_"), ("x", "X", "1", "goeswith", "_")]);
    let mut system = gold.clone();
    system.set_head(1, Some(2)).unwrap();
    system.set_head(2, Some(0)).unwrap();
    let style = Style { width_columns: 30, ..Style::default() };
    let drawing = Drawing::of_two(&gold, &system, &[Column::Head], &style);
    assert_eq!(drawing.text(), "1 Donau…  HEAD  0         2 x\n2 x       HEAD  1 Donau…  0\n");
}

#[test]
fn empty_tag_columns_take_no_line() {
    let words = [("so", "_", "2", "advmod", "_"), ("be", "_", "0", "root", "_")];
    assert_eq!(text(&sentence(&words), Style::default()).lines().last(), Some("so        be"));
}

#[test]
fn captions_of_narrow_right_to_left_drawings_are_not_cut_off() {
    let drawing = Drawing::new(&sentence(&[("לא", "_", "0", "root", "_")]), &Style::default());
    let svg = drawing.with_caption("a caption that is wider than the drawing").svg();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let caption = document.descendants().find(|node| node.has_tag_name("text")).unwrap();
    let end: i32 = caption.attribute("x").unwrap().parse().unwrap();
    assert!(end > measure::pixels(caption.text().unwrap(), 11), "{svg}");
}

/// Random spans of up to ten positions; some are roots.
fn spans() -> impl Strategy<Value = Vec<(usize, usize, usize)>> {
    vec((0usize..10, 0usize..10), 0..25).prop_map(|ends| {
        ends.into_iter().enumerate().map(|(i, (a, b))| (a.min(b), a.max(b), i)).collect()
    })
}

/// Sentences with random heads, tags and labels, and forms of any characters except those that end
/// columns.
fn any_sentence(longest: usize) -> impl Strategy<Value = Sentence> {
    let wild = any::<String>().prop_map(|s| s.replace(['\t', '\n', '\r'], "\u{7}"));
    let form =
        prop_oneof![3 => "[a-z]{1,12}", 1 => "[א-ת]{1,6}", 1 => "[一-龥]{1,4}", 2 => wild.clone()];
    let label = prop_oneof![3 => "[a-z:]{1,9}", 1 => Just("_".to_owned()), 1 => wild];
    let word = (form, label, any::<prop::sample::Index>(), 0.0f64..1.2);
    vec(word, 1..longest).prop_map(|words| {
        let n = words.len();
        let rows: Vec<_> = words
            .iter()
            .enumerate()
            .map(|(at, (form, label, head, probability))| {
                let head = head.index(n + 2);
                let unknown = head > n || head == at + 1;
                (
                    if form.trim().is_empty() { "x" } else { form.as_str() },
                    "NOUN",
                    if unknown { "_".to_owned() } else { head.to_string() },
                    if label.is_empty() { "_" } else { label.as_str() },
                    format!("HeadProb={probability}"),
                )
            })
            .collect();
        let rows: Vec<_> =
            rows.iter().map(|(f, t, h, l, m)| (*f, *t, h.as_str(), *l, m.as_str())).collect();
        sentence(&rows)
    })
}

/// True if every arc is drawn: once, or at both its ends.
fn is_complete<'a>(arcs: &[Arc], sides: impl Iterator<Item = &'a Side>) -> bool {
    let mut ends = vec![Vec::new(); arcs.len()];
    for piece in sides.flat_map(|side| &side.pieces) {
        ends[piece.arc].push([piece.left.kind, piece.right.kind]);
    }
    arcs.iter().zip(ends).all(|(arc, ends)| {
        let is_cut = |kind: &EndKind| matches!(kind, EndKind::Cut(_));
        match (arc.head, ends.as_slice()) {
            (None, [both]) => *both == [EndKind::Root; 2],
            (Some(_), [both]) => !both.iter().any(is_cut),
            (Some(head), [first, second]) => {
                let other = |kinds: &[EndKind; 2]| match kinds {
                    [EndKind::Cut(to), kind] | [kind, EndKind::Cut(to)] => Some((*to, *kind)),
                    _ => None,
                };
                let expected =
                    [(arc.dependent, EndKind::Head), (head, EndKind::Dependent)].map(Some);
                let found = [other(first), other(second)];
                found == expected || found == [expected[1], expected[0]]
            }
            _ => false,
        }
    })
}

proptest! {
    #[test]
    fn levels_agree_with_the_slow_twin(mut spans in spans()) {
        let levels = levels(&mut spans, 10);
        // Sorting loses no spans.
        let mut numbers: Vec<_> = spans.iter().map(|span| span.2).collect();
        numbers.sort_unstable();
        prop_assert_eq!(numbers, (0..spans.len()).collect::<Vec<_>>());
        for (i, &(a, b, _)) in spans.iter().enumerate().filter(|(_, span)| span.0 < span.1) {
            // The slow twin: one above the highest shorter span that overlaps.
            let below = spans[..i].iter().zip(&levels).filter(|((c, d, _), _)| *c < b && a < *d);
            let highest = below.map(|(_, &level)| level).max().unwrap_or(0);
            prop_assert_eq!(levels[i], highest + 1);
            for (j, &(c, d, _)) in spans.iter().enumerate().filter(|(j, span)| *j != i && span.0 < span.1) {
                let overlap = a < d && c < b;
                prop_assert!(!overlap || levels[i] != levels[j]);
                let nested = a <= c && d <= b && (a, b) != (c, d);
                prop_assert!(!nested || levels[j] < levels[i]);
            }
            for (j, &(c, d, _)) in spans.iter().enumerate() {
                let covered_root = c == d && a < c && c < b;
                prop_assert!(!covered_root || levels[j] > levels[i]);
            }
        }
    }

    #[test]
    fn every_arc_is_drawn_once_and_none_touch(sentence in any_sentence(14), width in 20i32..200) {
        let scene = Scene::of(&sentence, &Style::default());
        let metrics = Metrics {
            form: measure::cells, frame: 2, small: measure::cells, label: measure::cells,
            gap: 1, slot: 2, label_room: 3, margin: 10, width,
        };
        let layout = Layout::new(&scene, &metrics);
        prop_assert!(is_complete(&scene.above, layout.lines.iter().map(|line| &line.above)));
        let mut nodes: Vec<usize> = Vec::new();
        for line in &layout.lines {
            let start = nodes.len();
            nodes.extend(line.nodes.iter().map(|&(node, _)| node));
            if scene.right_to_left {
                nodes[start..].reverse();
            }
            // There is space between words.
            let mut free = 0;
            for &(node, x) in &line.nodes {
                let width = measure::cells(&scene.nodes[node].form).max(4);
                prop_assert!(free <= x - width / 2);
                free = x - width / 2 + width + metrics.gap;
            }
            prop_assert!(free - metrics.gap <= layout.width);
            // No two arcs come down at the same place.
            let mut feet: Vec<i32> = Vec::new();
            for piece in &line.above.pieces {
                prop_assert!(piece.left.x <= piece.right.x && 0 <= piece.left.x);
                prop_assert!(piece.right.x < layout.width);
                let ends = [piece.left, piece.right].into_iter().take(2 - usize::from(piece.is_root()));
                feet.extend(ends.filter(|end| !matches!(end.kind, EndKind::Cut(_))).map(|end| end.x));
            }
            feet.sort_unstable();
            prop_assert!(feet.windows(2).all(|pair| pair[0] < pair[1]), "{feet:?}");
        }
        prop_assert_eq!(nodes, (0..scene.nodes.len()).collect::<Vec<_>>());
    }

    #[test]
    fn svg_is_xml(sentence in any_sentence(9), fixed: bool, width in 1usize..900) {
        let style = Style { fixed, width_pixels: width, ..Style::default() };
        let svg = Drawing::new(&sentence, &style).svg();
        let document = roxmltree::Document::parse(&svg).unwrap();
        // Every form is there, except for characters that XML does not allow.
        let texts: Vec<_> = document.descendants().filter(|n| n.has_tag_name("text")).collect();
        for word in sentence.words() {
            let form = measure::printable(word.form());
            prop_assert!(texts.iter().any(|node| node.text() == Some(&form)), "{form:?}");
        }
    }

    #[test]
    fn text_is_not_wider_than_allowed(sentence in any_sentence(9), width in 1usize..120) {
        for text in [TextArt::Auto, TextArt::Arcs, TextArt::Branches] {
            let style = Style { width_columns: width, text, ..Style::default() };
            for line in Drawing::new(&sentence, &style).text().lines() {
                prop_assert!(measure::cells(line) <= width as i32, "{line:?}");
                prop_assert!(!line.contains(char::is_control));
            }
        }
    }

    #[test]
    fn branches_have_a_line_for_every_word(sentence in any_sentence(12)) {
        let style = Style { text: TextArt::Branches, width_columns: 10_000, ..Style::default() };
        let text = Drawing::new(&sentence, &style).text();
        prop_assert_eq!(text.lines().count(), sentence.len());
        for (line, word) in text.lines().zip(sentence.words()) {
            prop_assert!(line.contains(measure::printable(word.form()).trim()));
        }
    }

    #[test]
    fn two_analyses_of_anything_can_be_drawn(
        a in any_sentence(7), b in any_sentence(7), width in 1usize..90
    ) {
        let style = Style { width_columns: width, ..Style::default() };
        let drawing = Drawing::of_two(&a, &b, &Column::ALL, &style);
        prop_assert!(roxmltree::Document::parse(&drawing.svg()).is_ok());
        let tikz = drawing.tikz();
        let is_whole = tikz.ends_with("\\end{dependency}\n");
        prop_assert!(is_whole, "{}", tikz);
        for line in drawing.text().lines() {
            prop_assert!(measure::cells(line) <= width as i32, "{line:?}");
            prop_assert!(!line.contains(char::is_control));
        }
    }
}

#[test]
fn long_sentences_of_any_shape_are_drawn() {
    let shapes: [fn(usize) -> usize; 4] = [
        |word| word - 1,              // a chain
        |word| usize::from(word > 1), // all depend on the first word
        |word| word % 500 + 1,        // a cycle
        |word| (word * 263) % 500,    // irregular
    ];
    for shape in shapes {
        let heads: Vec<String> = (1..=500)
            .map(|word| if shape(word) == word { 0 } else { shape(word) }.to_string())
            .collect();
        let rows: Vec<_> =
            heads.iter().map(|head| ("word", "NOUN", head.as_str(), "label", "_")).collect();
        let sentence = sentence(&rows);
        for width in [80, 100_000] {
            let style = Style {
                width_columns: width,
                width_pixels: width,
                text: TextArt::Arcs,
                ..Style::default()
            };
            let drawing = Drawing::new(&sentence, &style);
            assert!(roxmltree::Document::parse(&drawing.svg()).is_ok());
            assert!(drawing.tikz().matches("\\begin{dependency}").count() >= 1);
            assert!(drawing.text().lines().all(|line| measure::cells(line) <= width as i32));
        }
        let branches = Style { text: TextArt::Branches, ..Style::default() };
        assert_eq!(Drawing::new(&sentence, &branches).text().lines().count(), 500);
    }
}
