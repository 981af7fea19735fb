"""Print the names, licences and licence texts of all crates of others that the command and its library contain."""

import json
import subprocess
from pathlib import Path

ROOTS = ("anabranch-cli", "anabranch-preload", "anabranch-usrsctp")
TEXTS = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE")


def main() -> None:
    """Print one entry for each crate, and each text once."""
    crates, edges, own = graph()
    reached, todo = set(), [key for key, crate in crates.items() if crate["name"] in ROOTS]
    while todo:
        key = todo.pop()
        if key not in reached:
            reached.add(key)
            todo += edges[key]
    first_user: dict[str, str] = {}
    for crate in sorted((crates[key] for key in reached - own), key=lambda crate: (crate["name"], crate["version"])):
        name = f"{crate['name']} {crate['version']}"
        print(f"{'=' * 78}\n{name}: {crate['license'] or 'see the text'}")
        folder = Path(crate["manifest_path"]).parent
        for file in sorted(path for path in folder.iterdir() if path.name.upper().startswith(TEXTS) and path.is_file()):
            text = file.read_text(encoding="utf-8", errors="replace").strip()
            user = first_user.setdefault(text, name)
            print(f"\n{file.name}:" + (f"\n\n{text}" if user == name else f" as that of {user}"))


def graph() -> tuple[dict, dict, set]:
    """Return all crates, the crates that each of them contains, and which are our own."""
    cargo = "rustc -vV | sed -n 's/^host: //p'"
    host = subprocess.run(["sh", "-c", cargo], check=True, capture_output=True, text=True).stdout.strip()
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", host]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    crates = {crate["id"]: crate for crate in found["packages"]}
    edges = {
        node["id"]: [dep["pkg"] for dep in node["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])]
        for node in found["resolve"]["nodes"]
    }
    return crates, edges, set(found["workspace_members"])


if __name__ == "__main__":
    main()
