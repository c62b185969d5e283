// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/reader.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace scs::status {

using top::Value;

struct Control {
    std::string name; ///< empty: it has none, as the further ones of an array
    Value value;      ///< a text: the bus that it is mapped to
};

struct Node {
    int32_t id = 0, parent = 0; ///< parent -1: none
    bool is_group = false;
    bool runs = true;      ///< false: it is paused by itself
    bool parallel = false; ///< of a group
    std::string synthdef;
    std::vector<Control> controls;
};

struct SynthDef {
    std::string name;
    int synths = 0, units = 0;
    bool native = false;
    std::vector<Control> controls; ///< with what they begin with
};

struct Buffer {
    int32_t number = 0;
    int frames = 0, channels = 0;
    double rate = 0;      ///< Hz; may be NaN
    bool streams = false; ///< a file is open for DiskIn or DiskOut
};

struct Binding {
    int32_t id = 0;
    std::vector<Value> words; ///< the command, then its arguments but for the ID
};

/// What a server has, as docs/commands.md describes it.
struct Contents {
    std::map<std::string, Value> figures; ///< of /server_info
    bool whole = true;                    ///< false: nodes went so fast that some are missing
    std::vector<Node> nodes;              ///< in the order of the tree
    std::vector<SynthDef> synthdefs;      ///< by name
    std::vector<Buffer> buffers;
    std::vector<Binding> bindings;
};

/// What PipeWire knows of it.
struct Surroundings {
    struct Device {
        bool is_sink = false;
        std::string name, description, channels;
    };

    bool known = false; ///< PipeWire has the server's node
    std::string node;   ///< its name
    std::string driver; ///< what the driver is called
    std::vector<Device> devices;
};

} // namespace scs::status
