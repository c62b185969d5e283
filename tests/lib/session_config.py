# SPDX-License-Identifier: GPL-3.0-or-later
"""Configuration of a private session: the system's own PipeWire configuration with drop-ins on
top, and WirePlumber's with everything that touches hardware switched off."""
import shutil
from pathlib import Path

from tests.lib import wireplumber

STOCK = Path("/usr/share/pipewire")

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
            {port_config}
        }}
    }}
"""

# Without a session manager nobody else would give the device its ports, nor, since PipeWire 1.2, a format.
OWN_PORTS = ("audio.format = F32P audio.rate = 48000 "
             "adapter.auto-port-config = { mode = dsp monitor = true position = preserve }")

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


def write(folder, sinks, sources, modules, objects, fragments, session_manager):
    """Write the daemon's configuration folder and return it."""
    drop_ins = folder / "pipewire.conf.d"
    drop_ins.mkdir(parents=True)
    shutil.copy(STOCK / "pipewire.conf", folder)
    (drop_ins / "10-clock.conf").write_text(CLOCK)
    devices = [_device(name, channels, "Audio/Sink", session_manager)
               for name, channels in sinks.items()]
    devices += [_device(name, channels, "Audio/Source/Virtual", session_manager)
                for name, channels in sources.items()]
    (drop_ins / "20-objects.conf").write_text(_section("context.objects", [*devices, *objects]))
    (drop_ins / "30-modules.conf").write_text(_section("context.modules", modules))
    for name, text in fragments.items():
        (drop_ins / name).write_text(text)
    return folder


def write_wireplumber(config, data, policy):
    """Write WirePlumber's folder for configuration; with `policy` also our policy, in part below `data`."""
    files = WIREPLUMBER_0_4 if wireplumber.reads_lua() else {"wireplumber.conf.d/51-no-hardware.conf": WIREPLUMBER_0_5}
    for name, text in files.items():
        (config / name).parent.mkdir(parents=True, exist_ok=True)
        (config / name).write_text(text)
    if policy:
        wireplumber.install_policy(config, data)


def positions(channels):
    """The channel names PipeWire uses in port names."""
    known = {1: ["MONO"], 2: ["FL", "FR"]}
    return known.get(channels) or [f"AUX{i}" for i in range(channels)]


def _device(name, channels, media_class, session_manager):
    return NULL_DEVICE.format(name=name, media_class=media_class,
                              positions=" ".join(positions(channels)),
                              port_config="" if session_manager else OWN_PORTS)


def _section(name, entries):
    return f"{name} = [\n" + "".join(f"{entry}\n" for entry in entries) + "]\n"
