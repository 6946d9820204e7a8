//! Enums whose variants have names in files, in JSON and on command lines.

/// Declares an enum with the name of each variant behind it, and the method that gives the name. So
/// a variant and its name stand in one place. A `listed` enum has a list of its variants, too.
macro_rules! named {
    ($(#[$meta:meta])* pub listed enum $type:ident: name(self) {
        $($(#[$doc:meta])* $variant:ident = $name:literal,)*
    }) => {
        $crate::named::named! {
            $(#[$meta])*
            pub enum $type: name(self) { $($(#[$doc])* $variant = $name,)* }
        }

        impl $type {
            /// All of them, in the order declared.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];
        }
    };
    ($(#[$meta:meta])* pub enum $type:ident: $method:ident($(&$life:lifetime)? $me:ident) {
        $($(#[$doc:meta])* $variant:ident $({ $($fields:tt)* })? = $name:literal,)*
    }) => {
        $(#[$meta])*
        pub enum $type { $($(#[$doc])* $variant $({ $($fields)* })?,)* }

        impl $type {
            /// Its stable name, for files, JSON and command lines.
            pub fn $method($(&$life)? $me) -> &'static str {
                match $me {
                    $(Self::$variant { .. } => $name,)*
                }
            }
        }
    };
}

pub(crate) use named;
