"""Measures what each rule of the multipath sender is worth: runs the same random draws with and without it.

    python python/tools/ablate.py --random 100 --seed 12001 --seeds 2                      # all rules: hours
    python python/tools/ablate.py --random 60 --seed 12001 --kind steps --rule "the last one asks"

`ablations.toml` says how the code looks without a rule. For each rule the sender is built in a copy of the tree below
`--out`, which takes a minute or two, and `anabranch bonding --random` runs in it. Prints a row for each rule: the
change without it, with a 95 % interval. Use seeds that nobody has looked at. Finished runs are kept.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from anabranch.statistics import estimate

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("crates", "python", "papers", "scenarios", "suites", "Cargo.toml", "Cargo.lock", "LICENSE", "README.md")
LIBRARY = "libanabranch_core.so"
LEFT_OUT = shutil.ignore_patterns("target", "*.so", "__pycache__", "node_modules")


def rules() -> dict[str, list[tuple[str, str, str]]]:
    """The edits that leave out each rule: file, text, replacement."""
    table = tomllib.loads(Path(__file__).with_name("ablations.toml").read_text(encoding="utf-8"))
    return {rule["name"]: [(file, text, new) for file, text, new in rule["edits"]] for rule in table["rule"]}


def build(name: str, edits: list[tuple[str, str, str]], out: Path) -> Path:
    """Builds the package without a rule. Returns the folder for PYTHONPATH."""
    package = out / name.replace(" ", "-") / "python"
    library = package / "anabranch" / "_core.abi3.so"
    if library.exists():
        return package
    tree = out / "tree"
    for source in SOURCES:
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, tree / source, dirs_exist_ok=True, ignore=LEFT_OUT)
        elif (ROOT / source).exists():
            tree.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / source, tree / source)
    command = ["cargo", "build", "--quiet", "--release", "-p", "anabranch-py", "--target-dir", out / "target"]
    try:
        for file, text, new in edits:
            code = (tree / file).read_text(encoding="utf-8")
            if code.count(text) != 1:
                sys.exit(f"ablate.py: rule {name!r}: {file} has to contain {text!r} once")
            (tree / file).write_text(code.replace(text, new), encoding="utf-8")
        subprocess.run(command, cwd=tree, check=True)
    finally:  # Written anew, since Cargo takes a file with the old time for one that it has built.
        for file, _, _ in edits:
            shutil.copyfile(ROOT / file, tree / file)
    shutil.copytree(tree / "python" / "anabranch", package / "anabranch", dirs_exist_ok=True)
    shutil.copy2(out / "target" / "release" / LIBRARY, library)
    return package


def draws(package: Path, args: argparse.Namespace) -> Iterator[dict[str, float]]:
    """The figures of each draw of all seeds; names of figures as in the table of `anabranch bonding`."""
    for seed in range(args.seed, args.seed + args.seeds):
        results = package.parent / f"{args.kind}-{args.random}-{seed}"
        if not (results / "table.json").exists():
            command = [sys.executable, "-m", "anabranch", "bonding", "--quiet", "--options", "recommended"]
            command += ["--random", str(args.random), "--seed", str(seed), "--out", str(results)]
            command += [] if args.kind == "alone" else ["--kind", args.kind]
            environment = {**os.environ, "PYTHONPATH": str(package)}
            done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=False)
            if done.returncode not in (0, 3):
                sys.exit(f"ablate.py: exit code {done.returncode}: {' '.join(command)}")
        for draw in json.loads((results / "table.json").read_text(encoding="utf-8"))["draws"]:
            yield figures(draw)


def figures(draw: dict) -> dict[str, float]:
    """What is compared: logarithms of throughput and times, and the stall and the share of copies as they are."""
    if "found" in draw:
        found = {name: values["recommended"] for name, values in draw["found"].items()}
        return {name: value if name == "copies" else math.log(value) for name, value in found.items()}
    throughput = {"throughput": math.log(draw["together_bps"]["recommended"])}
    failure = draw["failure"]
    return throughput | ({"stall [s]": failure["stall_s"]} if failure and failure["can_be_met"] else {})


def changes(before: list[dict[str, float]], after: list[dict[str, float]]) -> str:
    """The mean change of each figure, in percent where logarithms are compared."""
    cells = []
    for name in dict.fromkeys(name for draw in before for name in draw):
        pairs = zip(before, after, strict=True)
        found = estimate([new[name] - old[name] for old, new in pairs if name in old and name in new])
        if name in ("copies", "stall [s]"):
            cells.append(f"{name} {found.mean:+.3f} ± {found.half_width:.3f} ({found.count})")
        else:
            cells.append(f"{name} {100 * found.mean:+.1f} ± {100 * found.half_width:.1f} % ({found.count})")
    return ", ".join(cells)


def main() -> None:
    """Runs the command."""
    known = rules()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rule", action="append", choices=known, metavar="NAME", help="a rule; may be repeated (all)")
    parser.add_argument("--kind", default="alone", help="kind of draws, as for `anabranch bonding --kind` (alone)")
    parser.add_argument("--random", type=int, default=100, help="draws of each seed (100)")
    parser.add_argument("--seed", type=int, required=True, help="the first seed")
    parser.add_argument("--seeds", type=int, default=1, help="number of seeds (1)")
    parser.add_argument("--out", type=Path, default=Path("out/ablate"), help="folder of builds and runs (out/ablate)")
    args = parser.parse_args()
    out = args.out.resolve()
    before = list(draws(build("with all rules", [], out), args))
    print(f"| without, {args.kind} | change (draws) |\n|---|---|")
    for name in args.rule or known:
        after = list(draws(build(name, known[name], out), args))
        print(f"| {name} | {changes(before, after)} |", flush=True)


if __name__ == "__main__":
    main()
