# SPDX-License-Identifier: GPL-3.0-or-later
"""What offline renderings cost: processor time, instructions and memory. Start-up is removed by taking the difference
of two durations, and of the same two without voices."""
import os
import re
import subprocess
import time
from dataclasses import dataclass

import numpy as np

from bench.instructions import count
from bench.medians import beyond_length
from bench.voice_scores import AMP, BLOCK, RATE, corpus, notes, notes_seconds, steady
from tests.lib.audio import read_wav
from tests.lib.scsynth import score_bytes

_TIME_LIMIT = 150  # s; supernova hangs now and then
_NEW_SYNTH = "*s_new<*", "scs::Turns::start*"  # ours: the command, and what starts the units in the first block


@dataclass
class Run:
    cpu: float       # s of processor time, user and system
    resident: float  # MiB at most
    output: str


class Offline:
    """Runs contenders in a folder, on one processor; a progress line for each is said by the callers."""

    def __init__(self, folder):
        self.folder = folder
        self._cpu = max(os.sched_getaffinity(0))
        self._silent = {}  # (contender, seconds): instructions
        self._warm = set()  # names of contenders

    def write(self, events, seconds):
        score = self.folder / "score.osc"
        score.write_bytes(score_bytes(events, seconds))
        return score

    def run(self, contender, score, sounds=True, **options):
        """Render it. RuntimeError if that fails or, when it should sound, renders silence."""
        output, log = self.folder / "out.wav", self.folder / "log"
        output.unlink(missing_ok=True)
        command = contender.offline(score, output, RATE, **options)
        with open(log, "wb") as said:
            child = subprocess.Popen(command, env=os.environ | {"HOME": str(self.folder)}, stdin=subprocess.DEVNULL,
                                     stdout=said, stderr=subprocess.STDOUT,
                                     preexec_fn=lambda: os.sched_setaffinity(0, {self._cpu}))
            try:
                used = _wait(child)
            except BaseException:  # Ctrl-C: nothing is left running
                child.kill()
                raise
        text = log.read_text(errors="replace")
        if child.returncode or not output.exists():
            raise RuntimeError(f"{contender.name} ended with {child.returncode}:\n{text[-2000:]}")
        if sounds and abs(read_wav(output)[0]).max(initial=0) < AMP / 100:
            raise RuntimeError(f"{contender.name} rendered silence:\n{text[-2000:]}")
        return Run(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, text)

    def warm_up(self, contender):
        """Run it once: what has left the memory of a busy machine comes back, and isn't counted."""
        self.run(contender, self.write([], BLOCK / RATE), False)

    def instructions(self, contender, events, seconds, within=()):
        """By callgrind, of the whole run, or within functions whose names match the patterns. An uncounted run comes first:
        it tries the plugin files, and leaves below HOME what it found."""
        if contender.name not in self._warm:
            self._warm.add(contender.name)
            self.warm_up(contender)
        score = self.write(events, seconds)
        return count(contender.offline(score, self.folder / "out.wav", RATE), self.folder, within)

    def voice_instructions(self, contender, name, voices, seconds):
        """A voice and block once the filter has swept, which takes a second: in the `seconds` after that."""
        def cost(events, seconds):
            if len(events) > 1:
                return self.instructions(contender, events, seconds)
            # Without voices only the length matters: what the SynthDef costs is in both lengths.
            key = contender.name, seconds
            if key not in self._silent:
                self._silent[key] = self.instructions(contender, [], seconds)
            return self._silent[key]
        return self._voice(cost, name, voices, (1.1, 1.1 + seconds))

    def voice_nsec(self, contender, name, voices, durations):
        """Processor time of a voice and block."""
        def cost(events, seconds):
            return 1e9 * self.run(contender, self.write(events, seconds), len(events) > 1).cpu
        return self._voice(cost, name, voices, durations)

    @staticmethod
    def _voice(cost, name, voices, durations):
        found = {number: [cost(steady(name, number), seconds) for seconds in durations] for number in (0, voices)}
        less, more = (long - short for short, long in found.values())
        return (more - less) / (voices * (durations[1] - durations[0]) * RATE / BLOCK)

    def note_instructions(self, contender, number, blocks, within=()):
        """(instructions of a note beyond those of its blocks, those of a block); of the whole run, or within functions
        whose names match the patterns."""
        return self._note(lambda events, seconds: self.instructions(contender, events, seconds, within), number, blocks)

    def new_synth_instructions(self, contender, number):
        """What /s_new of a default synth costs one of ours on the data loop: the command and the start of its units."""
        score = self.write(notes(number, 1), notes_seconds(number, 1))
        return count(contender.offline(score, self.folder / "out.wav", RATE), self.folder, _NEW_SYNTH) / number

    def note_nsec(self, contender, number, blocks):
        """The same in processor time."""
        def cost(events, seconds):
            return 1e9 * self.run(contender, self.write(events, seconds), len(events) > 1).cpu
        return self._note(cost, number, blocks)

    @staticmethod
    def _note(cost, number, blocks):
        found = {}
        for length in blocks, 2 * blocks:
            seconds = notes_seconds(number, length)
            found[length] = (cost(notes(number, length), seconds) - cost(notes(0, length), seconds)) / number
        return beyond_length(found, blocks)

    def playable(self, contender, paths):
        """Those SynthDefs that it plays alone without crashing, and without anything infinite."""
        found = []
        for path in paths:
            try:
                self.run(contender, self.write(corpus([path], 0.1), 0.1), False)
            except RuntimeError:
                continue
            if np.isfinite(read_wav(self.folder / "out.wav")[0]).all():
                found.append(path)
        return found

    def voices_that_fit(self, contender, pool_kib, asked):
        """(how many of `asked` default voices a pool of that size holds, resident MiB then)."""
        run = self.run(contender, self.write(steady("default", asked), 4 * BLOCK / RATE), False, pool_kib=pool_kib)
        refused = len(re.findall(r"FAILURE IN SERVER:? /s_new .*memory", run.output))
        return asked - refused, run.resident


def _wait(child):
    """Wait for its end; what it used."""
    deadline = time.monotonic() + _TIME_LIMIT
    while True:
        pid, status, used = os.wait4(child.pid, os.WNOHANG)
        if pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            return used
        if time.monotonic() > deadline:
            child.kill()
        time.sleep(0.005)
