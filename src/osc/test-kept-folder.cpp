// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/world/kept-samples.hpp"
#include "engine/world/test-file-size-limit.hpp"
#include "osc/kept-folder.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace scs;
using namespace scs::osc;
namespace fs = std::filesystem;

namespace {

/// A place in memory for a folder, which isn't there yet.
struct Place {
    const fs::path path = fs::path("/dev/shm") / ("scs-test-kept-" + std::to_string(getpid()));
    Place() { fs::remove_all(path); }
    ~Place() { fs::remove_all(path); }
    std::string string() const { return path.string(); }
    bool has(const char* name) const { return fs::exists(path / name); }
    bool empty() const { return fs::is_empty(path); }
};

/// Does it in a process that is killed right after that.
template <class F>
void in_killed_process(F&& action) {
    const pid_t child = fork();
    if (child == 0) {
        action();
        std::_Exit(0);
    }
    REQUIRE(child > 0);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
}

TreeState one_group() {
    TreeState tree;
    NodeState group;
    group.id = 7;
    tree.nodes.push_back(group);
    return tree;
}

void leave(const Place& place, const TreeState& tree = one_group()) {
    in_killed_process([&] {
        auto folder = KeptFolder::open(place.string());
        auto* const kept = folder ? folder.value().release() : nullptr;
        float* const samples = kept ? kept->allocate(6) : nullptr;
        if (!samples)
            std::_Exit(1);
        samples[5] = 0.5f;
        kept->write({}, {{3, 3, 2, 44100, samples, name_of_kept(samples)}}, tree);
    });
}

using Lines = std::vector<std::string>;

KeptFolder::Warn into(Lines& lines) {
    return [&lines](const std::string& line) { lines.push_back(line); };
}

/// Whether it is one line, with that in it.
bool is_told(const Lines& lines, const char* text) {
    return lines.size() == 1 && lines[0].find(text) != std::string::npos;
}

void release(StateToRestore& state) {
    for (auto& [number, buffer] : state.buffers)
        free_samples(buffer.data);
}

} // namespace

TEST_CASE("what a killed process had is there for the next one") {
    const Place place;
    leave(place);
    auto folder = KeptFolder::open(place.string());
    REQUIRE(folder);
    StateToRestore state = folder.value()->recover();
    REQUIRE(state.buffers.size() == 1);
    const Buffer& buffer = state.buffers[0].second;
    CHECK(state.buffers[0].first == 3);
    CHECK(buffer.frames == 3);
    CHECK(buffer.channels == 2);
    CHECK(buffer.sample_rate == 44100);
    CHECK(buffer.data[5] == 0.5f);
    REQUIRE(state.tree);
    CHECK(state.tree->nodes.at(0).id == 7);
    const std::string name = name_of_kept(buffer.data);
    float* const other = folder.value()->allocate(6);
    CHECK(name_of_kept(other) != name);
    free_samples(other);
    CHECK(place.has(name.c_str()));
    release(state);
    CHECK(!place.has(name.c_str()));
    folder.value().reset();
    CHECK(place.empty());
}

TEST_CASE("what ends soon after it recovered leaves less each time") {
    const Place place;
    leave(place);
    const auto recover_and_end = [&](size_t buffers, bool tree) {
        in_killed_process([&] {
            auto folder = KeptFolder::open(place.string());
            auto* const kept = folder ? folder.value().release() : nullptr;
            const StateToRestore state = kept ? kept->recover() : StateToRestore{};
            if (state.buffers.size() != buffers || bool(state.tree) != tree)
                std::_Exit(1);
            std::vector<BufferState> all;
            for (const auto& [number, each] : state.buffers)
                all.push_back({number, each.frames, each.channels, 0, each.data, name_of_kept(each.data)});
            kept->write({}, all, one_group());
        });
    };
    recover_and_end(1, true);
    recover_and_end(1, false);
    recover_and_end(0, false);
}

TEST_CASE("plugins may exchange and reallocate memory in files") {
    const Place place;
    auto folder = KeptFolder::open(place.string());
    REQUIRE(folder);
    float* const samples = folder.value()->allocate(100);
    samples[99] = 2;
    CHECK(!name_of_kept(samples).empty());
    auto* const larger = static_cast<float*>(reallocate_any(samples, 4000));
    CHECK(larger[99] == 2);
    CHECK(name_of_kept(larger).empty());
    CHECK(place.empty());
    auto* const again = static_cast<float*>(reallocate_any(larger, 8000));
    CHECK(again[99] == 2);
    free_any(again);
    free_any(nullptr);
}

TEST_CASE("memory that is never freed keeps the folder from nobody, and its name is no other's") {
    const Place place;
    auto first = KeptFolder::open(place.string());
    REQUIRE(first);
    float* const leaked = first.value()->allocate(100);
    first.value().reset();
    auto second = KeptFolder::open(place.string());
    REQUIRE(second);
    float* const own = second.value()->allocate(100);
    free_samples(leaked);
    CHECK(place.has(name_of_kept(own).c_str()));
    free_samples(own);
}

TEST_CASE("a folder that isn't ours alone is refused") {
    const Place place;
    CHECK(KeptFolder::open(place.string() + "/a/b").error().find("No such file") != std::string::npos);
    {
        const auto first = KeptFolder::open(place.string());
        REQUIRE(first);
        CHECK(KeptFolder::open(place.string()).error().find("another server uses it") != std::string::npos);
    }
    fs::permissions(place.path, fs::perms::group_read, fs::perm_options::add);
    CHECK(KeptFolder::open(place.string()).error().find("nobody else may use it") != std::string::npos);
    fs::remove_all(place.path);
    fs::create_directory_symlink("/tmp", place.path);
    CHECK(!KeptFolder::open(place.string()));
    fs::remove(place.path);
    std::ofstream(place.path) << "a file";
    CHECK(!KeptFolder::open(place.string()));
    fs::remove(place.path);
}

TEST_CASE("what isn't as it should be is left out, and told where nothing else is there") {
    const Place place;
    leave(place);
    const char* told = nullptr;
    SUBCASE("a file of another size") {
        for (const auto& file : fs::directory_iterator(place.path))
            if (file.path().filename().string().starts_with("samples-"))
                fs::resize_file(file.path(), 4);
    }
    SUBCASE("a link in place of a file") {
        for (const auto& file : fs::directory_iterator(place.path))
            if (file.path().filename().string().starts_with("samples-")) {
                const fs::path path = file.path();
                fs::remove(path);
                fs::create_symlink("/etc/passwd", path);
                break;
            }
    }
    SUBCASE("a state that is none") {
        std::ofstream(place.path / "state") << "garbage";
        told = "the file 'state' of what the process before had is left out: bundle 1 at byte 0: ";
    }
    SUBCASE("a state that is cut off") {
        fs::resize_file(place.path / "state", fs::file_size(place.path / "state") - 4);
        told = "the file 'state' of what the process before had is left out: bundle ";
    }
    SUBCASE("a state of which nothing is left") {
        fs::resize_file(place.path / "state", 0);
        told = "the file 'state' of what the process before had is left out: it is empty";
    }
    SUBCASE("a pipe that nobody writes to") {
        fs::remove(place.path / "state");
        REQUIRE(mkfifo((place.path / "state").c_str(), 0600) == 0);
        told = "the file 'state' of what the process before had is left out: it is no file";
    }
    Lines lines;
    auto folder = KeptFolder::open(place.string(), into(lines));
    REQUIRE(folder);
    CHECK(folder.value()->recover().buffers.empty());
    if (told)
        CHECK(is_told(lines, told));
    else
        CHECK(lines.empty());
    folder.value()->write({}, {}, one_group());
    CHECK(fs::is_regular_file(place.path / "state"));
}

TEST_CASE("nothing that lies in the folder is waited for, or written to") {
    const Place place;
    leave(place);
    const fs::path target = place.path.string() + "-target";
    std::ofstream(target) << "precious";
    SUBCASE("pipes") {
        for (const char* name : {"ended-soon", "state.new", "synthdefs.new"})
            REQUIRE(mkfifo((place.path / name).c_str(), 0600) == 0);
    }
    SUBCASE("links") {
        for (const char* name : {"ended-soon", "state.new", "synthdefs.new"})
            fs::create_symlink(target, place.path / name);
    }
    Lines lines;
    {
        auto folder = KeptFolder::open(place.string(), into(lines));
        REQUIRE(folder);
        StateToRestore state = folder.value()->recover();
        CHECK(state.tree);
        release(state);
        CHECK(fs::is_regular_file(fs::symlink_status(place.path / "ended-soon")));
        CHECK(fs::file_size(place.path / "ended-soon") == 1);
        folder.value()->write({}, {}, one_group());
        CHECK(!place.has("state.new"));
        CHECK(!place.has("synthdefs.new"));
    }
    CHECK(lines.empty());
    CHECK(fs::file_size(target) == 8);
    fs::remove(target);
}

TEST_CASE("where it can't be noted that a process ended soon nodes stay away, which is told") {
    const Place place;
    leave(place);
    fs::create_directory(place.path / "ended-soon");
    Lines lines;
    auto folder = KeptFolder::open(place.string(), into(lines));
    REQUIRE(folder);
    StateToRestore state = folder.value()->recover();
    CHECK(!state.tree);
    CHECK(state.buffers.size() == 1);
    CHECK(is_told(lines, "'ended-soon': File exists"));
    release(state);
}

TEST_CASE("what can't be written is told once, and what comes back is told to be older") {
    const Place place;
    leave(place);
    in_killed_process([&] {
        Lines lines;
        auto folder = KeptFolder::open(place.string(), into(lines));
        auto* const kept = folder ? folder.value().release() : nullptr;
        const FileSizeLimit limit(4);
        for (int times = 0; kept && times < 3; ++times)
            kept->write({}, {}, {});
        if (!is_told(lines, "what there is can't be kept for the case that the process ends (File too large)") ||
            place.has("state") || place.has("state.new"))
            std::_Exit(1);
    });
    Lines lines;
    auto folder = KeptFolder::open(place.string(), into(lines));
    REQUIRE(folder);
    StateToRestore state = folder.value()->recover();
    CHECK(state.buffers.size() == 1);
    REQUIRE(state.tree);
    CHECK(state.tree->nodes.at(0).id == 7);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].find("the file 'synthdefs.older' of what the process before had is ") == 0);
    CHECK(lines[1].find("the file 'state.older' of what the process before had is ") == 0);
    release(state);
    folder.value()->write({}, {}, one_group());
    CHECK(place.has("state"));
    CHECK(!place.has("state.older"));
    {
        const FileSizeLimit limit(4);
        folder.value()->write({}, {}, one_group());
    }
    CHECK(lines.size() == 3);
    CHECK(place.has("state.older"));
}

TEST_CASE("a folder in place of the state doesn't stay there") {
    const Place place;
    leave(place);
    fs::remove(place.path / "state");
    fs::create_directory(place.path / "state");
    Lines lines;
    auto folder = KeptFolder::open(place.string(), into(lines));
    REQUIRE(folder);
    folder.value()->write({}, {}, one_group());
    CHECK(is_told(lines, "(Is a directory)"));
    folder.value()->write({}, {}, one_group());
    CHECK(fs::is_regular_file(place.path / "state"));
    CHECK(lines.size() == 1);
}
