//! The aspects of a comparison ([`Aspects`]). Each file computes one of them and the warnings about
//! it.

mod arrangement;
mod code;
mod control;
mod dropped;
mod hosts;
mod order_effects;
mod settling;
mod waiting;

use deadheat_model::Aspects;

use crate::inputs::Inputs;

pub(crate) use arrangement::turns_apart;
pub(crate) use code::{doubts as doubts_about_the_code, scope};
pub(crate) use control::{Separation, separation};
pub(crate) use dropped::doubts as doubts_about_dropped_blocks;
pub(crate) use settling::seconds_to_settle;
pub(crate) use waiting::doubts as doubts_about_waiting;

pub(crate) fn from_inputs(inputs: &Inputs<'_>) -> Aspects {
    let hosts = hosts::from_inputs(inputs);
    Aspects {
        control: control::from_inputs(inputs),
        waiting: waiting::from_inputs(inputs),
        own_link: code::own_link(inputs),
        matched: code::is_matched(inputs),
        processes: code::processes(inputs),
        spreads: code::spreads_from_inputs(inputs),
        turns_because: inputs.benchmark().turns_because,
        side_by_side: arrangement::from_inputs(inputs),
        order_effects: order_effects::from_inputs(inputs),
        dropped: dropped::from_inputs(inputs),
        // Hosts are the observations of a merged run, so a number of replicates would mislead.
        settling: settling::from_inputs(inputs).filter(|_| hosts.is_none()),
        hosts,
    }
}
