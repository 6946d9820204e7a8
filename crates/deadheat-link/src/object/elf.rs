//! What an ELF file is for.

use object::elf::{DF_1_PIE, DT_FLAGS_1, ET_DYN, ET_EXEC, FileHeader32, FileHeader64, PT_INTERP};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::{Endianness, FileKind};

/// Whether these are the bytes of a program, and not of a shared library, an
/// object or anything else.
pub(crate) fn is_executable(bytes: &[u8]) -> bool {
    let answer = match FileKind::parse(bytes) {
        Ok(FileKind::Elf32) => of::<FileHeader32<Endianness>>(bytes),
        Ok(FileKind::Elf64) => of::<FileHeader64<Endianness>>(bytes),
        _ => Ok(false),
    };
    answer.unwrap_or(false)
}

fn of<Elf: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> object::Result<bool> {
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
        // One that is linked statically and may lie anywhere has no interpreter.
        for entry in segment.dynamic(endian, bytes)?.unwrap_or_default() {
            let value: u64 = entry.d_val(endian).into();
            if entry.tag32(endian) == Some(DT_FLAGS_1) && value & u64::from(DF_1_PIE) != 0 {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_is_a_program_and_its_source_is_none() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(is_executable(&program));
        assert!(!is_executable(&program[..40]));
        assert!(!is_executable(include_bytes!("elf.rs")));
        assert!(!is_executable(b""));
    }
}
