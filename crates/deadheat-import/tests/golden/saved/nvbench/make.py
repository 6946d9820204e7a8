"""Writes what `--jsonbin old.json` and `--jsonbin new.json` of nvbench 0.1 write of two states."""

import json
import random
import struct
from pathlib import Path

HERE = Path(__file__).parent


def values(**named):
    return [{"name": name, "type": "string", "value": str(value)} for name, value in named.items()]


def state(side, index, size, scale):
    draw = random.Random(f"{side} {index}")
    times = [1e-5 * size / 256 * scale * (1 + abs(draw.gauss(0, 0.01))) for _ in range(20)]
    file = Path(f"{side}.json-bin", f"{index}.bin")
    (HERE / file).parent.mkdir(exist_ok=True)
    (HERE / file).write_bytes(struct.pack(f"<{len(times)}f", *times))
    mean = sum(times) / len(times)
    return {
        "name": f"Device=0 Size={size}",
        "device": 0,
        "axis_values": [{"name": "Size", "type": "int64", "value": str(size)}],
        "summaries": [
            {"tag": "nv/cold/time/gpu/mean", "hint": "duration", "data": values(value=mean)},
            {
                "tag": "nv/json/bin:nv/cold/sample_times",
                "hint": "file/sample_times",
                "data": values(filename=file.as_posix(), size=len(times)),
            },
        ],
        "is_skipped": False,
    }


for side, scale in (("old", 1.0), ("new", 1.02)):
    states = [state(side, index, size, scale) for index, size in enumerate((256, 1024))]
    states.append(
        {"name": "Device=0 Size=0", "device": 0, "axis_values": None, "summaries": None}
        | {"is_skipped": True, "skip_reason": "no elements"}
    )
    version = {"json": {"string": "1.0.0"}, "nvbench": {"string": "0.1.0"}}
    whole = {
        "meta": {"argv": ["copy", "--jsonbin", f"{side}.json"], "version": version},
        "devices": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "sm_version": 900}],
        "benchmarks": [{"name": "copy", "index": 0, "axes": [], "states": states}],
    }
    (HERE / f"{side}.json").write_text(json.dumps(whole, indent=2) + "\n")
