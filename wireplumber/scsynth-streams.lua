-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- Streams of other programs that ask for a node of ours: pw-record --target scsynth, the meters of pavucontrol.
-- WirePlumber can't link them to it, as it knows no formats of the node: it would take the default device in its place,
-- or end the stream. What is here takes them out of its hands, and has them get their ports; our own policy makes the
-- links.
--
-- A module has no access to WirePlumber's API in 0.4: `api` is a table with what is needed of it.

local streams = {}

local LONGEST_WAIT_MS = 1000

-- The first value where several may be chosen from.
local function default_of(value)
  return type(value) == "table" and value[1] or value
end

local function make_format(api, rate, channels, position)
  local format = {
    "Spa:Pod:Object:Param:Format", "Format",
    mediaType = "audio", mediaSubtype = "raw", format = "F32P", rate = rate, channels = channels,
  }
  if position then
    format.position = api.Pod.Array { "Spa:Enum:AudioChannel", table.unpack(position) }
  end
  return api.Pod.Object(format)
end

-- The format in which a stream wants its ports. One that wants a single channel gets two if we have them, so that
-- PipeWire mixes and doesn't add.
local function format_of(api, node, ours)
  for param in node:iterate_params("EnumFormat") do
    local parsed = param:parse()
    local wanted = parsed and parsed.properties or {}
    local channels, position = tonumber(default_of(wanted.channels)), wanted.position
    if wanted.mediaSubtype == "raw" and channels then
      local is_list = type(position) == "table" and #position == channels
      if channels == 1 and ours > 1 and node.properties["stream.dont-remix"] ~= "true" then
        channels, position, is_list = 2, { "FL", "FR" }, true
      end
      return make_format(api, tonumber(default_of(wanted.rate)) or 48000, channels, is_list and position)
    end
  end
end

-- WirePlumber gives a stream its ports when it links it for the first time.
local function configure(api, item, ours)
  local _, mode = item:get_ports_format()
  local format = (mode or "") == "" and format_of(api, item:get_associated_proxy("node"), ours)
  if format then
    item:set_ports_format(format, "dsp", function(_, err)
      if err then
        api.Log.warning("scsynth: a stream gets no ports: " .. tostring(err))
      end
    end)
  end
end

-- Gives a stream back. When WirePlumber sets a format that differs from ours in no more than the order of its fields,
-- it waits for new ports in vain. So the stream gets one port that no device has.
local function give_back(api, item, done)
  item:set_ports_format(make_format(api, 48000, 1, { "LFE" }), "dsp", done)
end

-- 0.5 asks its hooks for a target. find_ours(node) is how many ports a node of ours has for a stream's node that asks
-- for it, else nil.
local function by_hook(api, find_ours)
  local loaded, linking = pcall(require, "linking-utils")
  local held = {}  -- items by the id of their stream's node

  local function unlink(item)
    local flags = loaded and linking:get_flags(item.id)
    local link = flags and flags.peer_id and linking.lookupLink(item.id, flags.peer_id)
    if link then
      flags.peer_id = nil
      link:remove()
    end
  end

  api.SimpleEventHook {
    name = "linking/leave-scsynth-streams",
    before = { "linking/find-defined-target", "linking/prepare-link" },
    interests = { api.EventInterest { api.Constraint { "event.type", "=", "select-target" } } },
    execute = function(event)
      local item = event:get_subject()
      local node = item:get_associated_proxy("node")
      local id = node and node["bound-id"]
      local ours = node and find_ours(node)
      if ours then
        held[id] = item
        unlink(item)
        configure(api, item, ours)
      end
      if id and held[id] and held[id].id == item.id then  -- else one that is gone had that id
        event:stop_processing()
      end
    end,
  }:register()

  local function rescan()
    local source = api.Plugin.find("standard-event-source")
    if source then
      source:call("schedule-rescan", "linking")
    end
  end

  local function release(id, gone)
    if gone or not held[id] then
      held[id] = nil
      return
    end
    give_back(api, held[id], function()
      held[id] = nil
      rescan()
    end)
  end
  return { add = rescan, remove = rescan, hold = function() end, release = release }
end

-- 0.4 links the session items that are registered, each as soon as it is ready, but none while one of them isn't.
local function by_items(api, find_ours)
  local held = {}     -- items by the id of their stream's node
  local waiting = {}  -- by that id, the item that makes the policy wait

  local function items_that(active)
    return api.ObjectManager {
      api.Interest {
        type = "SiLinkable",
        api.Constraint { "item.factory.name", "=", "si-audio-adapter" },
        api.Constraint { "active-features", active and "!" or "=", 0, type = "gobject" },
      }
    }
  end
  local coming_om, ready_om = items_that(false), items_that(true)
  local keeper = { coming_om = coming_om }  -- lest it be collected

  local function go_on(id)
    if waiting[id] then
      waiting[id]:remove()
      waiting[id] = nil
    end
  end

  -- An item that gets ready has the policy look at all streams again: others may have come meanwhile.
  local function give_up(id)
    local item = waiting[id]
    go_on(id)
    if item then
      item:activate(api.Feature.SessionItem.ACTIVE, function()
        item:register()
        item:remove()
      end)
    end
  end

  local function take(item, id, ours)
    go_on(id)
    held[id] = item
    item:remove()
    configure(api, item, ours)
  end

  coming_om:connect("object-added", function(_, item)
    local node = item:get_associated_proxy("node")
    local id = node and node["bound-id"]
    if id then
      held[id] = nil  -- of one that is gone
    end
    if id and not waiting[id] and find_ours(node) then
      local inactive = api.SessionItem("si-node")
      if inactive and inactive:configure { ["item.node"] = node, ["node.id"] = id } then
        waiting[id] = inactive
        inactive:register()
        api.Core.timeout_add(LONGEST_WAIT_MS, function()
          if waiting[id] == inactive then
            give_up(id)
          end
        end)
      end
    end
  end)

  -- An item must not go while object managers are being told that it came.
  ready_om:connect("object-added", function(_, item)
    local node = item:get_associated_proxy("node")
    local id = node and node["bound-id"]
    local ours = id and not held[id] and find_ours(node)
    if ours then
      api.Core.timeout_add(0, function()
        if not held[id] and ready_om:lookup { api.Constraint { "node.id", "=", tostring(id) } } then
          take(item, id, ours)
        end
      end)
    end
  end)

  coming_om:activate()
  ready_om:activate()

  function keeper.add() end
  function keeper.remove() end

  function keeper.hold(node)
    local id = node["bound-id"]
    local item = not held[id] and ready_om:lookup { api.Constraint { "node.id", "=", tostring(id) } }
    local ours = item and find_ours(node)
    if ours then
      take(item, id, ours)
    end
  end

  function keeper.release(id, gone)
    local item = held[id]
    held[id] = nil
    if item and not gone then
      give_back(api, item, function() item:register() end)
    end
  end

  return keeper
end

-- Returns a table of functions: add() and remove(), to be called when a node of ours has come and gone; hold(node) and
-- release(id, gone), when a stream's node asks for one of ours, and no longer does. `gone`: it isn't there any more.
function streams.keeper(api, find_ours)
  return (api.SimpleEventHook and by_hook or by_items)(api, find_ours)
end

return streams
