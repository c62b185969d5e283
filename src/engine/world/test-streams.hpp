// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/world/sound-file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

// What the tests of streams share: sound files, and disks that don't answer. To be included once in a program.
namespace scs::test {

/// A folder that is removed after the test.
struct Folder {
    std::filesystem::path path;
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "streams-XXXXXX").string();
        path = mkdtemp(name.data());
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::string operator/(const std::string& name) const { return (path / name).string(); }
};

/// Sample number n, from 0 on, is n + 1: no two are equal, and none is silence.
inline std::vector<float> numbers(int64_t count, float step = 1) {
    std::vector<float> all;
    for (int64_t i = 0; i < count; ++i)
        all.push_back(step * float(i + 1));
    return all;
}

inline void write_file(const std::string& path, const std::vector<float>& samples, int channels = 1,
                       const char* header = "wav", const char* sample = "float") {
    auto file = SoundFile::create(path, sound_file_format(header, sample).value(), channels, 48000);
    REQUIRE(file);
    REQUIRE(file.value().write(samples.data(), int64_t(samples.size()) / channels));
    REQUIRE(file.value().close());
}

inline std::vector<float> read_file(const std::string& path) {
    auto file = SoundFile::open(path);
    REQUIRE(file);
    const SoundFileInfo info = file.value().info();
    std::vector<float> samples(size_t(info.frames * info.channels));
    REQUIRE(file.value().read(0, info.frames, samples.data()) == info.frames);
    return samples;
}

template <class Condition>
bool comes_true(Condition condition, std::chrono::milliseconds time = std::chrono::seconds(20)) {
    const auto deadline = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < deadline) {
        if (condition())
            return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
}

inline ino_t inode_of(const std::string& path) {
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    return status.st_ino;
}

/// While it lives, files of that inode don't answer: who reads or writes them waits.
inline std::atomic<ino_t> dead_inodes[8];
inline std::atomic<int> held{0}; ///< threads that wait

class DeadFile {
public:
    explicit DeadFile(const std::string& path) {
        const ino_t inode = inode_of(path);
        for (auto& slot : dead_inodes)
            if (ino_t none = 0; slot.compare_exchange_strong(none, inode)) {
                slot_ = &slot;
                return;
            }
        FAIL("too many dead files");
    }
    ~DeadFile() { answer(); }
    void answer() {
        if (slot_)
            *slot_ = 0;
        slot_ = nullptr;
    }

private:
    std::atomic<ino_t>* slot_ = nullptr;
};

inline std::atomic<ino_t> crashing_inode{0}; ///< who reads that file crashes
inline std::atomic<ino_t> slow_inode{0};     ///< each access to that file takes 1 ms

inline void hold_if_dead(int fd) {
    struct stat status {};
    if (::syscall(SYS_fstat, fd, &status) != 0)
        return;
    if (crashing_inode && crashing_inode == status.st_ino)
        *static_cast<volatile int*>(nullptr) = 0;
    if (slow_inode && slow_inode == status.st_ino)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto dead = [&] {
        for (auto& slot : dead_inodes)
            if (slot.load() && slot == status.st_ino)
                return true;
        return false;
    };
    if (!dead())
        return;
    ++held;
    while (dead())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --held;
}

} // namespace scs::test

// libsndfile finds these before the C library's.
#pragma GCC visibility push(default)
extern "C" ssize_t read(int fd, void* data, size_t size) {
    scs::test::hold_if_dead(fd);
    return ::syscall(SYS_read, fd, data, size);
}
extern "C" ssize_t write(int fd, const void* data, size_t size) {
    scs::test::hold_if_dead(fd);
    return ::syscall(SYS_write, fd, data, size);
}
#pragma GCC visibility pop
