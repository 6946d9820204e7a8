//! Only its bench target is of use.
