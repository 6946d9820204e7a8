//! Links of several builds in which the code that they share lies at the same places.
//!
//! Two builds of a program differ in a few functions and agree in all others. Shuffled each for
//! itself, they differ in where everything lies. Here all of them are put into one order, which a
//! seed draws of the *names* of the sections, and every section begins at the same distance from
//! the start of `.text`: where a section is larger in one build, or is missing, the others leave
//! that room. What is left of the difference is the inside of what changed.
//!
//! ```text
//! linker's map ─▶ SectionTable of each build ─▶ Layout of one of them ─seed─▶ linker script
//! ```
//!
//! The script says how far from the start each section lies, so a linker that would put one
//! elsewhere fails, and no link is taken for matched that is not.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::align::ALIGNMENT;
use crate::elf::{SplitMix64, can_be_named};
use crate::linker::{Family, Linker};
use crate::record::Digest;

/// Builds are matched where so much of the code of each is in functions of all of them. With less
/// in common the room that is left for the others' code would spread one's own over twice the
/// pages and more.
const LEAST_SHARED: f64 = 0.5;

/// lld looks at every section for every line of a script: 5 ns times the square of their number,
/// 0.05 s for this many and 0.36 s for 8,000, where a plain link of nothing else takes 0.02 s. GNU ld
/// takes 0.02 and 0.08 s more for them.
const MOST_BY_LLD: usize = 3000;

/// The function sections that a linker kept of one build, and the bytes they take.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SectionTable {
    /// In the order of the inputs. Sections of one name stay together, as in a script.
    sections: Vec<(String, u64)>,
    /// Bytes of code in sections that cannot be told apart by a name.
    rest: u64,
}

impl SectionTable {
    /// Reads a map that this linker wrote; empty where there is nothing it could be read from.
    pub(crate) fn read(map: &str, family: Family) -> Self {
        let mut table = Self::default();
        let mut places = BTreeMap::new();
        let mut add = |name: &str, size: u64| {
            let bytes = size.next_multiple_of(ALIGNMENT);
            if !can_be_named(name.as_bytes()) {
                table.rest += bytes;
                return;
            }
            let place = *places.entry(name.to_owned()).or_insert_with(|| {
                table.sections.push((name.to_owned(), 0));
                table.sections.len() - 1
            });
            table.sections[place].1 += bytes;
        };
        match family {
            Family::Gnu => sections_by_gnu(map, &mut add),
            Family::Lld | Family::Mold => sections_by_lld(map, &mut add),
        }
        table
    }

    /// Returns why a linker had better not be told where each of these lies.
    pub(crate) fn too_many_for(&self, linker: &Linker) -> Option<String> {
        let count = self.sections.len();
        (linker.family == Family::Lld && count > MOST_BY_LLD).then(|| {
            format!(
                "{} takes too long to place {count} functions one by one; \
                 DEADHEAT_NEUTRAL_LINKER=gnu has GNU ld do it",
                linker.version
            )
        })
    }

    /// Bytes of code.
    fn total(&self) -> u64 {
        self.rest + self.sections.iter().map(|(_, bytes)| bytes).sum::<u64>()
    }

    /// The key of each section: what it is found by in the other tables. A name that all have is
    /// its own key; of the others, those that are alike but for hashes are paired in their order.
    fn keys(&self, others: &[&Self]) -> Vec<String> {
        let names = |table: &Self| -> BTreeSet<String> {
            table
                .sections
                .iter()
                .map(|(name, _)| name.clone())
                .collect()
        };
        let others: Vec<BTreeSet<String>> = others.iter().map(|table| names(table)).collect();
        let mut counts = BTreeMap::new();
        let key = |(name, _): &(String, u64)| {
            if others.iter().all(|other| other.contains(name)) {
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

/// ` .text.f  0x1000  0x15  a.o`, where a long name has a line of its own. What was discarded stands
/// above.
fn sections_by_gnu(map: &str, add: &mut impl FnMut(&str, u64)) {
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
            && let Some(size @ 1..) = words.next().and_then(hexadecimal)
        {
            add(name, size);
        }
    }
}

/// `VMA LMA Size Align file:(.text.f)`, in hexadecimal; mold has no LMA, and is not asked.
fn sections_by_lld(map: &str, add: &mut impl FnMut(&str, u64)) {
    for line in map.lines() {
        let Some((_, section)) = line.rsplit_once(":(.text") else {
            continue;
        };
        let size = line.split_ascii_whitespace().nth(2);
        let size = size.and_then(|size| u64::from_str_radix(size, 16).ok());
        if let (Some(tail), Some(size @ 1..)) = (section.strip_suffix(')'), size) {
            add(&format!(".text{tail}"), size);
        }
    }
}

/// A name of a section without what is different in every build of the same source: the hash that
/// Rust puts at the end of a symbol (`17h0123456789abcdefE`), those of crates within it (`Cs…_`)
/// with the references that count their letters (`B…_`), and the number that LLVM gives to what it
/// made visible (`.llvm.123`).
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

/// The places of one build's sections beside those of the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Layout(Vec<Slot>);

/// A place for one section of each build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Slot {
    key: String,
    /// The name of this build's section, if it has one here.
    name: Option<String>,
    /// Those of the largest that any build has here.
    bytes: u64,
}

impl Layout {
    /// The layout of the build of the first table.
    ///
    /// # Errors
    ///
    /// The reason why these builds are not to be matched.
    pub(crate) fn of(own: &SectionTable, others: &[SectionTable]) -> Result<Self, String> {
        let tables: Vec<&SectionTable> = std::iter::once(own).chain(others).collect();
        let mut slots: BTreeMap<String, (Slot, usize)> = BTreeMap::new();
        let mut keys = Vec::new();
        for (index, table) in tables.iter().enumerate() {
            let mut rest = tables.clone();
            rest.remove(index);
            let of_table = table.keys(&rest);
            for ((name, bytes), key) in table.sections.iter().zip(&of_table) {
                let (slot, builds) = slots.entry(key.clone()).or_insert_with(|| {
                    let slot = Slot {
                        key: key.clone(),
                        name: None,
                        bytes: 0,
                    };
                    (slot, 0)
                });
                slot.bytes = slot.bytes.max(*bytes);
                *builds += 1;
                if index == 0 {
                    slot.name = Some(name.clone());
                }
            }
            keys.push(of_table);
        }
        for (table, keys) in tables.iter().zip(keys) {
            let sections = table.sections.iter().zip(keys);
            let everywhere = sections.filter(|(_, key)| slots[key].1 == tables.len());
            let shared: u64 = everywhere.map(|((_, bytes), _)| bytes).sum();
            let share = shared as f64 / table.total().max(1) as f64;
            if share < LEAST_SHARED {
                return Err(format!(
                    "only {:.0} % of the code of one is in functions of its own section that the \
                     others have as well",
                    share * 100.0
                ));
            }
        }
        Ok(Self(slots.into_values().map(|(slot, _)| slot).collect()))
    }

    /// Names the variants that are linked so.
    pub(crate) fn digest(&self) -> Digest {
        Digest::of(&serde_json::to_vec(self).unwrap_or_default())
    }

    /// The script that puts the sections where this seed draws them. It suits GNU ld and lld.
    pub(crate) fn script(&self, seed: u32) -> String {
        let mut order: Vec<(u64, &Slot)> = self
            .0
            .iter()
            .map(|slot| (draw(seed, &slot.key), slot))
            .collect();
        order.sort_by_key(|(drawn, slot)| (*drawn, &slot.key));
        // Nothing before `.text` may move it within a page.
        let mut script =
            String::from("SECTIONS {\n  .text : ALIGN(4096) {\n    __deadheat_text = .;\n");
        let mut offset = 0;
        for (_, slot) in order {
            if let Some(name) = &slot.name {
                // Writing to a string cannot fail.
                let _ = writeln!(script, "    . = __deadheat_text + {offset};\n    *({name})");
            }
            offset += slot.bytes;
        }
        let _ = writeln!(script, "    . = __deadheat_text + {offset};");
        script.push_str("    *(.text .text.*)\n  }\n}\nINSERT AFTER .init;\n");
        script
    }
}

/// The draw of a section, which depends on no other: a function that was added moves the others
/// apart, and puts none of them elsewhere in the order.
fn draw(seed: u32, key: &str) -> u64 {
    // The hash of Fowler, Noll and Vo, with its published numbers.
    let hash = key.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    SplitMix64(hash ^ SplitMix64(u64::from(seed)).next()).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(sections: &[(&str, u64)]) -> SectionTable {
        SectionTable {
            sections: sections
                .iter()
                .map(|(name, bytes)| (format!(".text.{name}"), *bytes))
                .collect(),
            rest: 64,
        }
    }

    /// Where a script puts each section, from the start.
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
            a.o:(.text.f)\n            1000             1000       15     1                 f\n            1040             \
            1040       41    64         lib x.a(m.o):(.text.a_name_of_some_length)\n            10c0             10c0        \
            3    64         c.o:(.text)\n            1100             1100       40    64         b.o:(.text.f)\n";
        let expected = SectionTable {
            sections: vec![
                (".text.f".into(), 128),
                (".text.a_name_of_some_length".into(), 128),
            ],
            rest: 64,
        };
        assert_eq!(SectionTable::read(gnu, Family::Gnu), expected);
        assert_eq!(SectionTable::read(lld, Family::Lld), expected);
        assert_eq!(SectionTable::read("", Family::Gnu), SectionTable::default());
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
    fn what_is_shared_lies_at_the_same_places_whatever_grew_or_was_added_or_removed() {
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
    fn a_program_of_very_many_functions_is_left_to_gnu_ld() {
        let linker = |family| Linker {
            family,
            selection: Vec::new(),
            version: "LLD 14".to_owned(),
            programs: Vec::new(),
        };
        let names: Vec<String> = (0..=MOST_BY_LLD).map(|index| format!("f{index}")).collect();
        let sections: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 64)).collect();
        let (many, fewer) = (table(&sections), table(&sections[1..]));
        let reason = many.too_many_for(&linker(Family::Lld)).unwrap();
        assert!(reason.contains("3001 functions"), "{reason}");
        assert_eq!(many.too_many_for(&linker(Family::Gnu)), None);
        assert_eq!(fewer.too_many_for(&linker(Family::Lld)), None);
    }

    #[test]
    fn programs_with_little_in_common_are_not_matched() {
        let one = table(&[("a", 64), ("b", 640)]);
        let other = table(&[("a", 64), ("c", 64)]);
        let reason = Layout::of(&one, &[other]).unwrap_err();
        assert!(reason.starts_with("only 8 % of the code"), "{reason}");
    }
}
