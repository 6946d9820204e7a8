//! Matched links: neutral links of several builds in which shared code is at the same places.
//!
//! Two builds of a program differ in a few functions and agree in all others. If each build is
//! shuffled by itself, all addresses differ. Matched links use one random order of the *names* of
//! the sections, and every section begins at the same distance from the start of `.text` in all
//! builds. A build leaves a gap if a section is smaller than in another build, or missing. The
//! builds then differ only inside the sections that changed.
//!
//! ```text
//! linker's map ─▶ SectionTable of each build ─▶ Layout of one of them ─seed─┬▶ linker script
//!                                                                           └▶ order of symbols
//! ```
//!
//! Every matched link is verified. A script gives the distance of each section from the start, so
//! the linker fails if it cannot place a section there. A link by an order of symbols is checked
//! afterwards.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use deadheat_model::fnv1a;
use serde::{Deserialize, Serialize};

use crate::align::ALIGNMENT;
use crate::elf::{SplitMix64, can_be_named};
use crate::linker::Family;
use crate::record::Digest;

/// Builds are matched only if at least this share of each build's code is in functions that all
/// builds have. With less in common, the gaps for the code of the other builds would spread a build
/// over more than twice the pages.
const LEAST_SHARED: f64 = 0.5;

/// The symbol at the start of `.text`.
pub(crate) const START: &str = "__deadheat_text";

pub(crate) const PAGE: u64 = 4096;

/// The largest number of sections for which lld gets a script. lld searches all sections for every
/// line of a script, which takes 5 ns times the square of their number: 0.05 s for 3,000 sections
/// and 0.36 s for 8,000, while a link without a script takes 0.02 s. For GNU ld, a script adds only
/// 0.02 s for 3,000 sections and 0.08 s for 8,000.
const MOST_BY_SCRIPT_OF_LLD: usize = 3000;

/// The function sections that a linker keeps of one build, and their sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SectionTable {
    /// The sections in the order of the inputs. All sections of the same name are one entry, as in
    /// a script.
    sections: Vec<Section>,
    /// The bytes of code in sections that cannot be placed individually.
    rest: u64,
}

/// All sections with the same name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Section {
    pub(crate) name: String,
    /// A symbol in the section, by which lld can place it with an order of symbols.
    pub(crate) symbol: Option<String>,
    pub(crate) bytes: u64,
}

impl SectionTable {
    /// Reads a link map that a linker of this family wrote; empty if the map has no sections.
    pub(crate) fn read(map: &str, family: Family) -> Self {
        let mut table = Self::default();
        let mut places = HashMap::new();
        let mut names_of_symbols = HashMap::new();
        let mut add = |mut section: Section| {
            section.bytes = section.bytes.next_multiple_of(ALIGNMENT);
            // A symbol that occurs in sections of several names would move all of them to one
            // place.
            let is_found = section.symbol.as_ref().is_some_and(|symbol| {
                let name = names_of_symbols.entry(symbol.clone());
                *name.or_insert_with(|| section.name.clone()) == section.name
            });
            if !can_be_named(section.name.as_bytes()) || !(is_found || family == Family::Gnu) {
                table.rest += section.bytes;
                return;
            }
            match places.get(&section.name) {
                Some(&place) => {
                    let known: &mut Section = &mut table.sections[place];
                    known.bytes += section.bytes;
                }
                None => {
                    places.insert(section.name.clone(), table.sections.len());
                    table.sections.push(section);
                }
            }
        };
        match family {
            Family::Gnu => sections_by_gnu(map, &mut add),
            Family::Lld | Family::Mold => sections_by_lld(map, &mut add),
        }
        table
    }

    fn total(&self) -> u64 {
        self.rest + self.sections.iter().map(|one| one.bytes).sum::<u64>()
    }

    /// Returns the key of each section, by which it is found in the tables of the other builds. A
    /// name that is in all tables is its own key. Other names are stripped of hashes, and equal
    /// results are numbered in order, so that the n-th such section of one build is matched with
    /// the n-th of another.
    fn keys(&self, others: &[&Self]) -> Vec<String> {
        fn names(table: &SectionTable) -> HashSet<&str> {
            table.sections.iter().map(|one| one.name.as_str()).collect()
        }
        let others: Vec<HashSet<&str>> = others.iter().map(|table| names(table)).collect();
        let mut counts = HashMap::new();
        let key = |Section { name, .. }: &Section| {
            if others.iter().all(|other| other.contains(name.as_str())) {
                return name.clone();
            }
            let bare = without_hashes(name);
            let count = counts.entry(bare.clone()).or_insert(0_u32);
            *count += 1;
            format!("{bare}#{count}")
        };
        self.sections.iter().map(key).collect()
    }
}

/// Reads the map of GNU ld: lines such as ` .text.f 0x1000 0x15 a.o`; after a long name the rest is
/// on the next line. Discarded sections are listed before the memory map. The map does not list
/// local symbols.
fn sections_by_gnu(map: &str, add: &mut impl FnMut(Section)) {
    let kept = map.split_once("\nLinker script and memory map\n");
    let mut name = None;
    for line in kept.map_or("", |(_, kept)| kept).lines() {
        let mut words = line.split_ascii_whitespace();
        if line.starts_with(" .text") {
            name = words.next();
            if name.is_some() && words.clone().next().is_none() {
                continue;
            }
        }
        let hexadecimal = |word: &str| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok();
        if let Some(name) = name.take()
            && let Some(_address) = words.next().and_then(hexadecimal)
            && let Some(bytes @ 1..) = words.next().and_then(hexadecimal)
        {
            add(Section {
                name: name.to_owned(),
                symbol: None,
                bytes,
            });
        }
    }
}

/// Reads the map of lld: lines such as `VMA LMA Size Align file:(.text.f)`, with sizes in
/// hexadecimal, followed by the symbols of that section, indented further. A section that is not
/// aligned to 64 bytes gets no symbol, because an order of symbols cannot reproduce the gap that a
/// script would leave before it.
fn sections_by_lld(map: &str, add: &mut impl FnMut(Section)) {
    let mut last: Option<(Section, bool)> = None;
    let mut done = |last: &mut Option<(Section, bool)>| {
        if let Some((section, _)) = last.take() {
            add(section);
        }
    };
    for line in map.lines() {
        let Some((size, align, indent, name)) = columns_of_lld(line) else {
            continue;
        };
        if indent >= 16 {
            let orders = |name: &str| !name.starts_with(['$', '.']) && !name.contains(' ');
            if let Some((section, true)) = &mut last
                && section.symbol.is_none()
                && orders(name)
            {
                section.symbol = Some(name.to_owned());
            }
            continue;
        }
        done(&mut last);
        let tail = name.rsplit_once(":(.text");
        if let (Some(tail), 1..) = (tail.and_then(|(_, tail)| tail.strip_suffix(')')), size) {
            let section = Section {
                name: format!(".text{tail}"),
                symbol: None,
                bytes: size,
            };
            last = Some((section, align == ALIGNMENT));
        }
    }
    done(&mut last);
}

/// Parses a line of lld's map into size, alignment, indentation and name.
fn columns_of_lld(line: &str) -> Option<(u64, u64, usize, &str)> {
    let mut rest = line;
    let mut word = || {
        let trimmed = rest.trim_start();
        let (word, after) = trimmed.split_once(' ')?;
        rest = after;
        Some(word)
    };
    let (_, _) = (word()?, word()?);
    let size = u64::from_str_radix(word()?, 16).ok()?;
    let align = word()?.parse().ok()?;
    let name = rest.trim_start();
    Some((size, align, rest.len() - name.len(), name.trim_end()))
}

/// Returns a section name without the parts that differ between builds of the same source: the hash
/// at the end of a Rust symbol (`17h0123456789abcdefE`), hashes of crates within it (`Cs…_`) with
/// the back references whose values depend on them (`B…_`), and the number that LLVM adds to
/// symbols it makes visible (`.llvm.123`).
fn without_hashes(name: &str) -> String {
    let mut bare = match name.find(".llvm.") {
        Some(at) => name[..at].to_owned(),
        None => name.to_owned(),
    };
    if bare.contains("._ZN")
        && let Some(at) = bare.rfind("17h")
        && bare[at + 3..]
            .bytes()
            .take_while(u8::is_ascii_hexdigit)
            .count()
            >= 16
    {
        bare.replace_range(at + 3..at + 19, "");
    }
    if !bare.contains("._R") {
        return bare;
    }
    let mut kept = String::new();
    let mut rest = bare.as_str();
    while let Some(at) = rest.find(['C', 'B']) {
        let is_crate = rest[at..].starts_with("Cs");
        let begin = at + if is_crate { 2 } else { 1 };
        let digits = rest[begin..]
            .bytes()
            .take_while(u8::is_ascii_alphanumeric)
            .count();
        kept.push_str(&rest[..begin]);
        rest = &rest[begin..];
        if (is_crate || kept.ends_with('B')) && rest[digits..].starts_with('_') {
            rest = &rest[digits..];
        }
    }
    kept + rest
}

/// The places of one build's sections, matched to those of the other builds, and how to pass them
/// to a linker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The places of all sections, sorted by key.
    slots: Arc<[Slot]>,
    of_slots: Digest,
    way: Way,
}

/// A way to tell a linker the places of sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By a linker script with the distance of each section from the start.
    Script,
    /// By an order of symbols, with sections of an extra object as gaps.
    Symbols,
}

/// The place of one section in all builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    key: String,
    /// This build's section; `None` if the build lacks it.
    pub(crate) own: Option<Section>,
    /// The largest size of the section in any build.
    pub(crate) bytes: u64,
    /// The hash of the section's key, which determines the section's place in a random order.
    hash: u64,
}

impl Slot {
    /// Returns the size of the gap in this build, in bytes: the difference between the largest
    /// section of this key in any build and the section of this build.
    pub(crate) fn room(&self) -> u64 {
        self.bytes - self.own.as_ref().map_or(0, |own| own.bytes)
    }
}

impl Layout {
    /// Creates the layout of the build with the table `own`, matched to those with the tables
    /// `others`, for a script.
    ///
    /// # Errors
    ///
    /// The reason why these builds cannot be matched.
    pub(crate) fn of(own: &SectionTable, others: &[SectionTable]) -> Result<Self, String> {
        let tables: Vec<&SectionTable> = std::iter::once(own).chain(others).collect();
        let mut slots: HashMap<String, (Slot, usize)> = HashMap::new();
        let mut keys = Vec::new();
        for (index, table) in tables.iter().enumerate() {
            let mut rest = tables.clone();
            rest.remove(index);
            let of_table = table.keys(&rest);
            for (section, key) in table.sections.iter().zip(&of_table) {
                let (slot, builds) = slots.entry(key.clone()).or_insert_with(|| {
                    let slot = Slot {
                        hash: fnv1a(key.bytes()),
                        key: key.clone(),
                        own: None,
                        bytes: 0,
                    };
                    (slot, 0)
                });
                slot.bytes = slot.bytes.max(section.bytes);
                *builds += 1;
                if index == 0 {
                    slot.own = Some(section.clone());
                }
            }
            keys.push(of_table);
        }
        for (table, keys) in tables.iter().zip(keys) {
            let sections = table.sections.iter().zip(keys);
            let everywhere = sections.filter(|(_, key)| slots[key].1 == tables.len());
            let shared: u64 = everywhere.map(|(section, _)| section.bytes).sum();
            let share = shared as f64 / table.total().max(1) as f64;
            if share < LEAST_SHARED {
                return Err(format!(
                    "only {:.0}% of one build's code is in functions that have a section each and \
                     that the other builds contain",
                    share * 100.0
                ));
            }
        }
        let mut slots: Vec<Slot> = slots.into_values().map(|(slot, _)| slot).collect();
        slots.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        // The digest is computed from plain text: writing JSON would take 2 ms for 6,000 functions,
        // and the whole link takes 40 ms.
        let mut text = String::new();
        for Slot {
            key, own, bytes, ..
        } in &slots
        {
            let _ = writeln!(text, "{key}\t{bytes}");
            if let Some(Section {
                name,
                symbol,
                bytes,
            }) = own
            {
                let symbol = symbol.as_deref().unwrap_or_default();
                let _ = writeln!(text, "\t{name}\t{symbol}\t{bytes}");
            }
        }
        Ok(Self {
            of_slots: Digest::of(text.as_bytes()),
            slots: slots.into(),
            way: Way::Script,
        })
    }

    /// Returns this layout once for each way in which the linker can apply it, the best way first.
    pub(crate) fn ways(self, family: Family) -> Vec<Self> {
        let by_symbols = (family == Family::Lld).then(|| Self {
            way: Way::Symbols,
            ..self.clone()
        });
        let own = self.slots.iter().filter(|slot| slot.own.is_some()).count();
        let by_script = family == Family::Gnu || own <= MOST_BY_SCRIPT_OF_LLD;
        by_symbols
            .into_iter()
            .chain(by_script.then_some(self))
            .collect()
    }

    pub(crate) fn way(&self) -> Way {
        self.way
    }

    pub(crate) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    pub(crate) fn digest(&self) -> Digest {
        Digest::of(format!("{}{:?}", self.of_slots.0, self.way).as_bytes())
    }

    /// Returns the indices of the slots in the random order of this seed.
    pub(crate) fn in_order(&self, seed: u32) -> Vec<usize> {
        let drawn: Vec<u64> = self.slots.iter().map(|one| draw(seed, one.hash)).collect();
        let mut order: Vec<usize> = (0..self.slots.len()).collect();
        order.sort_by_key(|&index| drawn[index]);
        order
    }

    pub(crate) fn script(&self, seed: u32) -> String {
        // Page-aligned, so that sections before `.text` cannot shift it within a page.
        let mut script = format!("SECTIONS {{\n  .text : ALIGN({PAGE}) {{\n    {START} = .;\n");
        let mut offset = 0;
        for slot in self.in_order(seed).into_iter().map(|at| &self.slots[at]) {
            if let Some(Section { name, .. }) = &slot.own {
                // Writing to a string cannot fail.
                let _ = writeln!(script, "    . = {START} + {offset};\n    *({name})");
            }
            offset += slot.bytes;
        }
        let _ = writeln!(script, "    . = {START} + {offset};");
        script.push_str("    *(.text .text.*)\n  }\n}\nINSERT AFTER .init;\n");
        script
    }
}

/// Returns the random number by which a section is sorted. It does not depend on other sections, so
/// an added function increases the distances between others, but does not change their order.
fn draw(seed: u32, hash: u64) -> u64 {
    SplitMix64(hash ^ SplitMix64(u64::from(seed)).next()).next()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn table(sections: &[(&str, u64)]) -> SectionTable {
        SectionTable {
            sections: sections
                .iter()
                .map(|(name, bytes)| Section {
                    name: format!(".text.{name}"),
                    symbol: Some((*name).to_owned()),
                    bytes: *bytes,
                })
                .collect(),
            rest: 64,
        }
    }

    fn places(script: &str) -> BTreeMap<String, u64> {
        let mut at = 0;
        let mut places = BTreeMap::new();
        for line in script.lines().map(str::trim) {
            let offset = line.strip_prefix(". = __deadheat_text + ");
            if let Some(offset) = offset.and_then(|line| line.strip_suffix(';')) {
                at = offset.parse().unwrap();
            }
            if let Some(name) = line
                .strip_prefix("*(.text.")
                .and_then(|line| line.strip_suffix(')'))
            {
                places.insert(name.to_owned(), at);
            }
        }
        places
    }

    #[test]
    fn maps_of_both_linkers_are_read_alike() {
        let gnu = "Discarded input sections\n\n .text.gone     0x0000000000000000       0x15 a.o\n\n\
            Linker script and memory map\n\nLOAD a.o\n.text           0x0000000000001000      0x200\n \
            *(.text.f .text.g)\n .text.f        0x0000000000001000       0x15 a.o\n                \
            0x0000000000001000                f\n .text.a_name_of_some_length\n                \
            0x0000000000001040       0x41 a.o\n .text          0x00000000000010c0        0x0 b.o\n \
            .text          0x00000000000010c0        0x3 c.o\n .text.f        0x0000000000001100       0x40 b.o\n";
        let lld = "             VMA              LMA     Size Align Out     In      Symbol\n            \
            1000             1000      200    64 .text\n            1000             1000       15    64         \
            a.o:(.text.f)\n            1000             1000        0     1                 $x\n            \
            1000             1000       15     1                 f\n            1040             \
            1040       41    64         lib x.a(m.o):(.text.a_name_of_some_length)\n            1040             \
            1040       41     1                 a_name\n            10c0             10c0        \
            3    64         c.o:(.text)\n            1100             1100       40    64         b.o:(.text.f)\n            \
            1100             1100       40     1                 f\n";
        let section = |name: &str, symbol: Option<&str>| Section {
            name: name.to_owned(),
            symbol: symbol.map(str::to_owned),
            bytes: 128,
        };
        let expected = |[f, a_name]: [Option<&str>; 2]| SectionTable {
            sections: vec![
                section(".text.f", f),
                section(".text.a_name_of_some_length", a_name),
            ],
            rest: 64,
        };
        assert_eq!(SectionTable::read(gnu, Family::Gnu), expected([None; 2]));
        let by_lld = SectionTable::read(lld, Family::Lld);
        assert_eq!(by_lld, expected([Some("f"), Some("a_name")]));
        assert_eq!(SectionTable::read("", Family::Gnu), SectionTable::default());
    }

    #[test]
    fn omits_symbols_that_would_move_other_sections_or_leave_no_gap() {
        let line = |align: u32, name: &str| format!("  1000   1000   40 {align:5} {name}\n");
        let map = [
            line(64, "        a.o:(.text.f)"),
            line(1, "                same"),
            line(64, "        b.o:(.text.g)"),
            line(1, "                same"),
            line(16, "        c.o:(.text.h)"),
            line(1, "                h"),
            line(64, "        d.o:(.text.i)"),
        ];
        let table = SectionTable::read(&map.concat(), Family::Lld);
        let names: Vec<&str> = table.sections.iter().map(|one| one.name.as_str()).collect();
        assert_eq!((names, table.rest), (vec![".text.f"], 3 * 64));
    }

    #[test]
    fn names_are_compared_without_what_every_build_makes_anew() {
        for (name, bare) in [
            (
                ".text._ZN4core3ptr17h0123456789abcdefE",
                ".text._ZN4core3ptr17hE",
            ),
            (
                ".text.unlikely._ZN1a17h0123456789abcdefE.llvm.77",
                ".text.unlikely._ZN1a17hE",
            ),
            (".text._ZN17h0E", ".text._ZN17h0E"),
            (
                ".text._RNvCs4fqI2P2rA04_7mycrate3foo",
                ".text._RNvCs_7mycrate3foo",
            ),
            (".text._RINvCsaBc_1a1fNtB2_1SE", ".text._RINvCs_1a1fNtB_1SE"),
            (".text.Csharp_B2_", ".text.Csharp_B2_"),
        ] {
            assert_eq!(without_hashes(name), bare, "{name}");
        }
    }

    #[test]
    fn shared_sections_keep_their_places_despite_changes() {
        let old = table(&[("f", 64), ("g", 128), ("gone", 64), ("h17", 64), ("i", 64)]);
        let new = table(&[("new", 192), ("f", 64), ("g", 256), ("h17", 64), ("i", 64)]);
        let [old, new] = [(&old, &new), (&new, &old)]
            .map(|(own, other)| Layout::of(own, std::slice::from_ref(other)).unwrap());
        let mut orders = BTreeSet::new();
        for seed in 1..20 {
            let [old, new] = [&old, &new].map(|layout| places(&layout.script(seed)));
            assert_eq!((old.len(), new.len()), (5, 5));
            for shared in ["f", "g", "h17", "i"] {
                assert_eq!(old[shared], new[shared], "{seed}: {shared}");
            }
            let mut order: Vec<(u64, String)> = old.into_iter().map(|(n, at)| (at, n)).collect();
            order.sort();
            orders.insert(order);
        }
        assert!(orders.len() > 10, "a seed draws an order: {}", orders.len());
        assert_ne!(old.digest(), new.digest());
    }

    #[test]
    fn an_added_function_leaves_the_order_of_the_others() {
        let few = table(&[("a", 64), ("b", 64), ("c", 64), ("d", 64)]);
        let more = table(&[("a", 64), ("b", 64), ("between", 64), ("c", 64), ("d", 64)]);
        let order = |table: &SectionTable, seed| {
            let places = places(&Layout::of(table, &[]).unwrap().script(seed));
            let mut order: Vec<(u64, String)> = places.into_iter().map(|(n, at)| (at, n)).collect();
            order.sort();
            let names = order.into_iter().map(|(_, name)| name);
            names.filter(|name| name != "between").collect::<Vec<_>>()
        };
        for seed in 1..50 {
            assert_eq!(order(&few, seed), order(&more, seed));
        }
    }

    #[test]
    fn functions_whose_hashes_differ_are_paired_in_their_order() {
        let [old, new] = ["0", "1"].map(|digit| {
            let hash = digit.repeat(16);
            let name = |name: &str| format!("_ZN{name}17h{hash}E");
            let [a, b, c] = [
                name("1a"),
                name("1b"),
                name("1b").replace(&hash[1..], "222222222222222"),
            ];
            table(&[(&a, 64), (&b, 128), (&c, 192), ("main", 64)])
        });
        let [old, new] = [(&old, &new), (&new, &old)]
            .map(|(own, other)| Layout::of(own, std::slice::from_ref(other)).unwrap());
        let [old, new] = [&old, &new].map(|layout| places(&layout.script(3)));
        let values = |places: &BTreeMap<String, u64>| {
            let mut values: Vec<u64> = places.values().copied().collect();
            values.sort_unstable();
            values
        };
        assert_eq!(old["main"], new["main"]);
        assert_eq!(values(&old), values(&new));
    }

    #[test]
    fn lld_gets_no_script_for_very_many_functions() {
        let names: Vec<String> = (0..=MOST_BY_SCRIPT_OF_LLD)
            .map(|index| format!("f{index}"))
            .collect();
        let sections: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 64)).collect();
        let ways = |sections: &[(&str, u64)], family| -> Vec<Way> {
            let layout = Layout::of(&table(sections), &[]).unwrap();
            layout.ways(family).iter().map(Layout::way).collect()
        };
        assert_eq!(ways(&sections, Family::Lld), [Way::Symbols]);
        assert_eq!(
            ways(&sections[1..], Family::Lld),
            [Way::Symbols, Way::Script]
        );
        assert_eq!(ways(&sections, Family::Gnu), [Way::Script]);
    }

    #[test]
    fn programs_with_little_in_common_are_not_matched() {
        let one = table(&[("a", 64), ("b", 640)]);
        let other = table(&[("a", 64), ("c", 64)]);
        let reason = Layout::of(&one, &[other]).unwrap_err();
        assert!(
            reason.starts_with("only 8% of one build's code"),
            "{reason}"
        );
    }
}
