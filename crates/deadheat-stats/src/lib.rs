pub mod blocks;
pub mod clusters;
pub mod dist;
pub mod huber;
pub mod summary;
