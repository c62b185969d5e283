// SPDX-License-Identifier: GPL-3.0-or-later
// libFuzzer target: reader, validator and compiler over arbitrary bytes, with every UGen installed.
#include "engine/synthdef/own-rate.hpp"
#include "engine/synthdef/program.hpp"
#include "engine/synthdef/reader.hpp"

#include <cstdint>
#include <cstdlib>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    constexpr int block = 64;
    static const scs::UgenInfo any{"any", 128, false, nullptr};
    static const scs::UgenInfo any_no_alias{"any", 128, true, nullptr};
    class Catalog : public scs::UgenCatalog {
        const scs::UgenInfo* find(std::string_view name) const override {
            return name.size() % 2 == 0 ? &any : &any_no_alias;
        }
    };
    auto read = scs::read_synthdefs(std::as_bytes(std::span(data, size)));
    if (!read) {
        if (read.error().empty())
            std::abort();
        return 0;
    }
    for (const scs::SynthDef& def : read.value()) {
        auto program = scs::compile(def, Catalog(), block, 64);
        if (!program && program.error().empty())
            std::abort();
        if (!program)
            continue;
        const auto rate = scs::granted_rate(def.own_rate, program.value()->controls, block).rate;
        if (rate.frames < 1 || rate.frames > program.value()->most_frames || block * rate.factor % rate.frames != 0)
            std::abort();
        for (const scs::ControlName& control : def.control_names)
            if (!program.value()->find_control(control.name))
                std::abort();
    }
    return 0;
}
