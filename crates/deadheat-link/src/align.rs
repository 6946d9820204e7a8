//! Aligns every function section of an object or an archive to a cache line.
//!
//! The position of a function within a cache line affects how it is fetched and decoded. Neutral
//! links are only comparable if that position is the same in all of them, so the sections are
//! aligned once, in the stored copy, by writing 64 into the alignment field of the section header.
//! No byte moves, and every linker respects it.
//!
//! Two alternatives were measured. A linker script with `SUBALIGN(64)` works with lld and GNU ld,
//! but mold supports no such scripts, and every link would need it. `objcopy
//! --set-section-alignment` works, but starts a program for each file and rewrites the file: 1.3 s
//! for 300 objects of 3 MB in total, whereas the edit in place takes 13 ms even without
//! optimisation. It also requires another program.
//!
//! Sections that no neutral link reads are set to zero, and pages of zeros take no space on disk.
//! These are debug information, which neutral links strip, and the private data of rustc in its
//! archives (`.rmeta`, and the bitcode of the standard library): two thirds of the objects of one
//! bench program. Zeroed sections also lose the flags that mark strings to be merged: lld took each
//! zero of `.debug_str` for an empty string, which increased the time of a link by half.

use std::collections::BTreeSet;
use std::ops::Range;

use object::Endianness;
use object::elf::{
    ET_REL, FileHeader32, FileHeader64, SHF_ALLOC, SHF_COMPRESSED, SHF_EXECINSTR, SHF_MERGE,
    SHF_STRINGS, SHT_NOBITS, SHT_NULL, SHT_SYMTAB, STT_FUNC,
};
use object::read::archive::ArchiveFile;
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym};
use serde::{Deserialize, Serialize};

pub(crate) const ALIGNMENT: u64 = 64;

/// Problems found in a file during alignment. Objects are named by their files, members of archives
/// as `libfoo.a(bar.o)`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Survey {
    /// The first object whose code is only generated at link time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) link_time_code: Option<String>,
    /// Objects with several functions in one section `.text`. Neutral links can move these
    /// functions only together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) unsectioned: Vec<String>,
}

/// The reason why a file cannot be aligned. The file's bytes are then unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Problem {
    /// Neither an object nor an archive: a linker script, for example.
    #[error("neither an ELF object nor an archive")]
    Foreign,
    /// An ELF file that is already linked.
    #[error("a linked executable or shared library, not an object")]
    Linked,
    /// The members of the archive are separate files.
    #[error("a thin archive, whose members are files elsewhere")]
    Thin,
    #[error("{place}malformed: {what}")]
    Malformed {
        /// The name of the archive member, followed by a colon and a blank; empty for an object
        /// file.
        place: String,
        what: String,
    },
}

/// Aligns every function section of an object, or of each object of an archive, to at least 64
/// bytes, and zeroes the sections that no neutral link reads. `name` is the name of the file in the
/// survey.
///
/// Members of an archive that are not objects (the symbol table, `lib.rmeta`) are left unchanged,
/// and so is bitcode, which the survey lists.
///
/// # Errors
///
/// [`Problem`] if the file cannot be aligned. Its bytes are then unchanged.
pub(crate) fn align(name: &str, bytes: &mut [u8]) -> Result<Survey, Problem> {
    let mut survey = Survey::default();
    let mut edits = Edits::default();
    match Kind::of(bytes) {
        Kind::Elf => object(name, bytes, 0, &mut survey, &mut edits)?,
        Kind::Bitcode => survey.link_time_code = Some(name.to_owned()),
        Kind::Archive => archive(name, bytes, &mut survey, &mut edits)?,
        Kind::ThinArchive => return Err(Problem::Thin),
        Kind::Other => return Err(Problem::Foreign),
    }
    for Patch { range, value } in edits.patches {
        bytes[range.clone()].copy_from_slice(&value[..range.len()]);
    }
    for range in edits.unread {
        bytes[range].fill(0);
    }
    Ok(survey)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Elf,
    Bitcode,
    Archive,
    ThinArchive,
    Other,
}

impl Kind {
    fn of(bytes: &[u8]) -> Self {
        match bytes {
            [0x7f, b'E', b'L', b'F', ..] => Self::Elf,
            [b'B', b'C', 0xc0, 0xde, ..] | [0xde, 0xc0, 0x17, 0x0b, ..] => Self::Bitcode,
            _ if bytes.starts_with(&object::archive::MAGIC) => Self::Archive,
            _ if bytes.starts_with(&object::archive::THIN_MAGIC) => Self::ThinArchive,
            _ => Self::Other,
        }
    }
}

/// The changes to the bytes of a file by which its function sections are aligned.
#[derive(Debug, Default)]
struct Edits {
    patches: Vec<Patch>,
    /// Byte ranges to set to zero, all within the file.
    unread: Vec<Range<usize>>,
}

/// Bytes to write into the file; `range` is within the file and at most 8 bytes long.
#[derive(Debug)]
struct Patch {
    range: Range<usize>,
    value: [u8; 8],
}

impl Problem {
    fn malformed(what: impl Into<String>) -> Self {
        Self::Malformed {
            place: String::new(),
            what: what.into(),
        }
    }

    fn in_member(self, name: &str) -> Self {
        match self {
            Self::Malformed { what, .. } => Self::Malformed {
                place: format!("{name}: "),
                what,
            },
            other => other,
        }
    }
}

impl From<object::read::Error> for Problem {
    fn from(error: object::read::Error) -> Self {
        Self::malformed(error.to_string())
    }
}

fn archive(
    name: &str,
    bytes: &[u8],
    survey: &mut Survey,
    edits: &mut Edits,
) -> Result<(), Problem> {
    for member in ArchiveFile::parse(bytes)?.members() {
        let member = member?;
        let member_name = String::from_utf8_lossy(member.name()).into_owned();
        let data = member.data(bytes);
        let data = data.map_err(|error| Problem::from(error).in_member(&member_name))?;
        let start = usize::try_from(member.file_range().0).unwrap_or(usize::MAX);
        let full_name = format!("{name}({member_name})");
        match Kind::of(data) {
            Kind::Elf => match object(&full_name, data, start, survey, edits) {
                // Linkers skip a linked file in an archive, too.
                Ok(()) | Err(Problem::Linked) => {}
                Err(problem) => return Err(problem.in_member(&member_name)),
            },
            Kind::Bitcode => {
                survey.link_time_code.get_or_insert(full_name);
            }
            Kind::Archive | Kind::ThinArchive | Kind::Other => {}
        }
    }
    Ok(())
}

/// Collects the edits of one object that begins at `start` in the file.
fn object(
    name: &str,
    data: &[u8],
    start: usize,
    survey: &mut Survey,
    edits: &mut Edits,
) -> Result<(), Problem> {
    match data.get(4) {
        Some(1) => sections::<FileHeader32<Endianness>>(name, data, start, survey, edits),
        Some(2) => sections::<FileHeader64<Endianness>>(name, data, start, survey, edits),
        _ => Err(Problem::malformed("neither 32 nor 64 bits wide")),
    }
}

fn sections<Elf: FileHeader<Endian = Endianness>>(
    name: &str,
    data: &[u8],
    start: usize,
    survey: &mut Survey,
    edits: &mut Edits,
) -> Result<(), Problem> {
    let header = Elf::parse(data)?;
    let endian = header.endian()?;
    if header.e_type(endian) != ET_REL {
        return Err(Problem::Linked);
    }
    let table = header.sections(endian, data)?;
    let headers = headers_range::<Elf>(header, endian, &table, data)?;
    let (mut has_lto, mut plain) = (false, None);
    let mut read: Vec<Range<usize>> = std::iter::once(0..size_of::<Elf>()).collect();
    let mut unread = Vec::new();
    for (index, section) in table.enumerate() {
        if section.sh_type(endian) == SHT_NULL {
            continue;
        }
        let section_name = table.section_name(endian, section)?;
        let in_section = |what: &str| {
            let name = String::from_utf8_lossy(section_name);
            Problem::malformed(format!("section {name} {what}"))
        };
        let size: u64 = section.sh_size(endian).into();
        let flags: u64 = section.sh_flags(endian).into();
        let field = |offsets, value| {
            let position = headers.start + index.0 * size_of::<Elf::SectionHeader>();
            field_patch(
                header.is_class_64(),
                endian,
                start + position,
                offsets,
                value,
            )
        };
        if section.sh_type(endian) != SHT_NOBITS && size > 0 {
            let begin = section.sh_offset(endian).into();
            let end = begin
                .checked_add(size)
                .filter(|&end| end <= data.len() as u64);
            let Some(end) = end else {
                return Err(in_section("reaches beyond the end of the file"));
            };
            if begin < headers.end as u64 && (headers.start as u64) < end {
                return Err(in_section("overlaps the section headers"));
            }
            let is_left_out =
                flags & u64::from(SHF_ALLOC | SHF_COMPRESSED) == 0 && is_never_linked(section_name);
            let range = begin as usize..end as usize;
            if is_left_out {
                unread.push(range);
                let merged = u64::from(SHF_MERGE | SHF_STRINGS);
                if flags & merged != 0 {
                    edits.patches.push(field(FLAGS, flags & !merged));
                }
            } else {
                read.push(range);
            }
        }
        has_lto |= section_name.starts_with(b".gnu.lto_");
        if flags & u64::from(SHF_EXECINSTR) == 0 {
            continue;
        }
        if section_name != b".text" && !section_name.starts_with(b".text.") {
            continue;
        }
        if section_name == b".text" && size > 0 {
            plain.get_or_insert(index);
        }
        let old: u64 = section.sh_addralign(endian).into();
        if old > 1 && !old.is_power_of_two() {
            return Err(in_section(&format!("asks for an alignment of {old}")));
        }
        if old < ALIGNMENT {
            edits.patches.push(field(ADDRALIGN, ALIGNMENT));
        }
    }
    // If an object has bytecode for LTO, gcc generates its code again, even if the object also
    // contains machine code.
    if has_lto {
        survey.link_time_code.get_or_insert(name.to_owned());
    }
    let in_file = |range: Range<usize>| start + range.start..start + range.end;
    edits
        .unread
        .extend(apart(unread, read).into_iter().map(in_file));
    if let Some(plain) = plain {
        let symbols = table.symbols(endian, data, SHT_SYMTAB)?;
        let mut functions = BTreeSet::new();
        for (index, symbol) in symbols.enumerate() {
            let size: u64 = symbol.st_size(endian).into();
            if symbol.st_type() == STT_FUNC
                && size > 0
                && symbols.symbol_section(endian, symbol, index)? == Some(plain)
            {
                functions.insert(symbol.st_value(endian).into());
            }
        }
        if functions.len() > 1 {
            survey.unsectioned.push(name.to_owned());
        }
    }
    Ok(())
}

/// Returns true if no neutral link reads the section `name`: debug information, for example, or the
/// relocations of such a section.
fn is_never_linked(name: &[u8]) -> bool {
    let relocated = name.strip_prefix(b".rela");
    let relocated = relocated.or_else(|| name.strip_prefix(b".rel"));
    let name = relocated.unwrap_or(name);
    name.starts_with(b".debug_") || [&b".rmeta"[..], b".llvmbc", b".llvmcmd"].contains(&name)
}

/// Returns those of `ranges` that share no byte with any of `others`. `ranges` are bytes to be
/// zeroed, and `others` are bytes that a link reads: an unusual object may use the same bytes for
/// both.
fn apart(ranges: Vec<Range<usize>>, mut others: Vec<Range<usize>>) -> Vec<Range<usize>> {
    if ranges.is_empty() {
        return ranges;
    }
    others.sort_by_key(|other| other.start);
    // The largest end of this range and all that begin before it.
    let mut furthest = 0;
    for other in &mut others {
        furthest = furthest.max(other.end);
        other.end = furthest;
    }
    let is_apart = |range: &Range<usize>| {
        let before = others.partition_point(|other| other.start < range.end);
        before == 0 || others[before - 1].end <= range.start
    };
    ranges.into_iter().filter(is_apart).collect()
}

fn headers_range<Elf: FileHeader<Endian = Endianness>>(
    header: &Elf,
    endian: Endianness,
    table: &SectionTable<'_, Elf>,
    data: &[u8],
) -> Result<Range<usize>, Problem> {
    let outside = || Problem::malformed("the section headers lie outside the file");
    let begin: u64 = header.e_shoff(endian).into();
    let begin = usize::try_from(begin).map_err(|_| outside())?;
    let length = table.len() * size_of::<Elf::SectionHeader>();
    let end = begin
        .checked_add(length)
        .filter(|&end| end <= data.len())
        .ok_or_else(outside)?;
    if length > 0 && begin < size_of::<Elf>() {
        return Err(Problem::malformed(
            "the section headers overlap the file header",
        ));
    }
    Ok(begin..end)
}

/// The offsets of the field `sh_flags` in section headers of 32-bit and 64-bit objects.
const FLAGS: (usize, usize) = (8, 8);

/// The offsets of the field `sh_addralign` in section headers of 32-bit and 64-bit objects.
const ADDRALIGN: (usize, usize) = (32, 48);

/// Returns a patch of a word-sized field of the section header at `position`.
fn field_patch(
    is_64: bool,
    endian: Endianness,
    position: usize,
    (in_32, in_64): (usize, usize),
    field: u64,
) -> Patch {
    let (offset, length) = if is_64 { (in_64, 8) } else { (in_32, 4) };
    let mut value = [0; 8];
    match endian {
        Endianness::Little => value = field.to_le_bytes(),
        Endianness::Big => value[..length].copy_from_slice(&field.to_be_bytes()[8 - length..]),
    }
    let begin = position + offset;
    Patch {
        range: begin..begin + length,
        value,
    }
}

#[cfg(test)]
mod tests;
