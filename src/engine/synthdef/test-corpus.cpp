// SPDX-License-Identifier: GPL-3.0-or-later
// SynthDefs as people write them: usage test-corpus FOLDER..., and SCS_CORPUS in the environment may name one more.
// Each
// *.scsyndef below a folder must be read, written back to the same bytes and compiled. The first folder has to be
// there; of the others those are used that are.
#include "engine/synthdef/program.hpp"
#include "engine/synthdef/reader.hpp"
#include "engine/synthdef/test-support.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

using namespace scs;

namespace {

constexpr int max_wire_buffers = 128; // one of them needs more than the server's default of 64

test::Bytes load(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> chars{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    test::Bytes bytes(chars.size());
    std::transform(chars.begin(), chars.end(), bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
    return bytes;
}

std::string problem(const test::Bytes& bytes, const UgenCatalog& catalog) {
    auto read = read_synthdefs(bytes);
    if (!read)
        return read.error();
    const int version = std::to_integer<int>(bytes[7]);
    if (test::write_synthdefs(read.value(), version) != bytes)
        return "written back, the bytes differ";
    for (const SynthDef& def : read.value()) {
        auto program = compile(def, catalog, 64, max_wire_buffers);
        if (!program)
            return def.name + ": " + program.error();
    }
    return "";
}

// Whether there are SynthDefs below a folder and all of them pass. Prints those that don't.
bool check(const std::filesystem::path& folder) {
    const test::PermissiveCatalog catalog;
    int files = 0;
    int failures = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.path().extension() != ".scsyndef")
            continue;
        ++files;
        if (const std::string wrong = problem(load(entry.path()), catalog); !wrong.empty()) {
            ++failures;
            std::cout << entry.path().filename() << ": " << wrong << '\n';
        }
    }
    std::cout << folder << ": " << files << " files, " << failures << " failures\n";
    return files > 0 && failures == 0;
}

} // namespace

int main(int argc, char** argv) {
    std::vector<std::filesystem::path> folders(argv + 1, argv + argc);
    if (const char* more = std::getenv("SCS_CORPUS"))
        folders.emplace_back(more);

    bool good = !folders.empty();
    for (const std::filesystem::path& folder : folders) {
        if (std::filesystem::is_directory(folder)) {
            good &= check(folder);
        } else {
            std::cout << "no SynthDefs at " << folder << "; SCS_CORPUS may name a folder\n";
            good &= &folder != &folders.front();
        }
    }
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
