"""Chains of steps for the recorders that run Python: PERCENT says how many
per cent more of them."""

import os

STEPS = 100 * (100 + int(os.environ.get("PERCENT", "0")))


def multiplying():
    bits = 1
    for _ in range(STEPS):
        bits = (bits ^ (bits >> 31)) * 0x6A09E667F3BCC909 & 0xFFFFFFFFFFFFFFFF
    return bits


def averaging():
    number = 1.0
    for _ in range(STEPS):
        number = number * 0.75 + 1.5
    return number
