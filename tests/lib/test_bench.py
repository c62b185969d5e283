# SPDX-License-Identifier: GPL-3.0-or-later
"""The pure parts of bench/voices.py, bench/draw_trace.py, bench/paths.py, bench/hosts.py, bench/pieces.py, bench/simulation.py
and bench/superdirt.py."""
import json
import math
import random
import xml.etree.ElementTree as xml

import pytest

from bench import chart, draw_trace, hosts, medians, paths, pieces, random_pieces, simulation, superdirt, voice_scores
from bench.capacity import late_cycles
from bench.contenders import instruction_sets
from bench.corpus import beyond
from bench.helper_costs import calls
from bench.table import Cell, Row, Target, markdown
from tests.lib.process import WaitError

SVG = "{http://www.w3.org/2000/svg}"
V3 = "sse sse2 avx avx2 bmi1 bmi2 fma f16c movbe"


def test_the_ratio_is_that_of_pairs():
    # A machine half as fast in the second pair: the ratio of the medians would be 2 / 1.
    assert medians.times_cheaper([10, 20, 30], [1, 2, 3]) == 10
    assert medians.times_cheaper([10, 40, 12], [1, 10, 2]) == 6
    assert medians.times_cheaper([None, 40, 12], [1, 10, None]) == 4
    assert medians.times_cheaper([None], [1]) is None
    assert medians.times_cheaper([1], [0]) is None


def test_medians_leave_out_what_was_not_measured():
    assert medians.typical([3, None, 1, 2]) == 2
    assert medians.typical([None]) is None
    assert medians.without_base([5, None], [1, 9, 2]) == [3, None]


def test_a_note_beyond_its_length():
    assert medians.beyond_length({4: 5000 + 4 * 700, 8: 5000 + 8 * 700}, 4) == (5000, 700)


@pytest.mark.parametrize("limit", [60, 799, 800, 1234, 16000])
def test_the_most_is_found(limit):
    asked = []

    def sustains(number):
        asked.append(number)
        return number <= limit

    found = medians.most(sustains, 800, 0.05)
    assert found <= limit <= found * 1.05 + 1
    assert len(asked) == len(set(asked)) < 16


def test_nothing_is_sustained():
    assert medians.most(lambda number: False, 800) == 0


@pytest.mark.parametrize("most, expected", [(1, [0, .2, .4, .6, .8, 1]), (93, [0, 20, 40, 60, 80, 100]),
                                            (2000, [0, 500, 1000, 1500, 2000]), (0.03, [0, .01, .02, .03])])
def test_ticks_are_round_and_cover(most, expected):
    assert chart.ticks(most) == pytest.approx(expected)


def test_the_picture():
    picture = xml.fromstring(chart.svg("a < b", "made here", [
        chart.Bars("bars", [("slow", 100.0, "100 ns"), ("fast", 10.0, "10 ns")]),
        chart.Lines("lines", "voices", {"fast": [(0, 0), (500, 3.0), (1000, None)], "slow": [(0, 0), (500, 30.0)]})]))
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    assert {"a < b", "made here", "bars", "lines", "voices", "100 ns", "10 ns"} <= set(texts)
    slow, fast = [rect for rect in picture.iter(f"{SVG}rect") if rect.get("height") == "16"]
    assert float(slow.get("width")) == pytest.approx(10 * float(fast.get("width")), rel=0.01)
    lines = list(picture.iter(f"{SVG}polyline"))
    assert [len(line.get("points").split()) for line in lines] == [2, 2]
    assert [line.get("stroke") for line in lines] == [fast.get("fill"), slow.get("fill")]
    numbers = [float(value) for line in lines for point in line.get("points").split() for value in point.split(",")]
    height = float(picture.get("height"))
    assert all(math.isfinite(value) and 0 <= value <= max(chart.WIDTH, height) for value in numbers)


def test_a_picture_of_nothing():
    xml.fromstring(chart.svg("", "", [chart.Lines("", "", {"a": []}), chart.Bars("", [])]))


def test_late_cycles():
    row = "{}\t{}\t0\t21333\t \t"
    times = [(90000, 1), (21333, 900), (21400, 21300), (21333, 21400), (28000, 100), (27000, 100)]
    text = "".join(row.format(*each) + "\n" for each in times)
    assert late_cycles(text, 1024, 5) == 2
    assert late_cycles(text, 1024, 6) == 3
    with pytest.raises(WaitError):
        late_cycles(text, 1024, 7)


def test_instruction_sets():
    assert instruction_sets("sse sse2") == ["sse2"]
    assert instruction_sets(V3) == ["sse2", "avx2"]
    assert instruction_sets(f"{V3} avx512f") == ["sse2", "avx2"]
    assert instruction_sets(f"{V3} avx512f avx512bw avx512cd avx512dq avx512vl")[-1] == "avx512"
    assert instruction_sets("") == ["auto"]


def test_verdicts():
    row = Row("cost", {"scsynth": Cell(100, "100"), "batched avx2": Cell(12, "12", 8.3), "lone avx2": Cell(None, "no")},
              [Target("batched avx2", times=9), Target("batched avx2", value=12), Target("lone avx2", value=50),
               Target("batched avx512", times=12)])
    assert [met for _, met in row.verdicts()] == [False, True, False]
    assert markdown(["scsynth", "supernova", "batched avx2"], [row]).splitlines()[-1] == (
        "| cost | 100 |  | 12 (8.30×) | batched avx2: 9× **missed**; batched avx2: ≤ 12 met; "
        "lone avx2: ≤ 50 **missed** |")


def test_drift_is_told_from_jitter():
    seconds = [1000 + second for second in range(601)]
    found = hosts.figures("it", seconds, [5 + second / 600 + (-1) ** second for second in range(601)], lost=2)
    assert (found.clicks, found.lost) == (601, 2)
    assert found.mean == pytest.approx(5.5, abs=0.01)
    assert found.drift == pytest.approx(1, abs=0.01)
    assert found.deviation == pytest.approx(1, abs=0.01)
    assert (found.least, found.most) == pytest.approx((4, 7), abs=0.01)
    assert "| it | 601 | 5.50 | 6.00 | 50.1 % | 1.000 | 4.00 | 7.00 | +1.000 | 2 |" in hosts.markdown([found])


def test_hosts_add_up():
    alone, first, second = (hosts.Capacity(what, 0.02, 0.12, 100, most) for what, most in (("alone", 500), ("1", 480), ("2", 510)))
    assert "All hosts together: 1.98 times one alone." in hosts.voices_table([alone, first, second])


def test_voices_of_a_core():
    assert hosts.voices_of("1", 0.1, 0.4, 100) == pytest.approx(200)
    with pytest.raises(SystemExit, match="^1: 100 synths took no more time than none"):
        hosts.voices_of("1", 0.1, 0.1, 100)


def test_notes_last_their_blocks():
    block = voice_scores.BLOCK / voice_scores.RATE
    starts, ends = {}, {}
    for at, *messages in voice_scores.notes(20, 4)[1:]:
        for address, *arguments in messages:
            if address == "/s_new":
                starts[arguments[1]] = at
            else:
                ends.update(dict.fromkeys(arguments, at))
    assert len(starts) == 20 and starts.keys() == ends.keys()
    assert {round((ends[number] - starts[number]) / block, 6) for number in starts} == {4}
    assert all(0 < at % block < block / 64 for at in starts.values())
    assert max(ends.values()) < voice_scores.notes_seconds(20, 4)
    assert len(voice_scores.notes(0, 4)) == 1


def trace(*spans, threads=2):
    """What pw-scsynth trace writes of (thread, kind, name, begin, duration)."""
    events = [{"ph": "M", "pid": 1, "tid": tid + 1, "name": "thread_name",
               "args": {"name": f"helper {tid}" if tid else "data loop"}} for tid in range(threads)]
    events += [{"ph": "X", "pid": 1, "tid": tid + 1, "ts": begin, "dur": duration, "cat": kind, "name": name}
               for tid, kind, name, begin, duration in spans]
    return draw_trace.read(json.dumps({"traceEvents": events}))


def cycles(*durations):
    return [(0, "cycle", "cycle", 1000.0 * i, duration) for i, duration in enumerate(durations)]


def test_a_trace_is_read():
    found = trace((0, "cycle", "cycle", 1.5, 3), (1, "job", "a <b>", 2, 1))
    assert found == {"data loop": [draw_trace.Span("cycle", "cycle", 1.5, 4.5)],
                     "helper 1": [draw_trace.Span("job", "a <b>", 2, 3)]}


def test_the_cycle_that_is_drawn():
    assert draw_trace.typical_cycle(trace(*cycles(9, 1, 5, 2, 7))) == (2000, 2005)
    # Only those in which a helper did something.
    assert draw_trace.typical_cycle(trace(*cycles(9, 1, 5, 2, 7), (1, "job", "a", 3001, 1))) == (3000, 3002)
    with pytest.raises(ValueError, match="no cycle"):
        draw_trace.typical_cycle(trace((0, "walk", "block", 1, 2)))


def test_what_is_drawn_as_one():
    spans = [draw_trace.Span("job", name, begin, begin + 1) for name, begin in (("a", 0), ("a", 1.1), ("b", 2.2),
                                                                                ("b", 4), ("b", 4.2))]
    assert [(span.name, span.begin, span.end) for span in draw_trace.joined(spans, 0.5)] == [
        ("a", 0, 2.1), ("b", 2.2, 3.2), ("b", 4, 5.2)]


def test_a_trace_is_drawn():
    one = trace(*cycles(100, 200, 300), (0, "walk", "block", 1010, 80), threads=1)
    two = trace(*cycles(100), (0, "walk", "block", 10, 80), (0, "job", "a <b>", 20, 10), (0, "wait", "wait", 40, 5),
                (0, "signal", "signal", 12, 3), (1, "awake", "awake", -50, 900), (1, "job", "c", 20, 60),
                (1, "job", "c", 500, 10))
    root = xml.fromstring(draw_trace.svg([("one", one), ("two", two)], "a & b"))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts[0] == "one: 200 µs"
    for text in ("two: 100 µs", "data loop", "helper 1", "a <b>", "c", "the walk waits", "a & b", "0 µs", "200"):
        assert text in texts
    width, height = (float(root.get(each)) for each in ("width", "height"))
    boxes = [[float(box.get(each)) for each in ("x", "y", "width", "height")] for box in root.iter(f"{SVG}rect")
             if box.get("x")]
    assert all(0 <= x and 0 <= y and x + w <= width + 0.01 and y + h <= height for x, y, w, h in boxes)
    # Both have the same scale: the walk takes 80 of 200 µs in one, and the same length in the other.
    walks = [float(box.get("width")) for box in root.iter(f"{SVG}rect") if box.get("fill") == "#dde6ee"]
    full = width - draw_trace.LABELS - 2 * draw_trace.MARGIN
    assert walks[:2] == pytest.approx([full * 80 / 200] * 2, abs=0.01)
    # What lies outside of the cycle isn't there: one box in the track, and one that explains it.
    assert sum(box.get("fill") == draw_trace.COLOURS[1] for box in root.iter(f"{SVG}rect")) == 2


def test_bins():
    assert sum(chart.binned([3.0] * 5 + [30.0]).values()) == 6
    three, thirty = sorted(chart.binned([3.0, 30.0]))
    assert thirty - three == chart.binned([1.0, 10.0]).popitem()[0]  # as many for each tenfold


def test_histograms_are_drawn():
    part = chart.Histograms("blocks", "µs", {"steady": [5.0] * 1000, "wild": [1.0, 9.0, 2000.0]})
    picture = xml.fromstring(chart.svg("", "", [part]))
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    assert {"blocks", "µs", "steady", "wild", "1", "10", "100", "1000", "10000"} <= set(texts)
    steady, wild = [path.get("d").split("M")[1:] for path in picture.iter(f"{SVG}path") if path.get("fill")]
    heights = [[float(step.split("v")[1].split("H")[0]) for step in steps] for steps in (steady, wild)]
    assert len(steady) == 1 and len(wild) == 3 and min(map(min, heights)) == heights[0][0] < heights[1][0] < 0
    places = [float(step.split()[0]) for step in wild]
    assert places == sorted(places) and chart.LABELS < places[0] and places[-1] < chart.WIDTH
    xml.fromstring(chart.svg("", "", [chart.Histograms("", "", {"a": []})]))


def voice(nsec, out=0, name="a"):
    return simulation.Turn(name, 1, nsec, set(), {out})


def effect(nsec, read, out=0):
    return simulation.Turn("effect", 1, nsec, {read}, {out})


FREE = simulation.Costs(handover=0, write=0)


def test_strands_are_what_hands_on_by_buses_of_its_own():
    turns = [voice(1, 10), effect(1, 10), voice(1, 11), voice(1, 11), effect(1, 11), voice(1, 0)]
    found = simulation.strands(turns)
    assert [(strand.turns, strand.nsec, strand.gate) for strand in found] == [([0, 1], 2, 0), ([2, 3, 4], 3, 0),
                                                                              ([5], 1, 0)]


def test_a_bus_on_which_most_hangs_makes_gates():
    turns = [voice(1, 10), voice(2, 10), effect(3, 10)]
    found = simulation.strands(turns)
    assert [(strand.turns, strand.needs, strand.gate) for strand in found] == [([0], (), 0), ([1], (), 0), ([2], (1,), 2)]
    nsec, chain = simulation.critical_path(found, turns)
    assert nsec == 5 and [turn.name for turn in chain] == ["a", "effect"]
    assert simulation.names(chain) == "a → effect"
    # The walk opens the gate, and does what comes after it itself.
    assert simulation.one_block(found, 2, 0, FREE) >= nsec


@pytest.mark.parametrize("threads", [1, 2, 4, 8])
def test_what_depends_on_nothing_is_shared(threads):
    parts = simulation.strands([voice(1000) for _ in range(64)])
    nsec = simulation.one_block(parts, threads, 0, FREE)
    assert 64000 / threads <= nsec <= 64000 / threads + 2000
    assert simulation.one_block(parts, threads, 0, simulation.Costs(500, 10)) >= nsec


def test_stages_of_a_pipeline():
    assert simulation.stages([1, 1, 2, 4], 2) == pytest.approx([4, 4])
    assert simulation.stages([1, 9, 1], 8) == pytest.approx([1, 9, 1])
    assert simulation.several_blocks([1, 1, 2, 4], 1, 10, FREE) == pytest.approx(8)
    assert simulation.several_blocks([1, 1, 2, 4], 2, 10, FREE) == pytest.approx(4 + 4 / 10)


def test_a_score_as_a_graph():
    lines, synths = simulation.graph([(0, ("/g_new", 5, 1, 0), ("/s_new", "b", 1, 1, 0)),
                                      (0, ("/s_new", "a", 2, 1, 5, "in", 16))])
    assert lines[-3:] == ["group 5", "synth b 1 0", "synth a 2 5 in 16"]
    assert synths == [("a", {"in": 16}), ("b", {})]


def test_calls_in_a_profile():
    profile = "fn=(1) main\ncfn=(2) scs::StrandPlan::make(x)\ncalls=3 199\n7 100\ncfn=(3) other\ncalls=9 1\n"
    assert calls(profile + "fn=(4) more\ncfn=(2)\ncalls=4 199\n", "scs::StrandPlan::make(") == 7
    assert calls(profile, "absent") == 0
    profile = "fn=(2) scs::StrandPlan::make(x)\n1 2\nfn=(1) main\ncfn=(2)\ncalls=4 1\n"
    assert calls(profile, "scs::StrandPlan::make(") == 4


def test_clicks_beside_their_times():
    times = [0, 0.01, 0.02, 0.03]
    steady = paths.deviations([1000 + 48000 * time for time in times], times)
    assert steady.jitter == pytest.approx(0, abs=1e-6) and steady.drift == pytest.approx(0, abs=1e-6)
    drifting = paths.deviations([1000 + 48100 * time for time in times], times)
    assert drifting.jitter == pytest.approx(0, abs=1e-6) and drifting.drift == pytest.approx(3)
    uneven = paths.deviations([1000 + 48000 * time + late for time, late in zip(times, (1, -1, -1, 1))], times)
    assert uneven.jitter == pytest.approx(1) and uneven.drift == pytest.approx(0, abs=1e-6)
    with pytest.raises(paths.Silent, match="3 clicks of 4"):
        paths.deviations([1, 2, 3], times)


def test_what_processes_did():
    def sample(cpu, wanted, unwanted):
        return {"cpu_nsec": cpu, "voluntary_switches": wanted, "involuntary_switches": unwanted}

    before = {(1, 1): sample(0, 10, 0), (1, 2): sample(5, 0, 0), (7, 7): sample(0, 0, 0)}
    after = {(1, 1): sample(10**9, 30, 2), (1, 3): sample(10**9, 4, 0), (7, 7): sample(0, 0, 6)}
    found = paths.processes(before, after, 2, {1: "pipewire", 7: "scsynth"})
    assert found == {"pipewire": {"cpu": 1, "threads": 2, "switches": 13, "wakeups": 12},
                     "scsynth": {"cpu": 0, "threads": 1, "switches": 3, "wakeups": 0}}


def test_xruns_of_a_counter_that_began_anew():
    assert paths.more(3, 10) == 7
    assert paths.more(10, 2) == 2
    assert paths.more(None, 2) is None and paths.more(2, None) is None


def test_a_path_that_fails_is_left_out_once():
    def fails():
        raise paths.Silent("no sound\nand a log")

    results = paths.Results()
    assert paths.tried(results, "a path", fails) is None
    assert paths.tried(results, "a path", fails) is None
    assert results.left_out == ["a path: no sound"]


def test_a_table_of_paths():
    class Path:
        name = "a path"

    class Options:
        quanta, voices = [64], [500, 1000]

    def cell(voices, cpu, xruns, note=""):
        return paths.Cell("a path", 64, voices, {
            "one": {"cpu": cpu, "threads": 3, "switches": 20, "wakeups": 10},
            "two": {"cpu": 0.1, "threads": 1, "switches": 1, "wakeups": 1}}, xruns, note)

    found = paths.Results([cell(500, 0.1, 0), cell(500, 0.3, 2), cell(500, 0.2, 1), cell(1000, 0.4, 0, "silent")],
                          {("a path", 64): [0, 64]}, {("a path", 64): paths.Timing(0.25, 1.5, 9)}, ["another: why"])
    text = paths.markdown(found, [Path], Options)
    assert "| 64 | a path | 30.0 % | 50.0 % (silent) | 4 | 21 | 11 | 3 | 0, 64 | 0.250 | 1.5 |" in text
    assert "- left out: another: why" in text
    names = [each.text for each in xml.fromstring(paths.picture(found, [Path], Options)).iter(f"{SVG}text")]
    assert "a path" in names


def test_a_cost_beyond_silence():
    assert beyond(5, 3) == 2
    assert beyond(3, 3) is None and beyond(2, 3) is None


@pytest.fixture(name="corpus")
def _corpus(tmp_path):
    names = {"sonic-pi": "sonic-pi-mixer sonic-pi-basic_mixer sonic-pi-scope sonic-pi-saw sonic-pi-fx_record "
                         "sonic-pi-fx_echo sonic-pi-fx_reverb sonic-pi-fx_lpf sonic-pi-basic_stereo_player",
             "sonic-pi-gated": "sonic-pi-saw_gated sonic-pi-tri_gated", "overtone": "tom",
             "superdirt": "superpiano supersaw sostoms dirt_gate2 spectral-comb2 debug in"}
    for folder, files in names.items():
        (tmp_path / folder).mkdir()
        for name in files.split():
            (tmp_path / folder / f"{name}.scsyndef").write_bytes(name.encode())
    return tmp_path


def test_what_pieces_are_made_of(corpus):
    instruments, effects = ([path.stem for path in pool] for pool in random_pieces.pools(corpus))
    assert instruments == ["sonic-pi-basic_stereo_player", "sonic-pi-saw", "sonic-pi-saw_gated", "sonic-pi-tri_gated", "tom",
                           "sostoms", "superpiano", "supersaw"]
    assert effects == ["sonic-pi-fx_echo", "sonic-pi-fx_lpf", "sonic-pi-fx_reverb"]
    with pytest.raises(ValueError, match="holds too little"):
        random_pieces.piece(1, corpus / "overtone")


@pytest.mark.parametrize("seed", range(1, 9))
def test_a_piece(seed, corpus):
    piece = random_pieces.piece(seed, corpus)
    events = piece.events(5, corpus)
    assert events == random_pieces.piece(seed, corpus).events(5, corpus)
    assert 2 <= len(piece.parts) <= 8 and len(piece.effects) <= 3
    made, groups, fed, ended = {}, {0}, {0}, {}
    for at, *messages in sorted(events, key=lambda event: event[0]):
        for address, *arguments in messages:
            if address == "/g_new":
                for group, action, target in zip(*[iter(arguments)] * 3):
                    assert target in groups and group not in groups
                    groups.add(group)
            elif address == "/s_new":
                name, number, _, group, *pairs = arguments
                assert group in groups and number not in made
                controls = dict(zip(pairs[::2], pairs[1::2]))
                assert controls["out_bus"] in fed, "what reads a bus is there before what plays into it"
                fed.add(controls.get("in_bus", 0))
                made[number] = name
            elif address in ("/n_set", "/n_free"):
                ended[arguments[0]] = address
    notes = {number: name for number, name in made.items() if number >= 1000}
    assert len(notes) > 5
    assert all(name.endswith("_gated") == (ended[number] == "/n_set") for number, name in notes.items() if number in ended)
    assert not any(name.startswith("sonic-pi") and not name.endswith("_gated") for number, name in notes.items()
                   if number in ended)


def test_a_piece_without_what_is_refused(corpus):
    piece = next(piece for piece in map(lambda seed: random_pieces.piece(seed, corpus), range(99))
                 if len(piece.effects) == 3 and any(part.effects == 3 for part in piece.parts))
    less = piece.without([piece.effects[1], piece.parts[0].path])
    assert less.effects == (piece.effects[0], piece.effects[2])
    assert [(part.path, part.effects) for part in less.parts] == [
        (part.path, (0, 1, 1, 2)[part.effects]) for part in piece.parts[1:]]
    assert less.events(2, corpus)


def played(costs, levels=(0.1, 0.1), counted=None):
    return pieces.Played("1: saw", [], 2, dict(zip(("scsynth", "ours"), levels)), costs, counted or {})


def test_a_piece_is_judged():
    found = pieces.row(played({"scsynth": [3, 3], "ours": [1, 2], "lone avx2": [2, 2], "batched avx2": [0.9, 1.8]},
                              counted={"scsynth": 9e6, "ours": 3e6}))
    assert found.cells["ours"].times == 2.25 and found.cells["instructions"].times == 3
    assert found.cells["best form"].text == "batched avx2: 1.35 s, 0.90 of ours"
    assert [met for _, met in found.verdicts()] == [True, False]
    names = [each.text for each in xml.fromstring(pieces.picture([found], "", "")).iter(f"{SVG}text")]
    assert "2.25" in names and "3.00" in names
    assert "best form" not in pieces.row(played({"scsynth": [3], "ours": [1]})).cells


def test_pieces_in_all():
    found = pieces.in_all([played({"scsynth": [3, 6], "ours": [1, 1]}), played({"scsynth": [1, 2], "ours": [1, 3]})])
    assert found.costs == {"scsynth": [4, 8], "ours": [2, 4]}


def test_pieces_are_alike():
    assert played({}, (0.1, 0.12)).alike()
    assert not played({}, (0.1, 0.3)).alike() and not played({}, (1e-6, 1e-6)).alike()
    assert not played({}, (0.1, math.nan)).alike()


def test_events_of_superdirt():
    made = {arguments[1] for address, *arguments in superdirt.orbits() if address == "/s_new"}
    assert len(made) == superdirt.ORBITS * len(superdirt.OF_ORBITS)
    chance, orbits = random.Random(1), set()
    for number in range(superdirt.EVENTS):
        messages = superdirt.event(number, chance)
        group = next(arguments for address, *arguments in messages if address == "/g_new")
        orbits.add(group[2])
        synths = [arguments for address, *arguments in messages if address == "/s_new"]
        assert all(synth[3] == group[0] for synth in synths) and synths[-1][0] == "dirt_gate2"
        assert {arguments[0] for address, *arguments in messages if address in ("/n_run", "/n_set")} < made
    assert len(orbits) == superdirt.ORBITS
