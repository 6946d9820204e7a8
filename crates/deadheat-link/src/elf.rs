//! Reads ELF files: recognises programs, and lists the function sections of objects. Linkers
//! without an option to shuffle sections get a script with the sections in random order.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use object::elf::{
    DF_1_PIE, DT_FLAGS_1, ET_DYN, ET_EXEC, ET_REL, FileHeader32, FileHeader64, PT_INTERP,
    SHF_EXECINSTR,
};
use object::read::archive::ArchiveFile;
use object::read::elf::{Dyn, FileHeader, ProgramHeader, SectionHeader};
use object::{Endianness, FileKind};

/// Returns true if the bytes are an ELF program, and false for a shared library, an object or
/// anything else.
pub(crate) fn is_executable(bytes: &[u8]) -> bool {
    let answer = match FileKind::parse(bytes) {
        Ok(FileKind::Elf32) => is_program::<FileHeader32<Endianness>>(bytes),
        Ok(FileKind::Elf64) => is_program::<FileHeader64<Endianness>>(bytes),
        _ => Ok(false),
    };
    answer.unwrap_or(false)
}

fn is_program<Elf: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> object::Result<bool> {
    let header = Elf::parse(bytes)?;
    let endian = header.endian()?;
    match header.e_type(endian) {
        ET_EXEC => return Ok(true),
        ET_DYN => {}
        _ => return Ok(false),
    }
    for segment in header.program_headers(endian, bytes)? {
        if segment.p_type(endian) == PT_INTERP {
            return Ok(true);
        }
        // A static position-independent executable has no interpreter.
        for entry in segment.dynamic(endian, bytes)?.unwrap_or_default() {
            let value: u64 = entry.d_val(endian).into();
            if entry.tag32(endian) == Some(DT_FLAGS_1) && value & u64::from(DF_1_PIE) != 0 {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The names of all function sections of a link that a linker script can order. Sections of the
/// same name stay together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FunctionSections(BTreeSet<String>);

impl FunctionSections {
    /// Collects the names of function sections from objects and archives. Other files are skipped,
    /// because they have no function sections.
    ///
    /// # Errors
    ///
    /// The error of a file that cannot be read.
    pub(crate) fn of(files: impl IntoIterator<Item = PathBuf>) -> std::io::Result<Self> {
        let mut names = BTreeSet::new();
        for file in files {
            gather(&fs::read(file)?, &mut names);
        }
        Ok(Self(names))
    }

    /// Returns a script for GNU ld that puts the sections into the random order of `seed`, and all
    /// other code after them.
    ///
    /// Each section has its own statement, because GNU ld takes the matches of a statement with
    /// several patterns in the order of the files.
    pub(crate) fn script(&self, seed: u32) -> String {
        let mut order: Vec<&str> = self.0.iter().map(String::as_str).collect();
        let mut draws = SplitMix64(u64::from(seed));
        for last in (1..order.len()).rev() {
            order.swap(last, draws.below(last + 1));
        }
        let mut script = String::from("SECTIONS {\n  .text : {\n");
        for name in order {
            // Writing to a string cannot fail.
            let _ = writeln!(script, "    *({name})");
        }
        script.push_str("    *(.text .text.*)\n  }\n}\nINSERT AFTER .init;\n");
        script
    }
}

fn gather(bytes: &[u8], names: &mut BTreeSet<String>) {
    if let Ok(archive) = ArchiveFile::parse(bytes) {
        for member in archive.members().map_while(Result::ok) {
            if let Ok(data) = member.data(bytes) {
                gather_object(data, names);
            }
        }
    } else {
        gather_object(bytes, names);
    }
}

fn gather_object(data: &[u8], names: &mut BTreeSet<String>) {
    if data.starts_with(b"\x7fELF\x01") {
        gather_sections::<FileHeader32<Endianness>>(data, names);
    } else if data.starts_with(b"\x7fELF\x02") {
        gather_sections::<FileHeader64<Endianness>>(data, names);
    }
}

fn gather_sections<Elf: FileHeader<Endian = Endianness>>(
    data: &[u8],
    names: &mut BTreeSet<String>,
) -> Option<()> {
    let header = Elf::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let table = header.sections(endian, data).ok()?;
    if header.e_type(endian) != ET_REL {
        return None;
    }
    for section in table.iter() {
        let flags: u64 = section.sh_flags(endian).into();
        let name = table.section_name(endian, section).unwrap_or_default();
        if flags & u64::from(SHF_EXECINSTR) != 0 && can_be_named(name) {
            names.insert(String::from_utf8_lossy(name).into_owned());
        }
    }
    Some(())
}

/// Returns true if a linker script can name this function section without matching other sections.
pub(crate) fn can_be_named(name: &[u8]) -> bool {
    name.starts_with(b".text.")
        && name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._$-".contains(byte))
}

/// Sebastiano Vigna's splitmix64, which is random enough for an order.
pub(crate) struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a random number below `bound`, which must not be 0.
    fn below(&mut self, bound: usize) -> usize {
        let scaled = (u128::from(self.next()) * bound as u128) >> 64;
        usize::try_from(scaled).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_this_test_as_a_program_and_its_source_as_none() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(is_executable(&program));
        assert!(!is_executable(&program[..40]));
        assert!(!is_executable(include_bytes!("elf.rs")));
        assert!(!is_executable(b""));
    }

    fn sections(count: usize) -> FunctionSections {
        FunctionSections(
            (0..count)
                .map(|index| format!(".text.f{index:03}"))
                .collect(),
        )
    }

    fn order(script: &str) -> Vec<&str> {
        let named = script
            .lines()
            .filter_map(|line| line.trim().strip_prefix("*(.text."));
        named.filter_map(|line| line.strip_suffix(')')).collect()
    }

    #[test]
    fn the_generator_agrees_with_its_published_reference_values() {
        let mut draws = SplitMix64(1_234_567);
        let first: [u64; 3] = std::array::from_fn(|_| draws.next());
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn a_seed_draws_one_order_and_another_seed_another() {
        let sections = sections(100);
        let [first, again, other] = [7, 7, 8].map(|seed| sections.script(seed));
        assert_eq!(first, again);
        assert_ne!(order(&first), order(&other));
        let sorted: BTreeSet<_> = order(&first).into_iter().collect();
        assert_eq!(sorted.len(), 100, "each section once");
    }

    #[test]
    fn every_order_of_three_sections_comes_about_as_often() {
        let sections = sections(3);
        let mut counts = std::collections::BTreeMap::new();
        for seed in 1..=6000 {
            let script = sections.script(seed);
            *counts.entry(order(&script).concat()).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 6);
        // 1000 ± 5.7 standard deviations.
        assert!(
            counts.values().all(|count| count.abs_diff(1000) < 165),
            "{counts:?}"
        );
    }

    #[test]
    fn names_that_would_mean_something_else_in_a_script_are_left_to_the_end() {
        assert!(can_be_named(b".text._ZN4core3ptr17h0123$LT$u8$GT$E"));
        for name in [
            &b".text"[..],
            b".text.a*",
            b".text.[a]",
            b".text.a b",
            b".text.a)",
            b".textual",
        ] {
            assert!(!can_be_named(name), "{}", String::from_utf8_lossy(name));
        }
    }
}
