-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- Auto-connection for WirePlumber 0.4 and 0.5: watches nodes, links, metadata and the default nodes, lets
-- scripts/lib/scsynth-devices.lua and scsynth-policy.lua decide, and makes or destroys its own links. The links have no
-- object.linger, so they vanish with WirePlumber, and are not passive, so they keep a sink awake: as long as the node
-- isn't idle.

-- An error in a script's first run ends WirePlumber. So where something is missing, this one does nothing.
local modules, lacking = {}, nil
for _, name in ipairs { "policy", "devices", "graph", "streams", "keyboards" } do
  local loaded, module = pcall(require, "scsynth-" .. name)
  modules[name] = loaded and module
  lacking = lacking or (not loaded and tostring(module)) or nil
end
local policy, devices, Graph, streams = modules.policy, modules.devices, modules.graph, modules.streams
local default_nodes = Plugin.find("default-nodes-api")
lacking = lacking or (not default_nodes and "default-nodes-api is missing") or nil
if lacking then
  Log.warning("scsynth: no auto-connection: " .. lacking)
  return
end

local REMOVAL_DELAY_MS = 500
local SETTLING_MS = 1000  -- from a change of a link's state until all links of a node should have followed
local LACKING_MS = 300  -- as long a default device may lack among the nodes; each further time twice as long
local MOST_LOOKS = 6  -- for it, until another one is the default
local NOTICE_DELAY_MS = 1000  -- devices may come a little later than a node

local state = State("scsynth-autoconnect")
local remembered = state:load()  -- node.name -> encoded port names
local records = {}               -- object.serial of each node that we link -> what we know of it
local keeper                     -- of WirePlumber from streams that are ours to link
local ready = false
local scan_pending = false
local look_pending = false
local default_pending = false
local looks_for_default = 0
local coming_nodes  -- an object manager that isn't installed yet
local schedule_scan, look_for_default

-- Modules have no access to it in 0.4; SimpleEventHook and EventInterest are 0.5's.
local api = {
  Constraint = Constraint, Core = Core, EventInterest = EventInterest, Feature = Feature, Id = Id, Interest = Interest,
  Link = Link, Log = Log, ObjectManager = ObjectManager, Plugin = Plugin, Pod = Pod, SessionItem = SessionItem,
  SimpleEventHook = SimpleEventHook, default_nodes = default_nodes,
}
local graph = Graph.new(api)
local link_keyboards = modules.keyboards.linker(api, graph)

local function remember(record)
  if not record.life then
    return
  end
  remembered[record.name] = policy.encode_manual(record.manual, record.life)
  local saved, err = state:save(remembered)
  if not saved then
    Log.warning("scsynth: " .. err)
  end
end

-- Has the node do something with a text: "scsynth.notice" shows it as the server's own, "scsynth.unheard" is what it
-- says when nobody hears it.
local function tell(record, key, text)
  for node in graph.nodes:iterate() do
    if graph.serial_of(node) == record.serial then
      node:set_param("Props", Pod.Object {
        "Spa:Pod:Object:Param:Props", "Props", params = Pod.Struct { key, text }
      })
    end
  end
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

-- Links that are not ours, by the id of each port they touch, as policy.sort_foreign() wants them.
local function foreign_links()
  local ours, foreign, is_device, is_monitor = {}, {}, {}, {}
  for _, record in pairs(records) do
    for _, link in pairs(record.links) do
      ours[link.ids] = true
    end
  end
  for node in graph.nodes:iterate() do
    local class = node.properties["media.class"]
    is_device[node["bound-id"]] = policy.is_device(class)
    for _, port in ipairs(policy.has_monitors(class) and graph.read_ports(node) or {}) do
      is_monitor[port.id] = port.monitor
    end
  end
  local function add(link, own, other, node)
    foreign[own] = foreign[own] or {}
    table.insert(foreign[own], {
      ids = graph.ids_of(link), own = own, other = other,
      device = is_device[tonumber(node)] and not is_monitor[other],
    })
  end
  for link in graph.links:iterate() do
    local props = link.properties
    local out, inp = tonumber(props["link.output.port"]), tonumber(props["link.input.port"])
    if out and inp and not ours[graph.ids_of(link)] then
      add(link, out, inp, props["link.input.node"])
      add(link, inp, out, props["link.output.node"])
    end
  end
  return foreign
end

-- Where the user removed a link of ours and made one to another device, that device may go. Then ours take its place.
local function follow_choice(record, port, chosen)
  local name = port.name
  local gone = not chosen and record.manual[name] and record.chosen[name]
  record.chosen[name] = chosen and graph.port_serial(chosen) or nil
  if gone then
    Core.timeout_add(REMOVAL_DELAY_MS, function()
      if not record.chosen[name] and not graph.port_exists(gone) then
        record.manual[name] = nil
        remember(record)
        schedule_scan()
      end
    end)
  end
end

-- The foreign links at a node's ports.
local function sort_foreign(record, ports, all)
  local links, standing = {}, {}
  for _, port in ipairs(ports) do
    for _, link in ipairs(all[port.id] or {}) do
      links[#links + 1] = link
    end
  end
  for _, link in pairs(record.links) do
    standing[link.pair.own.id] = true
  end
  local chosen
  record.foreign, record.taken, record.beside, chosen = policy.sort_foreign(links, standing, record.beside)
  for _, port in ipairs(ports) do
    follow_choice(record, port, chosen[port.id])
  end
end

-- A link of ours went away, and we did not do it. If its ports are still there a moment later, it
-- was the user. When a node or a profile vanishes, links go first, but the ports follow at once.
local function on_lost(record, link)
  record.waiting[link.key] = true
  Core.timeout_add(REMOVAL_DELAY_MS, function()
    record.waiting[link.key] = nil
    if graph.port_exists(link.pair.own.serial) and graph.port_exists(link.pair.device.serial) then
      Log.info("scsynth: " .. record.name .. ":" .. link.pair.own.name .. " is the user's now")
      record.manual[link.pair.own.name] = true
      remember(record)
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
      record.attached[direction] = peer.serial
      schedule_scan()
    end
  end)
end

-- From 0.5.16 on the proxy of a link that WirePlumber made itself can't destroy it, but the object manager's can.
local function destroy_link(link)
  for found in graph.links:iterate() do
    if graph.ids_of(found) == link.ids then
      found:request_destroy()
      return
    end
  end
  link.proxy:request_destroy()
end

local function apply(record, direction, node_id, peer, wanted)
  local links = {}
  for key, link in pairs(record.links) do
    if link.direction == direction then
      links[key] = link.state
    end
  end
  local create, drop = policy.plan(wanted, {
    links = links,
    foreign = record.foreign,
    taken = record.taken,
    manual = record.manual,
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

-- Says what has been so for a while, once.
local function notice(record, texts)
  local now = {}
  for _, text in ipairs(texts) do
    now[text] = record.notices[text] or "waiting"
    if not record.notices[text] then
      Core.timeout_add(NOTICE_DELAY_MS, function()
        if record.notices[text] == "waiting" then
          record.notices[text] = "said"
          Log.warning("scsynth: " .. record.name .. ": " .. text)
          tell(record, "scsynth.notice", text)
        end
      end)
    end
  end
  record.notices = now
end

-- Links one direction of a node. Returns what to say of it, and what policy.why_unheard() wants to know.
local function scan_direction(record, direction, id, props, own, targets)
  local wishes = devices.wishes(direction, props, targets)
  for _, wish in ipairs(wishes) do
    wish.found = graph.find_wished(wish, direction, id)
  end
  local action, peer, missing, strict = devices.choose(direction, {
    wishes = wishes,
    default = graph.read_peer(graph.find_default(direction)),
    attached = record.attached[direction],
    dont_reconnect = policy.is_true(props["node.dont-reconnect"]),
    strict = policy.is_true(props["scsynth.strict-device"]),
  })
  local channels, failed, texts = peer and devices.ports(peer, direction) or {}, false, {}
  if action == "none" then
    apply(record, direction, id, nil, {})
  elseif #channels > 0 then  -- else "keep", or a peer whose ports are still to come
    local positions, key = devices.positions(direction, props)
    local selected, lacking = devices.select(channels, positions)
    local wanted = devices.route(own, selected)
    apply(record, direction, id, peer, wanted)
    failed = policy.has_failed(wanted, record.failed)
    texts[1] = devices.lacking_notice(key, positions, lacking, peer)
  end
  if #own > 0 then
    table.insert(texts, devices.missing_notice(direction, missing, action, peer))
  end
  return texts, {
    action = action, missing = missing, strict = strict, title = peer and peer.title, channels = #channels,
    failed = failed,
  }
end

local function scan_node(node, record, all_foreign)
  local id, props = node["bound-id"], node.properties
  -- A node can't remove itself, and nobody else may be there to do it.
  if policy.has_quit(props) then
    node:request_destroy()
    return
  end
  local ports, view = graph.read_ports(node), {}
  sort_foreign(record, ports, all_foreign)
  view.managed = policy.is_managed(props, graph.find_metadata(id, "scsynth.autoconnect"))
  if not view.managed or policy.is_idle(props) then
    apply(record, "out", id, nil, {})
    apply(record, "in", id, nil, {})
    if not view.managed then
      -- Switched on again, it starts anew.
      record.beside, record.attached, record.failed = {}, {}, {}
    end
  else
    local texts, targets = {}, graph.find_targets(id)
    for _, direction in ipairs { "in", "out" } do
      local own = devices.own_ports(ports, direction)
      local said, found = scan_direction(record, direction, id, props, own, targets)
      table.move(said, 1, #said, #texts + 1, texts)
      view = found
    end
    view.managed = true
    notice(record, texts)
  end
  local why = policy.is_true(props["scsynth.unheard"]) and policy.why_unheard(view) or nil
  if why and why ~= record.why then
    tell(record, "scsynth.unheard", why)
  end
  record.why = why
end

-- Links a stream of another program that asks for a node of ours, and lets go of one that no longer does.
local function scan_stream(node, record, own, direction)
  local peer, wanted = graph.read_peer(node), {}
  record.foreign, record.taken = {}, {}
  if own then
    keeper.hold(node)
    local ports = devices.ports(peer, direction)
    if direction == "out" then
      ports = devices.select_recorded(ports, devices.layout(own.properties))
    end
    wanted = devices.route(devices.own_ports(graph.read_ports(own), direction), ports)
  end
  for _, each in ipairs { "out", "in" } do
    apply(record, each, own and own["bound-id"], peer, each == direction and wanted or {})
  end
  -- WirePlumber may give it other ports, for which it must not be running.
  if own then
    record.asks = true
  elseif record.asks and not next(record.links) then
    record.asks = false
    keeper.release(peer.id, false)
  end
end

-- The node of ours that a stream asks for, and the direction in which that serves it.
local function find_own_target(stream)
  local direction = policy.stream_direction(stream.properties)
  if direction then
    local target, by_id = policy.stream_target(stream.properties, graph.find_targets(stream["bound-id"]))
    for node in graph.nodes:iterate() do
      local props = node.properties
      if props["scsynth.autoconnect"] ~= nil and policy.is_left_to_us(props) and policy.is_target(
          { id = node["bound-id"], serial = graph.serial_of(node), name = props["node.name"] }, target, by_id) then
        return node, direction
      end
    end
  end
  return nil, direction
end

-- Removals by the user count as long as the node lives, also when WirePlumber restarts.
local function new_record(node, serial, is_server)
  local record = {
    name = node.properties["node.name"] or "scsynth", id = node["bound-id"], serial = serial,
    is_server = is_server,
    links = {}, beside = {}, attached = {}, waiting = {}, failed = {}, manual = {}, chosen = {}, notices = {},
  }
  if is_server then
    record.life = Core.get_info()["cookie"] .. ":" .. serial
    record.manual = policy.decode_manual(remembered[record.name], record.life)
    if remembered[record.name] and not next(record.manual) then
      remember(record)
    end
    keeper.add()
  end
  return record
end

local function scan()
  local foreign, present = foreign_links(), {}
  for node in graph.nodes:iterate() do
    local props = node.properties
    local serial = graph.serial_of(node)
    local own, direction = find_own_target(node)
    local is_server = props["scsynth.autoconnect"] ~= nil
    if records[serial] or own or is_server then
      present[serial] = true
      records[serial] = records[serial] or new_record(node, serial, is_server)
      if records[serial].is_server then
        scan_node(node, records[serial], foreign)
      else
        scan_stream(node, records[serial], own, direction)
      end
    end
  end
  for serial, record in pairs(records) do
    if not present[serial] then
      records[serial] = nil
      if record.is_server then
        keeper.remove()
      else
        keeper.release(record.id, true)
      end
    end
  end
  link_keyboards()
  look_for_default()
end

-- Makes links anew that are left behind while others of their node play.
local function look_at_states()
  local states = {}
  for link in graph.links:iterate() do
    states[graph.ids_of(link)] = link.state
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
        Log.info("scsynth: the link of " .. record.name .. ":" .. link.pair.own.name ..
            " doesn't play; it is made anew")
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

local function watch_nodes()
  local nodes = graph.make_nodes()
  nodes:connect("object-added", function(_, node)
    node:connect("ports-changed", schedule_scan)
    if policy.is_left_to_us(node.properties) then
      node:connect("notify::properties", schedule_scan)
    end
    schedule_scan()
  end)
  nodes:connect("object-removed", schedule_scan)
  -- `nodes` in here would keep the object manager for ever.
  nodes:connect("installed", function(installed)
    graph.nodes = installed
    ready = true
    schedule_scan()
  end)
  graph.nodes = graph.nodes or nodes
  coming_nodes = nodes
  nodes:activate()
end

-- An object manager of 0.4 leaves a device out for good whose format can't be set at that moment, because another
-- program's link keeps it running while WirePlumber restarts. A new one has it.
look_for_default = function()
  if not graph.lacks_default() then
    looks_for_default = 0
  elseif not default_pending and looks_for_default < MOST_LOOKS then
    default_pending = true
    Core.timeout_add(LACKING_MS << looks_for_default, function()
      default_pending = false
      looks_for_default = looks_for_default + 1
      if graph.lacks_default() then
        watch_nodes()
      end
    end)
  end
end

graph.links:connect("object-added", function(_, added)
  local _, link = find_own(graph.ids_of(added))
  if link and link.state == "dropping" then  -- before it was here
    added:request_destroy()
  end
  added:connect("state-changed", schedule_look)
  schedule_look()
  schedule_scan()
end)
-- Nor is that proxy told from 0.5.16 on that its link went away.
graph.links:connect("object-removed", function(_, gone)
  local record, link = find_own(graph.ids_of(gone))
  if link and link.state ~= "pending" then
    on_destroyed(record, link)
  end
  schedule_scan()
end)

graph.metadata:connect("object-added", function(_, metadata)
  metadata:connect("changed", function(_, subject, key, _, value)
    -- Asking for the links again takes back the removals remembered for that node.
    if key == "scsynth.autoconnect" and policy.is_true(value) then
      local node = graph.find_by_id(subject)
      local record = node and records[graph.serial_of(node)]
      if record then
        record.manual = {}
        remember(record)
      end
    end
    schedule_scan()
  end)
  schedule_scan()
end)

default_nodes:connect("changed", function()
  looks_for_default = 0
  schedule_scan()
end)
graph.cards:connect("object-added", schedule_scan)

keeper = streams.keeper(api, function(stream)
  local own, direction = find_own_target(stream)
  return own and #devices.own_ports(graph.read_ports(own), direction) or nil
end)

graph.links:activate()
graph.cards:activate()
graph.metadata:activate()
watch_nodes()
