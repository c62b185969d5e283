// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/rate.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace scs {

/// Where a unit's input comes from.
struct InputRef {
    int32_t unit = -1;  ///< index of the unit that computes the signal; -1: a constant
    uint32_t index = 0; ///< which output of that unit, or which constant

    bool is_constant() const { return unit < 0; }
    bool operator==(const InputRef&) const = default;
};

/// One unit generator of a definition.
struct UnitSpec {
    std::string name; ///< of the UGen, e.g. "SinOsc"
    Rate rate = Rate::scalar;
    int16_t special_index = 0; ///< the operator of a BinaryOpUGen, the first control of a Control
    std::vector<InputRef> inputs;
    std::vector<Rate> outputs; ///< the rate of each output

    bool operator==(const UnitSpec&) const = default;
};

/// A control that can be addressed by name.
struct ControlName {
    std::string name;
    uint32_t index = 0; ///< of its first value in SynthDef::controls

    bool operator==(const ControlName&) const = default;
};

/// A named set of initial control values, one for each control.
struct Variant {
    std::string name; ///< as the file has it: "definition.variant"
    std::vector<float> values;
};

/// The blocks and the sample rate that a definition asks for, from version 3 of the format on. A negative number says
/// that the control of this index has it when a synth is made.
struct OwnRate {
    int32_t block_size = 0; ///< frames; 0: the server's
    int32_t block_size_control = -1;
    float resample = 0; ///< samples for each of the server's; 0: one
    int32_t resample_control = -1;

    bool operator==(const OwnRate&) const = default;
};

/// One synth definition as read from an SCgf file, not yet validated.
struct SynthDef {
    std::string name;
    std::vector<float> constants;
    std::vector<float> controls; ///< initial values
    std::vector<ControlName> control_names;
    std::vector<UnitSpec> units;
    std::vector<Variant> variants;
    OwnRate own_rate;
    size_t begin = 0, end = 0; ///< its bytes in the file
};

} // namespace scs
