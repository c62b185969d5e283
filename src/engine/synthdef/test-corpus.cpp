// SPDX-License-Identifier: GPL-3.0-or-later
// Real SynthDefs: usage test-corpus FOLDER (or SCS_CORPUS in the environment). Each *.scsyndef
// below it must be read, written back to the same bytes and compiled. Without the folder the test
// is skipped.
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

constexpr int exit_skipped = 77;      // meson's code
constexpr int max_wire_buffers = 128; // one of them needs more than the server's default of 64

test::Bytes load(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> chars{std::istreambuf_iterator<char>(in),
                                  std::istreambuf_iterator<char>()};
    test::Bytes bytes(chars.size());
    std::transform(chars.begin(), chars.end(), bytes.begin(),
                   [](char c) { return static_cast<std::byte>(c); });
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

} // namespace

int main(int argc, char** argv) {
    const char* from_environment = std::getenv("SCS_CORPUS");
    const std::filesystem::path folder = from_environment != nullptr ? from_environment
                                         : argc > 1                  ? argv[1]
                                                                     : "";
    if (!std::filesystem::is_directory(folder)) {
        std::cout << "skipped: no SynthDefs at " << folder
                  << "; SCS_CORPUS may name their folder\n";
        return exit_skipped;
    }

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
    std::cout << files << " files, " << failures << " failures\n";
    return files > 0 && failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
