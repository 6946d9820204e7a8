//! Do two outputs hold the same bytes? If not, where do they part?

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Where two outputs part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The line, counted from 1.
    pub(crate) line: usize,
    /// That line on both sides, quoted and shortened; `None` past the end.
    pub(crate) expected: Option<String>,
    pub(crate) found: Option<String>,
}

const CHUNK: usize = 64 * 1024;
/// Longest piece of a line that is shown.
const SHOWN: usize = 120;

/// Compares two files from their beginnings, whatever their positions.
pub(crate) fn compare(expected: &File, found: &File) -> io::Result<Option<Difference>> {
    let (mut left, mut right) = (vec![0; CHUNK], vec![0; CHUNK]);
    let mut offset = 0;
    let mut line = 1;
    let mut line_start = 0;
    loop {
        let left_len = read_at(expected, &mut left, offset)?;
        let right_len = read_at(found, &mut right, offset)?;
        let common = left_len.min(right_len);
        let same = left[..common]
            .iter()
            .zip(&right[..common])
            .take_while(|(a, b)| a == b)
            .count();
        for (index, _) in left[..same]
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n')
        {
            line += 1;
            line_start = offset + index as u64 + 1;
        }
        if same < common || left_len != right_len {
            return Ok(Some(Difference {
                line,
                expected: show_line(expected, line_start)?,
                found: show_line(found, line_start)?,
            }));
        }
        if common == 0 {
            return Ok(None);
        }
        offset += common as u64;
    }
}

/// Fills the buffer as far as the file goes.
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        match file.read_at(&mut buffer[done..], offset + done as u64)? {
            0 => break,
            count => done += count,
        }
    }
    Ok(done)
}

fn show_line(file: &File, start: u64) -> io::Result<Option<String>> {
    let mut bytes = [0; SHOWN * 4];
    let length = read_at(file, &mut bytes, start)?;
    if length == 0 {
        return Ok(None);
    }
    let bytes = &bytes[..length];
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let text = String::from_utf8_lossy(&bytes[..end.unwrap_or(length)]).into_owned();
    let mut shown: String = text.chars().take(SHOWN).flat_map(harmless).collect();
    if text.chars().count() > SHOWN || (end.is_none() && length == SHOWN * 4) {
        shown.push('…');
    }
    Ok(Some(format!("\"{shown}\"")))
}

/// A character as it may be shown in a terminal: control characters escaped,
/// everything else as it is.
pub(super) fn harmless(c: char) -> impl Iterator<Item = char> {
    let escaped = c.is_control().then(|| c.escape_debug());
    let plain = (!c.is_control()).then_some(c);
    escaped.into_iter().flatten().chain(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn quoted(line: &str) -> Option<String> {
        Some(format!("\"{line}\""))
    }

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn difference(a: &[u8], b: &[u8]) -> Option<(usize, Option<String>, Option<String>)> {
        compare(&file(a), &file(b))
            .unwrap()
            .map(|d| (d.line, d.expected, d.found))
    }

    #[test]
    fn equal_outputs_do_not_differ_however_long_they_are() {
        let long = vec![b'x'; 3 * CHUNK + 7];
        assert_eq!(difference(b"", b""), None);
        assert_eq!(difference(&long, &long), None);
    }

    #[test]
    fn the_first_differing_line_is_shown_from_both_sides() {
        let found = difference(b"one\ntwo\nthree\n", b"one\ntvo\nthree\n");
        assert_eq!(found, Some((2, quoted("two"), quoted("tvo"))));
    }

    #[test]
    fn an_output_that_stops_early_misses_a_line() {
        let found = difference(b"one\ntwo\n", b"one\n");
        assert_eq!(found, Some((2, quoted("two"), None)));
    }

    #[test]
    fn a_difference_beyond_the_first_chunk_has_the_right_line_number() {
        let mut left = b"line\n".repeat(40_000);
        let right = left.clone();
        left[5 * 39_999] = b'L';
        let (line, expected, _) = difference(&left, &right).unwrap();
        assert_eq!((line, expected), (40_000, quoted("Line")));
    }

    #[test]
    fn control_characters_and_endless_lines_are_shown_safely() {
        let (_, expected, found) = difference(b"\x1b[31m\xff", &[b'y'; 5000]).unwrap();
        assert!(expected.unwrap().starts_with("\"\\u{1b}[31m"));
        let found = found.unwrap();
        assert!(found.ends_with("…\"") && found.chars().count() < 130);
    }
}
