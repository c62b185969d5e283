# SPDX-License-Identifier: GPL-3.0-or-later
"""The stages behind ./check."""
import json
import os
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from tools import counts, fuzz_corpus, nonblocking
from tools.counts import Counts
from tools.runs import LOGS, ROOT, Broken, Late, Runner, tail

# Below CI's limit of 90 minutes, so that what hangs has a name. --long fuzzes for hours.
MINUTES = {False: 85, True: 16 * 60}
FULL_MINUTES = 75  # of ./check full; what is said to take longer than is left of them is skipped by name
EXPECTED_MINUTES = {"packs": 3, "clients": 6, "aarch64": 12}
STYLE = ("layers", "format", "spelling")  # modules of tools; the exit status says whether all is well
POLICY = "policy-"
TESTS_FAILED = 1  # pytest's exit status
THREADS = "threads"  # meson's suite of the tests with more than one thread of ours
NOT_SANITIZED = {
    "crashes-told": "it reads null on purpose",
    "fault-guard": "it reads null on purpose",
    "fault-signals": "it corrupts the heap on purpose",
    "packs": "files crash on purpose in the process that tries them",
    "plugin-jobs": "it writes to a wrong place on purpose",
    "plugin-memory": "it frees memory twice on purpose",
    "osc-broken-engine": "it writes to a wrong place on purpose",
    "osc-memory": "it takes the place of malloc",
    "wires": "plugins' units aren't instrumented",
    "module": "the daemon that loads the module isn't instrumented",
    "module-plugin": "the daemon that loads the module isn't instrumented",
}
# Of the engine's unit tests.
NOT_EMULATED = {
    "buffers": "it looks at which pages are resident, and the emulator has pages of its own",
    "packs": "it starts programs and loads libraries that are built for this machine",
    "rt-rate-adapter": "it resamples for many minutes there",
    "rt-record-ring": "an emulator on x86-64 orders memory as x86-64 does",
    "rt-ring-buffer": "an emulator on x86-64 orders memory as x86-64 does",
}
EMULATED_IF_LONG = dict.fromkeys(("ahead", "block-pipeline", "interleavings", "pipeline-time", "wires"),
                                 "it takes minutes there; --long runs it")
NO_NODE = "the node: the emulator lacks the sockets by which a server finds out whose a packet is"
# Nothing that ccache keeps is compiled with precompiled headers; without it they save a third of the time.
HEADERS = (f"-Db_pch={'false' if shutil.which('ccache') else 'true'}",)
DEVELOPED = ("-Ddebug=true", *HEADERS)  # the same folder's, if ./demo made it
# Of each target; whichever comes first.
FUZZ_SECONDS = {False: 10, True: int(os.environ.get("SCS_FUZZ_SECONDS", 3 * 3600))}
FUZZ_RUNS = {False: -1, True: int(os.environ.get("SCS_FUZZ_RUNS", 100_000_000))}
# The rows of packets have tens of thousands of features; weighing all inputs by them takes more time than running them.
LIBFUZZER = {"fuzz-packets": ("-entropic=0",)}
SOAK_HOURS = {False: 0.5, True: float(os.environ.get("SCS_SOAK_HOURS", 72))}  # of audio
# What tests.hostile.desktop_life takes.
LIFE = {False: ("--seconds", "40"), True: (os.environ.get("SCS_LIFE_TURNS", "10000"),)}
# Options of builds that only ./check uses. Kernels are compiled once, in `build`: sanitizers leave them out anyway, and
# those of a release are the same.
LINES = ("-Ddebug=false", "-Dcpp_args=-g1", *HEADERS)
SHARED = ("-Dkernels=build",)
NEWER_SUPERCOLLIDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pw-scsynth/newer-supercollider"


class Check:
    """A run of some stages."""
    few, again = 8, 2  # failed tests that are run again by themselves, and how often
    brings_clients = False  # tools/clients is left to the user

    def __init__(self, long=False, asked=(), full=False):
        self.long, self.asked = long, asked  # asked: the stages that were named, so that they are not to be skipped
        self.kernels = ("-Dsimd=all",) if full or long else ("-Dsimd=tests",)
        self.runner = Runner(60 * MINUTES[long])
        self._built = set()

    # What stages are made of

    def compile_in(self, folder, *options, targets=(), env=None):
        """Configure and build; once in a run."""
        if (folder, *targets) in self._built:
            return
        status, log = self.runner.run(f"{folder}-compile", ["tools/build", folder, *self.kernels, *options, "--", *targets], env)
        if status:
            raise Broken(f"{folder} does not build ({status}):\n{tail(log)}")
        self._built.add((folder, *targets))

    def step(self, name, command):
        """Run a program that a stage can't do without; its log."""
        status, log = self.runner.run(name, command)
        if status:
            raise Broken(f"{name} ended with {status}:\n{tail(log)}")
        return log

    def plain(self):
        self.compile_in("build", "-Dtests=true", *DEVELOPED)

    def clang(self):
        """clang, AddressSanitizer and UndefinedBehaviorSanitizer: unit tests and fuzz targets are linked with the same
        objects. Its warnings aren't errors."""
        self.plain()
        self.compile_in("build-clang", "-Dfuzz=true", "-Db_sanitize=address,undefined", "-Db_lundef=false",
                        "-Doptimization=1", "-Dwerror=false", *LINES, *SHARED, env={"CC": "clang", "CXX": "clang++"})

    def meson_tests(self, folder, wanted, env=None):
        """Build and run the tests whose row in meson's list satisfies `wanted`."""
        tests = introspected(folder, "tests")
        names = sorted({test["name"] for test in tests if wanted(test)})
        if not names:
            raise Broken(f"{folder} has no such tests")
        report = ROOT / folder / "meson-logs/testlog.json"
        report.unlink(missing_ok=True)
        # Twenty minutes for each test (meson's own limit is 30 s), so that one that hangs is named.
        status, log = self.runner.run(f"{folder}-test", ["meson", "test", "-C", folder, "--print-errorlogs", "--no-rebuild",
                                                         "--timeout-multiplier", "40", *names], env)
        if not report.exists():
            raise Broken(f"the tests of {folder} did not run:\n{tail(log)}")
        found = counts.of_meson_log(report.read_text())
        if status or found.failed:
            print(tail(log, 80))
            found.failed = max(found.failed, 1)
        return found

    def pytest(self, name, *paths, env=None, spread="loadfile", timed=False, within=()):
        """Run tests on all processors: files of tests beside each other (spread "loadfile"), or single tests ("load"); or
        one after the other (None). `timed`: they listen for gaps in sound, or wait for something, but no longer; the few that
        fail on a machine that is busy with others are run again by themselves, and the end of the run names them. `within`:
        the words of a command that runs them."""
        # One more than there are processors, as these tests often wait.
        beside = ["-n", str((os.cpu_count() or 1) + 1), "--dist", spread] if spread else []
        status, log, report = self._run_pytest(name, [*beside, *paths], env, within)
        found = counts.of_junit(report)
        if status:
            print(tail(log, 120))
            found.failed = max(found.failed, 1)
        reports = [report]
        while timed and status == TESTS_FAILED and found.failed <= self.few and len(reports) <= self.again:
            status, log, report = self._run_pytest(f"{name}-alone", ["--last-failed", *paths], env, within)
            reports.append(report)
            found = counts.again(*reports)
            if found.failed:
                print(tail(log, 120))
        return found

    def _run_pytest(self, name, arguments, env, within):
        """(exit status, log, JUnit report)"""
        report = LOGS / f"{name}.xml"
        report.unlink(missing_ok=True)
        status, log = self.runner.run(name, [*within, "/usr/bin/python3", "-B", "-m", "pytest", "-q", "-ra", "-c", "tests/pytest.ini",
                                             "--durations=10", f"--junitxml={report}", *arguments],
                                      (env or {}) | ({"SCS_LONG": "1"} if self.long else {}))
        if not report.exists():
            raise Broken(f"pytest ended with {status}:\n{tail(log)}")
        return status, log, report.read_text()

    # Stages

    def style(self):
        total = Counts()
        for name in STYLE:
            status, log = self.runner.run(f"style-{name}", ["/usr/bin/python3", "-B", "-m", f"tools.{name}"])
            if status:
                print(tail(log, 80))
            total += Counts(failed=1) if status else Counts(passed=1)
        return total + self.nonblocking()

    def nonblocking(self):
        if not nonblocking.clang():
            return Counts(skipped=[f"nonblocking: there is no clang++ of version {nonblocking.OLDEST} or later"])
        status, log = self.runner.run("style-nonblocking", ["/usr/bin/python3", "-B", "-m", "tools.nonblocking"])
        if status:
            print(tail(log, 80))
        return Counts(failed=1) if status else Counts(passed=1)

    def build(self):
        self.plain()
        return Counts(passed=1)

    def unit(self):
        self.plain()
        return (self.meson_tests("build", lambda test: not test["name"].startswith(POLICY))
                + self.pytest("python", "tests/lib"))

    def asan(self):
        self.clang()
        found = self.meson_tests("build-clang", sanitized, {
            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
            "ASAN_OPTIONS": "strict_string_checks=1",
            "LSAN_OPTIONS": f"suppressions={ROOT}/tests/leaks.supp:print_suppressions=0"})
        return found + not_sanitized("build-clang")

    def tsan(self):
        """Only what has threads: the others' objects aren't even compiled."""
        def threaded(test):
            return sanitized(test) and any(suite.endswith(f":{THREADS}") for suite in test["suite"])

        self.plain()
        folder = "build-tsan"
        options = ("-Db_sanitize=thread", "-Db_lundef=false", "-Doptimization=1", *LINES, *SHARED)
        # The targets are those of the sources as they are now.
        setup = (["ninja", "-C", folder, "build.ninja"] if (ROOT / folder / "build.ninja").exists() else
                 ["meson", "setup", folder, *self.kernels, *options])
        self.step(f"{folder}-setup", setup)
        self.compile_in(folder, *options, targets=targets_of(folder, threaded))
        return self.meson_tests(folder, threaded, {"TSAN_OPTIONS": "halt_on_error=1"}) + not_sanitized(folder)

    def aarch64(self):
        """Cross compiled, and run by an emulator on this machine: unit tests of the engine, and scores beside x86-64's."""
        left_out = NOT_EMULATED | ({} if self.long else EMULATED_IF_LONG)

        def emulated(test):
            own = test["cmd"][0].startswith((f"{ROOT}/{folder}/src/engine/", f"{ROOT}/{folder}/tests/engine/"))
            return (own and test["name"] not in left_out
                    or test["name"].startswith("simd-symbols-"))

        self.plain()
        folder = "build-aarch64"
        self.step("aarch64-packages", ["tools/install-packages", "aarch64"])
        try:
            machine = self.step("aarch64-sysroot", ["tools/arm64-sysroot"]).read_text().split()[-1]
        except Broken as error:
            if self.long or "aarch64" in self.asked:
                raise
            return Counts(skipped=[f"aarch64: Debian's libraries for it can't be had here: {error}"])
        if not (ROOT / folder / "build.ninja").exists():
            self.step(f"{folder}-setup", ["meson", "setup", folder, "--cross-file", "tools/aarch64.ini", "--cross-file", machine,
                                          "-Ddebug=false", *HEADERS])
        self.step(f"{folder}-setup", ["ninja", "-C", folder, "build.ninja"])
        self.compile_in(folder, targets=[*targets_of(folder, emulated), "src/cli/pw-scsynth",
                                         "src/module/libpipewire-module-scsynth.so", "spa/plugins/scsynth/libspa-scsynth.so"])
        found = self.meson_tests(folder, emulated)
        found.skipped += [f"{name} in {folder}: {why}" for name, why in left_out.items()] + [NO_NODE]
        program = f"qemu-aarch64 -L {Path(machine).parent}/root {ROOT}/{folder}/src/cli/pw-scsynth"
        return found + self.pytest("aarch64", "tests/aarch64", spread="load", env={"SCS_EMULATED": program})

    def fuzz(self):
        self.clang()
        folder = ROOT / "build-clang"
        targets = sorted(path for path in folder.rglob("fuzz-*") if path.is_file() and os.access(path, os.X_OK))
        if not targets:
            raise Broken("there are no fuzz targets")
        status, log = self.runner.run("fuzz-seeds", ["/usr/bin/python3", "-B", "-m", "tests.hostile.seeds",
                                                     folder / "src/osc/fuzz-packets.seeds"])
        if status:
            raise Broken(f"no seeds for fuzz-packets:\n{tail(log)}")
        total = Counts()
        for target in targets:
            total += self._fuzz_one(target, ROOT / target.relative_to(folder).parent)
        return total

    def _fuzz_one(self, target, source):
        """Found inputs stay in the build folder; the corpus beside the source is only read. --long puts what it has found
        into tests/fuzz-corpus, to be committed."""
        grown = target.parent / f"{target.name}.corpus"
        fuzz_corpus.unpack(fuzz_corpus.FOLDER / f"{target.name}.zip", grown)
        seeds = [folder for folder in (target.parent / f"{target.name}.seeds",
                                       source / "corpus" / target.name, source / "corpus")
                 if folder.is_dir()][:1]
        status, log = self.runner.run(target.name, [target, f"-max_total_time={FUZZ_SECONDS[self.long]}",
                                                    f"-runs={FUZZ_RUNS[self.long]}", "-timeout=10",
                                                    "-rss_limit_mb=2048", "-print_final_stats=1", *LIBFUZZER.get(target.name, ()),
                                                    f"-artifact_prefix={LOGS}/{target.name}-", grown, *seeds])
        if status:
            print("\n".join(line for line in log.read_text(errors="replace").splitlines() if line.startswith(target.name)))
            print(tail(log))
            return Counts(failed=1)
        if self.long:
            print("\n".join(line for line in log.read_text(errors="replace").splitlines() if line.startswith("stat::")))
            status, log = self.runner.run(f"{target.name}-corpus",
                                          ["/usr/bin/python3", "-B", "-m", "tools.fuzz_corpus", target.name])
            print(tail(log))
        return Counts(failed=1) if status else Counts(passed=1)

    def soak(self):
        self.plain()
        return (self._soak("soak", "tests.hostile.soak", str(SOAK_HOURS[self.long]))
                + self._life())

    def _life(self):
        """As with timed tests, one that failed is tried again, and the end of the run names it; a long one isn't."""
        found = self._soak("desktop-life", "tests.hostile.desktop_life", *LIFE[self.long])
        if not found.failed or self.long:
            return found
        found = self._soak("desktop-life-again", "tests.hostile.desktop_life", *LIFE[self.long])
        return found + Counts(alone=["desktop-life"] if not found.failed else [])

    def _soak(self, name, module, *arguments):
        status, log = self.runner.run(name, ["/usr/bin/python3", "-B", "-m", module, *arguments])
        print(tail(log))
        left_out = [line for line in log.read_text(errors="replace").splitlines() if line.startswith("left out: ")]
        return (Counts(failed=1) if status else Counts(passed=1)) + Counts(skipped=left_out)

    def policy(self):
        self.plain()
        return self.meson_tests("build", lambda test: test["name"].startswith(POLICY))

    def release(self):
        """What docs/install.md tells users to build."""
        self.plain()
        self.compile_in("build-readme", "--prefix=/usr", "--buildtype=release", "-Dtests=false", *HEADERS, *SHARED)
        return self.pytest("release", "tests/release", "tests/oracle/test_oracle.py", "tests/cli/test_offline.py",
                           "tests/integration/test_sound.py", env={"SCS_BUILD": "build-readme"}, timed=True)

    def oracle(self):
        """Against the machine's SuperCollider, and against a newer one, where tools/newer-supercollider has put it."""
        found = self.tests("oracle")
        if not NEWER_SUPERCOLLIDER.exists():
            return found + Counts(skipped=["oracle with SuperCollider 3.14: tools/newer-supercollider wasn't run, there is no "
                                           f"{NEWER_SUPERCOLLIDER}"])
        return found + self.pytest("oracle-newer", "tests/oracle", env={"SCS_SUPERCOLLIDER": str(NEWER_SUPERCOLLIDER)})

    def clients(self):
        """In a network of their own: Sonic Pi's ports are open to all of it."""
        self.plain()
        if self.brings_clients:
            _, log = self.runner.run("bring-clients", ["tools/clients"])
            print(tail(log))
        return self.pytest("clients", "tests/clients", timed=True, within=alone())

    def tests(self, name, spread="loadfile", timed=False):
        """tests/<name> against what `build` built."""
        self.plain()
        return self.pytest(name, f"tests/{name}", spread=spread, timed=timed)


def alone():
    """The words before a command that has a network of its own, with nothing but loopback; none where that isn't
    allowed."""
    # Root needs no such rights, and can't have them in a chroot.
    rights = ["--map-root-user"] if os.geteuid() else []
    words = ["unshare", "--net", *rights, "sh", "-c", 'ip link set lo up && exec "$@"', "alone"]
    return [] if subprocess.run([*words, "true"], capture_output=True, check=False).returncode else words


def introspected(folder, what):
    done = subprocess.run(["meson", "introspect", f"--{what}", folder], cwd=ROOT, text=True, capture_output=True, check=False)
    if done.returncode:
        raise Broken(f"meson introspect --{what} {folder}:\n{done.stderr}")
    return json.loads(done.stdout)


def targets_of(folder, wanted):
    """The files that ninja has to build for the tests whose row satisfies `wanted`."""
    needed = {name for test in introspected(folder, "tests") if wanted(test) for name in test["depends"]}
    return sorted(os.path.relpath(file, ROOT / folder) for target in introspected(folder, "targets")
                  if target["id"] in needed for file in target["filename"])


def sanitized(test):
    return not test["name"].startswith(POLICY) and test["name"] not in NOT_SANITIZED


def not_sanitized(folder):
    return Counts(skipped=[f"{name} in {folder}: {why}" for name, why in NOT_SANITIZED.items()])


# Those that fail soonest come first.
STAGES = {
    "style": Check.style, "build": Check.build, "unit": Check.unit, "oracle": Check.oracle,
    "instructions": partial(Check.tests, name="instructions", spread="load"),
    "differential": partial(Check.tests, name="differential"), "cli": partial(Check.tests, name="cli", timed=True),
    "policy": Check.policy, "integration": partial(Check.tests, name="integration", timed=True),
    "release": Check.release, "asan": Check.asan, "fuzz": Check.fuzz, "soak": Check.soak,
    # By itself: it wears the machine out, and looks at how long things take meanwhile.
    "tsan": Check.tsan, "hostile": partial(Check.tests, name="hostile", spread=None, timed=True),
    # Last, as those that there may be no time for.
    "packs": partial(Check.tests, name="packs"), "clients": Check.clients, "aarch64": Check.aarch64,
}


# What ./check without arguments runs.
QUICK = ("style", "build", "unit", "oracle", "instructions", "differential", "cli", "policy", "integration", "hostile")


def processor_seconds():
    """Of the programs that have run."""
    times = os.times()
    return times.children_user + times.children_system


def chosen(arguments):
    """(the stages to run, those that were named, whether all instruction sets are meant)"""
    full = "full" in arguments or "--long" in arguments
    named = [argument for argument in arguments if argument not in ("full", "--long")]
    return named or list(STAGES if full else QUICK), named, full


def no_time(name, named, full, seconds):
    """Why a stage is left out after that many seconds, if it is."""
    left = FULL_MINUTES - seconds / 60
    if named or not full or left >= EXPECTED_MINUTES.get(name, 0):
        return None
    return f"{name}: {left:.0f} of {FULL_MINUTES} minutes were left; ./check {name} runs it"


def main(arguments):
    names, named, full = chosen(arguments)
    if unknown := [name for name in names if name not in STAGES]:
        print(f"No such stage: {' '.join(unknown)}; there are {' '.join(STAGES)}", file=sys.stderr)
        return 2
    long = "--long" in arguments
    check, start = Check(long, named, full), time.monotonic()
    total = Counts()
    for number, name in enumerate(names):
        began, used = time.monotonic(), processor_seconds()
        print(f"== {name}", flush=True)
        late = False
        try:
            why = None if long else no_time(name, named, full, began - start)
            found = Counts(skipped=[why]) if why else STAGES[name](check)
        except Broken as error:
            print(error)
            found = Counts(failed=1)
        except Late as error:
            late = True
            print(error)
            found = Counts(failed=1)
        if found.failed and not found.failures:
            found.failures.append(f"{name}: see above")
        now = time.monotonic()
        print(f"   {name}: {found.line()}  ({now - began:.0f} s, {processor_seconds() - used:.0f} s of processor time, "
              f"{now - start:.0f} s in all)", flush=True)
        total += found
        if late:
            print(f"Not run: {' '.join(names[number + 1:]) or 'nothing else'}")
            break
    return counts.end(total)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
