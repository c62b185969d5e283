-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- The decisions of the auto-connection policy: pure functions over plain tables.
--
-- A port is { id, serial, name, index, direction, dsp, monitor }; index is its place in its node.
-- A peer is { serial, class, ports } with class the node's media.class (may be nil).
-- A direction is "out" (our outputs to a sink) or "in" (a source to our inputs).
-- A pair is { own = port, device = port }; its key is own.serial .. ":" .. device.serial.

local policy = {}

local MONO_AUDIO = "32 bit float mono audio"
local PREFIX = { out = "^out_(%d+)$", ["in"] = "^in_(%d+)$" }
local DEVICE = { out = "scsynth.sink", ["in"] = "scsynth.source" }
local OPPOSITE = { out = "in", ["in"] = "out" }
local GIVE_UP_AFTER = 3

function policy.is_true(value)
  return value == "true" or value == "1" or value == true
end

-- Whether WirePlumber's own policies make no links for such a node: two policies would link it twice. A media.class
-- hands it to them, but a stream that doesn't ask for links has its class for mixers alone.
function policy.is_left_to_us(props)
  local class = props["media.class"]
  return class == nil or (class == "Stream/Output/Audio" and not policy.is_true(props["node.autoconnect"]))
end

-- Whether the node asks for links of ours. The metadata value, where there is one, wins over the property.
function policy.is_managed(props, metadata_value)
  if not policy.is_left_to_us(props) or props["scsynth.autoconnect"] == nil then
    return false
  end
  return policy.is_true(metadata_value or props["scsynth.autoconnect"])
end

-- Whether the server has had no synths for a while, so that nobody misses its links and the devices may sleep.
function policy.is_idle(props)
  return props["scsynth.idle"] == "true"
end

-- Whether a client ended the server by /quit and the node waits to be removed.
function policy.has_quit(props)
  return props["scsynth.state"] == "quit"
end

-- Which peer a node asks for in one direction: the metadata's target.object for both, else the
-- property of that direction, else target.object. Nil: the default.
function policy.target(direction, props, metadata_value)
  return metadata_value or props[DEVICE[direction]] or props["target.object"]
end

-- Our own ports of one direction, sorted by the number in their name.
function policy.own_ports(ports, direction)
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

local function device_ports(peer, direction, monitor)
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
function policy.device_ports(peer, direction)
  local found = device_ports(peer, direction, false)
  local class = peer.class or ""
  if #found == 0 and (class:find("Source") or class:find("Duplex")) then
    found = device_ports(peer, direction, true)
  end
  return found
end

-- Whether the peer can serve `direction`. The class decides where there is one: a sink whose ports
-- have not appeared yet is a sink, and its monitor never makes it a source. Without a class the
-- ports decide, for one direction only: an effect linked both ways would feed back.
function policy.accepts(peer, direction)
  local class = peer.class or ""
  if class:find("Duplex") then
    return true
  elseif class:find("Sink") then
    return direction == "out"
  elseif class:find("Source") then
    return direction == "in"
  end
  local plays = #policy.device_ports(peer, "out") > 0
  if direction == "out" then
    return plays
  end
  return not plays and #policy.device_ports(peer, "in") > 0
end

-- What to do with one direction of a node. Returns "link" and a peer, "keep" (change nothing) or
-- "none" (no links of ours). `query` holds
--   target          what target() gives
--   found           the peer that target names, nil if there is none
--   default         the default sink or source, nil if there is none
--   attached        serial of the peer this direction was linked to last, or nil
--   dont_reconnect  the node's node.dont-reconnect
function policy.choose_peer(direction, query)
  if query.target == "-1" or query.target == "none" then
    return "none"
  elseif query.found and policy.accepts(query.found, direction) then
    return "link", query.found
  elseif query.target and not query.found and query.dont_reconnect then
    return "keep"
  end

  local default = query.default
  if not default or not policy.accepts(default, direction) then
    return "none"
  elseif query.dont_reconnect and query.attached and query.attached ~= default.serial then
    return "keep"
  end
  return "link", default
end

function policy.key(own, device)
  return own.serial .. ":" .. device.serial
end

-- Channel i to channel i, as many as both sides have. A mono device shares its channel between the
-- first two of ours, as a stereo pair played on one speaker.
function policy.route(own, device)
  local wanted = {}
  for i, port in ipairs(own) do
    local other = device[i] or (#device == 1 and i == 2 and device[1])
    if not other then
      break
    end
    wanted[#wanted + 1] = { own = port, device = other, key = policy.key(port, other) }
  end
  return wanted
end

-- Compares what is wanted with what is there. Returns the pairs to create and the keys to drop.
--   wanted   pairs from route()
--   links    our links of this direction by key: "pending", "bound" or "dropping"
--   foreign  foreign[own.id][device.id] = true for each link that is not ours
--   adopted  adopted[own.serial] = true where a link of ours has been before
--   manual   manual[own.name] = true where the user removed a link of ours
--   waiting  waiting[key] = true while we do not know yet whether the user removed that link
--   failed   failed[key] = how often creating it failed
-- A port the user linked before we did is left alone. Old links go only when all new ones stand.
function policy.plan(wanted, view)
  local create, keep, settled = {}, {}, true
  for _, pair in ipairs(wanted) do
    local others = view.foreign[pair.own.id]
    local state = view.links[pair.key]
    local free = view.adopted[pair.own.serial] or not others
    if free and not view.manual[pair.own.name] then
      keep[pair.key] = true
      if state == "pending" or state == "dropping" then
        settled = false
      elseif not state and not view.waiting[pair.key] and not (others and others[pair.device.id])
          and (view.failed[pair.key] or 0) < GIVE_UP_AFTER then
        create[#create + 1] = pair
        settled = false
      end
    end
  end

  local drop = {}
  if settled then
    for key, state in pairs(view.links) do
      if state == "bound" and not keep[key] then
        drop[#drop + 1] = key
      end
    end
    table.sort(drop)
  end
  return create, drop
end

-- The links to make anew: PipeWire 0.3.65 may leave one paused for good when its device is suspended at that moment.
--   states   PipeWire's states of our links of one direction by key
--   failed   as in plan()
function policy.stuck(states, failed)
  local paused, plays = {}, false
  for key, state in pairs(states) do
    plays = plays or state == "active"
    if state == "paused" and (failed[key] or 0) < GIVE_UP_AFTER - 1 then
      paused[#paused + 1] = key
    end
  end
  table.sort(paused)
  return plays and paused or {}
end

-- The remembered removals of one node as a string, and back: port names with spaces between.
function policy.encode_manual(manual)
  local names = {}
  for name in pairs(manual) do
    names[#names + 1] = name
  end
  table.sort(names)
  return table.concat(names, " ")
end

function policy.decode_manual(text)
  local manual = {}
  for name in (text or ""):gmatch("%S+") do
    manual[name] = true
  end
  return manual
end

return policy
