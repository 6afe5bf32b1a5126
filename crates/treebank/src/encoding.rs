//! Input that is not UTF-8.

use std::borrow::Cow;
use std::io::{self, Read};
use std::str::FromStr;

use encoding_rs::{Decoder, DecoderResult};

use crate::Error;

/// A character encoding, by one of its names in the WHATWG Encoding Standard. That standard reads
/// `latin1` and `iso-8859-1` as Windows-1252, which adds printable characters where Latin-1 has
/// control codes.
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

    /// The name by which the standard calls it.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// What the first bytes of an input say, with U+FFFD for what cannot be read and without a byte
    /// order mark: to recognise what it is, not to read it.
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

/// Input turned into UTF-8 on the way. What is UTF-8 already is passed on unread, byte order mark
/// and errors included, for the reader to judge.
pub(crate) struct Transcoder<R> {
    input: R,
    encoding: Encoding,
    decoder: Option<Decoder>,
    /// Bytes read and not yet decoded are `raw[at..filled]`.
    raw: Box<[u8]>,
    at: usize,
    filled: usize,
    /// Offset of `raw[at]` in the input.
    offset: u64,
    finished: bool,
    /// To be reported once everything before it has been handed out.
    malformed: Option<Malformed>,
}

/// A byte sequence that does not exist in the encoding; travels inside an [`io::Error`].
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
        let (at, filled, offset) = (0, 0, 0);
        Self { input, encoding, decoder, raw, at, filled, offset, finished: false, malformed: None }
    }

    /// Fills the start of `out`, which has room for at least one character; 0 at the end.
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

fn retry(input: &mut impl Read, out: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(out) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
