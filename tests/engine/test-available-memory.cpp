// SPDX-License-Identifier: GPL-3.0-or-later
// What may be allocated on a machine that has 300 MiB left.
#include "engine/base/available-memory.hpp"
#include "engine/definitions/definitions.hpp"
#include "engine/engine.hpp"
#include "engine/rt/pool.hpp"

#include <cstdio>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <string_view>
#include <vector>

using namespace scs;

namespace {

/// Opens a file by the C library's function `name`, but for the one in which the kernel tells of the memory.
FILE* open_file(const char* path, const char* mode, const char* name) {
    if (std::string_view(path) == "/proc/meminfo") {
        FILE* file = std::tmpfile();
        std::fputs("MemTotal: 99999999 kB\nMemAvailable: 307200 kB\nBuffers: 1 kB\n", file);
        std::rewind(file);
        return file;
    }
    return reinterpret_cast<FILE* (*)(const char*, const char*)>(::dlsym(RTLD_NEXT, name))(path, mode);
}

} // namespace

// libstdc++ opens files by the one or the other. Where files have 64-bit sizes, the header calls fopen64 by both names.
#pragma GCC visibility push(default)
extern "C" FILE* fopen64(const char* path, const char* mode) {
    return open_file(path, mode, "fopen64");
}
extern "C" FILE* plain_fopen(const char* path, const char* mode) __asm__("fopen");
FILE* plain_fopen(const char* path, const char* mode) {
    return open_file(path, mode, "fopen");
}
#pragma GCC visibility pop

TEST_CASE("256 MiB are left for everybody else") {
    CHECK(leaves_memory(44 << 20));
    CHECK_FALSE(leaves_memory((44 << 20) + 1));
}

TEST_CASE("an engine takes no more real-time memory than there is") {
    Settings settings;
    settings.rt_memory_kib = 45 << 10;
    const auto report = [](const std::string&) {};
    auto engine = Engine::create(settings, report);
    REQUIRE_FALSE(engine);
    CHECK(engine.error() ==
          "not enough memory for what the settings ask for: 45 MiB, of which scsynth.rt-memory are 45");
    settings.rt_memory_kib = 8192;
    CHECK(Engine::create(settings, report));
    settings.audio_buses = 1 << 18;
    engine = Engine::create(settings, report);
    REQUIRE_FALSE(engine);
    CHECK(engine.error() ==
          "not enough memory for what the settings ask for: 73 MiB, of which scsynth.rt-memory are 8");
}

TEST_CASE("real-time memory that isn't there any more isn't used") {
    auto pool = Pool::create(size_t(1) << 30);
    REQUIRE(pool);
    pool.value()->keep_ahead(spare_memory());                    // 44 MiB
    CHECK(pool.value()->allocate(size_t(100) << 20) != nullptr); // 72 are there, and 44
    CHECK(pool.value()->allocate(size_t(100) << 20) == nullptr);
}

TEST_CASE("a small engine's real-time memory is all there from its start") {
    Settings settings;
    settings.rt_memory_kib = 8192;
    auto engine = Engine::create(settings, [](const std::string&) {});
    REQUIRE(engine);
    CHECK_FALSE(engine.value()->memory_grows()); // all of it is there
}

TEST_CASE("a SynthDef file that might take more than there is isn't read") {
    const auto errors_of = [](size_t bytes) {
        std::vector<std::string> errors;
        CHECK(load_definitions(std::vector<std::byte>(bytes), Settings(), errors).empty());
        return errors;
    };
    const std::string refused = "not enough memory for SynthDefs of 2 MiB";
    CHECK(errors_of(2 << 20) == std::vector<std::string>{refused});
    REQUIRE(errors_of(1 << 20).size() == 1); // it is no SynthDef either
    CHECK(errors_of(1 << 20)[0].find("memory") == std::string::npos);
}
