// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/descriptors.hpp"
#include "osc/file-replacement.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>

using namespace scs;
using namespace scs::osc;
namespace fs = std::filesystem;

namespace {

struct Folder {
    Folder() {
        fs::create_directory(path);
        std::ofstream(path / "state") << "old";
    }
    ~Folder() { fs::remove_all(path); }
    size_t files() const { return size_t(std::distance(fs::directory_iterator(path), fs::directory_iterator())); }
    std::string state() const {
        std::ifstream file(path / "state");
        return {std::istreambuf_iterator<char>(file), {}};
    }
    const fs::path path = fs::temp_directory_path() / ("scs-replacement-" + std::to_string(::getpid()));
};

} // namespace

TEST_CASE("a file takes another one's place when it is complete, and leaves nothing if it never is") {
    const Folder folder;
    const Descriptor open(::open(folder.path.c_str(), O_RDONLY | O_DIRECTORY));
    const bool can_be_nameless = Descriptor(::openat(open.get(), ".", O_WRONLY | O_TMPFILE, 0600)).get() >= 0;
    const auto write = [&](bool takes_place) {
        FileReplacement file(open.get(), "state", "growing", 0640);
        REQUIRE(file.is_open());
        REQUIRE(::write(file.fd(), "new", 3) == 3);
        CHECK(folder.state() == "old");
        CHECK(folder.files() == (can_be_nameless ? 1 : 2)); // so a process that is killed leaves no more
        if (takes_place)
            CHECK(file.take_place());
    };
    write(false);
    CHECK(folder.state() == "old");
    CHECK(folder.files() == 1);
    write(true);
    CHECK(folder.state() == "new");
    CHECK(folder.files() == 1);
}

TEST_CASE("a file whose name is another's meanwhile takes nobody's place") {
    const Folder folder;
    const Descriptor open(::open(folder.path.c_str(), O_RDONLY | O_DIRECTORY));
    {
        FileReplacement file(open.get(), "state", "growing", 0600);
        REQUIRE(file.is_open());
        fs::remove(folder.path / "growing"); // where the file system needs it
        fs::create_directory(folder.path / "growing");
        CHECK_FALSE(file.take_place());
    }
    CHECK(folder.state() == "old");
    CHECK(fs::is_directory(folder.path / "growing"));
}
