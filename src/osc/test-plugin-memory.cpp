// SPDX-License-Identifier: GPL-3.0-or-later
// Real-time memory that plugins take on one thread and free on another.
#include "engine/base/test-sanitized.hpp"
#include "engine/plugins/interface-table.hpp"
#include "engine/plugins/registry.hpp"
#include "osc/test-rig.hpp"

#include <algorithm>
#include <atomic>
#include <malloc.h>
#include <thread>
#include <vector>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::testing;

namespace {

/// Takes memory beside the data loop and frees it there, and the reverse; every piece is of 1 MiB.
struct Mixed {
    static constexpr size_t piece = size_t{1} << 20;
    std::vector<float*> taken;
    void* small = nullptr;
    float* of_the_loop = nullptr;

    static float* take(::World* world) {
        auto* const memory = static_cast<float*>(interface_table()->fRTAlloc(world, piece));
        if (memory)
            std::fill_n(memory, piece / sizeof(float), 1.f);
        return memory;
    }
    bool take_all(::World* world) {
        for (int i = 0; i < 32; ++i)
            taken.push_back(take(world));
        std::thread([&] {
            for (int i = 0; i < 32; ++i)
                taken.push_back(take(world));
        }).join();
        small = interface_table()->fRTAlloc(world, 64);
        return small && std::ranges::count(taken, nullptr) == 0;
    }
    /// [rt] Whether what it made larger has the old samples.
    bool free_all(::World* world) {
        auto& table = *interface_table();
        auto* const larger = static_cast<float*>(table.fRTRealloc(world, taken[0], 2 * piece));
        const bool right = larger && std::count(larger, larger + piece / sizeof(float), 1.f) == piece / sizeof(float);
        taken[0] = larger;
        for (float* memory : taken)
            table.fRTFree(world, memory);
        table.fRTFree(world, small);
        table.fRTFree(world, small); // a large one may be unmapped by now, which would be the plugin's fault
        alignas(64) float others[64]{};
        table.fRTFree(world, others + 32);
        of_the_loop = static_cast<float*>(table.fRTAlloc(world, 4 * piece));
        return right;
    }
};

} // namespace

TEST_CASE("memory that a plugin takes on one thread is freed on another") {
#if defined(SCS_SANITIZED)
    constexpr bool counts = false; // freed memory stays in a quarantine
    MESSAGE("skipped: how much memory is in use");
#else
    constexpr bool counts = true;
#endif
    Rig rig; // its pool has 8 MiB
    static std::atomic<size_t> most{0}, failures{0};
    const auto used = [] {
        const struct mallinfo2 info = mallinfo2();
        return info.uordblks + info.hblkhd;
    };
    PluginRegistry::instance().define_command(
        "mixed",
        [](::World* world, void*, ::sc_msg_iter*, void* from) {
            interface_table()->fDoAsynchronousCommand(
                world, from, "/mixed", new Mixed,
                [](::World* w, void* data) {
                    failures += !static_cast<Mixed*>(data)->take_all(w);
                    const struct mallinfo2 info = mallinfo2();
                    most = info.uordblks + info.hblkhd;
                    return true;
                },
                [](::World* w, void* data) {
                    failures += !static_cast<Mixed*>(data)->free_all(w);
                    return true;
                },
                [](::World* w, void* data) {
                    failures += !static_cast<Mixed*>(data)->of_the_loop;
                    interface_table()->fRTFree(w, static_cast<Mixed*>(data)->of_the_loop);
                    return true;
                },
                [](::World*, void* data) { delete static_cast<Mixed*>(data); }, 0, nullptr);
        },
        nullptr);
    Client client(rig);
    const size_t before = used();
    for (int i = 0; i < 5; ++i) {
        client.send("/cmd", {"mixed", 0});
        CHECK(client.receive() == "/done /mixed");
        CHECK(failures == 0);
        if (counts) {
            CHECK(most >= before + 60 * Mixed::piece);
            CHECK(wait_until([&] { return used() <= before + 4 * Mixed::piece; }));
        }
    }
}
