//! Two functions of a program that must be the same, instruction for
//! instruction, before a race between them says anything about places.

use std::path::Path;
use std::process::Command;

pub fn assert_twins(executable: &Path, names: [&str; 2]) {
    let [one, two] = names.map(|name| code(executable, name));
    let shown = executable.display();
    assert!(!one.is_empty(), "{shown}: no code of {}", names[0]);
    assert_eq!(one, two, "{shown}: {names:?} are no twins");
}

fn code(executable: &Path, function: &str) -> String {
    let output = Command::new("objdump")
        .args(["--disassemble=".to_owned() + function])
        .arg(executable)
        .output()
        .expect("objdump is needed here");
    assert!(output.status.success(), "objdump failed");
    code_in(&String::from_utf8_lossy(&output.stdout))
}

fn code_in(disassembly: &str) -> String {
    let columns = disassembly.lines().filter_map(|line| {
        let mut columns = line.split('\t');
        let address = columns.next()?.trim().strip_suffix(':')?;
        let bytes = columns.next()?.trim();
        address.chars().all(|c| c.is_ascii_hexdigit()).then_some(bytes)
    });
    columns.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_what_stands_between_address_and_instruction() {
        let disassembly = "\nplacement:     file format elf64-x86-64\n\n\
                           Disassembly of section .text:\n\n\
                           000000000003f6c0 <gcc_sum_one>:\n\
                           \x20  3f6c0:\t48 85 f6             \ttest   %rsi,%rsi\n\
                           \x20  3f6c3:\t74 5b                \tje     3f720 <gcc_sum_one+0x60>\n";
        assert_eq!(code_in(disassembly), "48 85 f6 74 5b");
    }
}
