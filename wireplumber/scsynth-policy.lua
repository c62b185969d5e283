-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- The decisions of the auto-connection policy about links: pure functions over plain tables. What ports, pairs and
-- directions are, scsynth-devices.lua says, which decides about devices.

local policy = {}

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

-- Whether a link to a port of a node with that media.class can replace one of ours. Programs that record or show what
-- others play link themselves to all of them, and what they hear nobody else hears.
function policy.is_device(class)
  return (class or ""):find("^Audio/") ~= nil
end

-- Whether a device's monitor ports are no source. A virtual source has nothing else.
function policy.has_monitors(class)
  return (class or ""):find("^Audio/Sink") ~= nil
end

-- Sorts the links at a node's ports that are not ours. Each is { ids, own, other, device }: the ids of the ports that
-- it connects, of our port and of the other one; and whether the other one is a device's.
--   standing  standing[own.id] = true where a link of ours stands
--   beside    beside[ids] = true for the links that came when one of ours stood: they never take its place
-- Returns foreign and taken for plan(), beside as it is now, and chosen[own.id], a port of a device that is linked to
-- ours.
function policy.sort_foreign(links, standing, beside)
  local foreign, taken, now, chosen = {}, {}, {}, {}
  for _, link in ipairs(links) do
    foreign[link.own] = foreign[link.own] or {}
    foreign[link.own][link.other] = true
    chosen[link.own] = link.device and link.other or chosen[link.own]
    if standing[link.own] or beside[link.ids] then
      now[link.ids] = true
    elseif link.device then
      taken[link.own] = true
    end
  end
  return foreign, taken, now, chosen
end

-- Compares what is wanted with what is there. Returns the pairs to create and the keys to drop.
--   wanted   pairs from route()
--   links    our links of this direction by key: "pending", "bound" or "dropping"
--   foreign  foreign[own.id][other.id] = true for each link that is not ours
--   taken    taken[own.id] = true where the user's link to a device takes the place of ours
--   manual   manual[own.name] = true where the user removed a link of ours
--   waiting  waiting[key] = true while we do not know yet whether the user removed that link
--   failed   failed[key] = how often creating it failed
-- Old links go only when all new ones stand.
function policy.plan(wanted, view)
  local create, keep, settled = {}, {}, true
  for _, pair in ipairs(wanted) do
    local others = view.foreign[pair.own.id]
    local state = view.links[pair.key]
    if not view.taken[pair.own.id] and not view.manual[pair.own.name] then
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

-- Whether making one of the wanted links failed so often that it isn't tried again.
function policy.has_failed(wanted, failed)
  for _, pair in ipairs(wanted) do
    if (failed[pair.key] or 0) >= GIVE_UP_AFTER then
      return true
    end
  end
  return false
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

-- The removals of one node by the user as a string, and back. They count as long as that node lives: the string begins
-- with its life, any word that no other node has.
function policy.encode_manual(manual, life)
  local names = {}
  for name in pairs(manual) do
    names[#names + 1] = name
  end
  table.sort(names)
  return #names > 0 and life .. " " .. table.concat(names, " ") or nil
end

function policy.decode_manual(text, life)
  local manual, words = {}, (text or ""):gmatch("%S+")
  if words() == life then
    for name in words do
      manual[name] = true
    end
  end
  return manual
end

-- ---- programs that record us, or play to us

-- What a stream of another program asks to be linked to: a node.name or object.serial, or a global id if the second
-- value is true. `metadata` as for devices.wishes().
function policy.stream_target(props, metadata)
  if metadata.object then
    return metadata.object, false
  elseif metadata.node then
    return metadata.node, true
  elseif props["target.object"] then
    return props["target.object"], false
  end
  return props["node.target"], true
end

-- The direction in which our node serves such a stream: "out" if it records, "in" if it plays. Nil: we don't link it.
function policy.stream_direction(props)
  if props["scsynth.autoconnect"] ~= nil or not policy.is_true(props["node.autoconnect"]) then
    return nil
  end
  return ({ ["Stream/Input/Audio"] = "out", ["Stream/Output/Audio"] = "in" })[props["media.class"]]
end

function policy.is_target(node, target, by_id)
  if by_id then
    return target ~= nil and target == tostring(node.id)
  end
  return target ~= nil and (target == node.serial or target == node.name)
end

-- ---- what nobody hears

-- Why the outputs of a node that plays aren't linked, and what mends it. An empty text: the user wants it so, or the
-- links are about to come.
--   managed   is_managed()
--   action, missing, strict, title   what devices.choose() says of the outputs, the last of its peer
--   channels  how many channels the peer has for us
--   failed    whether making the links failed for good
function policy.why_unheard(view)
  if not view.managed then
    return ""
  elseif view.missing and view.action ~= "link" then
    return ('there is no sink "%s" (%s); pw-scsynth --devices lists those that there are'):format(
      view.missing.value, view.missing.key)
  elseif view.action == "none" and view.strict then
    return "the device that scsynth.sink names plays no sound, and scsynth.strict-device allows no other"
  elseif view.action == "none" then
    return "PipeWire has no sink; connect a sound card or switch one on (wpctl status lists them)"
  elseif view.action == "link" and view.channels == 0 then
    return ('"%s" has no channels; choose another profile or device (wpctl status lists them)'):format(view.title)
  elseif view.failed then
    return ('PipeWire refuses the links to "%s"; journalctl --user -u pipewire -e says why'):format(view.title)
  end
  return ""
end

return policy
