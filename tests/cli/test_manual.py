# SPDX-License-Identifier: GPL-3.0-or-later
"""The man page and --help name the same options: those that the program accepts."""
import re
import subprocess

from tests.cli.conftest import PW_SCSYNTH
from tests.lib.daemon import ROOT

MANUAL = ROOT / "man/pw-scsynth.1"
SHORT = set("utBaciozZSbndmwrDRLlpNHIOUPVvCTysh")  # the option letters of scsynth, and -T and -y of supernova
LONG = {"help", "version", "devices", "take-over", "client", "set", "wait", "options", "bind", "no-pointer"}
STATUS = set("utBph") | {"help", "json", "all"}  # those of pw-scsynth status
TOP = set("utBpdh") | {"help", "sort", "filter", "once", "json"}  # those of pw-scsynth top
TRACE = set("outBph") | {"help", "seconds"}  # those of pw-scsynth trace
POINTER = set("utBph") | {"help", "keys"}  # those of pw-scsynth pointer
TRANSPORT = set("utBph") | {"help", "tempo", "beats-per-bar"}  # those of pw-scsynth transport
LINK = set("utBph") | {"help", "tempo"}  # those of pw-scsynth link
GAMEPAD = set("utBph") | {"help"}  # those of pw-scsynth gamepad


def flags_of_manual():
    """Those of the program, of status, of top, of trace, of pointer, of transport, of link and of gamepad."""
    text = MANUAL.read_text(encoding="utf-8")
    commands = [re.search(rf"^\.Ss {title}\n(.*?)^\.S[hs] ", text, re.MULTILINE | re.DOTALL)[1]
                for title in ("What a server has", "Watching a server", "Recording what its threads do", "Following the pointer",
                              "Driving the transport", "Joining a Link session", "Playing by gamepads")]
    rest = text
    for part in commands:
        rest = rest.replace(part, "")
    return tuple({flag.removeprefix("-") for item in re.findall(r"^\.It Fl .*", part, re.MULTILINE)
                  for flag in re.findall(r"Fl (\S+)", item)}
                 for part in (rest, *commands))


def flags_of_help(*command):
    text = subprocess.run([PW_SCSYNTH, *command, "-h"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"(?:^|\s)--?([a-z][a-z-]*[a-z]|[a-zA-Z])\b", text))


def test_the_same_options():
    assert flags_of_manual() == (SHORT | LONG, STATUS, TOP, TRACE, POINTER, TRANSPORT, LINK, GAMEPAD)
    assert flags_of_help() == SHORT | LONG
    assert flags_of_help("status") == STATUS
    assert flags_of_help("top") == TOP
    assert flags_of_help("trace") == TRACE
    assert flags_of_help("pointer") == POINTER
    assert flags_of_help("transport") == TRANSPORT
    assert flags_of_help("link") == LINK
    assert flags_of_help("gamepad") == GAMEPAD


def test_every_option_is_known():
    for flag in sorted(SHORT | LONG):
        option = f"--{flag}" if len(flag) > 1 else f"-{flag}"
        done = subprocess.run([PW_SCSYNTH, option], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=10, check=False)
        assert "no such option" not in done.stderr, option


def test_the_manual_formats_without_warnings():
    done = subprocess.run(["groff", "-mdoc", "-ww", "-Tutf8", MANUAL], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "SuperCollider 3" in done.stdout
