//! Adds bench targets of another revision to cargo manifests and lock files. Comments are lost,
//! which does not matter in a worktree that is only built.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

const DEV: &str = "dev-dependencies";

#[derive(Clone, Debug, Default)]
pub(crate) struct Manifest(Table);

/// A bench target: its name, and its file relative to the folder of the package.
pub(crate) type Bench = (String, PathBuf);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// The folder of a path dependency; `None` for all others.
    pub(crate) path: Option<PathBuf>,
    /// True if the dependency is inherited from the workspace.
    pub(crate) of_workspace: bool,
}

impl Manifest {
    /// Parses a manifest; `None` if it is malformed, because cargo reports that better.
    pub(crate) fn read(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }

    pub(crate) fn text(&self) -> String {
        self.0.to_string()
    }

    pub(crate) fn package(&self) -> Option<&str> {
        self.0.get("package")?.get("name")?.as_str()
    }

    pub(crate) fn has_workspace(&self) -> bool {
        self.0.contains_key("workspace")
    }

    /// Returns the bench targets: those in the manifest, and those that cargo finds among the files
    /// of the package.
    pub(crate) fn benches(&self, files: &[&Path]) -> Vec<Bench> {
        let mut benches: Vec<Bench> = Vec::new();
        for table in tables(self.0.get("bench")) {
            let Some(name) = table.get("name").and_then(Value::as_str) else {
                continue;
            };
            let usual = || {
                let folder = PathBuf::from(format!("benches/{name}/main.rs"));
                let is_folder = files.contains(&folder.as_path());
                if is_folder {
                    folder
                } else {
                    format!("benches/{name}.rs").into()
                }
            };
            let path = table.get("path").and_then(Value::as_str);
            benches.push((name.to_owned(), path.map_or_else(usual, PathBuf::from)));
        }
        let package = self.0.get("package").and_then(Value::as_table);
        let finds = package.and_then(|package| package.get("autobenches")?.as_bool());
        for file in files.iter().filter(|_| finds != Some(false)) {
            if let Some(name) = found_by_cargo(file)
                && benches.iter().all(|(known, _)| *known != name)
            {
                benches.push((name, file.to_path_buf()));
            }
        }
        benches
    }

    /// Returns the files and folders of a package, relative to its folder, from which cargo builds
    /// its library and its programs.
    pub(crate) fn sources(&self) -> Vec<PathBuf> {
        let mut found = vec![PathBuf::from("src"), PathBuf::from("build.rs")];
        let package = self.0.get("package");
        let script = package.and_then(|package| package.get("build"));
        let programs = tables(self.0.get("bin"));
        let library = self.0.get("lib").and_then(Value::as_table);
        let targets = library.into_iter().chain(&programs);
        let paths = targets.filter_map(|target| target.get("path"));
        for path in script.into_iter().chain(paths).filter_map(Value::as_str) {
            let path = Path::new(path);
            // The other modules are next to the file.
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            found.push(folder.unwrap_or(path).to_owned());
        }
        found
    }

    /// Sets exactly these bench targets: `own` with the settings in this manifest, and `put_in`
    /// with those in `bench_source`. Turns off the automatic discovery of others.
    pub(crate) fn set_benches(&mut self, own: &[Bench], put_in: &[Bench], bench_source: &Self) {
        let (ours, theirs) = (
            tables(self.0.get("bench")),
            tables(bench_source.0.get("bench")),
        );
        let own = own.iter().map(|bench| (&ours, bench));
        let put_in = put_in.iter().map(|bench| (&theirs, bench));
        let all = own.chain(put_in).map(|(tables, (name, source))| {
            let is_it = |table: &&Table| table.get("name").and_then(Value::as_str) == Some(name);
            let mut table = tables.iter().find(is_it).cloned().unwrap_or_default();
            table.insert("name".to_owned(), name.clone().into());
            let source = source.to_string_lossy().into_owned();
            table.insert("path".to_owned(), source.into());
            Value::Table(table)
        });
        let all: Vec<Value> = all.collect();
        self.0.insert("bench".to_owned(), all.into());
        child(&mut self.0, "package").insert("autobenches".to_owned(), false.into());
    }

    /// Adds the dev-dependencies of `bench_source`. If `overwrites` is true, existing ones are
    /// replaced. Returns the dependencies that were added or replaced.
    pub(crate) fn add_dev_dependencies(
        &mut self,
        bench_source: &Self,
        overwrites: bool,
    ) -> Vec<Dependency> {
        let mut taken = Vec::new();
        let none = Table::new();
        let in_table = |table: &Table, key: &str| table.get(key).and_then(Value::as_table).cloned();
        let theirs = in_table(&bench_source.0, DEV).unwrap_or_default();
        take(child(&mut self.0, DEV), &theirs, overwrites, &mut taken);
        let platforms = bench_source.0.get("target").and_then(Value::as_table);
        for (platform, theirs) in platforms.unwrap_or(&none) {
            if let Some(theirs) = theirs.as_table().and_then(|theirs| in_table(theirs, DEV)) {
                let ours = child(child(child(&mut self.0, "target"), platform), DEV);
                take(ours, &theirs, overwrites, &mut taken);
            }
        }
        taken
    }

    pub(crate) fn dependencies(&self) -> Vec<Dependency> {
        let mut all = Vec::new();
        if let Some(theirs) = self.0.get("dependencies").and_then(Value::as_table) {
            take(&mut Table::new(), theirs, true, &mut all);
        }
        all
    }

    /// Adds the dependencies in `names` to the workspace's dependencies, as in `bench_source`,
    /// unless they exist. Returns the folders of path dependencies.
    pub(crate) fn add_workspace_dependencies(
        &mut self,
        bench_source: &Self,
        names: &[&str],
    ) -> Vec<PathBuf> {
        let theirs = bench_source.0.get("workspace");
        let theirs = theirs.and_then(|theirs| theirs.get("dependencies")?.as_table());
        let mut taken = Vec::new();
        for name in names {
            let ours = child(child(&mut self.0, "workspace"), "dependencies");
            if let Some(told) = theirs.and_then(|theirs| theirs.get(*name))
                && !ours.contains_key(*name)
            {
                ours.insert((*name).to_owned(), told.clone());
                taken.extend(path_of(told));
            }
        }
        taken
    }

    pub(crate) fn add_member(&mut self, folder: &Path) {
        let workspace = child(&mut self.0, "workspace");
        let members = workspace
            .entry("members")
            .or_insert(Vec::<Value>::new().into());
        if let Some(members) = members.as_array_mut() {
            members.push(folder.to_string_lossy().into_owned().into());
        }
    }
}

fn take(ours: &mut Table, theirs: &Table, overwrites: bool, taken: &mut Vec<Dependency>) {
    for (name, told) in theirs {
        if overwrites || !ours.contains_key(name) {
            ours.insert(name.clone(), told.clone());
            taken.push(Dependency {
                name: name.clone(),
                path: path_of(told),
                of_workspace: told.get("workspace").and_then(Value::as_bool) == Some(true),
            });
        }
    }
}

fn path_of(dependency: &Value) -> Option<PathBuf> {
    Some(dependency.get("path")?.as_str()?.into())
}

/// Returns the table `name` in `table`, which is created if missing.
fn child<'a>(table: &'a mut Table, name: &str) -> &'a mut Table {
    let item = table.entry(name).or_insert(Table::new().into());
    if !item.is_table() {
        *item = Table::new().into();
    }
    item.as_table_mut().expect("it is a table, or was made one")
}

fn tables(item: Option<&Value>) -> Vec<Table> {
    let all = item.and_then(Value::as_array).into_iter().flatten();
    all.filter_map(Value::as_table).cloned().collect()
}

/// Returns the name of the bench target that cargo derives from a file, if the manifest does not
/// list it.
fn found_by_cargo(file: &Path) -> Option<String> {
    let below = file.strip_prefix("benches").ok()?;
    let mut parts = below.iter().map(|part| part.to_str());
    let first = parts.next()??;
    match (parts.next(), parts.next()) {
        (None, _) => first.strip_suffix(".rs").map(str::to_owned),
        (Some(Some("main.rs")), None) => Some(first.to_owned()),
        _ => None,
    }
}

/// Returns the lock file `ours` with those packages of `theirs` whose names `ours` lacks; `None` if
/// there are none, or if one of the files is malformed. Existing packages keep their versions, and
/// cargo prefers the versions of a lock file for new ones.
pub(crate) fn with_packages(ours: &str, theirs: &str) -> Option<String> {
    let (mut lock, theirs): (Table, Table) = (ours.parse().ok()?, theirs.parse().ok()?);
    let mut packages = tables(lock.get("package"));
    let known: Vec<_> = packages.iter().map(|it| it.get("name").cloned()).collect();
    let new = tables(theirs.get("package")).into_iter();
    packages.extend(new.filter(|it| !known.contains(&it.get("name").cloned())));
    if packages.len() == known.len() {
        return None;
    }
    let packages: Vec<Value> = packages.into_iter().map(Value::Table).collect();
    lock.insert("package".to_owned(), packages.into());
    Some(lock.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(text: &str) -> Manifest {
        Manifest::read(text).unwrap()
    }

    #[test]
    fn lists_named_and_discovered_bench_targets() {
        let files = [
            "benches/a.rs",
            "benches/b/main.rs",
            "benches/b/c.rs",
            "src/lib.rs",
        ];
        let files: Vec<&Path> = files.iter().map(Path::new).collect();
        let names = |text| {
            let benches = manifest(text).benches(&files).into_iter();
            let pairs = benches.map(|(name, path)| format!("{name} {}", path.display()));
            pairs.collect::<Vec<_>>().join(", ")
        };
        assert_eq!(
            names("[[bench]]\nname='a'\n[[bench]]\nname='x'\npath='perf/x.rs'\n"),
            "a benches/a.rs, x perf/x.rs, b benches/b/main.rs"
        );
        let alone = "bench = [{ name = 'a' }]\n[package]\nautobenches = false\n";
        assert_eq!(names(alone), "a benches/a.rs");
    }

    #[test]
    fn adds_targets_and_dev_dependencies_and_keeps_the_rest() {
        let mut ours = manifest(
            "[package]\nname = 'p'\n[dev-dependencies]\nrand = '0.8'\n[profile.bench]\nlto = true\n",
        );
        let bench_source = manifest(
            "[[bench]]\nname='text'\nharness=false\nrequired-features=['x']\n\
             [dev-dependencies]\nrand = '0.9'\ndeadheat.workspace = true\nutil = { path = '../util' }\n\
             [target.'cfg(unix)'.dev-dependencies]\nlibc = '0.2'\n",
        );
        let own = [("mine".to_owned(), "benches/mine.rs".into())];
        let put_in = [("text".to_owned(), "benches/text.rs".into())];
        ours.set_benches(&own, &put_in, &bench_source);
        let taken = ours.add_dev_dependencies(&bench_source, false);
        let names: Vec<&str> = taken.iter().map(|taken| &*taken.name).collect();
        assert_eq!(names, ["deadheat", "util", "libc"]);
        assert!(taken[0].of_workspace);
        assert_eq!(taken[1].path.as_deref(), Some(Path::new("../util")));
        let expected: Table = "[package]\nname = 'p'\nautobenches = false\n\
             [dev-dependencies]\nrand = '0.8'\ndeadheat.workspace = true\n\
             util = { path = '../util' }\n[profile.bench]\nlto = true\n\
             [[bench]]\nname = 'mine'\npath = 'benches/mine.rs'\n\
             [[bench]]\nname = 'text'\nharness=false\nrequired-features=['x']\npath = 'benches/text.rs'\n\
             [target.'cfg(unix)'.dev-dependencies]\nlibc = '0.2'\n"
            .parse()
            .unwrap();
        assert_eq!(ours.text().parse::<Table>().unwrap(), expected);
        assert_eq!(ours.add_dev_dependencies(&bench_source, true).len(), 4);
        assert!(ours.text().contains("\"0.9\""));
    }

    #[test]
    fn adds_members_and_dependencies_to_a_workspace() {
        let bench_source = manifest(
            "[workspace.dependencies]\ndeadheat = '1'\nutil = { path = 'util' }\nother = '2'\n",
        );
        for text in [
            "[workspace]\nmembers = ['a']\n[workspace.dependencies]\nx = '1'\n",
            "[package]\nname='p'\n[workspace]\n",
        ] {
            let mut ours = manifest(text);
            let paths =
                ours.add_workspace_dependencies(&bench_source, &["deadheat", "util", "none"]);
            assert_eq!(paths, [Path::new("util")]);
            ours.add_member(Path::new("bench"));
            let text = ours.text();
            assert!(
                text.contains("\"bench\"") && text.contains("deadheat = "),
                "{text}"
            );
            assert!(!text.contains("other"), "{text}");
        }
    }

    #[test]
    fn adds_missing_packages_to_a_lock_file_and_keeps_the_others() {
        let package = |name: &str, version: &str| {
            format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n\n")
        };
        let ours = format!(
            "version = 4\n\n{}{}",
            package("p", "1.0.0"),
            package("serde", "1.0.1")
        );
        let new = package("deadheat", "0.1.0");
        let theirs = format!("version = 4\n\n{new}{}", package("serde", "1.0.9"));
        let both = with_packages(&ours, &theirs).unwrap();
        let read = |text: &str| text.parse::<Table>().unwrap();
        assert_eq!(read(&both), read(&format!("{ours}{new}")));
        assert_eq!(with_packages(&both, &theirs), None);
        assert_eq!(with_packages("not a lock", &theirs), None);
    }
}
