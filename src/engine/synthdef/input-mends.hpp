// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace scs {

struct Program;

/// An input of a plugins' unit that gets a wire of its own, as the unit would make a wrong sound of what is on the
/// input's.
struct InputMend {
    enum class Kind : uint8_t {
        held,     ///< the unit reads a block: it gets one, of the input's single number
        absolute, ///< the input without its sign, once a block
    };
    uint32_t unit = 0;
    uint32_t input = 0;
    Kind kind = Kind::held;
    bool each_block = false; ///< the input changes: it is made anew in each block
};

/// [worker] Those that a program needs, in the order of its units.
std::vector<InputMend> input_mends(const Program&);

} // namespace scs
