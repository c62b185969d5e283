# SPDX-License-Identifier: GPL-3.0-or-later
"""Stock sclang without a screen, in a home of its own."""
import os

from tests.lib.process import Process, WaitError, wait_for

# Where our package puts its classes; tests name the folder in the sources.
OURS = [f"{prefix}/share/SuperCollider/Extensions/PipeWireServer" for prefix in ("/usr", "/usr/local")]
HEADLESS = {"QT_QPA_PLATFORM": "offscreen", "QTWEBENGINE_DISABLE_SANDBOX": "1"}


def start(script, *args, folder, env=None, classes=()):
    """Run a script file; `folder` becomes HOME and the place of the log; `classes` are further folders of the class
    library. A Process."""
    folder.mkdir(parents=True, exist_ok=True)
    home = {"HOME": str(folder)}
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        home[f"XDG_{name}_HOME"] = str(folder / name.lower())
    env = dict(os.environ if env is None else env) | home | HEADLESS
    config = folder / "sclang_conf.yaml"
    config.write_text(_list("includePaths", classes) + _list("excludePaths", OURS))
    return Process(["sclang", "-l", config, script, *args], env, folder / "sclang.log", cwd=folder)


def _list(key, paths):
    return f"{key}:\n" + "".join(f"  - {path}\n" for path in paths)


def finish(child, timeout=60.0):
    """Wait until a script ends by itself (`0.exit`); its output. A RuntimeError as soon as it prints an error."""
    def over():
        return not child.running() or "ERROR:" in child.output()
    try:
        wait_for(over, f"the end of {child.command}", timeout, 0.1)
    except WaitError as error:
        raise RuntimeError(f"{error}\n{child.output()}") from None
    finally:
        status = child.returncode()
        child.stop()
    output = child.output()
    if status != 0 or "ERROR:" in output:
        raise RuntimeError(f"{child.command} ended with {status}:\n{output}")
    return output


def run(script, *args, folder, env=None, timeout=60.0, classes=()):
    """Run a script that ends by itself; its output. A RuntimeError otherwise."""
    return finish(start(script, *args, folder=folder, env=env, classes=classes), timeout)


def compact(output):
    """What was printed, arrays as sclang prints them since 3.14: without spaces at both ends."""
    return output.replace("[ ", "[").replace(" ]", "]")


def steps(output):
    """{name: value} of the lines "STEP name value" that a script printed; arrays as in compact()."""
    lines = (line.split(" ", 2) for line in compact(output).splitlines() if line.startswith("STEP "))
    return {name: value for _, name, value in lines}
