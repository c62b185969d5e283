// SPDX-License-Identifier: GPL-3.0-or-later
// libFuzzer target: what is read of plugin files, and of what is known of them, over arbitrary bytes.
#include "engine/packs/elf-file.hpp"
#include "engine/packs/verdicts.hpp"

#include <cstdint>
#include <cstdlib>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    scs::read_elf(std::as_bytes(std::span(data, size)));
    const scs::Verdicts read = scs::Verdicts::parse({reinterpret_cast<const char*>(data), size});
    if (scs::Verdicts::parse(read.text()).all() != read.all())
        std::abort();
    return 0;
}
