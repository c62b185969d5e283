# SPDX-License-Identifier: GPL-3.0-or-later
"""The stages behind ./check."""
import os
import subprocess
import sys
import time
from pathlib import Path

from tools import counts
from tools.counts import Counts

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT / "build/check"
POLICY = "policy-"
NOT_SANITIZED = {
    "fault-guard": "it reads null on purpose",
    "osc-broken-engine": "it writes to a wrong place on purpose",
    "osc-memory": "it takes the place of malloc",
    "module": "the daemon that loads the module isn't instrumented",
    "module-plugin": "the daemon that loads the module isn't instrumented",
}
FUZZ_SECONDS = {False: 10, True: 120}


class Broken(Exception):
    """A stage that could not do its work; the text says why."""


def run(name, command, env=None, timeout=1800):
    """Run a command with its output in a log; (status, log)."""
    log = LOGS / f"{name}.log"
    with log.open("wb") as output:
        try:
            status = subprocess.run(
                [str(word) for word in command], cwd=ROOT, env=os.environ | (env or {}),
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                timeout=timeout, check=False).returncode
        except subprocess.TimeoutExpired:
            status = f"a time limit of {timeout} s"
        except OSError as error:
            raise Broken(str(error)) from None
    return status, log


def tail(log, lines=40):
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


def compile_in(folder, *options, env=None):
    status, log = run(f"{folder}-compile", ["tools/build", folder, "-Dsimd=all", *options], env)
    if status:
        raise Broken(f"{folder} does not build ({status}):\n{tail(log)}")


def meson_tests(folder, wanted, env=None):
    """Run the tests of a build whose names satisfy `wanted`."""
    listed = subprocess.run(["meson", "test", "-C", folder, "--list"], cwd=ROOT, text=True,
                            capture_output=True, check=False)
    names = [line.split(" / ")[-1].strip() for line in listed.stdout.splitlines()
             if line.strip() and not line.startswith(("ninja", "["))]
    names = sorted({name for name in names if wanted(name)})
    if listed.returncode or not names:
        raise Broken(f"{folder} has no such tests\n{listed.stderr}")
    report = ROOT / folder / "meson-logs/testlog.json"
    report.unlink(missing_ok=True)
    status, log = run(f"{folder}-test", ["meson", "test", "-C", folder, "--print-errorlogs",
                                         "--timeout-multiplier", "3", *names], env)
    if not report.exists():
        raise Broken(f"the tests of {folder} did not run:\n{tail(log)}")
    found = counts.of_meson_log(report.read_text())
    if status or found.failed:
        print(tail(log, 80))
        found.failed = max(found.failed, 1)
    return found


def pytest(name, *paths, env=None, timeout=1200):
    report = LOGS / f"{name}.xml"
    report.unlink(missing_ok=True)
    status, log = run(name, ["/usr/bin/python3", "-B", "-m", "pytest", "-q", "-ra", "-c",
                             "tests/pytest.ini", f"--junitxml={report}", *paths], env, timeout)
    if not report.exists():
        raise Broken(f"pytest ended with {status}:\n{tail(log)}")
    found = counts.of_junit(report.read_text())
    if status:
        print(tail(log, 120))
        found.failed = max(found.failed, 1)
    return found


def build(_long):
    compile_in("build", "-Dtests=true")
    return Counts(passed=1)


def unit(_long):
    compile_in("build", "-Dtests=true")
    return (meson_tests("build", lambda name: not name.startswith(POLICY))
            + pytest("python", "tests/lib"))


def sanitized(folder, sanitizers, env):
    """The unit tests that can run under sanitizers; the others are skipped, saying why."""
    compile_in(folder, "-Doptimization=1", f"-Db_sanitize={sanitizers}", "-Db_lundef=false")
    found = meson_tests(folder, lambda name: not name.startswith(POLICY) and name not in NOT_SANITIZED, env)
    return found + Counts(skipped=[f"{name} in {folder}: {why}" for name, why in NOT_SANITIZED.items()])


def asan(_long):
    return sanitized("build-asan", "address,undefined", {
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "ASAN_OPTIONS": "strict_string_checks=1",
        "LSAN_OPTIONS": f"suppressions={ROOT}/tests/leaks.supp:print_suppressions=0"})


def tsan(_long):
    return sanitized("build-tsan", "thread", {"TSAN_OPTIONS": "halt_on_error=1"})


def fuzz(long):
    compile_in("build-fuzz", "-Dfuzz=true", "-Dtests=false", "-Dwerror=false", env={"CC": "clang", "CXX": "clang++"})
    folder = ROOT / "build-fuzz"
    targets = sorted(path for path in folder.rglob("fuzz-*")
                     if path.is_file() and os.access(path, os.X_OK))
    if not targets:
        raise Broken("there are no fuzz targets")
    status, log = run("fuzz-seeds", ["/usr/bin/python3", "-B", "-m", "tests.hostile.seeds",
                                     folder / "src/osc/fuzz-packets.seeds"])
    if status:
        raise Broken(f"no seeds for fuzz-packets:\n{tail(log)}")
    total = Counts()
    for target in targets:
        total += _fuzz_one(target, ROOT / target.relative_to(folder).parent, FUZZ_SECONDS[long])
    return total


def _fuzz_one(target, source, seconds):
    """Found inputs stay in the build folder; the corpus beside the source is only read."""
    grown = target.parent / f"{target.name}.corpus"
    grown.mkdir(exist_ok=True)
    seeds = [folder for folder in (target.parent / f"{target.name}.seeds",
                                   source / "corpus" / target.name, source / "corpus")
             if folder.is_dir()][:1]
    status, log = run(target.name, [target, f"-max_total_time={seconds}", "-timeout=10",
                                    "-rss_limit_mb=2048", "-print_final_stats=1",
                                    f"-artifact_prefix={LOGS}/{target.name}-", grown, *seeds],
                      timeout=seconds + 120)
    if status:
        print(tail(log))
        return Counts(failed=1)
    return Counts(passed=1)


def policy(_long):
    compile_in("build", "-Dtests=true")
    return meson_tests("build", lambda name: name.startswith(POLICY))


def release(_long):
    """What README.md tells users to build."""
    compile_in("build-release", "--prefix=/usr", "--buildtype=release", "-Dtests=false")
    return pytest("release", "tests/release", "tests/oracle/test_oracle.py", "tests/cli/test_offline.py",
                  "tests/integration/test_sound.py", env={"SCS_BUILD": "build-release"})


def of_pytest(name):
    """The stage that runs tests/<name> against what `build` built."""
    def stage(long):
        compile_in("build", "-Dtests=true")
        return pytest(name, f"tests/{name}", env={"SCS_LONG": "1"} if long else None, timeout=7200 if long else 1200)
    return stage


STAGES = {stage.__name__: stage for stage in (build, unit, asan, tsan, fuzz, policy, release)}
STAGES |= {name: of_pytest(name) for name in ("oracle", "instructions", "differential", "cli", "clients", "integration",
                                               "hostile")}


def main(arguments):
    long = "--long" in arguments
    names = [argument for argument in arguments if argument != "--long"] or list(STAGES)
    if unknown := [name for name in names if name not in STAGES]:
        print(f"No such stage: {' '.join(unknown)}; there are {' '.join(STAGES)}", file=sys.stderr)
        return 2
    LOGS.mkdir(parents=True, exist_ok=True)
    total, start = Counts(), time.monotonic()
    for name in names:
        began = time.monotonic()
        print(f"== {name}", flush=True)
        try:
            found = STAGES[name](long)
        except Broken as error:
            print(error)
            found = Counts(failed=1)
        now = time.monotonic()
        print(f"   {name}: {found.line()}  ({now - began:.0f} s, {now - start:.0f} s in all)",
              flush=True)
        total += found
    for reason in total.skipped:
        print(f"skipped: {reason}")
    print(total.line())
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
