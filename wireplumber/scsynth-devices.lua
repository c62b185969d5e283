-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- Which device serves a node, and which of its channels: pure functions over plain tables.
--
-- A port is { id, serial, name, index, direction, dsp, monitor, channel }; index is its place in its node.
-- A peer is { id, serial, class, title, ports } with class the node's media.class (may be nil).
-- A direction is "out" (our outputs to a sink) or "in" (a source to our inputs).
-- A pair is { own = port, device = port }; its key is own.serial .. ":" .. device.serial.
-- A wish is { key, value } with the property or metadata key that names a device; by_id: by its global id.

local devices = {}

local MONO_AUDIO = "32 bit float mono audio"
local PREFIX = { out = "^out_(%d+)$", ["in"] = "^in_(%d+)$" }
local DEVICE = { out = "scsynth.sink", ["in"] = "scsynth.source" }
local POSITION = { out = "scsynth.sink-position", ["in"] = "scsynth.source-position" }
local LAYOUT = "scsynth.layout"
-- The sides stand for the rear where a device has one of these pairs only, and the other way round.
local STAND_IN = { RL = "SL", RR = "SR", SL = "RL", SR = "RR" }
local OPPOSITE = { out = "in", ["in"] = "out" }
local OWN = { out = "the outputs", ["in"] = "the inputs" }
local KIND = { out = "sink", ["in"] = "source" }
local FOLLOW_DEFAULT = "-1"  -- what mixers write for the default device
local NO_DEVICE = "none"  -- as scsynth.sink or scsynth.source: no links of the policy's in that direction

-- What a node asks for in one direction, the first wish first. `metadata` has what mixers set: object, its
-- target.object, and node, its target.node. The latter alone is what WirePlumber 0.4 remembers of an earlier start: a
-- device that was named for this one comes before it.
function devices.wishes(direction, props, metadata)
  local list = {}
  local function add(key, value, more)
    if value and value ~= "" then
      more.key, more.value = key, value
      list[#list + 1] = more
    end
  end
  add("target.object", metadata.object, {})
  add(DEVICE[direction], props[DEVICE[direction]], { named = true, in_part = true, one_direction = true })
  if not metadata.object then
    add("target.node", metadata.node, { by_id = true })
  end
  add("target.object", props["target.object"], { named = true })
  return list
end

-- How well a text names a device: 1 for its node.name or object.serial, 2 for another of its names as a whole, 3 for a
-- part of a name, where upper and lower case don't matter. Nil: not at all.
function devices.rank(text, names)
  if text == NO_DEVICE then
    return nil
  elseif text == names.name or text == names.serial then
    return 1
  end
  local wanted, rank = text:lower(), nil
  for _, name in ipairs(names) do
    if name:lower() == wanted then
      return 2
    elseif name:lower():find(wanted, 1, true) then
      rank = 3
    end
  end
  return rank
end

-- The one of several { peer, rank, priority } that is meant: what serves the direction, by rank, then priority, then
-- id.
function devices.best(candidates, direction)
  local best
  for _, each in ipairs(candidates) do
    each.serves = devices.accepts(each.peer, direction)
    local better = not best
    if best and each.serves ~= best.serves then
      better = each.serves
    elseif best and each.rank ~= best.rank then
      better = each.rank < best.rank
    elseif best and each.priority ~= best.priority then
      better = each.priority > best.priority
    elseif best then
      better = each.peer.id < best.peer.id
    end
    best = better and each or best
  end
  return best and best.peer
end

-- Our own ports of one direction, sorted by the number in their name.
function devices.own_ports(ports, direction)
  local found = {}
  for _, port in ipairs(ports) do
    local number = port.direction == direction and tonumber(port.name:match(PREFIX[direction]))
    if number then
      found[#found + 1] = { number = number, port = port }
    end
  end
  table.sort(found, function(a, b) return a.number < b.number end)
  for i, entry in ipairs(found) do
    found[i] = entry.port
  end
  return found
end

local function audio_ports(peer, direction, monitor)
  local found = {}
  for _, port in ipairs(peer.ports) do
    if port.direction == OPPOSITE[direction] and port.dsp == MONO_AUDIO
        and port.monitor == monitor then
      found[#found + 1] = port
    end
  end
  table.sort(found, function(a, b) return a.index < b.index end)
  return found
end

-- The ports of a peer that our ports of `direction` can be linked to, in channel order. A monitor
-- is no capture port, except that a virtual source has nothing else: it is a sink turned round.
function devices.ports(peer, direction)
  local found = audio_ports(peer, direction, false)
  local class = peer.class or ""
  if #found == 0 and (class:find("Source") or class:find("Duplex")) then
    found = audio_ports(peer, direction, true)
  end
  return found
end

-- Whether the peer can serve `direction`. The class decides where there is one: a sink whose ports
-- have not appeared yet is a sink, and its monitor never makes it a source. Without a class the
-- ports decide, for one direction only: an effect linked both ways would feed back.
function devices.accepts(peer, direction)
  local class = peer.class or ""
  if class:find("Duplex") then
    return true
  elseif class:find("Sink") then
    return direction == "out"
  elseif class:find("Source") then
    return direction == "in"
  end
  local plays = #devices.ports(peer, "out") > 0
  if direction == "out" then
    return plays
  end
  return not plays and #devices.ports(peer, "in") > 0
end

-- What to do with one direction of a node. Returns "link" and a peer, "keep" (change nothing) or
-- "none" (no links of ours), then the wish of a property that names no device, if there is one, and then whether the
-- default device was no substitute for what is named. `query` holds
--   wishes          what wishes() gives, each with the peer that it names as `found`
--   default         the default sink or source, nil if there is none
--   attached        serial of the peer this direction was linked to last, or nil
--   dont_reconnect  the node's node.dont-reconnect
--   strict          whether the default device is no substitute for one that was named
function devices.choose(direction, query)
  local missing, unfulfilled, gone
  for _, wish in ipairs(query.wishes) do
    if wish.value == FOLLOW_DEFAULT then
      missing, unfulfilled, gone = nil, false, false
      break
    elseif wish.one_direction and wish.value == NO_DEVICE then
      return "none"
    elseif wish.found and devices.accepts(wish.found, direction) then
      return "link", wish.found
    end
    gone = gone or not wish.found
    if wish.named then
      unfulfilled = unfulfilled or wish.one_direction or not wish.found
      missing = missing or (not wish.found and wish) or nil
    end
  end
  if gone and query.dont_reconnect then
    return "keep", nil, missing
  elseif unfulfilled and query.strict then
    return "none", nil, missing, true
  end

  local default = query.default
  if not default or not devices.accepts(default, direction) then
    return "none", nil, missing
  elseif query.dont_reconnect and query.attached and query.attached ~= default.serial then
    return "keep", nil, missing
  end
  return "link", default, missing
end

local function words(text)
  local list = {}
  for word in (text or ""):gmatch("[^%s,;%[%]\"]+") do
    list[#list + 1] = word
  end
  return #list > 0 and list or nil
end

-- The channels of a node's outputs in their order. Nil: it has no layout.
function devices.layout(props)
  return words(props[LAYOUT])
end

-- The channels that a node asks for, in the order of its ports: names as in audio.position, or numbers from 1 on; and
-- the property that says so. Nil: it leaves that to route().
function devices.positions(direction, props)
  local asked = words(props[POSITION[direction]])
  if asked or direction == "in" then
    return asked, POSITION[direction]
  end
  return devices.layout(props), LAYOUT
end

local function at_position(channels, position)
  for i, port in ipairs(channels) do
    if position == tostring(i) or position:lower() == (port.channel or ""):lower() then
      return port
    end
  end
end

local function contains(list, wanted)
  for _, each in ipairs(list) do
    if each:upper() == wanted then
      return true
    end
  end
  return false
end

-- The ports of a device at these positions, and those positions that it hasn't got. False stands for a port that isn't
-- there. Without any of them, the device's own order counts.
function devices.select(channels, positions)
  if not positions then
    return channels, {}
  end
  local selected, lacking = {}, {}
  for i, position in ipairs(positions) do
    local other = STAND_IN[position:upper()]
    selected[i] = at_position(channels, position)
        or (other and not contains(positions, other) and at_position(channels, other)) or false
    if not selected[i] then
      lacking[#lacking + 1] = position
    end
  end
  return #lacking < #positions and selected or channels, lacking
end

-- The ports of a program that records a node with that layout: by their channels if the layout has them all.
function devices.select_recorded(channels, layout)
  local selected, count = devices.select(channels, layout), 0
  for _, port in ipairs(selected) do
    count = count + (port and 1 or 0)
  end
  return count == #channels and selected or channels
end

function devices.key(own, device)
  return own.serial .. ":" .. device.serial
end

-- Channel i to channel i, as many as both sides have. A mono device shares its channel between the
-- first two of ours, as a stereo pair played on one speaker; one beyond a layout of one channel is no half of a pair.
function devices.route(own, device)
  local wanted = {}
  for i, port in ipairs(own) do
    local other = device[i]
    if other == nil and #device == 1 and i == 2 and port.channel ~= "AUX1" then
      other = device[1]
    end
    if other == nil then
      break
    elseif other then
      wanted[#wanted + 1] = { own = port, device = other, key = devices.key(port, other) }
    end
  end
  return wanted
end

-- ---- sentences for the user

-- That a device is missing which a property names, and what takes its place. Nil: there is nothing to say.
function devices.missing_notice(direction, missing, action, peer)
  if not missing then
    return nil
  end
  local head = ('%s: there is no %s "%s" now; '):format(missing.key, KIND[direction], missing.value)
  if action == "link" then
    return head .. ('until it is there, %s are linked to the default one, "%s"'):format(OWN[direction], peer.title)
  end
  return head .. OWN[direction] .. " are not linked until it is there"
end

-- That a device lacks channels which the property `key` names. Nil: it has them all, or none of a layout's, which is a
-- device of another kind.
function devices.lacking_notice(key, positions, lacking, peer)
  if #lacking == 0 or (key == LAYOUT and #lacking == #positions) then
    return nil
  end
  return ('%s: "%s" has no channel %s'):format(key, peer.title, table.concat(lacking, ", "))
end

return devices
