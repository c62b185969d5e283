// SPDX-License-Identifier: GPL-3.0-or-later
// Damaged files never crash the reader or the compiler; they are refused with a text. Most useful with sanitizers.
#include "engine/synthdef/program.hpp"
#include "engine/synthdef/reader.hpp"
#include "engine/synthdef/test-support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <random>

using namespace scs;
using test::Bytes;

namespace {

class Mutator {
public:
    explicit Mutator(uint32_t seed) : random_(seed) {}

    Bytes operator()(Bytes bytes) {
        for (size_t edits = 1 + below(3); edits > 0; --edits)
            edit(bytes);
        return bytes;
    }

private:
    size_t below(size_t limit) { return random_() % limit; }

    void edit(Bytes& bytes) {
        if (bytes.empty())
            return;
        const size_t at = below(bytes.size());
        const auto position = bytes.begin() + ptrdiff_t(at);
        switch (below(5)) {
        case 0: *position = static_cast<std::byte>(below(256)); break;
        case 1: *position ^= static_cast<std::byte>(1u << below(8)); break;
        case 2: bytes.resize(at); break;
        case 3: bytes.insert(position, static_cast<std::byte>(below(256))); break;
        default: std::fill_n(position, std::min<size_t>(4, bytes.size() - at), std::byte{0xff}); break;
        }
    }

    std::mt19937 random_;
};

} // namespace

TEST_CASE("20000 damaged files") {
    const test::PermissiveCatalog catalog;
    const std::vector<SynthDef> defs{test::example(), test::example()};
    const Bytes originals[] = {test::write_synthdefs(defs, 1), test::write_synthdefs(defs, 2),
                               test::write_synthdefs(defs, 3, 3)};
    Mutator mutate(1);
    int unread = 0;
    int refused = 0;
    int compiled = 0;
    for (int i = 0; i < 20000; ++i) {
        CAPTURE(i);
        auto read = read_synthdefs(mutate(originals[i % std::size(originals)]));
        if (!read) {
            ++unread;
            REQUIRE_FALSE(read.error().empty());
            continue;
        }
        for (const SynthDef& def : read.value()) {
            auto program = compile(def, catalog, 64, 64);
            if (!program)
                REQUIRE_FALSE(program.error().empty());
            ++(program ? compiled : refused);
        }
    }
    CHECK(unread > 1000);
    CHECK(refused > 1000);
    CHECK(compiled > 1000);
}
