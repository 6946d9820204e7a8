//! The way in which a side is built, and all that a build depends on besides its commit.

use std::path::Path;

use crate::error::BuildError;
use crate::key::Ingredients;
use crate::recipe::{Recipe, configuration_above, configuration_of_the_user};
use crate::repository::Repository;

/// The way in which a side is built, with all that it depends on besides the commit.
#[derive(Clone)]
pub(crate) struct Way<'a> {
    pub(crate) recipe: &'a Recipe,
    pub(crate) ingredients: Ingredients,
    /// The version of the compiler, as it tells it.
    pub(crate) compiler: String,
}

impl<'a> Way<'a> {
    /// Those of both sides, the baseline first.
    pub(crate) fn of(
        repository: &Repository<'_>,
        recipes: [&'a Recipe; 2],
    ) -> Result<[Self; 2], BuildError> {
        let [base, head] = recipes;
        let first = Self::of_one(repository, base)?;
        let second = match base == head {
            true => first.clone(),
            false => Self::of_one(repository, head)?,
        };
        Ok([first, second])
    }

    pub(crate) fn of_one(
        repository: &Repository<'_>,
        recipe: &'a Recipe,
    ) -> Result<Self, BuildError> {
        let mut ingredients = Ingredients::of_the_surroundings(repository);
        let mut compiler = String::new();
        let variables = match recipe {
            Recipe::Cargo(build) => {
                ingredients.add("by", "cargo");
                for argument in build.moved(&repository.top, Path::new("/")) {
                    ingredients.add("argument", argument);
                }
                let here = repository.top.join(&repository.inside);
                compiler = build.compiler(&here, &repository.interruption)?;
                ingredients.add("compiler", &compiler);
                let above = configuration_above(&repository.top);
                for file in above.iter().chain(&configuration_of_the_user()) {
                    ingredients.add_file(file);
                }
                &build.variables
            }
            Recipe::Command(build) => {
                ingredients.add("by", &build.command);
                for path in &build.executables {
                    ingredients.add("executable", path);
                }
                &build.variables
            }
            Recipe::Go(build) => {
                ingredients.add("by", "go");
                for package in &build.packages {
                    ingredients.add("package", package);
                }
                let here = repository.top.join(&repository.inside);
                compiler = build.version(&here, &repository.interruption)?;
                ingredients.add("compiler", &compiler);
                ingredients.add("settings", build.settings(&here, &repository.interruption)?);
                &build.variables
            }
            Recipe::Pytest(build) => {
                let here = repository.top.join(&repository.inside);
                compiler = build.interpreter(&here, &repository.interruption)?;
                build.add_to(&mut ingredients, &compiler);
                &build.variables
            }
        };
        for (name, value) in variables {
            ingredients.add("own variable", name);
            ingredients.add("value", value);
        }
        Ok(Self {
            recipe,
            ingredients,
            compiler,
        })
    }
}
