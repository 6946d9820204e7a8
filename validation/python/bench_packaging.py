"""Ten calls of packaging, in the manner of its manual."""

import random

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

import deadheat

SPECIFIERS = [">=2.1,<9", "~=1.4.2", "==3.*", "!=1.5,>=1", ">2.0,<=4.7,!=3.0.1"]
REQUIREMENTS = [
    "requests",
    "requests[security]>=2.8.1,==2.8.*",
    "pywin32>=223; sys_platform == 'win32'",
    "importlib-metadata>=3.6; python_version < '3.10'",
    "pip @ https://example.org/pip-1.3.1.zip",
]
MARKERS = [
    Marker("python_version > '3.6'"),
    Marker("sys_platform == 'linux' and python_version < '3.9'"),
    Marker("os_name == 'nt' or (os_name == 'posix' and platform_machine == 'x86_64')"),
]


def texts(seed):
    draw = random.Random(seed)
    parts = (tuple(draw.randrange(30) for _ in range(3)) for _ in range(50))
    ends = draw.choices(["", "", "", "rc1", ".post2", ".dev3", "a4"], k=50)
    return ["{}.{}.{}".format(*part) + end for part, end in zip(parts, ends)]


def versions(seed):
    return [Version(text) for text in texts(seed)]


def names(seed):
    draw = random.Random(seed)
    return ["".join(draw.choices("Abcde-._", k=12)) for _ in range(50)]


def wheels(seed):
    tails = ["py3-none-any", "cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64"]
    draw = random.Random(seed)
    return [f"some_name-{version}-{draw.choice(tails)}.whl" for version in texts(seed)[:20]]


@deadheat.benchmark(input=texts)
def parse(texts):
    return [Version(text) for text in texts]


@deadheat.benchmark(input=versions)
def show(versions):
    return [str(version) for version in versions]


@deadheat.benchmark(input=versions)
def sort(versions):
    return sorted(versions)


@deadheat.benchmark
def specify():
    return [SpecifierSet(text) for text in SPECIFIERS]


@deadheat.benchmark(input=versions)
def contains(versions, specifier=SpecifierSet(">=2.1,<9")):  # noqa: B008
    return [version in specifier for version in versions]


@deadheat.benchmark(input=texts)
def choose(texts, specifier=SpecifierSet("~=4.2")):  # noqa: B008
    return list(specifier.filter(texts))


@deadheat.benchmark
def require():
    return [Requirement(text) for text in REQUIREMENTS]


@deadheat.benchmark
def evaluate():
    return [marker.evaluate() for marker in MARKERS]


@deadheat.benchmark(input=names)
def canonical(names):
    return [canonicalize_name(name) for name in names]


@deadheat.benchmark(input=wheels)
def wheel_names(wheels):
    return [parse_wheel_filename(name) for name in wheels]


deadheat.suite()
