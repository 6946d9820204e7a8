//! Messages as lines: one JSON object of one key each,
//! `{"block":{"seed":7,…}}`, or `{"bye":{}}` where there is nothing more to
//! say.

mod message;
mod reply;
mod request;
