//! Enums of which each variant has a word, in raw data and on pages.

/// Declares an enum with `ALL`, and `key` and `read` between a variant and its word.
#[macro_export]
macro_rules! words {
    ($(#[$of_enum:meta])* $seen:vis enum $name:ident {
        $($(#[$of_variant:meta])* $variant:ident = $word:literal),+ $(,)?
    }) => {
        $(#[$of_enum])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $seen enum $name { $($(#[$of_variant])* $variant),+ }

        #[allow(dead_code, reason = "not every enum is listed or read back")]
        impl $name {
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            pub fn key(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            pub fn read(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.key() == word)
            }
        }
    };
}
