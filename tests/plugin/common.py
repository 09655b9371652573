# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the real tshark, as an ordinary user: as root it ignores plugin folders."""
import json
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PCAPS = sorted(p for p in (ROOT / "pcaps").iterdir() if p.suffix in (".pcap", ".pcapng"))
PLUGIN_DIR = os.environ.get("ROCE_PLUGIN_DIR", "")
ROCESTAT = os.environ.get("ROCESTAT", "")
ROCEDUMP = os.environ.get("ROCEDUMP", "")
TSHARK = os.environ.get("TSHARK") or shutil.which("tshark")

# What tshark says although all is well.
HARMLESS = ("Running as user", "packets dropped", "packet captured", "packets captured", "Couldn't load plugin 'falco")


class Place:
    """A folder that the ordinary user reads and writes: home, configuration, plugin, captures."""

    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="rocev2-"))
        self.config = self.path / "config"
        shutil.copytree(ROOT / "plugin" / "profile" / "RoCEv2", self.config / "profiles" / "RoCEv2")
        shutil.copytree(PLUGIN_DIR, self.path / "plugins",
                        ignore=lambda _, names: [n for n in names if n.endswith((".cmake", "CMakeFiles", ".so.p"))])
        shutil.copytree(ROOT / "pcaps", self.path / "pcaps")
        subprocess.run([sys.executable, ROOT / "tests" / "plugin" / "captures.py", self.path / "made"], check=True)
        (self.path / "out").mkdir()
        self.nobody = pwd.getpwnam("nobody")
        if os.getuid() == 0:
            for top, dirs, files in os.walk(self.path):
                for name in [top] + [os.path.join(top, n) for n in dirs + files]:
                    os.chown(name, self.nobody.pw_uid, self.nobody.pw_gid)

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)

    def capture(self, name):
        for folder in ("made", "pcaps"):
            if (self.path / folder / name).exists():
                return self.path / folder / name
        raise FileNotFoundError(name)


def merged(captures, name="merged"):
    """One capture of many behind each other, for one start of tshark."""
    path = place().path / "out" / f"{name}.pcapng"
    subprocess.run(["mergecap", "-a", "-w", path, *captures], check=True, capture_output=True)
    path.chmod(0o644)
    return path


_place = None


def place():
    global _place
    if _place is None:
        _place = Place()
        import atexit
        atexit.register(_place.remove)
    return _place


def tshark(*args, plugin=True, env=None, noise=False):
    """Standard output of tshark; complains about anything on standard error unless noise is expected."""
    here = place()
    environment = {"PATH": os.environ["PATH"], "HOME": str(here.path), "TZ": "UTC", "LC_ALL": "C.UTF-8",
                   "WIRESHARK_CONFIG_DIR": str(here.config), **(env or {})}
    if plugin:
        environment["WIRESHARK_PLUGIN_DIR"] = str(here.path / "plugins")
    command = [TSHARK, *map(str, args)]
    user = {"user": here.nobody.pw_uid, "group": here.nobody.pw_gid, "extra_groups": []} if os.getuid() == 0 else {}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=here.path, timeout=280, **user)
    said = [line for line in done.stderr.splitlines() if line.strip() and not any(h in line for h in HARMLESS)]
    assert done.returncode == 0, f"{command}: exit {done.returncode}\n{done.stderr[-2000:]}"
    assert noise or not said, f"{command} says: {said[:5]}"
    return done.stdout


def rows_and_tables(capture, fields, names, *args, **options):
    """From one run: one list of texts a packet (several values of a field are joined by a comma), and statistics tables
    by name, each a list of dicts."""
    command = ["-n", "-r", capture, "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a", *args]
    for field in fields:
        command += ["-e", field]
    for name in names:
        command += ["-z", name]
    packets, rule, text = tshark(*command, **options).partition("\n" + "=" * 20 if names else "\0")
    return [line.split("\t") for line in packets.splitlines()], parse_tables(rule + text)


def rows(capture, fields, *args, **options):
    return rows_and_tables(capture, fields, [], *args, **options)[0]


def tables(capture, names, *args, **options):
    return parse_tables(tshark("-n", "-q", "-r", capture, *(word for name in names for word in ("-z", name)), *args, **options))


def parse_tables(text):
    blocks = re.findall(r"^RoCEv2 (\w+):\n(.*?)^={20,}$", text, re.MULTILINE | re.DOTALL)
    return {f"rocev2,{title.lower()}": parse(block) for title, block in blocks}


def table(capture, name, *args, **options):
    return tables(capture, [name], *args, **options)[name]


def parse(text):
    lines = [line.rstrip(" |").split(" |") for line in text.splitlines() if " |" in line]
    head = [c.strip() for c in lines[0]]
    return [dict(zip(head, [c.strip() for c in line] + [""] * len(head))) for line in lines[1:]]


def layers(capture, protocols, *args, **options):
    """The chosen protocols' layers of each packet, from -T json (repeated keys kept)."""
    text = tshark("-n", "-r", capture, "-T", "json", "-J", " ".join(protocols), *args, **options)
    out = []
    for packet in json.loads(text, object_pairs_hook=list) if text.strip() else []:
        source = dict(packet)["_source"]
        out.append([(k, v) for k, v in dict(source)["layers"] if k in protocols])
    return out
