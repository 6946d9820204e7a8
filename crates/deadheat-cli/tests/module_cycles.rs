//! No module of a crate leads back to itself: what two modules share lies below
//! both.
//!
//! A module leads to another when a path in it ends there, re-exports followed
//! to where the item is defined; tests do not count. At each level of the tree
//! of modules, siblings stand for all that lies below them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// The names that lead from the root of a crate to one of its modules.
type Place = Vec<String>;

/// A module's own file, or its part of one, read.
#[derive(Default)]
struct Module {
    file: PathBuf,
    /// The paths that `use` brings in, each with the name it has here.
    imported: Vec<(Place, String)>,
    /// Every path, with its line; of `pub use` only what leads out of the module.
    paths: Vec<(Place, usize)>,
    /// `pub use`, which alone leads nowhere.
    passed_on: Vec<(Place, usize)>,
}

/// The modules of a crate, below `mod` items that are no tests.
#[derive(Default)]
struct Modules(BTreeMap<Place, Module>);

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string() == "test",
        _ => false,
    })
}

impl Modules {
    fn of(folder: &Path) -> Self {
        let mut modules = Self::default();
        modules.read(&folder.join("lib.rs"), folder, Vec::new());
        modules
    }

    /// Reads a file as the module of this place; its children lie in `folder`.
    fn read(&mut self, file: &Path, folder: &Path, place: Place) {
        let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        self.add(&parsed.items, file, folder, place);
    }

    fn add(&mut self, items: &[syn::Item], file: &Path, folder: &Path, place: Place) {
        let mut module = Module {
            file: file.to_owned(),
            ..Module::default()
        };
        for item in items {
            match item {
                syn::Item::Mod(child) if is_test(&child.attrs) => {}
                syn::Item::Mod(child) => {
                    let name = child.ident.to_string();
                    let below = [place.clone(), vec![name.clone()]].concat();
                    if let Some((_, items)) = &child.content {
                        self.add(items, file, &folder.join(&name), below);
                    } else {
                        let (alone, within) = (
                            folder.join(format!("{name}.rs")),
                            folder.join(&name).join("mod.rs"),
                        );
                        let file = if alone.exists() { alone } else { within };
                        self.read(&file, &folder.join(&name), below);
                    }
                }
                item => module.visit_item(item),
            }
        }
        self.0.insert(place, module);
    }

    /// The module in which a path ends that stands in `from`: the one that
    /// defines the item. `None` for paths of other crates.
    fn end(&self, from: &Place, path: &[String], depth: usize) -> Option<Place> {
        // A name that is brought in under its own name leads round for ever.
        let (first, mut rest) = path.split_first().filter(|_| depth < 16)?;
        let mut here = match first.as_str() {
            "crate" => Vec::new(),
            "self" => from.clone(),
            "super" => from[..from.len().checked_sub(1)?].to_vec(),
            name => {
                let child = [from.clone(), vec![name.to_owned()]].concat();
                self.0.contains_key(&child).then_some(child)?
            }
        };
        while let Some((name, after)) = rest.split_first() {
            let child = [here.clone(), vec![name.clone()]].concat();
            if name == "super" {
                here.pop()?;
            } else if self.0.contains_key(&child) {
                here = child;
            } else {
                let imported = self.0[&here].imported.iter();
                let mut through = imported
                    .filter(|(path, name_here)| name_here == name && path != rest)
                    .map(|(path, _)| [path.clone(), after.to_vec()].concat());
                let found = through.find_map(|path| self.end(&here, &path, depth + 1));
                return found.or(Some(here));
            }
            rest = after;
        }
        Some(here)
    }

    /// Every two modules of which the first leads to the second, with the place
    /// in the source that does.
    fn arrows(&self) -> BTreeMap<(Place, Place), String> {
        let mut arrows = BTreeMap::new();
        for (from, module) in &self.0 {
            let own = module.paths.iter().map(|path| (path, false));
            let passed_on = module.passed_on.iter().map(|path| (path, true));
            for ((path, line), only_passed_on) in own.chain(passed_on) {
                let Some(to) = self.end(from, path, 0) else {
                    continue;
                };
                // What lies below a module may be handed on without being used.
                if to != *from && !(only_passed_on && to.starts_with(from)) {
                    let said = format!("{}:{line} uses {}", module.file.display(), path.join("::"));
                    arrows.entry((from.clone(), to)).or_insert(said);
                }
            }
        }
        arrows
    }
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let tests = match item {
            syn::Item::Fn(item) => is_test(&item.attrs),
            syn::Item::Impl(item) => is_test(&item.attrs),
            syn::Item::Use(item) => is_test(&item.attrs),
            syn::Item::Struct(item) => is_test(&item.attrs),
            syn::Item::Const(item) => is_test(&item.attrs),
            _ => false,
        };
        if !tests {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let line = item.use_token.span.start().line;
        let mut found = Vec::new();
        flatten(&item.tree, &Vec::new(), &mut found);
        let passed_on = !matches!(item.vis, syn::Visibility::Inherited);
        for (path, name) in found {
            let paths = if passed_on {
                &mut self.passed_on
            } else {
                &mut self.paths
            };
            paths.push((path.clone(), line));
            self.imported.push((path, name));
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Place = path
            .segments
            .iter()
            .map(|part| part.ident.to_string())
            .collect();
        if let Some(first) = path.segments.first().filter(|_| names.len() > 1) {
            self.paths.push((names, first.ident.span().start().line));
        }
        visit::visit_path(self, path);
    }

    /// Visits the arguments of a macro, which are no syntax yet: names with `::` between them.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.tokens(call.tokens.clone());
    }
}

impl Module {
    fn tokens(&mut self, tokens: proc_macro2::TokenStream) {
        use proc_macro2::TokenTree;
        let (mut path, mut line): (Place, usize) = (Vec::new(), 0);
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) if colons == 2 && !path.is_empty() => {
                    path.push(name.to_string());
                    colons = 0;
                    continue;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                TokenTree::Ident(name) => {
                    self.keep(&mut path, line);
                    line = name.span().start().line;
                    path.push(name.to_string());
                }
                TokenTree::Group(group) => {
                    self.keep(&mut path, line);
                    self.tokens(group.stream());
                }
                _ => self.keep(&mut path, line),
            }
            colons = 0;
        }
        self.keep(&mut path, line);
    }

    fn keep(&mut self, path: &mut Place, line: usize) {
        let path = std::mem::take(path);
        if path.len() > 1 {
            self.paths.push((path, line));
        }
    }
}

/// Every path of a `use`, with the name it is known by.
fn flatten(tree: &syn::UseTree, before: &Place, found: &mut Vec<(Place, String)>) {
    let with = |name: &syn::Ident| [before.clone(), vec![name.to_string()]].concat();
    let mut add = |path: Place, name: String| {
        let itself = path.last().is_some_and(|last| last == "self") && path.len() > 1;
        let path = if itself {
            path[..path.len() - 1].to_vec()
        } else {
            path
        };
        let name = if itself {
            path.last().cloned().unwrap_or_default()
        } else {
            name
        };
        found.push((path, name));
    };
    match tree {
        syn::UseTree::Path(path) => flatten(&path.tree, &with(&path.ident), found),
        syn::UseTree::Name(name) => add(with(&name.ident), name.ident.to_string()),
        syn::UseTree::Rename(name) => add(with(&name.ident), name.rename.to_string()),
        syn::UseTree::Glob(_) => found.push((before.clone(), "*".to_owned())),
        syn::UseTree::Group(group) => {
            for tree in &group.items {
                flatten(tree, before, found);
            }
        }
    }
}

/// Every ring of modules, told as the steps that lead round it.
fn rings(modules: &Modules) -> Vec<String> {
    let arrows = modules.arrows();
    let mut rings = Vec::new();
    // Siblings, by the place they lie in: who leads to whom, and where.
    let mut levels: BTreeMap<Place, BTreeMap<&String, BTreeMap<&String, &String>>> =
        BTreeMap::new();
    for ((from, to), said) in &arrows {
        let shared = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        match (from.get(shared), to.get(shared)) {
            (Some(one), Some(other)) => {
                let level = levels.entry(from[..shared].to_vec()).or_default();
                level.entry(one).or_default().entry(other).or_insert(said);
            }
            // A child that uses what its parent's own file defines; a part of that very file may.
            (Some(child), None) if modules.0[from].file != modules.0[to].file => {
                let back = arrows.iter().find(|((parent, below), _)| {
                    parent == to
                        && below.len() > shared
                        && below[..shared] == **to
                        && below[shared] == *child
                });
                if let Some((_, back)) = back {
                    rings.push(format!("{said}\n    {back}"));
                }
            }
            _ => {}
        }
    }
    for level in levels.values() {
        let mut seen = BTreeSet::new();
        for start in level.keys() {
            if seen.contains(start) {
                continue;
            }
            if let Some(steps) = way_round(level, start) {
                let said = steps
                    .windows(2)
                    .map(|step| level[step[0]][step[1]].as_str());
                rings.push(said.collect::<Vec<_>>().join("\n    "));
                seen.extend(steps);
            }
        }
    }
    rings
}

/// The shortest way from a sibling back to itself.
fn way_round<'a>(
    level: &BTreeMap<&'a String, BTreeMap<&'a String, &String>>,
    start: &'a String,
) -> Option<Vec<&'a String>> {
    let mut ways = VecDeque::from([vec![start]]);
    let mut reached = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for next in level.get(way.last()?).into_iter().flat_map(BTreeMap::keys) {
            let longer = [way.clone(), vec![*next]].concat();
            if *next == start {
                return Some(longer);
            }
            if reached.insert(*next) {
                ways.push_back(longer);
            }
        }
    }
    None
}

#[test]
fn no_module_of_a_crate_leads_back_to_itself() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    for folder in fs::read_dir(crates).unwrap() {
        let source = folder.unwrap().path().join("src");
        if source.join("lib.rs").exists() {
            found.extend(rings(&Modules::of(&source)));
        }
    }
    let found: Vec<String> = found
        .iter()
        .map(|ring| ring.replace(crates.to_str().unwrap(), ""))
        .collect();
    assert!(
        found.is_empty(),
        "{} rings:\n\n    {}",
        found.len(),
        found.join("\n\n    ")
    );
}

/// The rings of a crate of these files.
fn rings_of(files: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    rings(&Modules::of(folder.path()))
}

#[test]
fn two_modules_that_use_each_other_are_a_ring() {
    let lib = ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;");
    let used = rings_of(&[
        lib,
        ("a.rs", "use crate::b::B; pub struct A(B);"),
        ("b.rs", "pub struct B; fn f(a: super::a::A) {}"),
    ]);
    assert_eq!(used.len(), 1, "{used:?}");
    let through_the_root = rings_of(&[
        lib,
        ("a.rs", "use crate::B; pub struct A(B);"),
        ("b.rs", "pub struct B; fn f(a: crate::A) {}"),
    ]);
    assert_eq!(through_the_root.len(), 1, "{through_the_root:?}");
    let in_a_macro = rings_of(&[
        lib,
        ("a.rs", "use crate::B; pub struct A(B);"),
        ("b.rs", "pub struct B; fn f() { dbg!(crate::A::x) }"),
    ]);
    assert_eq!(in_a_macro.len(), 1, "{in_a_macro:?}");
}

#[test]
fn what_lies_in_two_folders_makes_a_ring_of_the_folders() {
    let found = rings_of(&[
        ("lib.rs", "mod a; mod b;"),
        ("a/mod.rs", "pub mod x; pub mod y;"),
        ("b/mod.rs", "pub mod z;"),
        ("a/x.rs", "pub struct X;"),
        ("a/y.rs", "use crate::b::z::Z;"),
        ("b/z.rs", "use crate::a::x::X; pub struct Z;"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_parent_that_hands_on_and_tests_that_look_back_are_no_ring() {
    let found = rings_of(&[
        ("lib.rs", "mod a; mod b;"),
        ("a/mod.rs", "mod x; pub use x::X; mod y;"),
        ("a/x.rs", "pub struct X;"),
        ("a/y.rs", "use super::X;"),
        ("b.rs", "use crate::a::X; pub struct B;"),
        (
            "a/x.rs",
            "pub struct X; #[cfg(test)] mod tests { use crate::b::B; }",
        ),
    ]);
    assert_eq!(found, [""; 0]);
}

#[test]
fn a_child_that_uses_what_its_parent_defines_is_a_ring_when_that_uses_the_child() {
    let files = |parent: &'static str| {
        rings_of(&[
            ("lib.rs", "mod a;"),
            ("a.rs", parent),
            ("a/x.rs", "pub struct X(super::A);"),
        ])
    };
    assert_eq!(files("mod x; pub struct A;").len(), 0);
    assert_eq!(files("mod x; pub struct A; fn f(x: x::X) {}").len(), 1);
    let within = "mod x { pub struct X(super::A); } pub struct A; fn f(x: x::X) {}";
    assert_eq!(rings_of(&[("lib.rs", "mod a;"), ("a.rs", within)]).len(), 0);
}
