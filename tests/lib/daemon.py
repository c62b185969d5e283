# SPDX-License-Identifier: GPL-3.0-or-later
"""A private PipeWire session: own runtime folder, own bus, null sinks, no hardware, nothing of
the user's. All waiting is for conditions, and each started process is ended by its pid."""
import os
import shutil
import signal
import tempfile
from pathlib import Path

from tests.lib import session_config
from tests.lib.build import BUILD, ROOT  # noqa: F401: others take it from here
from tests.lib.graph import Graph
from tests.lib.process import Process, WaitError, wait_for


class Session(Graph):
    """Use as a context manager. `sinks` and `sources` map names to channel counts or positions ("FL FR"); `modules` and
    `objects` are further entries of context.modules and context.objects; `fragments` maps file
    names to texts for pipewire.conf.d; `build` is where the plugin and module were built, None if the
    installed ones are meant, with all that is installed beside them; `policy` adds our auto-connection policy to
    WirePlumber's; `folder` is where the session's own folder is made, if not where temporary files are; `enter` are the
    words before each command that start() runs."""

    def __init__(self, sinks=None, sources=None, modules=(), objects=(), fragments=None,
                 wireplumber=True, policy=False, build=BUILD, env=None, folder=None, enter=()):
        super().__init__(None)
        self.sinks = {"test-sink": 2} if sinks is None else sinks
        self.sources = sources or {}
        self.build = build and Path(build)
        self.with_wireplumber = wireplumber
        self.wireplumber = None
        self.daemon = None
        self._modules, self._objects, self._fragments = modules, objects, fragments or {}
        self._policy = policy
        self._extra_env = env or {}
        self._folder, self._enter = folder, enter
        self._processes = []
        self._closing = []
        self.dir = None

    def __enter__(self):
        self.dir = Path(tempfile.mkdtemp(prefix="scs-", dir=self._folder))
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for child in reversed(self._processes):
            child.stop()
        self._processes.clear()
        for action in self._closing:
            action()
        self._closing.clear()
        shutil.rmtree(self.dir, ignore_errors=True)

    # Start-up

    def _start(self):
        self.env = self._environment()
        self._start_bus()
        session_config.write(Path(self.env["PIPEWIRE_CONFIG_DIR"]), self.sinks, self.sources, self._modules,
                             self._objects, self._fragments, self.with_wireplumber)
        if self.with_wireplumber:
            session_config.write_wireplumber(
                self.dir / ("wireplumber" if self.build else "config/wireplumber"), self._policy)
        self.start_daemons()

    def start_daemons(self):
        """Start PipeWire and WirePlumber, and wait for the devices."""
        socket = self.dir / "run" / "pipewire-0"
        socket.unlink(missing_ok=True)  # of a daemon that was killed
        self.daemon = self.start(["pipewire"], "pipewire")
        self.wait_until(socket.exists, "the daemon's socket")
        if self.with_wireplumber:
            self.start_wireplumber()
        for name in (*self.sinks, *self.sources):
            self.wait_until(lambda name=name: self.ports(name), f"the ports of {name}")
        if self.with_wireplumber and self.sinks:
            self.wait_until(lambda: self.default_sink() in self.sinks, "a default sink")

    def start_wireplumber(self):
        self.wireplumber = self.start(["wireplumber"], "wireplumber")

    def stop_daemons(self, number=signal.SIGTERM):
        """End PipeWire by a signal; WirePlumber ends with it."""
        os.kill(self.daemon.pid, number)
        self.daemon.wait(10)
        if self.wireplumber:
            self.wireplumber.stop()

    def _environment(self):
        env = session_config.environment(self.dir)
        if self.build:
            plugins = [folder for folder in (self.build / "spa/plugins", self.build / "tests") if folder.is_dir()]
            env |= session_config.where(self.dir / "stock", plugins, [self.build / "src/module"])
        else:
            for name in ("SCS_INSTRUMENTS", "SCS_UGEN_PROBE", "WIREPLUMBER_CONFIG_DIR", "WIREPLUMBER_DATA_DIR"):
                env.pop(name, None)
        return env | self._extra_env

    def _start_bus(self):
        address = f"unix:path={self.dir}/run/bus"
        self.env["DBUS_SESSION_BUS_ADDRESS"] = address
        self.start(["dbus-daemon", "--session", "--nofork", f"--address={address}"], "dbus")
        self.wait_until((self.dir / "run/bus").exists, "the bus")

    def wait_until(self, condition, what, timeout=15.0):
        try:
            return wait_for(condition, what, timeout)
        except WaitError as error:
            raise WaitError(f"{error}\n{self.logs()}") from None

    # Processes

    def start(self, command, name, **env):
        """Start a program inside the session; it is stopped with it."""
        child = Process([*self._enter, *command], self.env | env, self.dir / f"{name}-{len(self._processes)}.log")
        self._processes.append(child)
        return child

    def end(self, child):
        """Stop a program before the session ends, and forget it and its output: for sessions that start thousands."""
        child.stop()
        self._processes.remove(child)
        child.log.unlink()

    def at_close(self, action):
        """Call `action()` once the session's processes have ended."""
        self._closing.append(action)

    def logs(self):
        """What the daemons said, for error messages."""
        return "\n".join(f"--- {child.log.name} (status {child.returncode()})\n"
                         f"{child.output()[-3000:]}" for child in self._processes)
