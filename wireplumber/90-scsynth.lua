-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- Links nodes that have scsynth.autoconnect = true to the default sink and source.
-- To switch it off for one user, put an empty file of this name into
-- ~/.config/wireplumber/policy.lua.d/ (for the machine: /etc/wireplumber/policy.lua.d/).

load_module("default-nodes-api")
load_script("scsynth-autoconnect.lua")

-- WirePlumber refuses to start over a script that is missing, unless it is optional.
components["scsynth-autoconnect.lua"].optional = true
