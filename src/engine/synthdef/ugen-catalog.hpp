// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace scs {

/// An installed UGen.
struct UgenInfo {
    std::string name;
    size_t unit_bytes = 0;   ///< its state and what it writes after it, without the tables of its inputs and outputs
    bool cant_alias = false; ///< an output may not share the buffer of an input
    void* entry = nullptr;   ///< for the code that runs it; unused in this folder
};

/// The UGens that are installed.
class UgenCatalog {
public:
    virtual ~UgenCatalog() = default;
    /// [any] The UGen of this name, or null. The answer outlives every Program compiled with it.
    virtual const UgenInfo* find(std::string_view name) const = 0;
    /// [worker] What to tell somebody whose SynthDef has a UGen that find() doesn't find, as a sentence without its
    /// full stop. Empty: nothing.
    virtual std::string advice(std::string_view) const { return {}; }
};

} // namespace scs
