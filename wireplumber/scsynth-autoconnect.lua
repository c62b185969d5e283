-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- Auto-connection for WirePlumber 0.4 and 0.5: watches nodes, links, metadata and the default nodes, lets
-- scripts/lib/scsynth-policy.lua decide, and makes or destroys its own links. The links have no
-- object.linger, so they vanish with WirePlumber, and are not passive, so they keep a sink awake: as long as the node
-- isn't idle.

-- An error in a script's first run ends WirePlumber. So where something is missing, this one does nothing.
local loaded, policy = pcall(require, "scsynth-policy")
local default_nodes = Plugin.find("default-nodes-api")
if not loaded or not default_nodes then
  Log.warning("scsynth: no auto-connection: " ..
      (loaded and "default-nodes-api is missing" or tostring(policy)))
  return
end

local REMOVAL_DELAY_MS = 500
local SETTLING_MS = 1000  -- from a change of a link's state until all links of a node should have followed
local DEFAULT_CLASS = { out = "Audio/Sink", ["in"] = "Audio/Source" }

local state = State("scsynth-autoconnect")
local remembered = state:load()  -- node.name -> encoded port names
local records = {}               -- object.serial of a managed node -> what we know of it
local ready = false
local scan_pending = false
local look_pending = false
local schedule_scan

local nodes_om = ObjectManager { Interest { type = "node" } }
local links_om = ObjectManager { Interest { type = "link" } }
local metadata_om = ObjectManager {
  Interest { type = "metadata", Constraint { "metadata.name", "=", "default" } }
}

-- As the registry has it. Among its properties, a port of a node that runs in a client shows the number that it has
-- there, once they arrive: one that other objects may have, too.
local function serial_of(proxy)
  return proxy["global-properties"]["object.serial"]
end

local function read_ports(node)
  local ports = {}
  for proxy in node:iterate_ports() do
    local props = proxy.properties
    ports[#ports + 1] = {
      id = proxy["bound-id"],
      serial = serial_of(proxy),
      name = props["port.name"] or "",
      index = tonumber(props["port.id"]) or 0,
      direction = props["port.direction"],
      dsp = props["format.dsp"],
      monitor = policy.is_true(props["port.monitor"]),
    }
  end
  return ports
end

local function read_peer(node)
  return node and {
    id = node["bound-id"],
    serial = serial_of(node),
    class = node.properties["media.class"],
    ports = read_ports(node),
  }
end

local function find_default(direction)
  local id = default_nodes:call("get-default-node", DEFAULT_CLASS[direction])
  return id ~= Id.INVALID and nodes_om:lookup {
    Constraint { "bound-id", "=", id, type = "gobject" }
  } or nil
end

local function find_target(target)
  local key = tonumber(target) and "object.serial" or "node.name"
  return nodes_om:lookup { Constraint { key, "=", target, type = "pw-global" } }
end

local function find_metadata(id, key)
  local metadata = metadata_om:lookup()
  return metadata and (metadata:find(id, key)) or nil
end

local function port_exists(serial)
  for node in nodes_om:iterate() do
    if node:lookup_port { Constraint { "object.serial", "=", serial, type = "pw-global" } } then
      return true
    end
  end
  return false
end

local function remember(name, manual)
  local text = policy.encode_manual(manual)
  remembered[name] = text ~= "" and text or nil
  local saved, err = state:save(remembered)
  if not saved then
    Log.warning("scsynth: " .. err)
  end
end

-- The ids of the ports that a link connects: what its ids are in a record, too.
local function ids_of(link)
  local props = link.properties
  return (props["link.output.port"] or "") .. ":" .. (props["link.input.port"] or "")
end

local function find_own(ids)
  for _, record in pairs(records) do
    for _, link in pairs(record.links) do
      if link.ids == ids then
        return record, link
      end
    end
  end
end

-- Links that are not ours, by the id of each port they touch.
local function foreign_links()
  local ours, foreign = {}, {}
  for _, record in pairs(records) do
    for _, link in pairs(record.links) do
      ours[link.ids] = true
    end
  end
  for link in links_om:iterate() do
    local out = tonumber(link.properties["link.output.port"])
    local inp = tonumber(link.properties["link.input.port"])
    if out and inp and not ours[ids_of(link)] then
      foreign[out] = foreign[out] or {}
      foreign[out][inp] = true
      foreign[inp] = foreign[inp] or {}
      foreign[inp][out] = true
    end
  end
  return foreign
end

-- A link of ours went away, and we did not do it. If its ports are still there a moment later, it
-- was the user. When a node or a profile vanishes, links go first, but the ports follow at once.
local function on_lost(record, link)
  record.waiting[link.key] = true
  Core.timeout_add(REMOVAL_DELAY_MS, function()
    record.waiting[link.key] = nil
    if port_exists(link.pair.own.serial) and port_exists(link.pair.device.serial) then
      Log.info("scsynth: " .. record.name .. ":" .. link.pair.own.name .. " is the user's now")
      local manual = policy.decode_manual(remembered[record.name])
      manual[link.pair.own.name] = true
      remember(record.name, manual)
    end
    schedule_scan()
  end)
end

local function on_destroyed(record, link)
  local last = link.state
  if last == "gone" then
    return
  end
  link.state = "gone"
  link.proxy = nil  -- the proxy holds this closure: break the cycle
  record.links[link.key] = nil
  if last == "bound" then
    on_lost(record, link)
  elseif last == "pending" then
    record.failed[link.key] = (record.failed[link.key] or 0) + 1
  end
  schedule_scan()
end

local function create_link(record, direction, node_id, peer, pair)
  local own_side, device_side = "output", "input"
  local ids = pair.own.id .. ":" .. pair.device.id
  if direction == "in" then
    own_side, device_side = device_side, own_side
    ids = pair.device.id .. ":" .. pair.own.id
  end
  local proxy = Link("link-factory", {
    ["link." .. own_side .. ".node"] = node_id,
    ["link." .. own_side .. ".port"] = pair.own.id,
    ["link." .. device_side .. ".node"] = peer.id,
    ["link." .. device_side .. ".port"] = pair.device.id,
  })
  if not proxy then
    return
  end

  local link = {
    key = pair.key, ids = ids, pair = pair, direction = direction, state = "pending", proxy = proxy,
  }
  record.links[pair.key] = link
  proxy:connect("pw-proxy-destroyed", function() on_destroyed(record, link) end)
  proxy:activate(Feature.Proxy.BOUND, function(_, err)
    if err then
      Log.info("scsynth: cannot link " .. record.name .. ":" .. pair.own.name .. ": " .. err)
      on_destroyed(record, link)
    elseif link.state == "pending" then
      link.state = "bound"
      record.adopted[pair.own.serial] = true
      record.attached[direction] = peer.serial
      schedule_scan()
    end
  end)
end

-- From 0.5.16 on the proxy of a link that WirePlumber made itself can't destroy it, but the object manager's can.
local function destroy_link(link)
  for found in links_om:iterate() do
    if ids_of(found) == link.ids then
      found:request_destroy()
      return
    end
  end
  link.proxy:request_destroy()
end

local function apply(record, direction, node_id, peer, wanted, foreign)
  local links = {}
  for key, link in pairs(record.links) do
    if link.direction == direction then
      links[key] = link.state
    end
  end
  local create, drop = policy.plan(wanted, {
    links = links,
    foreign = foreign,
    adopted = record.adopted,
    manual = policy.decode_manual(remembered[record.name]),
    waiting = record.waiting,
    failed = record.failed,
  })
  for _, pair in ipairs(create) do
    create_link(record, direction, node_id, peer, pair)
  end
  for _, key in ipairs(drop) do
    record.links[key].state = "dropping"
    destroy_link(record.links[key])
  end
end

local function scan_node(node, record, foreign)
  local id, props = node["bound-id"], node.properties
  -- A node can't remove itself, and nobody else may be there to do it.
  if policy.has_quit(props) then
    node:request_destroy()
    return
  end
  local managed = policy.is_managed(props, find_metadata(id, "scsynth.autoconnect"))
  if not managed or policy.is_idle(props) then
    apply(record, "out", id, nil, {}, foreign)
    apply(record, "in", id, nil, {}, foreign)
    if not managed then
      -- Switched on again, it starts anew.
      record.adopted, record.attached, record.failed = {}, {}, {}
    end
    return
  end

  local ports = read_ports(node)
  for _, direction in ipairs { "out", "in" } do
    local target = policy.target(direction, props, find_metadata(id, "target.object"))
    local found = read_peer(target and find_target(target))
    if found and found.id == id then
      found = nil
    end
    local action, peer = policy.choose_peer(direction, {
      target = target,
      found = found,
      default = read_peer(find_default(direction)),
      attached = record.attached[direction],
      dont_reconnect = policy.is_true(props["node.dont-reconnect"]),
    })
    local device = peer and policy.device_ports(peer, direction) or {}
    if action == "none" then
      apply(record, direction, id, nil, {}, foreign)
    elseif #device > 0 then  -- else "keep", or a peer whose ports are still to come
      local wanted = policy.route(policy.own_ports(ports, direction), device)
      apply(record, direction, id, peer, wanted, foreign)
    end
  end
end

local function scan()
  local foreign, present = foreign_links(), {}
  for node in nodes_om:iterate() do
    local props = node.properties
    local serial = serial_of(node)
    if records[serial] or props["scsynth.autoconnect"] ~= nil then
      present[serial] = true
      records[serial] = records[serial] or {
        name = props["node.name"] or "scsynth",
        links = {}, adopted = {}, attached = {}, waiting = {}, failed = {},
      }
      scan_node(node, records[serial], foreign)
    end
  end
  for serial in pairs(records) do
    if not present[serial] then
      records[serial] = nil
    end
  end
end

-- Makes links anew that are left behind while others of their node play.
local function look_at_states()
  local states = {}
  for link in links_om:iterate() do
    states[ids_of(link)] = link.state
  end
  for _, record in pairs(records) do
    for _, direction in ipairs { "out", "in" } do
      local own = {}
      for key, link in pairs(record.links) do
        if link.direction == direction and link.state == "bound" then
          own[key] = states[link.ids]
        end
      end
      for _, key in ipairs(policy.stuck(own, record.failed)) do
        local link = record.links[key]
        Log.info("scsynth: the link of " .. record.name .. ":" .. link.pair.own.name .. " doesn't play; it is made anew")
        record.failed[key] = (record.failed[key] or 0) + 1
        link.state = "dropping"
        destroy_link(link)
      end
    end
  end
end

local function schedule_look()
  if not look_pending then
    look_pending = true
    Core.timeout_add(SETTLING_MS, function()
      look_pending = false
      look_at_states()
    end)
  end
end

-- However many events come at once, one scan follows when the server has sent the last of them.
schedule_scan = function()
  if not ready or scan_pending then
    return
  end
  scan_pending = true
  Core.sync(function()
    scan_pending = false
    scan()
  end)
end

nodes_om:connect("object-added", function(_, node)
  node:connect("ports-changed", schedule_scan)
  if policy.is_left_to_us(node.properties) then
    node:connect("notify::properties", schedule_scan)
  end
  schedule_scan()
end)
nodes_om:connect("object-removed", schedule_scan)
nodes_om:connect("installed", function()
  ready = true
  schedule_scan()
end)

links_om:connect("object-added", function(_, added)
  local _, link = find_own(ids_of(added))
  if link and link.state == "dropping" then  -- before it was here
    added:request_destroy()
  end
  added:connect("state-changed", schedule_look)
  schedule_look()
  schedule_scan()
end)
-- Nor is that proxy told from 0.5.16 on that its link went away.
links_om:connect("object-removed", function(_, gone)
  local record, link = find_own(ids_of(gone))
  if link and link.state ~= "pending" then
    on_destroyed(record, link)
  end
  schedule_scan()
end)

metadata_om:connect("object-added", function(_, metadata)
  metadata:connect("changed", function(_, subject, key, _, value)
    -- Asking for the links again takes back the removals remembered for that node.
    if key == "scsynth.autoconnect" and policy.is_true(value) then
      local node = nodes_om:lookup { Constraint { "bound-id", "=", subject, type = "gobject" } }
      if node and node.properties["node.name"] then
        remember(node.properties["node.name"], {})
      end
    end
    schedule_scan()
  end)
  schedule_scan()
end)

default_nodes:connect("changed", schedule_scan)

links_om:activate()
metadata_om:activate()
nodes_om:activate()
