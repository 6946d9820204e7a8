//! Passes a layout to lld as an order of symbols. lld puts the section of each symbol after that of
//! the previous one. Sections of an extra object fill the gaps that the layout requires.
//!
//! A linker script could do the same, but lld searches all sections for each line of a script. For
//! a program of 5,300 functions, a link with a script took 9.5 times as long as a plain link, and a
//! link with an order of symbols took 1.03 times as long. The order does not force addresses on
//! lld, so the finished link is checked.

use object::elf::{SHF_ALLOC, SHF_EXECINSTR, SHF_GNU_RETAIN};
use object::read::{Object as _, ObjectSymbol as _};
use object::write::{Object, Symbol, SymbolSection};
use object::{
    BinaryFormat, FileFlags, SectionFlags, SectionKind, SymbolFlags, SymbolKind, SymbolScope,
};

use crate::align::ALIGNMENT;
use crate::matched::{Layout, PAGE, START, Section};

pub(crate) fn order(layout: &Layout, seed: u32) -> String {
    let slots = layout.slots();
    let mut lines = format!("{START}\n");
    for index in layout.in_order(seed) {
        if let Some(symbol) = slots[index].own.as_ref().and_then(symbol) {
            lines += symbol;
            lines.push('\n');
        }
        if slots[index].room() > 0 {
            lines += &name_of_room(index);
            lines.push('\n');
        }
    }
    lines
}

/// Builds an ELF object for the architecture of `program`. Its sections are the start of `.text`
/// and the gaps of a layout.
///
/// # Errors
///
/// The reason why the program cannot be read.
pub(crate) fn rooms(layout: &Layout, program: &[u8]) -> Result<Vec<u8>, String> {
    let program = object::File::parse(program).map_err(|error| error.to_string())?;
    let (machine, order) = (program.architecture(), program.endianness());
    let mut object = Object::new(BinaryFormat::Elf, machine, order);
    if let FileFlags::Elf { e_flags, .. } = program.flags() {
        object.flags = FileFlags::Elf {
            os_abi: 0,
            abi_version: 0,
            e_flags,
        };
    }
    // The section at the start of `.text` must have content: lld drops empty sections, and without
    // this section `.text` would not be aligned to a page.
    add(&mut object, START, ALIGNMENT, PAGE, 0);
    for (index, slot) in layout.slots().iter().enumerate() {
        if slot.room() > 0 {
            let name = name_of_room(index);
            add(&mut object, &name, slot.room(), ALIGNMENT, index as u64 + 1);
        }
    }
    object.write().map_err(|error| error.to_string())
}

fn add(object: &mut Object<'_>, name: &str, bytes: u64, alignment: u64, number: u64) {
    let text = format!(".text.{name}").into_bytes();
    let section = object.add_section(Vec::new(), text, SectionKind::Text);
    // Without `SHF_GNU_RETAIN`, `--gc-sections` would drop functions without callers.
    let sh_flags = u64::from(SHF_ALLOC | SHF_EXECINSTR | SHF_GNU_RETAIN);
    object.section_mut(section).flags = SectionFlags::Elf { sh_flags };
    // A different number in each section, because `--icf` would merge sections with equal content.
    let mut data = number.to_le_bytes().to_vec();
    data.resize(
        usize::try_from(bytes).unwrap_or_default().max(data.len()),
        0,
    );
    object.append_section_data(section, &data, alignment);
    object.add_symbol(Symbol {
        name: name.as_bytes().to_vec(),
        value: 0,
        size: 0,
        kind: SymbolKind::Text,
        scope: SymbolScope::Compilation,
        weak: false,
        section: SymbolSection::Section(section),
        flags: SymbolFlags::None,
    });
}

/// Checks that the linker put every section of a layout at the address that the seed requires.
///
/// # Errors
///
/// A message that names the first misplaced section.
pub(crate) fn check(layout: &Layout, seed: u32, linked: &[u8]) -> Result<(), String> {
    let file = object::File::parse(linked).map_err(|error| error.to_string())?;
    let start = file.symbols().find(|symbol| symbol.name() == Ok(START));
    let start = start.ok_or("the link lacks the symbols that give the addresses of functions")?;
    let start = start.address();
    if !start.is_multiple_of(PAGE) {
        return Err(format!(
            "`.text` starts at {start:#x}, which is not the start of a page"
        ));
    }
    let mut address = start + ALIGNMENT;
    // Address, symbol, and true once the symbol was found there; sorted by address.
    let mut expected = Vec::new();
    for slot in layout
        .in_order(seed)
        .into_iter()
        .map(|at| &layout.slots()[at])
    {
        if let Some(symbol) = slot.own.as_ref().and_then(symbol) {
            expected.push((address, symbol, false));
        }
        address += slot.bytes;
    }
    // Several symbols may have the same name, because all sections of one name are placed together.
    for symbol in file.symbols() {
        if let Ok(at) = expected.binary_search_by_key(&symbol.address(), |(at, ..)| *at)
            && symbol.name() == Ok(expected[at].1)
        {
            expected[at].2 = true;
        }
    }
    match expected.into_iter().find(|(.., is_there)| !is_there) {
        None => Ok(()),
        Some((address, symbol, _)) => {
            Err(format!("the linker did not put `{symbol}` at {address:#x}"))
        }
    }
}

fn symbol(section: &Section) -> Option<&str> {
    section.symbol.as_deref()
}

fn name_of_room(index: usize) -> String {
    format!("__deadheat_room_{index}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linker::Family;
    use crate::matched::SectionTable;
    use object::read::ObjectSection as _;

    /// Returns the layout of a build with `f` and `g`, matched to a build with a larger `g` and
    /// with `gone`.
    fn layout() -> Layout {
        let table = |functions: &[(&str, u64)]| {
            let lines = functions.iter().map(|(name, size)| {
                format!(
                    "0 0 {size:x} 64         a.o:(.text.{name})\n0 0 0 1                 {name}\n"
                )
            });
            SectionTable::read(&lines.collect::<String>(), Family::Lld)
        };
        let own = table(&[("f", 640), ("g", 64)]);
        let other = table(&[("f", 640), ("g", 256), ("gone", 128)]);
        Layout::of(&own, &[other]).unwrap()
    }

    #[test]
    fn gaps_follow_smaller_sections_and_replace_missing_ones() {
        let orders: Vec<String> = (1..30).map(|seed| order(&layout(), seed)).collect();
        for order in &orders {
            let lines: Vec<&str> = order.lines().collect();
            assert_eq!((lines.len(), lines[0]), (5, START), "{order}");
            let g = lines.iter().position(|line| *line == "g").unwrap();
            assert!(lines[g + 1].starts_with("__deadheat_room_"), "{order}");
        }
        assert!(orders.iter().any(|order| *order != orders[0]));
    }

    #[test]
    fn the_object_of_rooms_has_their_sizes_and_its_start_is_that_of_a_page() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let made = rooms(&layout(), &program).unwrap();
        let file = object::File::parse(&*made).unwrap();
        let sections = file
            .sections()
            .filter(|one| one.kind() == SectionKind::Text);
        let mut rooms: Vec<(u64, u64)> = sections.map(|one| (one.size(), one.align())).collect();
        rooms.sort_unstable();
        rooms.retain(|(size, _)| *size > 0);
        assert_eq!(rooms, [(64, 4096), (128, 64), (192, 64)]);
        assert!(super::rooms(&layout(), b"no program").is_err());
        let found = check(&layout(), 1, &program).unwrap_err();
        assert!(found.contains("lacks the symbols"), "{found}");
    }
}
