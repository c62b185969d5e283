-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- Keyboards for servers that have bindings from the start (scsynth.bindings): each control output of hardware is linked
-- to the server's first control input. WirePlumber itself links no control ports.
--
-- A module has no access to WirePlumber's API in 0.4: `api` is a table with what is needed of it.

local policy = require("scsynth-policy")

local keyboards = {}

local CONTROL = { ["8 bit raw midi"] = true, ["32 bit raw UMP"] = true }

-- Ports as scsynth-graph.lua reads them.
function keyboards.outputs(ports)
  local found = {}
  for _, port in ipairs(ports) do
    if port.direction == "out" and port.physical and CONTROL[port.dsp] then
      found[#found + 1] = port
    end
  end
  return found
end

-- Where keys go, or nil.
function keyboards.input(props, ports)
  for _, port in ipairs((props["scsynth.bindings"] or "") ~= "" and ports or {}) do
    if port.name == "control_1" and CONTROL[port.dsp] then
      return port
    end
  end
end

-- A function that brings the links up to date. A link that the user removes stays away as long as both ports are there,
-- and one that the user made is left alone.
function keyboards.linker(api, graph)
  local MOST_TRIES = 3
  local made = {}   -- serials of both ports -> { ids, proxy }; without a proxy the link is the user's
  local tries = {}  -- the same -> how often linking failed

  local function find_link(ids)
    for found in graph.links:iterate() do
      if graph.ids_of(found) == ids then
        return found
      end
    end
  end

  local function link(key, from, output, to, input)
    local ids = output.id .. ":" .. input.id
    local proxy = not find_link(ids) and api.Link("link-factory", {
      ["link.output.node"] = from["bound-id"], ["link.output.port"] = output.id,
      ["link.input.node"] = to["bound-id"], ["link.input.port"] = input.id,
    }) or nil
    made[key] = { ids = ids, proxy = proxy }
    if proxy then
      proxy:activate(api.Feature.Proxy.BOUND, function(_, err)
        if err then
          api.Log.info("scsynth: cannot link " .. output.name .. " to " .. input.name .. ": " .. err)
          tries[key] = (tries[key] or 0) + 1
          made[key] = nil
        end
      end)
    end
  end

  local function link_all(to, input, wanted)
    for from in graph.nodes:iterate() do
      for _, output in ipairs(keyboards.outputs(graph.read_ports(from))) do
        local key = output.serial .. ":" .. input.serial
        wanted[key] = true
        if not made[key] and (tries[key] or 0) < MOST_TRIES then
          link(key, from, output, to, input)
        end
      end
    end
  end

  -- Whether there is nothing left of it. One that was just made may not be known yet: its arrival asks for the next scan.
  local function unlink(each)
    local found = each.proxy and find_link(each.ids)
    if found then
      found:request_destroy()
    end
    return found or not each.proxy
  end

  return function()
    local wanted, present = {}, {}
    for node in graph.nodes:iterate() do
      local props, ports = node.properties, graph.read_ports(node)
      for _, port in ipairs(ports) do
        present[port.serial] = true
      end
      local input = policy.is_managed(props, graph.find_metadata(node["bound-id"], "scsynth.autoconnect")) and
          keyboards.input(props, ports)
      if input then
        link_all(node, input, wanted)
      end
    end
    for key, each in pairs(made) do
      local output, input = key:match("^(.*):(.*)$")
      if not wanted[key] and (unlink(each) or not (present[output] and present[input])) then
        made[key], tries[key] = nil, nil
      end
    end
  end
end

return keyboards
