// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/registry.hpp"
#include "engine/world/sound-file.hpp"
#include "osc/test-command-bench.hpp"

#include <filesystem>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::test;
namespace fs = std::filesystem;

namespace {

struct Folder {
    fs::path path;
    Folder() {
        std::string name = (fs::temp_directory_path() / "buffers-XXXXXX").string();
        path = mkdtemp(name.data());
    }
    ~Folder() { fs::remove_all(path); }
    std::string operator/(const char* name) const { return (path / name).string(); }
};

/// 10 frames of 2 channels at 22050 Hz: frame / 16, -frame / 16.
void write_stereo(const std::string& path) {
    std::vector<float> samples;
    for (int frame = 0; frame < 10; ++frame)
        samples.insert(samples.end(), {float(frame) / 16, float(-frame) / 16});
    auto file = SoundFile::create(path, sound_file_format("wav", "float").value(), 2, 22050);
    REQUIRE(file);
    REQUIRE(file.value().write(samples.data(), 10));
}

std::string done(const char* name, int buffer = 0) {
    return "[ \"/done\", \"" + std::string(name) + "\", " + std::to_string(buffer) + " ]\n";
}

std::string fail(const char* name, const std::string& text) {
    return "[ \"/fail\", \"" + std::string(name) + "\", \"" + text + "\" ]\n";
}

} // namespace

TEST_CASE("allocating, asking, freeing") {
    CommandBench bench;
    CHECK(bench("/b_alloc", 3, 100, 2) == done("/b_alloc", 3));
    CHECK(bench("/b_query", 3, 0) == "[ \"/b_info\", 3, 100, 2, 48000, 0, 0, 0, 0 ]\n");
    CHECK(bench("/b_alloc", 3, 10) == done("/b_alloc", 3));
    CHECK(bench("/b_alloc", 4, 10, 1, 0, 22050.f) == done("/b_alloc", 4));
    CHECK(bench("/b_query", 3, 4) == "[ \"/b_info\", 3, 10, 1, 48000, 4, 10, 1, 22050 ]\n");
    CHECK(bench("/b_setSampleRate", 4, 8000.f) == "");
    CHECK(bench("/b_query", 4) == "[ \"/b_info\", 4, 10, 1, 8000 ]\n");
    CHECK(bench("/b_free", 3) == done("/b_free", 3));
    CHECK(bench("/b_free", 3) == done("/b_free", 3));
    CHECK(bench("/b_query", 3) == "[ \"/b_info\", 3, 0, 0, 48000 ]\n"); // as in scsynth the rate stays
}

TEST_CASE("a buffer that can't be, changes nothing") {
    CommandBench bench;
    bench("/b_alloc", 0, 5, 1);
    for (auto [frames, channels] : {std::pair{0, 1}, {-1, 1}, {1, 0}, {5, -5}, {-5, -5}})
        CHECK(bench("/b_alloc", 0, frames, channels) ==
              "[ \"/fail\", \"/b_alloc\", \"a buffer needs at least one frame and one channel\", 0 ]\n");
    CHECK(bench("/b_alloc", 0, 2000000000, 4) ==
          "[ \"/fail\", \"/b_alloc\", \"a buffer can't have more than 2147483647 samples\", 0 ]\n");
    CHECK(bench("/b_query", 0) == "[ \"/b_info\", 0, 5, 1, 48000 ]\n");
}

TEST_CASE("every command refuses a number that no buffer has, and names it") {
    CommandBench bench;
    for (int buffer : {8, 99999, -1, INT32_MIN}) {
        const std::string text = "buffer " + std::to_string(buffer) + " is out of range";
        for (const char* name : {"/b_alloc", "/b_free", "/b_zero", "/b_close", "/b_set", "/b_setn", "/b_fill",
                                 "/b_query", "/b_get", "/b_getn", "/b_setSampleRate"})
            CHECK(bench(name, buffer, 1, 1) == fail(name, text));
        for (const char* name : {"/b_allocRead", "/b_read", "/b_write", "/b_allocReadChannel", "/b_readChannel"})
            CHECK(bench(name, buffer, "/nowhere") == fail(name, text));
        CHECK(bench("/b_gen", buffer, "sine1", 1) == fail("/b_gen", text));
    }
    CHECK(bench("/b_query", 0, 8) == fail("/b_query", "buffer 8 is out of range"));
}

TEST_CASE("what works on samples refuses a buffer that isn't allocated, and names it") {
    CommandBench bench;
    const std::string text = "buffer 1 isn't allocated";
    for (const char* name : {"/b_setn", "/b_fill"})
        CHECK(bench(name, 1, 0, 1, 1.f) == fail(name, text));
    for (const char* name : {"/b_set", "/b_get", "/b_getn"}) // scsynth's words: it has no sample with that index
        CHECK(bench(name, 1, 0, 1) == fail(name, "index out of range"));
    const auto fail_with_number = [&](const char* name) {
        return "[ \"/fail\", \"" + std::string(name) + "\", \"" + text + "\", 1 ]\n";
    };
    CHECK(bench("/b_zero", 1) == fail_with_number("/b_zero"));
    for (const char* name : {"/b_read", "/b_write", "/b_readChannel"})
        CHECK(bench(name, 1, "/nowhere") == fail_with_number(name));
    CHECK(bench("/b_gen", 1, "copy", 0, 0, 0, 1) == fail_with_number("/b_gen"));
    for (const char* name : {"/b_free", "/b_close"})
        CHECK(bench(name, 1) == done(name, 1)); // there is nothing left to do
    CHECK(bench("/b_free").find("/fail") != std::string::npos);
}

TEST_CASE("samples are set and read") {
    CommandBench bench;
    bench("/b_alloc", 0, 4, 2);
    CHECK(bench("/b_set", 0, 1, 0.5f, 7, 2) == "");
    CHECK(bench("/b_get", 0, 1, 7) == "[ \"/b_set\", 0, 1, 0.5, 7, 2 ]\n");
    CHECK(bench("/b_set", 0, 8, 1.f) == fail("/b_set", "index out of range"));
    CHECK(bench("/b_get", 0, 8) == fail("/b_get", "index out of range"));
    CHECK(bench("/b_setn", 0, -1, 3, 9.f, 1.f, 2.f, 6, 4, 3.f, 4.f, 9.f, 9.f) == "");
    CHECK(bench("/b_getn", 0, 0, 8) == "[ \"/b_setn\", 0, 0, 8, 1, 2, 0, 0, 0, 0, 3, 4 ]\n");
    CHECK(bench("/b_fill", 0, 2, 2, 5.f, 7, 100, 6.f, -9, 3, 1.f) == "");
    CHECK(bench("/b_getn", 0, 1, 4, 7, 1) == "[ \"/b_setn\", 0, 1, 4, 2, 5, 5, 0, 7, 1, 6 ]\n");
    CHECK(bench("/b_getn", 0, 7, 2) == fail("/b_getn", "index out of range"));
    CHECK(bench("/b_getn", 0, 0, 1000000) == fail("/b_getn", "buffer overflow"));
    CHECK(bench("/b_zero", 0) == done("/b_zero"));
    CHECK(bench("/b_getn", 0, 0, 8) == "[ \"/b_setn\", 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0 ]\n");
}

TEST_CASE("a long fill is done by the worker") {
    CommandBench bench;
    bench("/b_alloc", 0, 1000000, 1);
    CHECK(bench("/b_fill", 0, 10, 999999, 0.5f) == "");
    CHECK(bench("/b_get", 0, 9, 10, 999999) == "[ \"/b_set\", 0, 9, 0, 10, 0.5, 999999, 0.5 ]\n");
}

TEST_CASE("generators") {
    CommandBench bench;
    bench("/b_alloc", 0, 4, 1);
    CHECK(bench("/b_gen", 0, "nosuch", 1) == fail("/b_gen", "buf gen routine not found"));
    bench("/b_set", 0, 1, 0.25f);
    CHECK(bench("/b_gen", 0, "normalize", 2.f) == done("/b_gen"));
    CHECK(bench("/b_get", 0, 1) == "[ \"/b_set\", 0, 1, 2 ]\n");
    bench("/b_alloc", 1, 4, 1);
    CHECK(bench("/b_gen", 1, "copy", 2, 0, 1, 1) == done("/b_gen", 1));
    CHECK(bench("/b_getn", 1, 0, 4) == "[ \"/b_setn\", 1, 0, 4, 0, 0, 2, 0 ]\n");
}

void crash(::World*, ::SndBuf* buffer, ::sc_msg_iter*) {
    buffer->data[0] = 0.5f;
    buffer->data = nullptr;
    throw 1;
}

TEST_CASE("a generator that crashes fails, and its buffer stays") {
    CommandBench bench;
    PluginRegistry::instance().define_buf_gen("crash", crash);
    bench("/b_alloc", 0, 4, 1);
    CHECK(bench("/b_gen", 0, "crash") == fail("/b_gen", "buf gen routine 'crash' crashed"));
    CHECK(bench("/b_getn", 0, 0, 2) == "[ \"/b_setn\", 0, 0, 2, 0.5, 0 ]\n");
    CHECK(bench("/b_gen", 0, "normalize", 2.f) == done("/b_gen"));
    CHECK(bench("/b_get", 0, 0) == "[ \"/b_set\", 0, 0, 2 ]\n");
}

TEST_CASE("the completion message answers first, and not at all after a failure") {
    CommandBench bench;
    const auto query = CommandBench::message("/b_query", {0});
    const std::span<const std::byte> blob(query);
    CHECK(bench("/b_alloc", 0, 7, 1, blob) == "[ \"/b_info\", 0, 7, 1, 48000 ]\n" + done("/b_alloc"));
    CHECK(bench("/b_alloc", 0, 8, 1, blob, 8000.f) == "[ \"/b_info\", 0, 8, 1, 8000 ]\n" + done("/b_alloc"));
    CHECK(bench("/b_zero", 0, blob) == "[ \"/b_info\", 0, 8, 1, 8000 ]\n" + done("/b_zero"));
    CHECK(bench("/b_alloc", 0, -1, 1, blob).starts_with("[ \"/fail\", \"/b_alloc\""));
}

TEST_CASE("files are read") {
    Folder folder;
    CommandBench bench;
    write_stereo(folder / "a.wav");
    const std::string path = folder / "a.wav";
    CHECK(bench("/b_allocRead", 0, path, 8) == done("/b_allocRead"));
    CHECK(bench("/b_query", 0) == "[ \"/b_info\", 0, 2, 2, 22050 ]\n");
    CHECK(bench("/b_getn", 0, 0, 4) == "[ \"/b_setn\", 0, 0, 4, 0.5, -0.5, 0.5625, -0.5625 ]\n");
    CHECK(bench("/b_allocReadChannel", 0, path, 4, 2, 1, -1, 0) == done("/b_allocReadChannel"));
    CHECK(bench("/b_query", 0) == "[ \"/b_info\", 0, 2, 3, 22050 ]\n");
    CHECK(bench("/b_getn", 0, 0, 3) == "[ \"/b_setn\", 0, 0, 3, -0.25, 0, 0.25 ]\n");

    bench("/b_alloc", 1, 4, 2);
    CHECK(bench("/b_read", 1, path, 8, -1, 1) == done("/b_read", 1));
    CHECK(bench("/b_query", 1) == "[ \"/b_info\", 1, 4, 2, 22050 ]\n");
    CHECK(bench("/b_getn", 1, 0, 8) == "[ \"/b_setn\", 1, 0, 8, 0, 0, 0.5, -0.5, 0.5625, -0.5625, 0, 0 ]\n");
    CHECK(bench("/b_read", 1, path, 0, -1, 3) == done("/b_read", 1));
    CHECK(bench("/b_readChannel", 1, path, 8, 1, 3, 0, 1, 0) == done("/b_readChannel", 1));
    CHECK(bench("/b_getn", 1, 6, 2) == "[ \"/b_setn\", 1, 6, 2, -0.5, 0.5 ]\n");
}

TEST_CASE("files that can't be read") {
    Folder folder;
    CommandBench bench;
    write_stereo(folder / "a.wav");
    const std::string path = folder / "a.wav", missing = folder / "none";
    bench("/b_alloc", 1, 4, 1);
    CHECK(bench("/b_allocRead", 1, missing)
              .starts_with("[ \"/fail\", \"/b_allocRead\", \"File '" + missing +
                           "' could not be opened: System error : No such file"));
    CHECK(bench("/b_allocRead", 1, path, 10).find("could not be read") != std::string::npos);
    CHECK(bench("/b_read", 1, path).find("has 2 channels. Buffer has 1 channels.") != std::string::npos);
    CHECK(bench("/b_readChannel", 1, path, 0, -1, 0, 1, 0).find("has 2 channels") != std::string::npos); // left open
    CHECK(bench("/b_readChannel", 1, path, 0, -1, 0, 0, 2).find("Channel index out of range.") != std::string::npos);
    CHECK(bench("/b_read", 1, path, 0, -1, -1) == fail("/b_read", "index out of range"));
    CHECK(bench("/b_allocRead", 1, 7) == fail("/b_allocRead", "wrong argument type"));
    CHECK(bench("/b_query", 1) == "[ \"/b_info\", 1, 4, 1, 48000 ]\n");
}

TEST_CASE("files are written, left open and closed") {
    Folder folder;
    CommandBench bench;
    const std::string path = folder / "a.wav";
    bench("/b_alloc", 0, 4, 1);
    bench("/b_setn", 0, 0, 4, 0.f, .25f, .5f, .75f);
    CHECK(bench("/b_write", 0, path, "wav", "float", -1, 1) == done("/b_write"));
    CHECK(SoundFile::open(path).value().info().frames == 3);
    CHECK(bench("/b_write", 0, path, "wav", "float", 0, 0, 1) == done("/b_write"));
    CHECK(bench.engine().buffers().get(0).stream != nullptr);
    CHECK(bench("/b_close", 0) == done("/b_close"));
    CHECK(bench.engine().buffers().get(0).stream == nullptr);
    CHECK(bench("/b_close", 0) == done("/b_close"));
    CHECK(bench("/b_write", 0, path, "wav", "int16", 2) == done("/b_write"));
    CHECK(bench("/b_read", 0, path, 0, -1, 0, 1) == done("/b_read"));
    CHECK(bench.engine().buffers().get(0).stream != nullptr);
    CHECK(bench("/b_free", 0) == done("/b_free"));

    CHECK(bench("/b_write", 0, path, "nosuch").find("unsupported header format") != std::string::npos);
    CHECK(bench("/b_write", 0, path, "wav", "int17").find("unsupported sample format") != std::string::npos);
    CHECK(bench("/b_write", 0, path, "wav").find("isn't allocated") != std::string::npos);
    CHECK(bench("/b_write", 0, path, "wav", "float", -1, -1) == fail("/b_write", "index out of range"));
    CHECK(SoundFile::open(path).value().info().frames == 2);
}

TEST_CASE("files left open are closed with the engine") {
    Folder folder;
    const auto open_files = [] {
        return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
    };
    ptrdiff_t before;
    {
        CommandBench bench;
        before = open_files();
        bench("/b_alloc", 0, 4, 1);
        CHECK(bench("/b_write", 0, folder / "a.wav", "wav", "float", -1, 0, 1) == done("/b_write"));
        CHECK(open_files() == before + 1);
    }
    CHECK(open_files() <= before);
    CHECK(SoundFile::open(folder / "a.wav").value().info().frames == 4);
}

TEST_CASE("files outside the restricted path are out of reach") {
    Folder inside, outside;
    CommandBench bench(inside.path.string());
    write_stereo(inside / "a.wav");
    write_stereo(outside / "a.wav");
    const std::string denied = outside / "a.wav";
    CHECK(bench("/b_allocRead", 0, "a.wav") == done("/b_allocRead"));
    CHECK(bench("/b_allocRead", 0, denied).find("access denied") != std::string::npos);
    CHECK(bench("/b_read", 0, denied).find("access denied") != std::string::npos);
    CHECK(bench("/b_write", 0, denied, "wav").find("access denied") != std::string::npos);
}
