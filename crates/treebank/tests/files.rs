//! Compressed files, other encodings, mixed files, and files that appear whole or not at all.

use std::fs;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use tutte_treebank::{
    AtomicFile, Error, Format, Options, Output, Reader, Sentence, Writer, create, decompress, open,
    open_with, unpack,
};

const TWO: &str = "\
# sent_id = owl-1
1\tUgler\tugle\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\ttuder\ttude\tVERB\t_\t_\t0\troot\t_\t_

1\tIkke\tikke\tADV\t_\t_\t2\tadvmod\t_\t_
2\tnår\tnår\tSCONJ\t_\t_\t0\troot\t_\t_

";

/// A temporary folder that is removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("tutte-treebank-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).unwrap();
        path
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

fn text_of(reader: &mut Reader<impl Read>) -> String {
    let mut text: String = reader.by_ref().map(|s| s.unwrap().as_str().to_owned()).collect();
    text.push_str(reader.tail());
    text
}

#[test]
fn compression_is_recognised_by_content() {
    let folder = Folder::new("compression");
    let twice = TWO.repeat(2);
    let skippable =
        [&[0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zstandard(TWO.as_bytes())];
    let contents = [
        (TWO.as_bytes().to_vec(), TWO),
        (gzip(TWO.as_bytes()), TWO),
        (zstandard(TWO.as_bytes()), TWO),
        (gzip(TWO.as_bytes()).repeat(2), &twice),
        (zstandard(TWO.as_bytes()).repeat(2), &twice),
        (skippable.concat(), TWO),
        (Vec::new(), ""),
        (gzip(b""), ""),
        (zstandard(b""), ""),
    ];
    for (bytes, expected) in contents {
        for name in ["plain.conllu", "misleading.gz", "misleading.zst"] {
            let mut reader = open(folder.file(name, &bytes)).unwrap();
            assert_eq!(text_of(&mut reader), expected);
        }
    }
}

#[test]
fn damaged_and_foreign_files_are_errors() {
    let folder = Folder::new("damaged");
    let many = TWO.repeat(1000);
    for compressed in [gzip(many.as_bytes()), zstandard(many.as_bytes())] {
        let half = folder.file("half", &compressed[..compressed.len() / 2]);
        let error = open(half).unwrap().find_map(Result::err).unwrap();
        assert!(matches!(error, Error::Read { .. }), "{error}");
        let mut flipped = compressed.clone();
        // An error in the checksum, which is at the end of a frame or near the end of a gzip file.
        let at = flipped.len() - if flipped[0] == 0x1F { 5 } else { 1 };
        flipped[at] ^= 0xFF;
        let error = open(folder.file("flipped", &flipped)).unwrap().find_map(Result::err);
        assert!(matches!(error, Some(Error::Read { .. })), "{error:?}");
    }
    let error = decompress(&b"BZh91AY&SY"[..]).err().unwrap();
    insta::assert_snapshot!(error, @"the content is bzip2; only gzip and Zstandard are supported, decompress it first");
    let model = [&16u64.to_le_bytes()[..], b"{\"x\": 1}"].concat();
    for (content, expected) in [
        (&b"\x89PNG\r\n\x1a\n"[..], "the content is a PNG image, but text or trees were expected"),
        (&model, "the content is a model, but text or trees were expected; pass models with -m"),
    ] {
        for content in [content.to_vec(), gzip(content), zstandard(content)] {
            assert_eq!(decompress(&content[..]).err().unwrap().to_string(), expected);
            let mut inside = Vec::new();
            unpack(&content[..]).unwrap().read_to_end(&mut inside).unwrap();
            assert_eq!(decompress(&inside[..]).err().unwrap().to_string(), expected);
        }
    }
    let error = decompress(&gzip(&gzip(TWO.as_bytes()))[..]).err().unwrap();
    insta::assert_snapshot!(error, @"the content is compressed twice; decompress it once");
    // Text that starts like other content, and very short text.
    for text in
        ["GIF89 is a format.", "PK", "BZhukov", "P*M", "", "a\0\0\0\0\0\0\0x", "SQLite format 3."]
    {
        let mut read = String::new();
        decompress(text.as_bytes()).unwrap().read_to_string(&mut read).unwrap();
        assert_eq!(read, text);
    }
    let missing = open("no/such.conllu").unwrap_err();
    assert!(missing.to_string().starts_with("no/such.conllu: cannot open: "), "{missing}");
}

#[test]
fn other_encodings_are_decoded_on_request() {
    let latin: Vec<u8> = TWO.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let utf16: Vec<u8> =
        format!("\u{feff}{TWO}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (label, bytes) in [("latin1", latin), ("utf-16le", utf16), ("utf8", TWO.into())] {
        let folder = Folder::new(label);
        for bytes in [gzip(&bytes), bytes] {
            let options = Options::default().with_encoding(label.parse().unwrap());
            let mut reader = open_with(folder.file("x", &bytes), &options).unwrap();
            assert_eq!(text_of(&mut reader), TWO);
        }
    }
}

#[test]
fn a_given_format_is_used() {
    let options = Options::default().with_format(Format::ConllX);
    let sentence = Reader::with_options(TWO.as_bytes(), &options).next().unwrap().unwrap();
    assert_eq!(sentence.format(), Format::ConllX);
    assert_eq!(sentence.sent_id(), Some("owl-1"));
}

#[test]
fn a_sentence_is_handed_out_when_its_blank_line_arrives() {
    /// Gives one piece per read. It must not be read again before the sentence is returned.
    struct Coprocess(Vec<&'static [u8]>);
    impl Read for Coprocess {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let piece = self.0.pop().expect("no read is needed after a complete sentence");
            out[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }
    let pieces = vec![&b"_\t_\t_\t_\n\r\n"[..], b"1\tHa\t_\tINTJ\t_\t_\t"];
    assert_eq!(Reader::new(Coprocess(pieces)).next().unwrap().unwrap().len(), 1);
}

#[test]
fn reading_into_a_sentence_equals_iterating() {
    let mut reader = Reader::new(TWO.as_bytes());
    let mut sentence = Sentence::default();
    for expected in Reader::new(TWO.as_bytes()).map(Result::unwrap) {
        assert!(reader.read(&mut sentence).unwrap());
        assert_eq!(sentence, expected);
        assert!(sentence.partial_heads().eq(expected.partial_heads()));
    }
    assert!(!reader.read(&mut sentence).unwrap());
}

#[test]
fn sentences_of_several_files_can_be_mixed() {
    let read = |text: &str| Reader::new(text.as_bytes()).next().unwrap().unwrap();
    let line = "1\ta\t_\tX\t_\t_\t0\troot\t_\t_";
    let mark = format!("\u{feff}{line}\n\n");
    for (first, between) in [
        (format!("{line}\n\n"), ""),
        (format!("{line}\n"), "\n"),
        (line.to_owned(), "\n\n"),
        (format!("{line}\r\n"), "\r\n"),
        (format!("# c\r\n{line}"), "\r\n\r\n"),
        (mark.clone(), ""),
    ] {
        let mut writer = Writer::new(Vec::new());
        writer.write(&read(&first)).unwrap();
        writer.write(&read(&mark)).unwrap();
        // An empty file with a byte order mark.
        writer.write_tail("\u{feff}").unwrap();
        let written = String::from_utf8(writer.finish().unwrap()).unwrap();
        assert_eq!(written, format!("{first}{between}{line}\n\n"));
        assert_eq!(Reader::new(written.as_bytes()).map(Result::unwrap).count(), 2);
    }
}

#[test]
fn files_appear_whole_or_not_at_all() {
    let folder = Folder::new("atomic");
    let path = folder.file("bank.conllu", b"old");
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"half of the new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    drop(file);
    assert_eq!(folder.names(), ["bank.conllu"]);
    assert_eq!(fs::read(&path).unwrap(), b"old");

    let names = ["bank.conllu", "new.conllu", "new.conllu.gz", "new.conllu.zst"];
    for name in names {
        let path = folder.0.join(name);
        let mut writer = create(&path).unwrap();
        for sentence in Reader::new(TWO.as_bytes()) {
            writer.write(&sentence.unwrap()).unwrap();
        }
        writer.finish().unwrap().commit().unwrap();
        assert_eq!(text_of(&mut open(&path).unwrap()), TWO);
        let bytes = fs::read(&path).unwrap();
        assert_eq!(bytes.starts_with(&[0x1F, 0x8B]), name.ends_with("gz"));
        assert_eq!(bytes.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]), name.ends_with("zst"));
    }
    assert_eq!(folder.names(), names);

    // Files that belong together appear together or not at all.
    let half = |name: &str| {
        let mut writer = create(folder.0.join(name)).unwrap();
        writer.write(&Reader::new(TWO.as_bytes()).next().unwrap().unwrap()).unwrap();
        writer.finish().unwrap()
    };
    let outputs = vec![half("a.conllu"), half("b.conllu.gz"), half("c.conllu.zst")];
    assert_eq!(folder.names().iter().filter(|name| !name.starts_with('.')).count(), names.len());
    drop(outputs);
    assert_eq!(folder.names(), names);
    Output::commit_all(["a.conllu", "b.conllu.gz", "c.conllu.zst"].map(half)).unwrap();
    assert_eq!(folder.names().len(), names.len() + 3);
    assert!(create(folder.0.join("no/such/x.conllu")).is_err());
}

#[cfg(unix)]
#[test]
fn links_permissions_and_devices_are_respected() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new("links");
    let path = folder.file("bank", b"old");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let link = folder.0.join("link");
    symlink(&path, &link).unwrap();
    let mut file = AtomicFile::create(&link).unwrap();
    file.write_all(b"new").unwrap();
    file.commit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);

    let mut null = AtomicFile::create("/dev/null").unwrap();
    null.write_all(b"gone").unwrap();
    null.commit().unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn readers_and_errors_can_go_to_other_threads() {
    fn check<T: Send>() {}
    check::<Reader<tutte_treebank::Input>>();
    check::<Sentence>();
    check::<Error>();
}

/// An input or output that fails at one call, or that a signal interrupts at every other call.
struct Flaky<T> {
    inner: T,
    calls: usize,
    fails_at: Option<usize>,
}

impl<T> Flaky<T> {
    fn interrupted(inner: T) -> Self {
        Self { inner, calls: 0, fails_at: None }
    }

    fn failing(inner: T, call: usize) -> Self {
        Self { inner, calls: 0, fails_at: Some(call) }
    }

    fn call(&mut self) -> io::Result<()> {
        self.calls += 1;
        match self.fails_at {
            Some(call) if self.calls > call => Err(io::Error::other("disk failure")),
            None if self.calls % 2 == 1 => Err(io::ErrorKind::Interrupted.into()),
            _ => Ok(()),
        }
    }
}

impl<T: Read> Read for Flaky<T> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.call()?;
        let length = out.len().min(7);
        self.inner.read(&mut out[..length])
    }
}

impl<T: Write> Write for Flaky<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.call()?;
        self.inner.write(&bytes[..bytes.len().min(7)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.call()
    }
}

#[test]
fn calls_that_a_signal_interrupts_are_repeated() {
    for content in [TWO.as_bytes().to_vec(), gzip(TWO.as_bytes()), zstandard(TWO.as_bytes())] {
        let input = decompress(Flaky::interrupted(&content[..])).unwrap();
        let sentences: Vec<Sentence> = Reader::new(input).collect::<Result<_, _>>().unwrap();
        assert_eq!(sentences.iter().map(Sentence::as_str).collect::<String>(), TWO);
    }
    let mut writer = Writer::new(Flaky::interrupted(Vec::new()));
    for sentence in Reader::new(TWO.as_bytes()) {
        writer.write(&sentence.unwrap()).unwrap();
    }
    assert_eq!(writer.finish().unwrap().inner, TWO.as_bytes());
}

#[test]
fn an_input_that_fails_at_any_call_is_an_error() {
    for content in [TWO.as_bytes().to_vec(), gzip(TWO.as_bytes()), zstandard(TWO.as_bytes())] {
        for call in 0.. {
            let mut input = Flaky::failing(&content[..], call);
            let sentences = decompress(&mut input)
                .map_err(|_| ())
                .and_then(|input| Reader::new(input).collect::<Result<Vec<_>, _>>().map_err(drop));
            match sentences {
                Ok(sentences) => {
                    assert_eq!(sentences.len(), 2, "after {call} calls");
                    assert!(input.calls <= call, "a failure was hidden");
                    break;
                }
                Err(()) => assert!(input.calls > call, "an error without a failure"),
            }
        }
    }
}

#[test]
fn an_output_that_fails_at_any_call_is_an_error() {
    let sentences: Vec<Sentence> = Reader::new(TWO.as_bytes()).map(Result::unwrap).collect();
    for call in 0.. {
        let mut output = Flaky::failing(Vec::new(), call);
        let mut writer = Writer::new(&mut output);
        let mut written = sentences.iter().try_for_each(|sentence| writer.write(sentence));
        written = written.and_then(|()| writer.finish().map(drop));
        if written.is_ok() {
            assert_eq!(output.inner, TWO.as_bytes());
            assert!(call > 3, "several calls were tried");
            return;
        }
        assert!(output.inner.len() < TWO.len());
    }
}
