//! Thin archives, whose members are files elsewhere, as archives that hold them.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use object::archive::{MAGIC, THIN_MAGIC};
use object::read::archive::{ArchiveFile, ArchiveMember};

/// Returns true if the members of this archive are files elsewhere.
pub(crate) fn is_thin(bytes: &[u8]) -> bool {
    bytes.starts_with(&THIN_MAGIC)
}

/// The archive in `folder`, with its members in it: their order, names and symbols are those of the
/// thin one.
///
/// # Errors
///
/// The problem with it, in words.
pub(crate) fn gathered(thin: &[u8], folder: &Path) -> Result<Vec<u8>, String> {
    let broken = |error: object::read::Error| format!("a thin archive that is broken: {error}");
    let archive = ArchiveFile::parse(thin).map_err(broken)?;
    let path_of = |member: &ArchiveMember<'_>| String::from_utf8_lossy(member.name()).into_owned();
    let mut members = Vec::new();
    let mut by_path = HashMap::new();
    for member in archive.members() {
        let path = path_of(&member.map_err(broken)?);
        let data = fs::read(folder.join(&path))
            .map_err(|error| format!("a thin archive, whose member {path}: {error}"))?;
        by_path.insert(path.clone(), members.len());
        members.push((path, data));
    }
    // Which symbol is in which member.
    let mut symbols = Vec::new();
    for symbol in archive.symbols().map_err(broken)?.into_iter().flatten() {
        let symbol = symbol.map_err(broken)?;
        let member = archive.member(symbol.offset()).map_err(broken)?;
        if let Some(&index) = by_path.get(&path_of(&member)) {
            symbols.push((index, symbol.name()));
        }
    }
    write(&members, &symbols).ok_or_else(|| "a thin archive with more than 4 GiB".to_owned())
}

/// An archive as GNU ar writes it. `None` when it is too large for its symbols.
fn write(members: &[(String, Vec<u8>)], symbols: &[(usize, &[u8])]) -> Option<Vec<u8>> {
    let mut names = Vec::new();
    let mut name_fields = Vec::new();
    for (path, _) in members {
        name_fields.push(format!("/{}", names.len()));
        let name = path.rsplit('/').next().unwrap_or(path);
        names.extend_from_slice(name.as_bytes());
        names.extend_from_slice(b"/\n");
    }
    let text: usize = symbols.iter().map(|(_, name)| name.len() + 1).sum();
    let table_size = 4 + 4 * symbols.len() + text;
    // Where every member comes to lie.
    let mut position = MAGIC.len() + 2 * HEADER + even(table_size) + even(names.len());
    let mut positions = Vec::new();
    for (_, data) in members {
        positions.push(u32::try_from(position).ok()?);
        position += HEADER + even(data.len());
    }
    let mut table = Vec::with_capacity(table_size);
    table.extend_from_slice(&u32::try_from(symbols.len()).ok()?.to_be_bytes());
    for (member, _) in symbols {
        table.extend_from_slice(&positions[*member].to_be_bytes());
    }
    for (_, name) in symbols {
        table.extend_from_slice(name);
        table.push(0);
    }
    let mut whole = MAGIC.to_vec();
    append(&mut whole, "/", &table);
    append(&mut whole, "//", &names);
    for (name, (_, data)) in name_fields.iter().zip(members) {
        append(&mut whole, name, data);
    }
    Some(whole)
}

/// Bytes before every member.
const HEADER: usize = 60;

fn even(size: usize) -> usize {
    size.next_multiple_of(2)
}

fn append(whole: &mut Vec<u8>, name: &str, data: &[u8]) {
    // Name, time, owner, group, mode, size.
    let size = data.len();
    let header = format!("{name:<16}{0:<12}{0:<6}{0:<6}{1:<8}{size:<10}`\n", 0, 644);
    whole.extend_from_slice(header.as_bytes());
    whole.extend_from_slice(data);
    if data.len() % 2 == 1 {
        whole.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_back_with_its_symbols() {
        let members = [
            ("dir/a.o".to_owned(), vec![1; 3]),
            ("b.o".to_owned(), vec![2; 8]),
        ];
        let symbols: [(usize, &[u8]); 3] = [(1, b"bee"), (0, b"a"), (1, b"be")];
        let whole = write(&members, &symbols).unwrap();
        let archive = ArchiveFile::parse(&*whole).unwrap();
        let read: Vec<_> = archive
            .members()
            .map(|member| member.unwrap())
            .map(|member| (member.name(), member.data(&*whole).unwrap()))
            .collect();
        let expected: [(&[u8], &[u8]); 2] = [(b"a.o", &[1; 3]), (b"b.o", &[2; 8])];
        assert_eq!(read, expected);
        for (symbol, (member, name)) in archive.symbols().unwrap().unwrap().zip(symbols) {
            let symbol = symbol.unwrap();
            assert_eq!(symbol.name(), name);
            let found = archive.member(symbol.offset()).unwrap();
            assert_eq!(found.name(), expected[member].0);
        }
    }

    #[test]
    fn a_member_that_is_gone_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut thin = THIN_MAGIC.to_vec();
        append(&mut thin, "//", b"gone.o/\n");
        thin.extend_from_slice(format!("{:<48}{:<10}`\n", "/0", 5).as_bytes());
        assert!(is_thin(&thin));
        let problem = gathered(&thin, folder.path()).unwrap_err();
        assert!(problem.contains("member gone.o: "), "{problem}");
    }
}
