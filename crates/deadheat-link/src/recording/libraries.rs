//! Where libraries are, and whose they are.

use std::path::{Path, PathBuf};

/// The archive that a linker takes for `-l NAME`, when it lies in one of the
/// user's own folders. `None` when a shared library comes first, when the
/// system has it, or when it is nowhere here.
pub(crate) fn archive(name: &str, dynamic: bool, folders: &[PathBuf]) -> Option<PathBuf> {
    let exact = name.strip_prefix(':').map(str::to_owned);
    let shared = format!("lib{name}.so");
    let archive = exact.clone().unwrap_or_else(|| format!("lib{name}.a"));
    for folder in folders {
        if exact.is_none() && dynamic && folder.join(&shared).exists() {
            return None;
        }
        let found = folder.join(&archive);
        if found.is_file() {
            return (!is_of_the_toolchain(&found)).then_some(found);
        }
    }
    None
}

/// Whether a file came with the system or the compiler. Their users cannot
/// compile it anew.
pub(crate) fn is_of_the_toolchain(file: &Path) -> bool {
    const SYSTEM: [&str; 6] = [
        "/usr",
        "/lib",
        "/lib32",
        "/lib64",
        "/nix/store",
        "/gnu/store",
    ];
    let folders = file.parent().unwrap_or(file);
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    SYSTEM.iter().any(|system| file.starts_with(system))
        || folders.iter().any(|folder| folder == "rustlib")
        || folders.to_string_lossy().contains("/lib/gcc/")
        || (name.starts_with("crt") && name.ends_with(".o"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir, write};

    #[test]
    fn the_first_folder_with_the_library_decides_and_there_the_shared_one() {
        let base = tempfile::tempdir().unwrap();
        let folders = ["one", "two"].map(|name| base.path().join(name));
        for folder in &folders {
            create_dir(folder).unwrap();
        }
        let [one, two] = &folders;
        write(one.join("libboth.a"), "").unwrap();
        write(one.join("libboth.so"), "").unwrap();
        write(one.join("libfirst.a"), "").unwrap();
        write(two.join("libfirst.so"), "").unwrap();
        write(two.join("liblast.a"), "").unwrap();
        let archive = |name, dynamic| archive(name, dynamic, &folders);
        assert_eq!(archive("both", true), None);
        assert_eq!(archive("both", false), Some(one.join("libboth.a")));
        assert_eq!(archive("first", true), Some(one.join("libfirst.a")));
        assert_eq!(archive("last", true), Some(two.join("liblast.a")));
        assert_eq!(archive(":liblast.a", true), Some(two.join("liblast.a")));
        assert_eq!(archive(":libboth.so", true), Some(one.join("libboth.so")));
        assert_eq!(archive("none", true), None);
    }

    #[test]
    fn what_came_with_the_system_is_told_from_the_users_own() {
        for toolchain in [
            "/usr/lib/x86_64-linux-gnu/libm.a",
            "/home/me/.rustup/toolchains/stable/lib/rustlib/host/lib/libstd.rlib",
            "/opt/cross/lib/gcc/arm/12/libgcc.a",
            "/opt/sysroot/crt1.o",
        ] {
            assert!(is_of_the_toolchain(Path::new(toolchain)), "{toolchain}");
        }
        for own in ["/home/me/libm.a", "/srv/usr/k.o", "/home/me/rustlib.o"] {
            assert!(!is_of_the_toolchain(Path::new(own)), "{own}");
        }
    }
}
