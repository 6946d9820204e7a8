//! Tests with objects and archives: valid, unusual and malicious.

use std::process::Command;

use object::elf::{SHT_PROGBITS, SHT_STRTAB};
use proptest::prelude::*;

use super::*;

#[derive(Clone, Copy, Debug)]
struct Shape {
    is_64: bool,
    is_big: bool,
}

const SHAPES: [Shape; 4] = [
    Shape {
        is_64: false,
        is_big: false,
    },
    Shape {
        is_64: false,
        is_big: true,
    },
    Shape {
        is_64: true,
        is_big: false,
    },
    Shape {
        is_64: true,
        is_big: true,
    },
];

impl Shape {
    fn put(self, to: &mut Vec<u8>, value: u64, length: usize) {
        if self.is_big {
            to.extend_from_slice(&value.to_be_bytes()[8 - length..]);
        } else {
            to.extend_from_slice(&value.to_le_bytes()[..length]);
        }
    }

    fn word(self) -> usize {
        if self.is_64 { 8 } else { 4 }
    }

    fn header_size(self) -> usize {
        if self.is_64 { 64 } else { 52 }
    }

    fn section_header_size(self) -> usize {
        if self.is_64 { 64 } else { 40 }
    }

    /// Builds an object with the given sections (name, flags, alignment, content) and functions
    /// (section, address).
    fn object(self, sections: &[(&str, u32, u64, &[u8])], functions: &[(u16, u64)]) -> Vec<u8> {
        let mut names = vec![0];
        let mut body = Vec::new();
        let mut headers = Vec::new();
        let base = self.header_size();
        let mut header = |name: u64,
                          kind: u32,
                          flags: u64,
                          at: u64,
                          size: u64,
                          link: u64,
                          align: u64,
                          entry: u64| {
            self.put(&mut headers, name, 4);
            self.put(&mut headers, u64::from(kind), 4);
            self.put(&mut headers, flags, self.word());
            self.put(&mut headers, 0, self.word());
            self.put(&mut headers, at, self.word());
            self.put(&mut headers, size, self.word());
            self.put(&mut headers, link, 4);
            self.put(&mut headers, 0, 4);
            self.put(&mut headers, align, self.word());
            self.put(&mut headers, entry, self.word());
        };
        header(0, SHT_NULL, 0, 0, 0, 0, 0, 0);
        for (name, flags, align, content) in sections {
            let at = base + body.len();
            header(
                names.len() as u64,
                SHT_PROGBITS,
                u64::from(*flags),
                at as u64,
                content.len() as u64,
                0,
                *align,
                0,
            );
            names.extend_from_slice(name.as_bytes());
            names.push(0);
            body.extend_from_slice(content);
        }
        let mut symbols = vec![0; if self.is_64 { 24 } else { 16 }];
        let entry = symbols.len() as u64;
        for &(section, address) in functions {
            self.put(&mut symbols, 0, 4);
            let (info, size) = (u64::from(STT_FUNC), 4);
            if self.is_64 {
                self.put(&mut symbols, info, 1);
                self.put(&mut symbols, 0, 1);
                self.put(&mut symbols, u64::from(section), 2);
                self.put(&mut symbols, address, 8);
                self.put(&mut symbols, size, 8);
            } else {
                self.put(&mut symbols, address, 4);
                self.put(&mut symbols, size, 4);
                self.put(&mut symbols, info, 1);
                self.put(&mut symbols, 0, 1);
                self.put(&mut symbols, u64::from(section), 2);
            }
        }
        let strings = sections.len() as u64 + 2;
        header(
            0,
            SHT_SYMTAB,
            0,
            (base + body.len()) as u64,
            symbols.len() as u64,
            strings,
            8,
            entry,
        );
        body.extend_from_slice(&symbols);
        header(
            0,
            SHT_STRTAB,
            0,
            (base + body.len()) as u64,
            names.len() as u64,
            0,
            1,
            0,
        );
        body.extend_from_slice(&names);
        let count = sections.len() as u64 + 3;

        let mut file = vec![
            0x7f,
            b'E',
            b'L',
            b'F',
            if self.is_64 { 2 } else { 1 },
            if self.is_big { 2 } else { 1 },
            1,
        ];
        file.resize(16, 0);
        self.put(&mut file, u64::from(ET_REL), 2);
        self.put(&mut file, 62, 2);
        self.put(&mut file, 1, 4);
        self.put(&mut file, 0, self.word());
        self.put(&mut file, 0, self.word());
        self.put(&mut file, (base + body.len()) as u64, self.word());
        self.put(&mut file, 0, 4);
        for value in [
            base as u64,
            0,
            0,
            self.section_header_size() as u64,
            count,
            count - 1,
        ] {
            self.put(&mut file, value, 2);
        }
        file.extend_from_slice(&body);
        file.extend_from_slice(&headers);
        file
    }
}

const CODE: u32 = SHF_ALLOC | SHF_EXECINSTR;

fn usual(shape: Shape) -> Vec<u8> {
    shape.object(
        &[
            (".text", CODE, 1, b""),
            (".text.kernel", CODE, 16, b"kernel"),
            (".text.unlikely.cold", CODE, 1, b"cold"),
            (".text.wide", CODE, 4096, b"wide"),
            (".text.data", SHF_ALLOC, 8, b"data"),
            (".textual", CODE, 4, b"textual"),
            (".init", CODE, 4, b"init"),
        ],
        &[(2, 0), (3, 0)],
    )
}

fn alignments(bytes: &[u8]) -> Vec<(String, u64)> {
    fn read<Elf: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> Vec<(String, u64)> {
        let header = Elf::parse(bytes).unwrap();
        let endian = header.endian().unwrap();
        let table = header.sections(endian, bytes).unwrap();
        let named = table.iter().map(|section| {
            let name = table.section_name(endian, section).unwrap();
            (
                String::from_utf8_lossy(name).into_owned(),
                section.sh_addralign(endian).into(),
            )
        });
        named.filter(|(name, _)| !name.is_empty()).collect()
    }
    if bytes[4] == 1 {
        read::<FileHeader32<Endianness>>(bytes)
    } else {
        read::<FileHeader64<Endianness>>(bytes)
    }
}

fn archive_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut long = Vec::new();
    let mut body = Vec::new();
    let member = |to: &mut Vec<u8>, name: &str, content: &[u8]| {
        to.extend_from_slice(
            format!(
                "{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
                0,
                0,
                0,
                644,
                content.len()
            )
            .as_bytes(),
        );
        to.extend_from_slice(content);
        if content.len() % 2 == 1 {
            to.push(b'\n');
        }
    };
    for (name, content) in members {
        if name.len() < 16 {
            member(&mut body, &format!("{name}/"), content);
        } else {
            member(&mut body, &format!("/{}", long.len()), content);
            long.extend_from_slice(format!("{name}/\n").as_bytes());
        }
    }
    let mut archive = object::archive::MAGIC.to_vec();
    if !long.is_empty() {
        member(&mut archive, "//", &long);
    }
    archive.extend_from_slice(&body);
    archive
}

#[test]
fn function_sections_of_either_width_and_endianness_are_aligned_and_nothing_else() {
    for shape in SHAPES {
        let before = usual(shape);
        let mut after = before.clone();
        assert_eq!(align("a.o", &mut after).unwrap(), Survey::default());
        let expected = [
            (".text", 64),
            (".text.kernel", 64),
            (".text.unlikely.cold", 64),
            (".text.wide", 4096),
            (".text.data", 8),
            (".textual", 4),
            (".init", 4),
        ];
        let expected: Vec<_> = expected
            .map(|(name, align)| (name.to_owned(), align))
            .into();
        assert_eq!(alignments(&after), expected, "{shape:?}");
        let changed = before.iter().zip(&after).filter(|(a, b)| a != b).count();
        assert_eq!(changed, 3, "one byte for each of three headers, {shape:?}");
    }
}

#[test]
fn aligning_twice_changes_nothing_more() {
    let mut once = usual(SHAPES[2]);
    align("a.o", &mut once).unwrap();
    let mut twice = once.clone();
    align("a.o", &mut twice).unwrap();
    assert_eq!(once, twice);
}

#[test]
fn zeroes_only_sections_that_no_neutral_link_reads() {
    let sections: [(&str, u32, u64, &[u8]); 9] = [
        (".text.kernel", CODE, 64, b"kernel"),
        (".debug_line_str", SHF_MERGE | SHF_STRINGS, 1, b"strings"),
        (".debug_info", 0, 1, b"info"),
        (".rela.debug_info", 0, 8, b"relocations"),
        (".debug_loaded", SHF_ALLOC, 1, b"loaded"),
        (".debug_str", SHF_COMPRESSED, 1, b"packed"),
        (".rmeta", 0, 1, b"metadata"),
        (".llvmbc", 0, 1, b"bitcode"),
        (".comment", SHF_MERGE | SHF_STRINGS, 1, b"comment"),
    ];
    let blank = sections.map(|(name, flags, alignment, content)| {
        let is_blank = ["strings", "info", "relocations", "metadata", "bitcode"]
            .iter()
            .any(|blank| content == blank.as_bytes());
        // Zeroed sections lose their merge flag.
        let flags = if is_blank { 0 } else { flags };
        let content = if is_blank {
            vec![0; content.len()]
        } else {
            content.to_vec()
        };
        (name, flags, alignment, content)
    });
    let blank = blank
        .each_ref()
        .map(|(name, flags, alignment, content)| (*name, *flags, *alignment, &content[..]));
    for shape in SHAPES {
        let mut after = shape.object(&sections, &[(1, 0)]);
        align("a.o", &mut after).unwrap();
        assert_eq!(after, shape.object(&blank, &[(1, 0)]));
    }
}

#[test]
fn bytes_that_another_section_uses_too_are_kept() {
    let kept = apart(
        vec![10..20, 20..30, 40..50, 60..70],
        vec![0..5, 49..50, 15..16, 1..16],
    );
    assert_eq!(kept, [20..30, 60..70]);
    assert_eq!(apart(vec![0..4, 6..8], Vec::new()), [0..4, 6..8]);
}

#[test]
fn reports_functions_that_share_a_section() {
    for shape in SHAPES {
        let sections: &[(&str, u32, u64, &[u8])] = &[(".text", CODE, 16, b"two functions")];
        let survey = |functions: &[(u16, u64)]| {
            align("k.o", &mut shape.object(sections, functions)).unwrap()
        };
        assert_eq!(survey(&[(1, 0), (1, 8)]).unsectioned, ["k.o"]);
        assert_eq!(
            survey(&[(1, 8), (1, 8)]).unsectioned,
            [""; 0],
            "two names of one function"
        );
        assert_eq!(survey(&[(1, 0)]).unsectioned, [""; 0]);
    }
}

#[test]
fn members_of_an_archive_are_aligned_each_and_named_with_it() {
    let together = SHAPES[2].object(&[(".text", CODE, 16, b"two functions")], &[(1, 0), (1, 8)]);
    let mut archive = archive_of(&[
        ("lib.rmeta", b"neither object nor bitcode"),
        ("a.o", &usual(SHAPES[2])),
        ("a_member_with_a_rather_long_name.o", &together),
        ("a.o", &usual(SHAPES[1])),
    ]);
    let survey = align("libk.a", &mut archive).unwrap();
    assert_eq!(
        survey.unsectioned,
        ["libk.a(a_member_with_a_rather_long_name.o)"]
    );
    assert_eq!(survey.link_time_code, None);
    let parsed = ArchiveFile::parse(&*archive).unwrap();
    let objects: Vec<_> = parsed
        .members()
        .map(|member| member.unwrap().data(&*archive).unwrap())
        .filter(|data| Kind::of(data) == Kind::Elf)
        .collect();
    assert_eq!(objects.len(), 3);
    for object in objects {
        let text = alignments(object);
        assert!(
            text.iter()
                .filter(|(name, _)| name == ".text.kernel" || name == ".text")
                .all(|(_, align)| *align == 64),
            "{text:?}"
        );
    }
}

#[test]
fn reports_link_time_code() {
    let bitcode = [0x42, 0x43, 0xc0, 0xde, 1, 2, 3, 4];
    let wrapped = [0xde, 0xc0, 0x17, 0x0b, 1, 2, 3, 4];
    for mut bytes in [bitcode, wrapped] {
        let before = bytes;
        assert_eq!(
            align("b.o", &mut bytes).unwrap().link_time_code.as_deref(),
            Some("b.o")
        );
        assert_eq!(bytes, before);
    }
    let mut archive = archive_of(&[("a.o", &usual(SHAPES[2])), ("b.o", &bitcode)]);
    assert_eq!(
        align("l.a", &mut archive)
            .unwrap()
            .link_time_code
            .as_deref(),
        Some("l.a(b.o)")
    );

    let lto: (&str, u32, u64, &[u8]) = (".gnu.lto_.decls", 0, 1, b"tree");
    let mut slim = SHAPES[2].object(&[(".text", CODE, 1, b""), lto], &[]);
    assert_eq!(
        align("s.o", &mut slim).unwrap().link_time_code.as_deref(),
        Some("s.o")
    );
    let mut fat = SHAPES[2].object(&[(".text", CODE, 1, b"code"), lto], &[]);
    assert_eq!(
        align("f.o", &mut fat).unwrap().link_time_code.as_deref(),
        Some("f.o")
    );
}

#[test]
fn rejects_files_that_cannot_be_aligned_by_kind() {
    let problem = |bytes: &[u8]| {
        let mut after = bytes.to_vec();
        let problem = align("x", &mut after).unwrap_err();
        assert_eq!(after, bytes, "a refused file is left alone");
        problem
    };
    assert_eq!(problem(b"GROUP ( /lib/libc.so.6 )"), Problem::Foreign);
    assert_eq!(problem(b""), Problem::Foreign);
    assert_eq!(problem(b"!<thin>\n"), Problem::Thin);
    let mut linked = usual(SHAPES[2]);
    linked[16] = 3;
    assert_eq!(problem(&linked), Problem::Linked);

    let whole = usual(SHAPES[2]);
    for length in [5, 20, 63, 64, 100, whole.len() - 1] {
        let Problem::Malformed { .. } = problem(&whole[..length]) else {
            panic!("cut to {length} bytes");
        };
    }
    let mut overlapping = whole.clone();
    overlapping[40..48].copy_from_slice(&8_u64.to_le_bytes());
    assert!(problem(&overlapping).to_string().starts_with("malformed: "));
    let torn = archive_of(&[("whole.o", &whole), ("torn.o", &whole[..200])]);
    assert!(
        problem(&torn)
            .to_string()
            .starts_with("torn.o: malformed: "),
        "{}",
        problem(&torn)
    );
    let archive = archive_of(&[("whole.o", &whole)]);
    assert!(
        problem(&archive[..archive.len() - 9])
            .to_string()
            .contains("malformed: ")
    );
}

#[test]
fn a_section_that_overlaps_the_headers_is_malformed() {
    let mut bytes = usual(SHAPES[2]);
    let headers = u64::from_le_bytes(bytes[40..48].try_into().unwrap());
    let second = headers as usize + 2 * 64;
    bytes[second + 24..second + 32].copy_from_slice(&headers.to_le_bytes());
    let problem = align("a.o", &mut bytes).unwrap_err().to_string();
    assert_eq!(
        problem,
        "malformed: section .text.kernel overlaps the section headers"
    );
}

#[test]
fn an_object_of_the_real_compiler_is_aligned() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("k.c");
    std::fs::write(
        &source,
        "int one(int x) { return x * 3; } int two(int x) { return x * 5; }",
    )
    .unwrap();
    for (flag, unsectioned) in [("-ffunction-sections", 0), ("-fno-function-sections", 1)] {
        let object = folder.path().join("k.o");
        let done = Command::new("gcc")
            .args(["-O1", "-c", flag, "-o"])
            .arg(&object)
            .arg(&source)
            .status();
        assert!(done.unwrap().success());
        let mut bytes = std::fs::read(&object).unwrap();
        assert_eq!(
            align("k.o", &mut bytes).unwrap().unsectioned.len(),
            unsectioned,
            "{flag}"
        );
        let text = alignments(&bytes);
        assert!(
            text.iter()
                .filter(|(name, _)| name.starts_with(".text"))
                .all(|(_, align)| *align == 64),
            "{text:?}"
        );
    }
}

fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let whole = (0..SHAPES.len(), any::<bool>()).prop_map(|(shape, in_archive)| {
        let object = usual(SHAPES[shape]);
        if in_archive {
            archive_of(&[
                ("a.o", &object),
                ("a_member_with_a_rather_long_name.o", &object),
            ])
        } else {
            object
        }
    });
    let changes = prop::collection::vec(
        (any::<prop::sample::Index>(), any::<u8>(), any::<bool>()),
        0..12,
    );
    (whole, changes, any::<prop::sample::Index>(), 0..4_u8).prop_map(
        |(mut bytes, changes, cut, cutting)| {
            for (index, value, extreme) in changes {
                let at = index.index(bytes.len());
                bytes[at] = if extreme { 0xff } else { value };
            }
            if cutting == 0 {
                bytes.truncate(cut.index(bytes.len()));
            }
            bytes
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn whatever_the_bytes_are_nothing_panics_and_a_refused_file_is_left_alone(bytes in hostile()) {
        let mut after = bytes.clone();
        if align("x", &mut after).is_err() {
            prop_assert_eq!(&after, &bytes);
        } else {
            let again = {
                let mut again = after.clone();
                let _ = align("x", &mut again);
                again
            };
            prop_assert_eq!(after, again, "aligning twice is aligning once");
        }
    }

    #[test]
    fn no_bytes_after_a_good_beginning_make_it_panic(
        beginning in prop::sample::select(vec![
            &b"\x7fELF\x01\x01\x01"[..], b"\x7fELF\x02\x02\x01", b"!<arch>\n", b"!<thin>\n", b"BC\xC0\xDE", b"",
        ]),
        rest in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let mut bytes = [beginning, &rest].concat();
        let _ = align("x", &mut bytes);
    }
}
