//! Character encodings of input.

use std::borrow::Cow;
use std::io::{self, Read};
use std::str::FromStr;

use encoding_rs::{Decoder, DecoderResult};

use crate::Error;

/// A character encoding, named as in the WHATWG Encoding Standard. The standard treats `latin1` and
/// `iso-8859-1` as Windows-1252, which has printable characters where Latin-1 has control codes.
///
/// ```
/// use tutte_treebank::Encoding;
/// let encoding: Encoding = "latin1".parse()?;
/// assert_eq!(encoding.name(), "windows-1252");
/// assert!("klingon".parse::<Encoding>().is_err());
/// # Ok::<(), tutte_treebank::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding(&'static encoding_rs::Encoding);

impl Encoding {
    /// UTF-8, the encoding of nearly all treebanks.
    pub const UTF_8: Encoding = Encoding(encoding_rs::UTF_8);

    /// Name of the encoding in the standard.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Decodes the first bytes of an input, to recognise its content. Invalid bytes become U+FFFD;
    /// a byte order mark is removed.
    pub fn preview(self, first: &[u8]) -> Cow<'_, str> {
        self.0.decode_with_bom_removal(first).0
    }
}

impl Default for Encoding {
    fn default() -> Self {
        Encoding::UTF_8
    }
}

impl FromStr for Encoding {
    type Err = Error;

    fn from_str(label: &str) -> Result<Self, Error> {
        encoding_rs::Encoding::for_label_no_replacement(label.as_bytes())
            .map(Encoding)
            .ok_or_else(|| Error::UnknownEncoding { label: label.to_owned() })
    }
}

/// Converts input from an encoding to UTF-8. UTF-8 input passes through unchecked, with byte order
/// mark and errors. Invalid input in other encodings gives an error of kind `InvalidData`.
///
/// ```
/// use std::io::Read;
/// let latin1: tutte_treebank::Encoding = "latin1".parse()?;
/// let mut text = String::new();
/// tutte_treebank::transcode(&b"caf\xe9"[..], latin1).read_to_string(&mut text)?;
/// assert_eq!(text, "café");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn transcode<'a>(
    input: impl Read + Send + 'a,
    encoding: Encoding,
) -> Box<dyn Read + Send + 'a> {
    if encoding == Encoding::UTF_8 {
        return Box::new(input);
    }
    let input = Transcoder::new(input, encoding);
    Box::new(Transcoding { input, spare: [0; 64], at: 0, filled: 0 })
}

/// A [`Transcoder`] for callers whose buffer may be smaller than a character.
struct Transcoding<R> {
    input: Transcoder<R>,
    /// `spare[at..filled]` did not fit into the caller's buffer.
    spare: [u8; 64],
    at: usize,
    filled: usize,
}

impl<R: Read> Read for Transcoding<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at == self.filled {
            if out.len() >= self.spare.len() {
                return self.input.read(out);
            }
            self.filled = self.input.read(&mut self.spare)?;
            self.at = 0;
        }
        let length = out.len().min(self.filled - self.at);
        out[..length].copy_from_slice(&self.spare[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

/// Converts input to UTF-8 while it is read. UTF-8 input passes through unchecked, with byte order
/// mark and errors; the reader checks it.
pub(crate) struct Transcoder<R> {
    input: R,
    encoding: Encoding,
    decoder: Option<Decoder>,
    /// `raw[at..filled]` was read but not yet decoded.
    raw: Box<[u8]>,
    at: usize,
    filled: usize,
    /// Offset of `raw[at]` in the input.
    offset: u64,
    finished: bool,
    /// Reported once everything before it has been handed out.
    malformed: Option<Malformed>,
}

/// A byte sequence that is invalid in the encoding. It is wrapped in an [`io::Error`].
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("byte {offset} of the input is not valid {encoding}")]
pub(crate) struct Malformed {
    pub(crate) encoding: &'static str,
    pub(crate) offset: u64,
}

impl<R: Read> Transcoder<R> {
    pub(crate) fn new(input: R, encoding: Encoding) -> Self {
        let decoder =
            (encoding != Encoding::UTF_8).then(|| encoding.0.new_decoder_with_bom_removal());
        let raw = vec![0; if decoder.is_some() { 1 << 16 } else { 0 }].into_boxed_slice();
        Self {
            input,
            encoding,
            decoder,
            raw,
            at: 0,
            filled: 0,
            offset: 0,
            finished: false,
            malformed: None,
        }
    }

    /// Fills the start of `out`, which must have room for at least one character. Returns 0 at the
    /// end.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let Some(decoder) = &mut self.decoder else {
            return retry(&mut self.input, out);
        };
        if let Some(malformed) = self.malformed {
            return Err(io::Error::new(io::ErrorKind::InvalidData, malformed));
        }
        loop {
            if self.finished {
                return Ok(0);
            }
            if self.at == self.filled {
                self.at = 0;
                self.filled = retry(&mut self.input, &mut self.raw)?;
            }
            let last = self.filled == 0;
            let pending = &self.raw[self.at..self.filled];
            let (result, read, written) =
                decoder.decode_to_utf8_without_replacement(pending, out, last);
            self.at += read;
            self.offset += read as u64;
            match result {
                DecoderResult::InputEmpty => self.finished = last,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(length, after) => {
                    let offset = self.offset.saturating_sub(u64::from(length) + u64::from(after));
                    let malformed = Malformed { encoding: self.encoding.name(), offset };
                    self.malformed = Some(malformed);
                    if written == 0 {
                        return Err(io::Error::new(io::ErrorKind::InvalidData, malformed));
                    }
                }
            }
            if written > 0 {
                return Ok(written);
            }
        }
    }
}

/// Reads, and repeats a call that a signal interrupts.
pub(crate) fn retry(input: &mut impl Read, out: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(out) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_buffers_work() {
        let expected = "caf\u{e9} \u{2019}\u{20ac}\u{2019} ".repeat(50);
        let latin1 = b"caf\xe9 \x92\x80\x92 ".repeat(50);
        for room in [1, 2, 3, 4, 63, 64, 65, 10_000] {
            let mut input = transcode(&latin1[..], "latin1".parse().unwrap());
            let mut text = Vec::new();
            let mut piece = vec![0; room];
            loop {
                match input.read(&mut piece).unwrap() {
                    0 => break,
                    read => text.extend_from_slice(&piece[..read]),
                }
            }
            assert!(text == expected.as_bytes(), "{room} bytes at a time");
        }
        let mut rest = Vec::new();
        let wrong =
            transcode(&b"caf\xff\xff"[..], "shift_jis".parse().unwrap()).read_to_end(&mut rest);
        assert_eq!(wrong.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
