#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each SynthDef of a corpus costs, beside scsynth: played with its default controls by one voice and by eight, which
start anew twice a second. Processor time of offline renderings, less that of silence, medians of interleaved pairs.

    SCS_CORPUS=FOLDER bench/corpus.py                            all SynthDefs, a line each, then a summary
    SCS_CORPUS=FOLDER bench/corpus.py -k 'sonic-pi-fx' -o DIR    some of them; corpus.json and corpus.svg into DIR"""
import argparse
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from statistics import geometric_mean, median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.chart import Histograms, svg  # noqa: E402
from bench.contenders import contenders, instruction_sets, cpu_flags  # noqa: E402
from bench.medians import times_cheaper  # noqa: E402
from bench.offline_costs import Offline  # noqa: E402
from bench.report import machine  # noqa: E402
from bench.voice_scores import corpus_synthdefs, repeated  # noqa: E402

START = 1.0  # s of the renderings that others are compared with


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build", metavar="FOLDER", help="meson's (default: build)")
    parser.add_argument("-k", default="", metavar="REGEX", help="only SynthDefs whose names match")
    parser.add_argument("--simd", choices=instruction_sets(cpu_flags()), default=instruction_sets(cpu_flags())[-1],
                        help="ours' instruction set (default: the widest that is here)")
    parser.add_argument("--voices", type=int, nargs="+", default=[1, 8], metavar="N", help="at once (default: 1 8)")
    parser.add_argument("--seconds", type=float, default=20, metavar="S", help="of sound (default: 20)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="pairs of renderings (default: 3)")
    parser.add_argument("-o", type=Path, metavar="FOLDER", help="where corpus.json and corpus.svg go")
    return parser.parse_args()


def cost(offline, contender, events, seconds):
    """s of processor time of these seconds."""
    long, short = (offline.run(contender, offline.write([event for event in events if event[0] < length], length),
                               False).cpu for length in (START + seconds, START))
    return long - short


def times(offline, silence, path, voices, options):
    """How many times less ours takes; None if that is no more than silence. silence: (contender, s) of scsynth and ours."""
    events = repeated(path, voices, START + options.seconds)
    found = [[beyond(cost(offline, contender, events, options.seconds), less) for contender, less in silence]
             for _ in range(options.rounds)]
    return times_cheaper(*zip(*found))


def beyond(all_of_it, silence):
    """What is left of a cost; None where it is lost in the noise."""
    return all_of_it - silence if all_of_it > silence else None


def main():
    options = arguments()
    if not (folder := os.environ.get("SCS_CORPUS")):
        sys.exit("SCS_CORPUS must name a folder with folders of SynthDefs: overtone, sonic-pi, superdirt")
    paths = [path for path in corpus_synthdefs(Path(folder)) if re.search(options.k, path.stem)]
    here, _ = contenders(options.build, [options.simd])
    pair = [next(one for one in here if one.name == "scsynth"), next(one for one in here if one.mode == "batched")]
    found = {voices: {} for voices in options.voices}
    with tempfile.TemporaryDirectory() as scratch:
        offline = Offline(Path(scratch))
        played = offline.playable(pair[0], paths)
        print("left out, as scsynth alone crashes with them or makes them infinite:",
              " ".join(path.stem for path in paths if path not in played) or "none", flush=True)
        offline.warm_up(pair[1])
        silence = [(contender, median(cost(offline, contender, [], options.seconds) for _ in range(5)))
                   for contender in pair]
        for number, path in enumerate(played, 1):
            shown = []
            for voices in options.voices:
                if ratio := times(offline, silence, path, voices, options):
                    found[voices][path.stem] = ratio
                shown.append(f"{voices} voices {f'{ratio:.2f}' if ratio else 'no more than silence'}")
            print(f"{number}/{len(played)}  {path.stem}: ", ", ".join(shown), flush=True)
    heading = f"scsynth's processor time over ours ({pair[1].name}), a SynthDef each: {machine()}"
    print(heading)
    for voices, ratios in found.items():
        if not ratios:
            continue
        slower = {name: round(ratio, 2) for name, ratio in sorted(ratios.items(), key=lambda item: item[1]) if ratio < 1}
        print(f"{voices} voices: geometric mean {geometric_mean(ratios.values()):.2f}; slower than scsynth: {slower or 'none'}")
    if options.o:
        options.o.mkdir(parents=True, exist_ok=True)
        (options.o / "corpus.json").write_text(json.dumps({"machine": machine(), "times cheaper": found}, indent=1))
        (options.o / "corpus.svg").write_text(svg(heading, f"{options.seconds:g} s, medians of {options.rounds} pairs", [
            Histograms("scsynth's processor time over ours", "times", {
                f"{voices} voices": list(ratios.values()) for voices, ratios in found.items()})]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
