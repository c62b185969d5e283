-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- What WirePlumber knows of the graph, as the plain tables that scsynth-devices.lua and scsynth-policy.lua take.
--
-- A module has no access to WirePlumber's API in 0.4: `api` is a table with what is needed of it.

local policy = require("scsynth-policy")
local devices = require("scsynth-devices")

local DEFAULT_CLASS = { out = "Audio/Sink", ["in"] = "Audio/Source" }

local NAMES = { "node.name", "node.nick", "node.description", "device.name", "device.nick", "device.description",
  "alsa.card_name", "alsa.long_card_name", "api.alsa.card.name", "api.alsa.card.longname" }

local Graph = {}

function Graph.new(api)
  local Constraint, Id = api.Constraint, api.Id
  local graph = {
    nodes = nil,  -- the last of make_nodes() that is installed
    links = api.ObjectManager { api.Interest { type = "link" } },
    cards = api.ObjectManager { api.Interest { type = "device" } },
    metadata = api.ObjectManager {
      api.Interest { type = "metadata", Constraint { "metadata.name", "=", "default" } }
    },
  }

  function graph.make_nodes()
    return api.ObjectManager { api.Interest { type = "node" } }
  end

  -- As the registry has it. Among its properties, a port of a node that runs in a client shows the number that it has
  -- there, once they arrive: one that other objects may have, too.
  function graph.serial_of(proxy)
    return proxy["global-properties"]["object.serial"]
  end

  function graph.read_ports(node)
    local ports = {}
    for proxy in node:iterate_ports() do
      local props = proxy.properties
      ports[#ports + 1] = {
        id = proxy["bound-id"],
        serial = graph.serial_of(proxy),
        name = props["scsynth.port"] or props["port.name"] or "",  -- of ours, what it is called without port-names
        index = tonumber(props["port.id"]) or 0,
        direction = props["port.direction"],
        dsp = props["format.dsp"],
        monitor = policy.is_true(props["port.monitor"]),
        physical = policy.is_true(props["port.physical"]),
        channel = props["audio.channel"],
      }
    end
    return ports
  end

  function graph.read_peer(node)
    local props = node and node.properties
    return node and {
      id = node["bound-id"],
      serial = graph.serial_of(node),
      name = props["node.name"],
      class = props["media.class"],
      title = props["node.description"] or props["node.nick"] or props["node.name"] or "",
      ports = graph.read_ports(node),
    }
  end

  -- What a device and its card are called, for devices.rank().
  function graph.names_of(node)
    local props = node.properties
    local names = { name = props["node.name"], serial = graph.serial_of(node) }
    local card = props["device.id"] and graph.cards:lookup {
      Constraint { "bound-id", "=", props["device.id"], type = "gobject" }
    }
    for _, key in ipairs(NAMES) do
      names[#names + 1] = props[key]
      names[#names + 1] = card and card.properties[key]
    end
    return names
  end

  function graph.find_by_id(id)
    return graph.nodes:lookup { Constraint { "bound-id", "=", tonumber(id) or Id.INVALID, type = "gobject" } }
  end

  local function default_id(direction)
    local id = api.default_nodes:call("get-default-node", DEFAULT_CLASS[direction])
    return id ~= Id.INVALID and id or nil
  end

  function graph.find_default(direction)
    local id = default_id(direction)
    return id and graph.find_by_id(id) or nil
  end

  -- Whether WirePlumber knows a default device that isn't among the nodes.
  function graph.lacks_default()
    for direction in pairs(DEFAULT_CLASS) do
      if default_id(direction) and not graph.find_default(direction) then
        return true
      end
    end
    return false
  end

  function graph.find_exactly(target)
    local key = tonumber(target) and "object.serial" or "node.name"
    return graph.nodes:lookup { Constraint { key, "=", target, type = "pw-global" } }
  end

  function graph.find_in_part(text, direction)
    local candidates = {}
    for node in graph.nodes:iterate() do
      local props = node.properties
      local rank = devices.rank(text, graph.names_of(node))
      if rank and (rank == 1 or policy.is_device(props["media.class"])) then
        candidates[#candidates + 1] = {
          peer = graph.read_peer(node), rank = rank, priority = tonumber(props["priority.session"]) or 0,
        }
      end
    end
    return devices.best(candidates, direction)
  end

  -- The peer that a wish names, unless it is the node `id` itself.
  function graph.find_wished(wish, direction, id)
    local found
    if wish.in_part then
      found = graph.find_in_part(wish.value, direction)
    else
      local find = wish.by_id and graph.find_by_id or graph.find_exactly
      found = graph.read_peer(find(wish.value))
    end
    return found and found.id ~= id and found or nil
  end

  function graph.find_metadata(id, key)
    local metadata = graph.metadata:lookup()
    return metadata and (metadata:find(id, key)) or nil
  end

  -- What mixers set.
  function graph.find_targets(id)
    return { object = graph.find_metadata(id, "target.object"), node = graph.find_metadata(id, "target.node") }
  end

  function graph.port_exists(serial)
    for node in graph.nodes:iterate() do
      if node:lookup_port { Constraint { "object.serial", "=", serial, type = "pw-global" } } then
        return true
      end
    end
    return false
  end

  -- Nil if there is no such port.
  function graph.port_serial(id)
    for node in graph.nodes:iterate() do
      local port = node:lookup_port { Constraint { "bound-id", "=", id, type = "gobject" } }
      if port then
        return graph.serial_of(port)
      end
    end
  end

  -- The ids of the ports that a link connects: what its ids are in a record, too.
  function graph.ids_of(link)
    local props = link.properties
    return (props["link.output.port"] or "") .. ":" .. (props["link.input.port"] or "")
  end

  return graph
end

return Graph
