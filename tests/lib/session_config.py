# SPDX-License-Identifier: GPL-3.0-or-later
"""What the programs of a private session find: copies of the configuration that PipeWire and WirePlumber come with,
drop-ins on top, everything that touches hardware switched off; and the plugins and modules that they come with. What else
is on the machine, such as our own package, drop-ins in /etc or the user's settings, has no effect."""
import os
import shutil
import subprocess
from pathlib import Path

from tests.lib import wireplumber

STOCK = Path("/usr/share/pipewire")
OURS = "scsynth"  # in the names of all files that our package adds to PipeWire's and WirePlumber's folders
# What tells programs where to look, or changes what they do.
USERS = ("DBUS_", "DISPLAY", "JACK_", "PIPEWIRE_", "PULSE_", "SC_", "SPA_", "WIREPLUMBER_", "XDG_")
FOLDERS = {"XDG_RUNTIME_DIR": "run", "XDG_CONFIG_HOME": "config", "XDG_CONFIG_DIRS": "no-config", "XDG_DATA_HOME": "data",
           "XDG_STATE_HOME": "state", "XDG_CACHE_HOME": "cache"}

CLOCK = """\
context.properties = {
    default.clock.max-quantum = 8192
    clock.power-of-two-quantum = false
    vm.overrides = { default.clock.min-quantum = 16 }
    support.dbus = true
}
context.properties.rules = [
    { matches = [ { cpu.vm.name = !null } ]
      actions = { update-props = { default.clock.min-quantum = 16 } } }
]
"""

NULL_DEVICE = """\
    {{ factory = adapter
        args = {{
            factory.name = support.null-audio-sink
            node.name = {name}
            node.description = {name}
            media.class = {media_class}
            audio.position = [ {positions} ]
            object.linger = true
            monitor.channel-volumes = false
            {priority}
            {port_config}
        }}
    }}
"""

# Without a session manager nobody else would give the device its ports, nor, since PipeWire 1.2, a format.
OWN_PORTS = ("audio.format = F32P audio.rate = 48000 "
             "adapter.auto-port-config = { mode = dsp monitor = true position = preserve }")

# As those of sound cards have: WirePlumber 0.5.8 would take a sink's monitor for the default source.
PRIORITIES = {"Audio/Sink": "priority.session = 1000", "Audio/Source/Virtual": "priority.session = 2000"}

# Of WirePlumber 0.4, by the folder of each part; and of 0.5, in one file.
WIREPLUMBER_0_4 = {
    "main.lua.d/51-no-hardware.lua":
        "alsa_monitor.enabled = false\n"
        "v4l2_monitor.enabled = false\n"
        "libcamera_monitor.enabled = false\n",
    "bluetooth.lua.d/51-no-hardware.lua": "bluez_monitor.enabled = false\n",
}
WIREPLUMBER_0_5 = """\
wireplumber.profiles = {
    main = {
        hardware.audio = disabled
        hardware.bluetooth = disabled
        hardware.video-capture = disabled
    }
}
"""


def environment(folder):
    """The variables of a session's programs: folders of their own below `folder`, which are made, and stock
    configuration. Modules and plugins: where()."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(USERS)}
    env["HOME"] = str(folder)
    for variable, name in FOLDERS.items():
        (folder / name).mkdir(mode=0o700)
        env[variable] = str(folder / name)
    env["PIPEWIRE_RUNTIME_DIR"] = env["XDG_RUNTIME_DIR"]
    # These replace all other folders.
    env["PIPEWIRE_CONFIG_DIR"] = str(_pipewire(folder / "pipewire"))
    env["WIREPLUMBER_CONFIG_DIR"] = env["WIREPLUMBER_DATA_DIR"] = str(_wireplumber(folder / "wireplumber"))
    return env


def where(folder, plugins, modules):
    """The variables that have PipeWire find plugins and modules in the folders of these lists, and after them those that
    it comes with. `folder` gets links to these."""
    stock = {name: _links(Path(pkg_variable(package, variable)), folder / name)
             for name, package, variable in (("plugins", "libspa-0.2", "plugindir"),
                                             ("modules", "libpipewire-0.3", "moduledir"))}
    return {"SPA_PLUGIN_DIR": ":".join(map(str, [*plugins, stock["plugins"]])),
            "PIPEWIRE_MODULE_DIR": ":".join(map(str, [*modules, stock["modules"]]))}


def pkg_variable(package, variable):
    """A variable of an installed package, by pkg-config."""
    done = subprocess.run(["pkg-config", f"--variable={variable}", package], text=True, capture_output=True, check=True)
    return done.stdout.strip()


def _pipewire(folder):
    """Without the drop-ins of this machine."""
    (folder / "pipewire.conf.d").mkdir(parents=True)
    for file in STOCK.glob("*.conf"):
        shutil.copy(file, folder)
    return folder


def _wireplumber(folder):
    """Drop-ins in Lua are how 0.4 comes, so they are taken along."""
    stock = wireplumber.STOCK
    if stock.is_dir():
        shutil.copytree(stock, folder, ignore=shutil.ignore_patterns(f"*{OURS}*"))
    return folder


def _links(stock, folder):
    folder.mkdir(parents=True)
    for each in stock.iterdir():
        if OURS not in each.name:
            (folder / each.name).symlink_to(each)
    return folder


def write(folder, sinks, sources, modules, objects, fragments, session_manager):
    """Write the drop-ins of a session's daemon into its configuration."""
    drop_ins = folder / "pipewire.conf.d"
    (drop_ins / "10-clock.conf").write_text(CLOCK)
    devices = [_device(name, channels, "Audio/Sink", session_manager)
               for name, channels in sinks.items()]
    devices += [_device(name, channels, "Audio/Source/Virtual", session_manager)
                for name, channels in sources.items()]
    (drop_ins / "20-objects.conf").write_text(_section("context.objects", [*devices, *objects]))
    (drop_ins / "30-modules.conf").write_text(_section("context.modules", modules))
    for name, text in fragments.items():
        (drop_ins / name).write_text(text)


def write_wireplumber(folder, policy):
    """Have WirePlumber, whose configuration is in `folder`, leave hardware alone; with `policy` add ours."""
    files = WIREPLUMBER_0_4 if wireplumber.reads_lua() else {"wireplumber.conf.d/51-no-hardware.conf": WIREPLUMBER_0_5}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    if policy:
        wireplumber.install_policy(folder)


def positions(channels):
    """The channel names PipeWire uses in port names, for a number of channels or for their names."""
    if isinstance(channels, str):
        return channels.split()
    known = {1: ["MONO"], 2: ["FL", "FR"]}
    return known.get(channels) or [f"AUX{i}" for i in range(channels)]


def _device(name, channels, media_class, session_manager):
    return NULL_DEVICE.format(name=name, media_class=media_class,
                              positions=" ".join(positions(channels)),
                              priority=PRIORITIES[media_class],
                              port_config="" if session_manager else OWN_PORTS)


def _section(name, entries):
    return f"{name} = [\n" + "".join(f"{entry}\n" for entry in entries) + "]\n"
