// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/world/sound-file.hpp"
#include "osc/definition-files.hpp"
#include "osc/file-access.hpp"
#include "osc/test-rig.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::testing;
namespace fs = std::filesystem;

namespace {

/// "inside" may be touched, "outside" may not.
struct Folders {
    Folders() {
        fs::create_directories(inside / "deeper");
        fs::create_directories(outside);
        put(inside / "deeper" / "file", "inner");
        put(outside / "file", "outer");
    }
    ~Folders() { fs::remove_all(top); }
    static void put(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }
    static std::string text(const fs::path& path) {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    const fs::path top = fs::canonical(fs::temp_directory_path()) / ("osc-files-" + std::to_string(::getpid()));
    const fs::path inside = top / "inside", outside = top / "inside-not";
};

/// What a path opens: the file's text, "denied", or "-" if there is nothing.
std::string content(const FileAccess& access, const std::string& path) {
    bool denied = false;
    const Descriptor fd(access.open(path, O_RDONLY, denied));
    if (fd.get() < 0)
        return denied ? "denied" : "-";
    char text[16];
    const ssize_t size = ::read(fd.get(), text, sizeof text);
    return size < 0 ? "-" : std::string(text, size_t(size));
}

/// Exchanges two names of a folder, over and over.
class Swapper {
public:
    Swapper(fs::path a, fs::path b)
        : thread_([this, a, b] {
              while (!stop_)
                  if (::syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), 2u /* exchange */) == 0)
                      ++swaps;
          }) {}
    ~Swapper() {
        stop_ = true;
        thread_.join();
    }
    std::atomic<long> swaps{0};

private:
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

} // namespace

TEST_CASE("without a restricted path everything may be opened") {
    const Folders folders;
    CHECK(content(FileAccess(""), folders.outside / "file") == "outer");
    CHECK(content(FileAccess(""), folders.outside / "none") == "-");
}

TEST_CASE("only what is below the restricted path is opened") {
    const Folders folders;
    const fs::path& inside = folders.inside;
    fs::create_directory_symlink(folders.top, inside / "way-out");
    fs::create_directory_symlink("../inside-not", inside / "way-over");
    fs::create_directory_symlink("deeper", inside / "way-in");
    fs::create_directory_symlink(inside / "deeper", inside / "long-way-in");
    const FileAccess access(inside);

    for (const std::string path : {"deeper/file", "./deeper//file", "deeper/../deeper/file", "../inside/deeper/file",
                                   "way-in/file", "long-way-in/file", "way-in/../way-in/file"}) {
        CAPTURE(path);
        CHECK(content(access, path) == "inner");
        CHECK(content(access, inside.string() + "/" + path) == "inner");
        CHECK(content(FileAccess(inside.string() + "/deeper/.."), path) == "inner");
    }
    for (const std::string path : {"../inside-not/file", "way-out/inside-not/file", "way-over/file",
                                   "deeper/../../inside-not/file", "/etc/passwd"}) {
        CAPTURE(path);
        CHECK(content(access, path) == "denied");
        CHECK(content(FileAccess(inside.string() + "/deeper/.."), path) == "denied");
    }
    CHECK(content(access, folders.outside / "file") == "denied");
    CHECK(content(access, "none") == "-");
    CHECK(content(access, "none/../../inside-not/file") == "-");
    CHECK(content(FileAccess("/no/such/folder"), "a") == "denied");
    bool denied = false;
    CHECK(Descriptor(access.open(inside.string(), O_RDONLY | O_DIRECTORY, denied)).get() >= 0);
    CHECK(Descriptor(access.open(inside.string() + "/", O_RDONLY | O_DIRECTORY, denied)).get() >= 0);
    CHECK(Descriptor(access.open("new", O_WRONLY | O_CREAT, denied)).get() >= 0);
    CHECK_FALSE(denied);
    CHECK(fs::exists(inside / "new"));
}

TEST_CASE("step by step, no link is followed") {
    const Folders folders;
    fs::create_directory_symlink(folders.outside, folders.inside / "way-out");
    fs::create_symlink(folders.outside / "file", folders.inside / "link");
    const Descriptor folder(::open(folders.inside.c_str(), O_PATH | O_DIRECTORY));
    const auto opens = [&](const char* path, int flags) {
        return Descriptor(open_step_by_step(folder.get(), path, flags)).get() >= 0;
    };
    CHECK(opens("deeper/file", O_RDONLY));
    CHECK(opens("deeper/new", O_WRONLY | O_CREAT));
    CHECK(opens(".", O_RDONLY | O_DIRECTORY));
    CHECK_FALSE(opens("way-out/file", O_RDONLY));
    CHECK_FALSE(opens("way-out/new", O_WRONLY | O_CREAT));
    CHECK_FALSE(opens("link", O_RDONLY));
    CHECK_FALSE(opens("link", O_PATH));
    CHECK_FALSE(opens(std::string(300, 'x').c_str(), O_RDONLY));
}

TEST_CASE("a folder that is exchanged for a link, over and over, never leads outside") {
    const Folders folders;
    const fs::path &inside = folders.inside, &outside = folders.outside;
    fs::create_directories(inside / "slot");
    fs::create_directory_symlink(outside, inside / "other");
    const int wav = sound_file_format("wav", "float").value();
    const float samples[8] = {};
    for (const fs::path& folder : {inside / "slot", outside}) {
        auto file = SoundFile::create(folder / "a.wav", wav, 1, 48000);
        REQUIRE(file);
        REQUIRE(file.value().write(samples, folder == outside ? 8 : 4));
        REQUIRE(file.value().close());
        const Bytes def = synthdef(folder == outside ? "outer" : "inner", "");
        std::ofstream(folder / "a.scsyndef", std::ios::binary)
            .write(reinterpret_cast<const char*>(def.data()), std::streamsize(def.size()));
    }
    const std::string before = Folders::text(outside / "a.wav");

    const FileAccess access(inside);
    const auto open = [&](const char* path) {
        return [&access, path](int flags) {
            bool denied = false;
            return access.open(path, flags, denied);
        };
    };
    long read = 0, written = 0, loaded = 0;
    {
        const Swapper swapper(inside / "slot", inside / "other");
        for (int round = 0; round < 3000 || swapper.swaps < 1000; ++round) {
            if (auto file = SoundFile::open(open("slot/a.wav"))) {
                ++read;
                REQUIRE(file.value().info().frames == 4);
            }
            if (auto file = SoundFile::create(open("slot/b.wav"), wav, 1, 48000); file && round % 8 == 0)
                ++written;
            for (auto* load : {load_matching, load_folder}) {
                const auto found = load(load == load_matching ? "slot/*.scsyndef" : "slot", inside, Settings());
                for (const auto& definition : found.definitions) {
                    ++loaded;
                    REQUIRE(*definition->synthdef_name() == "inner");
                }
            }
        }
    }
    CHECK(read > 0);
    CHECK(written > 0);
    CHECK(loaded > 0);
    CHECK(Folders::text(outside / "a.wav") == before);
    CHECK_FALSE(fs::exists(outside / "b.wav"));
}
