-- SPDX-License-Identifier: GPL-3.0-or-later
-- usage: lua test-scsynth-policy.lua FOLDER-OF-THE-MODULE
package.path = arg[1] .. "/?.lua;" .. package.path
local policy = require("scsynth-policy")

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
    list[i] = p.name
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

-- target
local devices = { ["scsynth.sink"] = "speaker", ["target.object"] = "both" }
equal("device of its direction", policy.target("out", devices, nil), "speaker")
equal("device of the other direction", policy.target("in", devices, nil), "both")
equal("metadata before devices", policy.target("out", devices, "-1"), "-1")
equal("nothing asked for", policy.target("in", {}, nil), nil)

-- ports
local mixed = { port("out", "out_10"), port("out", "out_2"), port("in", "in_1"),
  port("out", "monitor_1"), port("out", "out_1") }
equal("own outputs", names(policy.own_ports(mixed, "out")), { "out_1", "out_2", "out_10" })
equal("own inputs", names(policy.own_ports(mixed, "in")), { "in_1" })

local sink_ports = { port("in", "playback_FR", 1), port("out", "monitor_FL", 0, { monitor = true }),
  port("in", "playback_FL", 0), port("in", "midi", 2, { dsp = "8 bit raw midi" }) }
local function peer(class, ports)
  return { serial = class or "none", class = class, ports = ports or {} }
end
local function device_names(class, ports, direction)
  return names(policy.device_ports(peer(class, ports), direction))
end
equal("sink ports", device_names("Audio/Sink", sink_ports, "out"), { "playback_FL", "playback_FR" })
equal("no monitors", device_names("Audio/Sink", sink_ports, "in"), {})
equal("no monitors of a plain node", device_names(nil, sink_ports, "in"), {})
equal("virtual source", device_names("Audio/Source/Virtual", sink_ports, "in"), { "monitor_FL" })
equal("virtual duplex", device_names("Audio/Duplex", sink_ports, "in"), { "monitor_FL" })
table.insert(sink_ports, port("out", "capture_FL", 9))
equal("duplex", device_names("Audio/Duplex", sink_ports, "in"), { "capture_FL" })

-- accepts
equal("sink takes out", policy.accepts(peer("Audio/Sink"), "out"), true)
equal("sink feeds in", policy.accepts(peer("Audio/Sink", sink_ports), "in"), false)
equal("source takes out", policy.accepts(peer("Audio/Source"), "out"), false)
equal("source feeds in", policy.accepts(peer("Audio/Source/Virtual"), "in"), true)
equal("duplex takes out", policy.accepts(peer("Audio/Duplex"), "out"), true)
equal("duplex feeds in", policy.accepts(peer("Audio/Duplex"), "in"), true)
equal("effect takes out", policy.accepts(peer(nil, mixed), "out"), true)
equal("effect does not feed in", policy.accepts(peer(nil, mixed), "in"), false)
equal("player takes no out", policy.accepts(peer("Stream/Output/Audio", outputs(2)), "out"), false)
equal("player feeds in", policy.accepts(peer("Stream/Output/Audio", outputs(2)), "in"), true)
equal("plain node without ports", policy.accepts(peer(nil), "in"), false)

-- choose_peer
local sink, other, source = peer("Audio/Sink"), peer("Audio/Sink"), peer("Audio/Source")
other.serial = "other"
local function choose(direction, query)
  local action, chosen = policy.choose_peer(direction, query)
  return { action, chosen and chosen.serial }
end
equal("default", choose("out", { default = sink }), { "link", "Audio/Sink" })
equal("no default", choose("out", {}), { "none" })
equal("monitor as source", choose("in", { default = sink }), { "none" })
equal("target", choose("out", { default = sink, target = "x", found = other }), { "link", "other" })
equal("target of the other direction",
  choose("in", { default = source, target = "x", found = other }), { "link", "Audio/Source" })
equal("missing target", choose("out", { default = sink, target = "x" }), { "link", "Audio/Sink" })
equal("missing target, no reconnect",
  choose("out", { default = sink, target = "x", dont_reconnect = true }), { "keep" })
equal("minus one", choose("out", { default = sink, target = "-1" }), { "none" })
equal("no device", choose("out", { default = sink, target = "none" }), { "none" })
equal("no reconnect, first time",
  choose("out", { default = sink, dont_reconnect = true }), { "link", "Audio/Sink" })
equal("no reconnect, same sink",
  choose("out", { default = sink, dont_reconnect = true, attached = "Audio/Sink" }),
  { "link", "Audio/Sink" })
equal("no reconnect, other sink",
  choose("out", { default = sink, dont_reconnect = true, attached = "old" }), { "keep" })

-- route
local function route(outs, chans)
  return pairs_as_names(policy.route(outputs(outs), channels(chans)))
end
equal("stereo", route(2, 2), { "out_1>playback_1", "out_2>playback_2" })
equal("mono sink", route(2, 1), { "out_1>playback_1", "out_2>playback_1" })
equal("eight on a mono sink", route(8, 1), { "out_1>playback_1", "out_2>playback_1" })
equal("one output", route(1, 2), { "out_1>playback_1" })
equal("one on one", route(1, 1), { "out_1>playback_1" })
equal("eight on stereo", route(8, 2), { "out_1>playback_1", "out_2>playback_2" })
equal("eight on eight", #route(8, 8), 8)
equal("no channels", route(2, 0), {})

-- plan
local own, device, later = outputs(2), channels(2), channels(2)
local now, next_sink = policy.route(own, device), policy.route(own, later)
local function plan(wanted, overrides)
  local view = { links = {}, foreign = {}, adopted = {}, manual = {}, waiting = {}, failed = {} }
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
local adopted = { [own[1].serial] = true, [own[2].serial] = true }

equal("first links", plan(now), { create = both, drop = 0 })
equal("pending", plan(now, { links = standing("pending") }), { create = {}, drop = 0 })
equal("standing", plan(now, { links = standing("bound") }), { create = {}, drop = 0 })
equal("new first", plan(next_sink, { links = standing("bound"), adopted = adopted }),
  { create = both, drop = 0 })

local half = standing("bound")
half[next_sink[1].key], half[next_sink[2].key] = "bound", "pending"
equal("old stay while new are pending", plan(next_sink, { links = half, adopted = adopted }),
  { create = {}, drop = 0 })
half[next_sink[2].key] = "bound"
equal("then old go", plan(next_sink, { links = half, adopted = adopted }),
  { create = {}, drop = 2 })
equal("nothing wanted", plan({}, { links = standing("bound") }), { create = {}, drop = 2 })
equal("dropped once", plan({}, { links = standing("dropping") }), { create = {}, drop = 0 })
equal("a link on its way out is awaited", plan(now, { links = standing("dropping") }),
  { create = {}, drop = 0 })

equal("user was first", plan(now, { foreign = { [own[1].id] = { [999] = true } } }),
  { create = { "out_2>playback_2" }, drop = 0 })
equal("user came later",
  plan(now, { foreign = { [own[1].id] = { [999] = true } }, adopted = adopted }),
  { create = both, drop = 0 })
equal("user made the same link",
  plan(now, { foreign = { [own[1].id] = { [device[1].id] = true } }, adopted = adopted }),
  { create = { "out_2>playback_2" }, drop = 0 })
equal("manual", plan(now, { manual = { out_1 = true } }),
  { create = { "out_2>playback_2" }, drop = 0 })
equal("manual does not follow",
  plan(next_sink, { links = standing("bound"), adopted = adopted, manual = { out_1 = true,
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

-- remembered removals
equal("encode", policy.encode_manual({ out_2 = true, in_1 = true }), "in_1 out_2")
equal("decode", policy.decode_manual("in_1 out_2"), { in_1 = true, out_2 = true })
equal("decode nothing", policy.decode_manual(nil), {})

os.exit(failures == 0 and 0 or 1)
