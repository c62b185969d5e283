-- SPDX-License-Identifier: GPL-3.0-or-later
-- usage: lua test-scsynth-policy.lua FOLDER-OF-THE-MODULE
package.path = arg[1] .. "/?.lua;" .. package.path
local policy = require("scsynth-policy")
local devices = require("scsynth-devices")

local MONO_AUDIO = "32 bit float mono audio"
local failures = 0

local function show(value)
  if type(value) ~= "table" then
    return tostring(value)
  end
  local parts = {}
  for k, v in pairs(value) do
    parts[#parts + 1] = tostring(k) .. "=" .. show(v)
  end
  table.sort(parts)
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function equal(what, got, expected)
  if show(got) ~= show(expected) then
    failures = failures + 1
    print(("FAIL %s: got %s, expected %s"):format(what, show(got), show(expected)))
  end
end

local next_id = 0
local function port(direction, name, index, extra)
  next_id = next_id + 1
  local p = {
    id = next_id, serial = "s" .. next_id, name = name, index = index or 0,
    direction = direction, dsp = MONO_AUDIO, monitor = false,
  }
  for k, v in pairs(extra or {}) do
    p[k] = v
  end
  return p
end

local function outputs(count)
  local ports = {}
  for i = 1, count do
    ports[i] = port("out", "out_" .. i, i - 1)
  end
  return ports
end

local function channels(count)
  local ports = {}
  for i = 1, count do
    ports[i] = port("in", "playback_" .. i, i - 1)
  end
  return ports
end

local function names(ports)
  local list = {}
  for i, p in ipairs(ports) do
    list[i] = p and p.name
  end
  return list
end

local function pairs_as_names(list)
  local text = {}
  for i, pair in ipairs(list) do
    text[i] = pair.own.name .. ">" .. pair.device.name
  end
  return text
end

-- has_quit
equal("running", policy.has_quit({ ["scsynth.state"] = "running" }), false)
equal("quit", policy.has_quit({ ["scsynth.state"] = "quit" }), true)
equal("stateless", policy.has_quit({}), false)

-- is_idle
equal("idle", policy.is_idle({ ["scsynth.idle"] = "true" }), true)
equal("awake", policy.is_idle({ ["scsynth.idle"] = "false" }), false)
equal("not said", policy.is_idle({}), false)

-- is_managed
equal("no property", policy.is_managed({}, nil), false)
equal("property", policy.is_managed({ ["scsynth.autoconnect"] = "true" }, nil), true)
equal("property off", policy.is_managed({ ["scsynth.autoconnect"] = "false" }, nil), false)
equal("metadata off", policy.is_managed({ ["scsynth.autoconnect"] = "true" }, "false"), false)
equal("metadata on", policy.is_managed({ ["scsynth.autoconnect"] = "false" }, "true"), true)
equal("metadata alone", policy.is_managed({}, "true"), false)
local stream = { ["scsynth.autoconnect"] = "true", ["media.class"] = "Stream/Output/Audio" }
equal("class for mixers", policy.is_managed(stream, nil), true)
stream["node.autoconnect"] = "true"
equal("stream that WirePlumber links", policy.is_managed(stream, nil), false)
equal("another class", policy.is_managed(
  { ["scsynth.autoconnect"] = "true", ["media.class"] = "Audio/Source" }, nil), false)

-- wishes
local function wishes(direction, props, metadata)
  local list = {}
  for i, wish in ipairs(devices.wishes(direction, props, metadata or {})) do
    list[i] = wish.key .. "=" .. wish.value .. (wish.by_id and "#" or "") .. (wish.in_part and "~" or "")
  end
  return list
end
local named = { ["scsynth.sink"] = "speaker", ["target.object"] = "both" }
equal("nothing asked for", wishes("in", {}), {})
equal("an empty name is none", wishes("out", { ["scsynth.sink"] = "" }), {})
equal("device of its direction", wishes("out", named), { "scsynth.sink=speaker~", "target.object=both" })
equal("device of the other direction", wishes("in", named), { "target.object=both" })
equal("what a mixer set comes first", wishes("out", named, { object = "77", node = "33" }),
  { "target.object=77", "scsynth.sink=speaker~", "target.object=both" })
equal("what WirePlumber 0.4 remembers comes after a name", wishes("out", named, { node = "33" }),
  { "scsynth.sink=speaker~", "target.node=33#", "target.object=both" })

-- rank and best
local card = { name = "alsa_output.pci", serial = "44", "alsa_output.pci", "Built-in Audio", "HDA Intel" }
equal("node.name", devices.rank("alsa_output.pci", card), 1)
equal("serial", devices.rank("44", card), 1)
equal("a part of the serial is none", devices.rank("4", card), nil)
equal("another name", devices.rank("built-in audio", card), 2)
equal("a part", devices.rank("hda", card), 3)
equal("no pattern", devices.rank("alsa.*pci", card), nil)
equal("another device", devices.rank("Scarlett", card), nil)

local function best(direction, ...)
  local candidates = {}
  for i, each in ipairs { ... } do
    candidates[i] = { rank = each[1], priority = each[2], peer = { id = i, class = each[3], ports = {} } }
  end
  local peer = devices.best(candidates, direction)
  return peer and peer.id
end
equal("nothing found", best("out"), nil)
equal("what serves the direction", best("out", { 1, 9, "Audio/Source" }, { 3, 1, "Audio/Sink" }), 2)
equal("the better name", best("out", { 3, 9, "Audio/Sink" }, { 2, 1, "Audio/Sink" }), 2)
equal("the higher priority", best("out", { 3, 1, "Audio/Sink" }, { 3, 9, "Audio/Sink" }), 2)
equal("the first of equals", best("out", { 3, 9, "Audio/Sink" }, { 3, 9, "Audio/Sink" }), 1)
equal("found, but of the other direction", best("out", { 1, 9, "Audio/Source" }), 1)

-- ports
local mixed = { port("out", "out_10"), port("out", "out_2"), port("in", "in_1"),
  port("out", "monitor_1"), port("out", "out_1"), port("out", "control_out_1", 2, { dsp = "8 bit raw midi" }) }
equal("own outputs", names(devices.own_ports(mixed, "out")), { "out_1", "out_2", "out_10" })
equal("own inputs", names(devices.own_ports(mixed, "in")), { "in_1" })

local sink_ports = { port("in", "playback_FR", 1), port("out", "monitor_FL", 0, { monitor = true }),
  port("in", "playback_FL", 0), port("in", "midi", 2, { dsp = "8 bit raw midi" }) }
local function peer(class, ports)
  return { serial = class or "none", class = class, ports = ports or {} }
end
local function device_names(class, ports, direction)
  return names(devices.ports(peer(class, ports), direction))
end
equal("sink ports", device_names("Audio/Sink", sink_ports, "out"), { "playback_FL", "playback_FR" })
equal("no monitors", device_names("Audio/Sink", sink_ports, "in"), {})
equal("no monitors of a plain node", device_names(nil, sink_ports, "in"), {})
equal("virtual source", device_names("Audio/Source/Virtual", sink_ports, "in"), { "monitor_FL" })
equal("virtual duplex", device_names("Audio/Duplex", sink_ports, "in"), { "monitor_FL" })
table.insert(sink_ports, port("out", "capture_FL", 9))
equal("duplex", device_names("Audio/Duplex", sink_ports, "in"), { "capture_FL" })

-- accepts
equal("sink takes out", devices.accepts(peer("Audio/Sink"), "out"), true)
equal("sink feeds in", devices.accepts(peer("Audio/Sink", sink_ports), "in"), false)
equal("source takes out", devices.accepts(peer("Audio/Source"), "out"), false)
equal("source feeds in", devices.accepts(peer("Audio/Source/Virtual"), "in"), true)
equal("duplex takes out", devices.accepts(peer("Audio/Duplex"), "out"), true)
equal("duplex feeds in", devices.accepts(peer("Audio/Duplex"), "in"), true)
equal("effect takes out", devices.accepts(peer(nil, mixed), "out"), true)
equal("effect does not feed in", devices.accepts(peer(nil, mixed), "in"), false)
equal("player takes no out", devices.accepts(peer("Stream/Output/Audio", outputs(2)), "out"), false)
equal("player feeds in", devices.accepts(peer("Stream/Output/Audio", outputs(2)), "in"), true)
equal("plain node without ports", devices.accepts(peer(nil), "in"), false)

-- choose
local sink, other, source = peer("Audio/Sink"), peer("Audio/Sink"), peer("Audio/Source")
other.serial = "other"
-- Each wish is { found, kind }.
local function choose(direction, query, ...)
  query.wishes = {}
  for i, each in ipairs { ... } do
    local kinds = {
      mixer = { key = "target.object" },
      default = { key = "target.object", value = "-1" },
      device = { key = "scsynth.sink", named = true, one_direction = true },
      none = { key = "scsynth.sink", named = true, one_direction = true, value = "none" },
      target = { key = "target.object", named = true },
    }
    query.wishes[i] = kinds[each[2]]
    query.wishes[i].value = query.wishes[i].value or "x"
    query.wishes[i].found = each[1]
  end
  local action, chosen, missing, strict = devices.choose(direction, query)
  return { action, chosen and chosen.serial, missing = missing and missing.key, strict = strict }
end
equal("default", choose("out", { default = sink }), { "link", "Audio/Sink" })
equal("no default", choose("out", {}), { "none" })
equal("monitor as source", choose("in", { default = sink }), { "none" })
equal("named", choose("out", { default = sink }, { other, "device" }), { "link", "other" })
equal("a mixer's choice before it", choose("out", { default = sink }, { sink, "mixer" }, { other, "device" }),
  { "link", "Audio/Sink" })
equal("a mixer's choice of the default", choose("out", { default = sink, strict = true }, { nil, "default" },
  { other, "device" }), { "link", "Audio/Sink" })
equal("what WirePlumber 0.4 wrote, after a name", choose("out", { default = sink, strict = true }, { nil, "device" },
  { nil, "default" }), { "link", "Audio/Sink" })
equal("a mixer's choice that went", choose("out", { default = sink }, { nil, "mixer" }, { other, "device" }),
  { "link", "other" })
equal("and nothing is named", choose("out", { default = sink, strict = true }, { nil, "mixer" }),
  { "link", "Audio/Sink" })
equal("a sink is no source", choose("in", { default = source }, { sink, "mixer" }, { source, "device" }),
  { "link", "Audio/Source" })
equal("target of the other direction",
  choose("in", { default = source, strict = true }, { other, "target" }), { "link", "Audio/Source" })
equal("missing", choose("out", { default = sink }, { nil, "device" }),
  { "link", "Audio/Sink", missing = "scsynth.sink" })
equal("missing target", choose("out", { default = sink }, { nil, "target" }),
  { "link", "Audio/Sink", missing = "target.object" })
equal("missing, no reconnect", choose("out", { default = sink, dont_reconnect = true }, { nil, "device" }),
  { "keep", missing = "scsynth.sink" })
equal("this device or none", choose("out", { default = sink, strict = true }, { nil, "device" }),
  { "none", missing = "scsynth.sink", strict = true })
equal("this target or none", choose("out", { default = sink, strict = true }, { nil, "target" }),
  { "none", missing = "target.object", strict = true })
equal("this device, which is a source, or none", choose("out", { default = sink, strict = true }, { source, "device" }),
  { "none", strict = true })
equal("no device", choose("out", { default = sink }, { nil, "none" }, { other, "target" }), { "none" })
equal("a mixer's choice before none", choose("out", { default = sink }, { other, "mixer" }, { nil, "none" }),
  { "link", "other" })
equal("strict without a name", choose("out", { default = sink, strict = true }), { "link", "Audio/Sink" })
equal("no reconnect, first time",
  choose("out", { default = sink, dont_reconnect = true }), { "link", "Audio/Sink" })
equal("no reconnect, same sink",
  choose("out", { default = sink, dont_reconnect = true, attached = "Audio/Sink" }),
  { "link", "Audio/Sink" })
equal("no reconnect, other sink",
  choose("out", { default = sink, dont_reconnect = true, attached = "old" }), { "keep" })

-- positions and select
equal("no positions", devices.positions("out", {}), nil)
equal("empty", devices.positions("out", { ["scsynth.sink-position"] = "[ ]" }), nil)
equal("as a list", devices.positions("out", { ["scsynth.sink-position"] = "AUX2,AUX3" }), { "AUX2", "AUX3" })
equal("as SPA-JSON", devices.positions("in", { ["scsynth.source-position"] = '[ "AUX2" AUX3 ]' }), { "AUX2", "AUX3" })

local wide = channels(4)
for i, each in ipairs(wide) do
  each.channel = "AUX" .. i - 1
end
local function selected(positions)
  local ports, lacking = devices.select(wide, positions)
  local list = {}
  for i, each in ipairs(ports) do
    list[i] = each and each.name or "-"
  end
  return table.concat(list, " ") .. (#lacking > 0 and " without " .. table.concat(lacking, " ") or "")
end
equal("all", selected(nil), "playback_1 playback_2 playback_3 playback_4")
equal("by name", selected({ "AUX3", "aux2" }), "playback_4 playback_3")
equal("by number", selected({ "3", "4" }), "playback_3 playback_4")
equal("some are lacking", selected({ "AUX1", "FL", "4" }), "playback_2 - playback_4 without FL")
equal("all are lacking", selected({ "FL", "5" }), "playback_1 playback_2 playback_3 playback_4 without FL 5")

-- layouts
local function device_of(positions)
  local ports = {}
  for word in positions:gmatch("%S+") do
    ports[#ports + 1] = port("in", "playback_" .. word, #ports, { channel = word })
  end
  return ports
end
local function layout_on(positions, layout, sink_position)
  local props = { ["scsynth.layout"] = layout, ["scsynth.sink-position"] = sink_position }
  local asked, key = devices.positions("out", props)
  local chosen, lacking = devices.select(device_of(positions), asked)
  return table.concat(pairs_as_names(devices.route(outputs(6), chosen)), " "),
      devices.lacking_notice(key, asked, lacking, { title = "Dock" })
end
local surround = "FL FR FC LFE RL RR"
equal("by channel, in the order of a sound card", (layout_on("FL FR RL RR FC LFE", surround)),
  "out_1>playback_FL out_2>playback_FR out_3>playback_FC out_4>playback_LFE out_5>playback_RL out_6>playback_RR")
equal("without a layout in its order", (layout_on("FL FR RL RR FC LFE")),
  "out_1>playback_FL out_2>playback_FR out_3>playback_RL out_4>playback_RR out_5>playback_FC out_6>playback_LFE")
equal("sides for the rear", (layout_on("FL FR FC LFE SL SR", surround)),
  "out_1>playback_FL out_2>playback_FR out_3>playback_FC out_4>playback_LFE out_5>playback_SL out_6>playback_SR")
equal("the rear where there are both", (layout_on("SL SR RL RR", "RL RR")), "out_1>playback_RL out_2>playback_RR")
equal("nothing stands in for what is asked for, too", (layout_on("SL SR", "RL RR SL SR")),
  "out_3>playback_SL out_4>playback_SR")
equal("nothing beyond it", (layout_on("FL FR RL RR", "FR FL")), "out_1>playback_FR out_2>playback_FL")
equal("some of it", { layout_on("FL FR", surround) }, { "out_1>playback_FL out_2>playback_FR",
  'scsynth.layout: "Dock" has no channel FC, LFE, RL, RR' })
equal("none of it", { layout_on("AUX0 AUX1", surround) }, { "out_1>playback_AUX0 out_2>playback_AUX1" })
equal("all of it, nothing to say", select(2, layout_on(surround, surround)), nil)
equal("positions of the device come before it", (layout_on("FL FR RL RR", "FL FR", "RL RR")),
  "out_1>playback_RL out_2>playback_RR")
equal("inputs have none", devices.positions("in", { ["scsynth.layout"] = "FL FR" }), nil)
local beyond = outputs(2)
beyond[2].channel = "AUX1"
equal("one channel", pairs_as_names(devices.route(beyond, device_of("FC"))), { "out_1>playback_FC" })
local function recorded(positions, layout)
  return names(devices.select_recorded(device_of(positions), devices.layout({ ["scsynth.layout"] = layout })))
end
equal("recorded by channel", recorded("RL FL FR", surround),
  { "playback_FL", "playback_FR", false, false, "playback_RL", false })
equal("recorded in its order", recorded("FL FR FC", "FL FR RL"), { "playback_FL", "playback_FR", "playback_FC" })
equal("recorded without a layout", recorded("FR FL"), { "playback_FR", "playback_FL" })

-- route
local function route(outs, chans)
  return pairs_as_names(devices.route(outputs(outs), channels(chans)))
end
equal("stereo", route(2, 2), { "out_1>playback_1", "out_2>playback_2" })
equal("mono sink", route(2, 1), { "out_1>playback_1", "out_2>playback_1" })
equal("eight on a mono sink", route(8, 1), { "out_1>playback_1", "out_2>playback_1" })
equal("one output", route(1, 2), { "out_1>playback_1" })
equal("one on one", route(1, 1), { "out_1>playback_1" })
equal("eight on stereo", route(8, 2), { "out_1>playback_1", "out_2>playback_2" })
equal("eight on eight", #route(8, 8), 8)
equal("no channels", route(2, 0), {})
equal("a channel that isn't there", pairs_as_names(devices.route(outputs(3), { wide[2], false, wide[1] })),
  { "out_1>playback_2", "out_3>playback_1" })
equal("mono, by position", pairs_as_names(devices.route(outputs(2), { false, wide[1] })), { "out_2>playback_1" })

-- plan
local own, device, later = outputs(2), channels(2), channels(2)
local now, next_sink = devices.route(own, device), devices.route(own, later)
local function plan(wanted, overrides)
  local view = { links = {}, foreign = {}, taken = {}, manual = {}, waiting = {}, failed = {} }
  for k, v in pairs(overrides or {}) do
    view[k] = v
  end
  local create, drop = policy.plan(wanted, view)
  return { create = pairs_as_names(create), drop = #drop }
end
local both = { "out_1>playback_1", "out_2>playback_2" }
local function standing(state)
  return { [now[1].key] = state, [now[2].key] = state }
end

equal("first links", plan(now), { create = both, drop = 0 })
equal("pending", plan(now, { links = standing("pending") }), { create = {}, drop = 0 })
equal("standing", plan(now, { links = standing("bound") }), { create = {}, drop = 0 })
equal("new first", plan(next_sink, { links = standing("bound") }),
  { create = both, drop = 0 })

local half = standing("bound")
half[next_sink[1].key], half[next_sink[2].key] = "bound", "pending"
equal("old stay while new are pending", plan(next_sink, { links = half }),
  { create = {}, drop = 0 })
half[next_sink[2].key] = "bound"
equal("then old go", plan(next_sink, { links = half }),
  { create = {}, drop = 2 })
equal("nothing wanted", plan({}, { links = standing("bound") }), { create = {}, drop = 2 })
equal("dropped once", plan({}, { links = standing("dropping") }), { create = {}, drop = 0 })
equal("a link on its way out is awaited", plan(now, { links = standing("dropping") }),
  { create = {}, drop = 0 })

equal("the user's link takes its place", plan(now, { foreign = { [own[1].id] = { [999] = true } },
  taken = { [own[1].id] = true } }), { create = { "out_2>playback_2" }, drop = 0 })
equal("other links don't", plan(now, { foreign = { [own[1].id] = { [999] = true } } }), { create = both, drop = 0 })
equal("user made the same link",
  plan(now, { foreign = { [own[1].id] = { [device[1].id] = true } } }),
  { create = { "out_2>playback_2" }, drop = 0 })
equal("manual", plan(now, { manual = { out_1 = true } }),
  { create = { "out_2>playback_2" }, drop = 0 })
equal("manual does not follow",
  plan(next_sink, { links = standing("bound"), manual = { out_1 = true,
    out_2 = true } }), { create = {}, drop = 2 })
equal("waiting", plan(now, { waiting = { [now[2].key] = true } }),
  { create = { "out_1>playback_1" }, drop = 0 })
equal("failed twice", plan(now, { failed = { [now[1].key] = 2 } }), { create = both, drop = 0 })
equal("failed for good", plan(now, { failed = { [now[1].key] = 3 } }),
  { create = { "out_2>playback_2" }, drop = 0 })

-- links that don't play
equal("all play", policy.stuck({ a = "active", b = "active" }, {}), {})
equal("none plays yet", policy.stuck({ a = "paused", b = "paused" }, {}), {})
equal("two are left behind", policy.stuck({ a = "paused", b = "active", c = "paused", d = "init" }, {}), { "a", "c" })
equal("tried twice", policy.stuck({ a = "paused", b = "active" }, { a = 2 }), {})

equal("given up", policy.has_failed(now, { [now[2].key] = 3 }), true)
equal("not yet", policy.has_failed(now, { [now[2].key] = 2 }), false)

-- links that are not ours
for _, class in ipairs { "Audio/Sink", "Audio/Source/Virtual", "Audio/Duplex" } do
  equal(class, policy.is_device(class), true)
end
for _, class in ipairs { "Stream/Input/Audio", "Stream/Output/Audio", "Video/Source", "none" } do
  equal(class, policy.is_device(class ~= "none" and class or nil), false)
end
equal("a sink's monitor", policy.has_monitors("Audio/Sink"), true)
equal("a virtual source's", policy.has_monitors("Audio/Source/Virtual"), false)
equal("no class", policy.has_monitors(nil), false)
local function sort(links, standing, beside)
  local foreign, taken, now_beside, chosen = policy.sort_foreign(links, standing or {}, beside or {})
  return { foreign = foreign, taken = taken, beside = now_beside, chosen = chosen }
end
local to_sink = { ids = "1:9", own = 1, other = 9, device = true }
local to_tap = { ids = "1:8", own = 1, other = 8, device = false }
equal("no links", sort({}), { foreign = {}, taken = {}, beside = {}, chosen = {} })
equal("to a device", sort({ to_sink }), { foreign = { { [9] = true } }, taken = { true }, beside = {}, chosen = { 9 } })
equal("to a program", sort({ to_tap }), { foreign = { { [8] = true } }, taken = {}, beside = {}, chosen = {} })
equal("to both", sort({ to_sink, to_tap }),
  { foreign = { { [8] = true, [9] = true } }, taken = { true }, beside = {}, chosen = { 9 } })
equal("beside ours", sort({ to_sink }, { true }),
  { foreign = { { [9] = true } }, taken = {}, beside = { ["1:9"] = true }, chosen = { 9 } })
equal("still, when ours is gone", sort({ to_sink }, {}, { ["1:9"] = true }),
  { foreign = { { [9] = true } }, taken = {}, beside = { ["1:9"] = true }, chosen = { 9 } })
equal("forgotten with the link", sort({}, {}, { ["1:9"] = true }),
  { foreign = {}, taken = {}, beside = {}, chosen = {} })

-- remembered removals
equal("encode", policy.encode_manual({ out_2 = true, in_1 = true }, "5:7"), "5:7 in_1 out_2")
equal("encode nothing", policy.encode_manual({}, "5:7"), nil)
equal("decode", policy.decode_manual("5:7 in_1 out_2", "5:7"), { in_1 = true, out_2 = true })
equal("of another node", policy.decode_manual("5:7 in_1 out_2", "5:8"), {})
equal("of an older version", policy.decode_manual("in_1 out_2", "5:7"), {})
equal("decode nothing", policy.decode_manual(nil, "5:7"), {})

-- streams of other programs
local function target_of(props, metadata)
  return { policy.stream_target(props, metadata or {}) }
end
local recorder = { ["target.object"] = "scsynth", ["node.target"] = "5", ["node.autoconnect"] = "true",
  ["media.class"] = "Stream/Input/Audio" }
equal("by its property", target_of(recorder), { "scsynth", false })
equal("moved", target_of(recorder, { object = "70", node = "71" }), { "70", false })
equal("moved by WirePlumber 0.4", target_of(recorder, { node = "71" }), { "71", true })
equal("by id", target_of({ ["node.target"] = "5" }), { "5", true })
equal("recorder", policy.stream_direction(recorder), "out")
equal("player", policy.stream_direction({ ["node.autoconnect"] = "true", ["media.class"] = "Stream/Output/Audio" }),
  "in")
equal("who links itself", policy.stream_direction({ ["media.class"] = "Stream/Input/Audio" }), nil)
equal("device", policy.stream_direction({ ["node.autoconnect"] = "true", ["media.class"] = "Audio/Sink" }), nil)
equal("a node of ours", policy.stream_direction({ ["scsynth.autoconnect"] = "true", ["node.autoconnect"] = "true",
  ["media.class"] = "Stream/Output/Audio" }), nil)
local ours = { id = 5, serial = "70", name = "scsynth" }
equal("its name", policy.is_target(ours, "scsynth", false), true)
equal("its serial", policy.is_target(ours, "70", false), true)
equal("its id", policy.is_target(ours, "5", true), true)
equal("its id as a serial", policy.is_target(ours, "5", false), false)
equal("its serial as an id", policy.is_target(ours, "70", true), false)
equal("no target", policy.is_target(ours, nil, true), false)

-- what a device is called
local Graph = require("scsynth-graph")
local function same(fields)
  return fields
end
local objects = { device = { ["9"] = { properties = {
  ["device.name"] = "alsa_card.usb", ["device.description"] = "Scarlett 2i2",
} } } }
local graph = Graph.new {
  Interest = same, Constraint = same, Id = {},
  ObjectManager = function(interests)
    local found = objects[interests[1].type] or {}
    return { lookup = function(_, by)
      return by[1][1] == "bound-id" and by[1].type == "gobject" and found[by[1][3]] or nil
    end }
  end,
}
local function device_node(card)
  return {
    properties = { ["node.name"] = "alsa_output.usb", ["node.nick"] = "USB Audio", ["device.id"] = card },
    ["global-properties"] = { ["object.serial"] = "70" },
  }
end
local own_names = { "alsa_output.usb", "USB Audio", name = "alsa_output.usb", serial = "70" }
equal("without a card", graph.names_of(device_node(nil)), own_names)
equal("its card is gone", graph.names_of(device_node("8")), own_names)
local with_card = graph.names_of(device_node("9"))
local function is_called(text)
  return devices.rank(text, with_card) ~= nil
end
equal("by its card's description", is_called("scarlett"), true)
equal("by its card's name", is_called("alsa_card"), true)
equal("by its own nick", is_called("usb audio"), true)
equal("by another's name", is_called("behringer"), false)

-- what nobody hears
local function why(view)
  return policy.why_unheard(view)
end
local function says(what, text, expected)
  equal(what, text:find(expected, 1, true) ~= nil and #text > 0, true)
end
equal("switched off", why({ managed = false }), "")
equal("about to be linked", why({ managed = true, action = "link", channels = 2, title = "x" }), "")
equal("left where it is", why({ managed = true, action = "keep", channels = 0 }), "")
says("no sink", why({ managed = true, action = "none", channels = 0 }), "wpctl status")
says("not the named one", why({ managed = true, action = "none", channels = 0,
  missing = { key = "scsynth.sink", value = "Scarlett" } }), '"Scarlett"')
says("not the named one, and no other", why({ managed = true, action = "none", channels = 0, strict = true,
  missing = { key = "scsynth.sink", value = "Scarlett" } }), '"Scarlett"')
says("the named one is a source", why({ managed = true, action = "none", channels = 0, strict = true }),
  "scsynth.strict-device")
says("no channels", why({ managed = true, action = "link", channels = 0, title = "Dock" }), '"Dock" has no channels')
says("refused", why({ managed = true, action = "link", channels = 2, title = "Dock", failed = true }), "refuses")

-- notices
equal("nothing missing", devices.missing_notice("out", nil, "link", other), nil)
local no_sink, no_source = { key = "scsynth.sink", value = "x" }, { key = "scsynth.source", value = "x" }
says("replaced", devices.missing_notice("out", no_sink, "link", { title = "Dock" }), '"Dock"')
says("not replaced", devices.missing_notice("in", no_source, "none"), "the inputs are not linked")
equal("no channel lacks", devices.lacking_notice("scsynth.sink-position", { "1" }, {}, { title = "Dock" }), nil)
says("channels lack", devices.lacking_notice("scsynth.source-position", { "3", "4" }, { "3", "4" }, { title = "Dock" }),
  "scsynth.source-position")

os.exit(failures == 0 and 0 or 1)
