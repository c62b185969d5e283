// SPDX-License-Identifier: GPL-3.0-or-later
#include "crash-marker.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace scs::module;

namespace {

struct Folder {
    Folder() { std::filesystem::create_directory(path); }
    ~Folder() { std::filesystem::remove_all(path); }
    std::string file(const char* name) const { return path / name; }
    std::string written(const std::string& text) const {
        std::ofstream(file("marker"), std::ios::binary) << text;
        return file("marker");
    }
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("scs-marker-" + std::to_string(getpid()));
};

} // namespace

TEST_CASE("a marker is read once, and no more of it than a line that can be printed") {
    const Folder folder;
    const std::string path = folder.written("it crashed\nand more");
    CHECK(take_crash_marker(path) == "it crashed");
    CHECK(take_crash_marker(path) == std::nullopt);
    CHECK(take_crash_marker("") == std::nullopt);
    CHECK(take_crash_marker(folder.written("")) == "");
    CHECK(take_crash_marker(folder.written("\x1b[31m")) == "\\x1b[31m");
    CHECK(take_crash_marker(folder.written(std::string(1'000'000, 'x'))) == std::string(400, 'x'));
    CHECK(std::filesystem::is_empty(folder.path));
}

TEST_CASE("what isn't a file is removed unread") {
    const Folder folder;
    const std::string path = folder.file("marker"), other = folder.file("other");
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    CHECK(take_crash_marker(path) == ""); // without waiting for a writer
    std::ofstream(other) << "another's";
    std::filesystem::create_symlink(other, path);
    CHECK(take_crash_marker(path) == "");
    CHECK(std::filesystem::exists(other));
    CHECK_FALSE(std::filesystem::exists(path));
    std::filesystem::create_directory(path);
    CHECK(take_crash_marker(path) == std::nullopt);
}
