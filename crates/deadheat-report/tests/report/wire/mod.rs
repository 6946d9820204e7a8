//! What `--json` writes, as types: the schema in `docs/schema/` is made from
//! them, and everything written is read back into them, so that no field can
//! be written without being described here. Nothing of this is in the library,
//! which writes JSON without serde.

#![expect(dead_code, reason = "fields are read by serde and by nobody else")]

mod analysis;
mod calibration;
mod comparison;
mod figures;
mod numbers;
mod presence;
mod printed;
mod schema;
