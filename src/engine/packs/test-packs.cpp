// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/packs/elf-file.hpp"
#include "engine/packs/file-bytes.hpp"
#include "engine/packs/plugin-cache.hpp"
#include "engine/packs/plugin-files.hpp"
#include "engine/packs/probe.hpp"
#include "engine/packs/unit-packs.hpp"
#include "engine/packs/verdicts.hpp"
#include "engine/packs/vetting.hpp"

#include <cstdlib>
#include <doctest/doctest.h>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <unistd.h>

using namespace scs;
namespace fs = std::filesystem;

namespace {

/// A folder for the files of a test, which becomes the user's cache, too.
class Folder {
public:
    Folder() {
        std::string name = fs::temp_directory_path() / "packs-XXXXXX";
        path_ = fs::canonical(mkdtemp(name.data()));
        setenv("XDG_CACHE_HOME", (path_ / "cache").c_str(), 1);
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    fs::path operator/(const char* name) const { return path_ / name; }
    fs::path write(const char* name, std::string_view text) const {
        fs::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name, std::ios::binary) << text;
        return path_ / name;
    }

private:
    fs::path path_;
};

std::string text_of(const fs::path& path) {
    const FileBytes file = read_file(path, 1u << 30);
    return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

PluginFile file_at(const fs::path& path) {
    struct stat status;
    REQUIRE(stat(path.c_str(), &status) == 0);
    return {path.string(), identity_of(status)};
}

std::span<const std::byte> bytes(std::string_view text) {
    return std::as_bytes(std::span(text));
}

/// A plugin that the tests' build has beside this program.
fs::path built(const char* name) {
    return fs::canonical("/proc/self/exe").parent_path() / ".." / ".." / ".." / "tests" / "hostile" / name;
}

std::vector<std::string> paths_of(const std::vector<PluginFile>& files) {
    std::vector<std::string> paths;
    for (const PluginFile& each : files)
        paths.push_back(each.path);
    return paths;
}

class Environment {
public:
    Environment(const char* name, const char* value) : name_(name) {
        if (const char* before = std::getenv(name))
            before_ = before;
        if (value)
            setenv(name, value, 1);
        else
            unsetenv(name);
    }
    ~Environment() {
        if (before_)
            setenv(name_, before_->c_str(), 1);
        else
            unsetenv(name_);
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

private:
    const char* name_;
    std::optional<std::string> before_;
};

} // namespace

TEST_CASE("a shared library of this machine is one; a part of it and anything else isn't") {
    const std::string whole = text_of(built("versioned-1.so"));
    REQUIRE(whole.size() > 4096);
    CHECK(read_elf(bytes(whole)).problem.empty());
    CHECK_FALSE(read_elf(bytes(whole)).seeks_companions);
    CHECK(read_elf(bytes(text_of(built("companions-1.so")))).seeks_companions);
    CHECK(read_elf(bytes("hello, world; this is a text")).problem == "not a shared library");
    CHECK(read_elf({}).problem == "not a shared library");
    CHECK(read_elf(bytes(whole.substr(0, 20))).problem == "cut short");
    CHECK(read_elf(bytes(whole.substr(0, 200))).problem == "cut short");
    CHECK(read_elf(bytes(whole.substr(0, 4096))).problem == "cut short");
    CHECK(read_elf(bytes(text_of("/proc/self/exe").substr(0, 0))).problem == "not a shared library");

    std::string other = whole;
    other[offsetof(Elf64_Ehdr, e_machine)] = char(EM_ARM);
    CHECK(read_elf(bytes(other)).problem.starts_with("built for 32-bit ARM, and this is "));
    std::string object = whole;
    object[offsetof(Elf64_Ehdr, e_type)] = char(ET_REL);
    CHECK(read_elf(bytes(object)).problem == "not a shared library");
}

TEST_CASE("whatever is in a file, reading it as a library stays within it") {
    const std::string whole = text_of(built("companions-1.so")).substr(0, 4096);
    for (size_t at = 0; at < whole.size(); ++at)
        for (const char value : {'\0', '\x7f', '\xff'}) {
            std::string changed = whole;
            changed[at] = value;
            read_elf(bytes(changed));
        }
}

TEST_CASE("verdicts are read as they were written") {
    Verdicts made;
    made.set("/a/b.so", {{1, 2, 3, -4, 5}, "", "0123-b.so"});
    made.set("/odd %\tname\n.so", {{UINT64_MAX, 0, 0, INT64_MIN, INT64_MAX}, "crashed\t(SIGSEGV)\n%", ""});
    const Verdicts read = Verdicts::parse(made.text());
    CHECK(read.all() == made.all());
    const Verdict* good = read.find({"/a/b.so", {1, 2, 3, -4, 5}});
    REQUIRE(good);
    CHECK(good->is_good());
    CHECK(good->copy == "0123-b.so");
    CHECK_FALSE(read.find({"/odd %\tname\n.so", {UINT64_MAX, 0, 0, INT64_MIN, INT64_MAX}})->is_good());
    for (const FileIdentity& other :
         {FileIdentity{9, 2, 3, -4, 5}, {1, 9, 3, -4, 5}, {1, 2, 9, -4, 5}, {1, 2, 3, 9, 5}, {1, 2, 3, -4, 9}})
        CHECK_FALSE(read.find({"/a/b.so", other}));
    CHECK_FALSE(read.find({"/a/c.so", {1, 2, 3, -4, 5}}));
}

TEST_CASE("lines that are no verdicts are left out") {
    Verdicts made;
    made.set("/a", {{1, 2, 3, 4, 5}, "", ""});
    const std::string text = made.text(), head = text.substr(0, text.find('\n') + 1);
    CHECK(Verdicts::parse("").all().empty());
    CHECK(Verdicts::parse("another version\n" + text.substr(head.size())).all().empty());
    for (const char* line : {"", "1", "1\t2\t3\t4\t5\t%\t%", "1\t2\t3\t4\t5\t%\t%\trelative", "1\t2\t3\t4\t5\t%\t%\t",
                             "1\t2\t3\t4\tx\t%\t%\t/b", "-1\t2\t3\t4\t5\t%\t%\t/b", "1\t2\t3\t4\t5\t%\t../b\t/b",
                             "1\t2\t3\t4\t5\t%\t.\t/b", "1\t2\t3\t4\t5\t%zz\t%\t/b", "1\t2\t3\t4\t5\t%0\t%\t/b",
                             "1\t2\t3\t4\t5\t\t%\t/b", "1\t2\t3\t4\t99999999999999999999999\t%\t%\t/b"}) {
        CAPTURE(line);
        CHECK(Verdicts::parse(text + line + "\n").all() == made.all());
        CHECK(Verdicts::parse(head + line + "\n" + text.substr(head.size())).all() == made.all());
    }
}

TEST_CASE("folders: an empty path and an empty folder are SuperCollider's own and what SC_PLUGIN_PATH adds") {
    const Environment data("XDG_DATA_HOME", "/data"), added("SC_PLUGIN_PATH", "/x:/y");
    std::vector<PluginFolder> folders = plugin_folders("");
    REQUIRE(folders.size() > 3);
    CHECK(folders[folders.size() - 3].path == "/data/SuperCollider/Extensions");
    CHECK(folders[folders.size() - 3].named_by.empty());
    CHECK(folders[folders.size() - 2].path == "/x");
    CHECK(folders.back().path == "/y");
    CHECK(folders.back().named_by == "SC_PLUGIN_PATH");

    folders = plugin_folders("/a:/b");
    REQUIRE(folders.size() == 2);
    CHECK(folders[1].path == "/b");
    CHECK(folders[1].named_by == "scsynth.ugen-path");
    const size_t own = plugin_folders("").size();
    CHECK(plugin_folders(":/a").size() == own + 1);
    CHECK(plugin_folders(":/a").back().path == "/a");
    CHECK(plugin_folders("/a:").front().path == "/a");
    CHECK(plugin_folders("/a::/b:").size() == own + 2);
}

TEST_CASE("files are found through links to folders, none twice, whatever leads back") {
    const Folder folder;
    const fs::path top = folder / "top";
    folder.write("top/a.so", "");
    folder.write("top/a_supernova.so", "");
    folder.write("top/f_supernova.so", "");
    folder.write("top/a.txt", "");
    folder.write("top/Ignore/b.so", "");
    folder.write("top/.git/c.so", "");
    folder.write("top/UIUGens.so", "");
    folder.write("top/DemoUGens.scx", "");
    folder.write("top/g.scx", "");
    folder.write("top/g.so", "");
    folder.write("top/g_supernova.so", "");
    folder.write("elsewhere/pack/d.so", "");
    folder.write("elsewhere/e.so", "");
    fs::create_symlink(folder / "elsewhere", top / "link");
    fs::create_symlink(top, folder / "elsewhere/back");
    fs::create_symlink(".", top / "self");
    fs::create_symlink(top / "a.so", top / "again.so");
    fs::create_symlink("/proc/none", top / "dangling.so");

    const FoundFiles found = find_plugin_files({{top, ""}, {folder / "elsewhere/pack", ""}});
    CHECK(paths_of(found.plugins) == std::vector<std::string>{top / "a.so", top / "g.scx", folder / "elsewhere/e.so",
                                                              folder / "elsewhere/pack/d.so"});
    CHECK(found.supernova_only == std::vector<std::string>{top / "f_supernova.so"});
    CHECK(found.refused == std::vector<std::string>{top / "DemoUGens.scx", top / "UIUGens.so"});
    CHECK(found.problems.empty());
}

TEST_CASE("a folder that isn't there is named with what named it, unless it is SuperCollider's own") {
    const FoundFiles found = find_plugin_files({{"/proc/none", "SC_PLUGIN_PATH"}, {"/proc/none/own", ""}});
    CHECK(found.problems == std::vector<std::string>{"SC_PLUGIN_PATH: /proc/none: No such file or directory"});
}

TEST_CASE("a file that is written anew or replaced has another identity") {
    const Folder folder;
    const fs::path path = folder.write("a.so", "one");
    const PluginFile first = file_at(path);
    CHECK(first.identity == file_at(path).identity);
    folder.write("b.so", "one");
    fs::rename(folder / "b.so", path);
    const PluginFile second = file_at(path);
    CHECK(second.identity != first.identity);
    folder.write("a.so", "four");
    CHECK(file_at(path).identity != second.identity);
}

TEST_CASE("the cache keeps verdicts and copies, and what no file needs any more goes") {
    const Folder folder;
    const auto opened = PluginCache::open();
    REQUIRE(opened);
    const PluginCache& cache = opened.value();
    CHECK(cache.read().all().empty());
    const std::string name = PluginCache::copy_name("/x/y.so", bytes("content"));
    CHECK(name == PluginCache::copy_name("/z/y.so", bytes("content")));
    CHECK(name != PluginCache::copy_name("/x/y.so", bytes("contend")));
    CHECK_FALSE(cache.has_copy(name, 7));
    REQUIRE(cache.make_copy(name, bytes("content")));
    CHECK(cache.has_copy(name, 7));
    CHECK_FALSE(cache.has_copy(name, 8));
    CHECK(text_of(cache.copy_path(name)) == "content");

    const PluginFile file = file_at(folder.write("y.so", "content"));
    Verdicts made;
    made.set(file.path, {file.identity, "", name});
    made.set(folder / "gone.so", {file.identity, "", "other"});
    cache.add(made);
    CHECK(cache.read().find(file));
    CHECK_FALSE(cache.read().all().count(folder / "gone.so"));

    // An hour later a copy that isn't named any more is removed; one that was just made stays.
    const std::string old = cache.copy_path("old.so"), recent = cache.copy_path("recent.so");
    REQUIRE(cache.make_copy("old.so", bytes("old")));
    REQUIRE(cache.make_copy("recent.so", bytes("recent")));
    const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
    fs::last_write_time(old, long_ago);
    fs::last_write_time(cache.copy_path(name), long_ago);
    cache.add(made);
    CHECK_FALSE(fs::exists(old));
    CHECK(fs::exists(recent));
    CHECK(cache.has_copy(name, 7));
}

TEST_CASE("without a folder for it, or where others may write, there is no cache") {
    const Folder folder;
    REQUIRE(PluginCache::open());
    fs::permissions(folder / "cache/pw-scsynth/ugens", fs::perms::others_write, fs::perm_options::add);
    CHECK_FALSE(PluginCache::open());
    const Environment cache("XDG_CACHE_HOME", nullptr), home("HOME", nullptr);
    CHECK_FALSE(PluginCache::open());
}

TEST_CASE("a copy in memory has the content") {
    const std::string one = copy_in_memory("a", bytes("one")), two = copy_in_memory("a", bytes("two"));
    CHECK(text_of(one) == "one");
    CHECK(text_of(two) == "two");
}

TEST_CASE("what files do while they are loaded is found out in another process") {
    std::vector<std::string> files;
    for (const char* name : {"versioned-1.so", "crash-in-load.so", "throw-in-constructor.so", "abort-in-version.so",
                             "exit-in-load.so", "misbehaving.so", "missing.so", "companions-1.so"})
        files.push_back(built(name));
    const std::vector<ProbeResult> results = probe_plugins(files);
    REQUIRE(results.size() == files.size());
    const auto is = [&](size_t at, ProbeResult::Kind kind, std::string_view what) {
        CAPTURE(files[at]);
        CHECK(results[at].kind == kind);
        CHECK(results[at].what == what);
    };
    is(0, ProbeResult::harmless, "");
    is(1, ProbeResult::harmful, "crashed (SIGSEGV)");
    is(2, ProbeResult::harmful, "threw an exception");
    is(3, ProbeResult::harmful, "called abort()");
    is(4, ProbeResult::harmful, "ended the process with exit status 3");
    is(5, ProbeResult::harmless, "");
    is(6, ProbeResult::missing, "");
    is(7, ProbeResult::harmless, "");
    CHECK(probe_plugins({}).empty());
}

TEST_CASE("without the program nothing is known of any file") {
    for (const char* program : {"/proc/none/program", "/bin/true"}) {
        const Environment none("SCS_UGEN_PROBE", program);
        const std::vector<ProbeResult> results = probe_plugins({"/a", "/b"});
        REQUIRE(results.size() == 2);
        for (const ProbeResult& each : results) {
            CHECK(each.kind == ProbeResult::unknown);
            CHECK_FALSE(each.what.empty());
        }
    }
}

TEST_CASE("a file is tried once, and what is loaded is a copy that doesn't change with it") {
    const Folder folder;
    const fs::path path = folder / "v.so", bad = folder / "bad.so";
    fs::copy(built("versioned-1.so"), path);
    fs::copy(built("crash-in-load.so"), bad);
    std::vector<std::string> said;
    const auto report = [&](const std::string& line) { said.push_back(line); };
    const auto vet = [&] { return Vetting().vet({file_at(path), file_at(bad)}, report); };

    const std::vector<VettedFile> first = vet();
    CHECK(first[0].problem.empty());
    CHECK_FALSE(first[0].in_place);
    CHECK(first[0].load_path != path);
    CHECK(text_of(first[0].load_path) == text_of(path));
    CHECK(first[1].problem.starts_with("crashed (SIGSEGV)"));
    CHECK_FALSE(
        fs::exists((folder / "cache/pw-scsynth/ugens") / PluginCache::copy_name(bad.string(), bytes(text_of(bad)))));
    {
        const Environment none("SCS_UGEN_PROBE", "/proc/none/program");
        const std::vector<VettedFile> again = vet(); // as another process does: no program is needed
        CHECK(again[0].load_path == first[0].load_path);
        CHECK(again[0].content == first[0].content);
        CHECK(again[1].problem == first[1].problem);
        CHECK(said.empty());
        fs::remove(first[0].load_path); // by somebody who empties the cache
        CHECK(text_of(vet()[0].load_path) == text_of(path));
        CHECK(said.size() == 1);
    }
    fs::copy(built("versioned-2.so"), path, fs::copy_options::overwrite_existing);
    fs::copy(built("versioned-1.so"), bad, fs::copy_options::overwrite_existing);
    const std::vector<VettedFile> changed = vet();
    CHECK(changed[0].content != first[0].content);
    CHECK(text_of(changed[0].load_path) == text_of(path));
    CHECK(text_of(first[0].load_path) == text_of(built("versioned-1.so")));
    CHECK(changed[1].problem.empty());
}

TEST_CASE("what looks for files beside itself is loaded where it lies, and what can't be read is named") {
    const Folder folder;
    const fs::path path = folder / "c.so";
    fs::copy(built("companions-1.so"), path);
    const fs::path text = folder.write("text.so", "text");
    const auto vetted = Vetting().vet({file_at(path), file_at(text), {folder / "gone.so", {}}}, [](const auto&) {});
    CHECK(vetted[0].in_place);
    CHECK_FALSE(vetted[0].is_packaged);
    CHECK(vetted[0].load_path == path);
    CHECK(vetted[1].problem == "not a shared library");
    CHECK(vetted[2].problem == "No such file or directory");
}

TEST_CASE("without a cache each content is copied into memory once a process, though files can't be tried") {
    const Folder folder;
    const Environment cache("XDG_CACHE_HOME", nullptr), home("HOME", nullptr);
    const Environment none("SCS_UGEN_PROBE", "/proc/none/program");
    const fs::path path = folder / "v.so";
    fs::copy(built("versioned-1.so"), path);
    const auto descriptors = [] {
        return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
    };
    Vetting vetting;
    const auto vet = [&] { return vetting.vet({file_at(path)}, [](const std::string&) {})[0]; };
    const VettedFile first = vet();
    REQUIRE_FALSE(first.in_place);
    const auto before = descriptors();
    for (int start = 0; start < 10; ++start)
        CHECK(vet().load_path == first.load_path);
    fs::last_write_time(path, fs::file_time_type::clock::now() + std::chrono::seconds(5));
    CHECK(vet().load_path == first.load_path);
    CHECK(descriptors() == before);
    fs::copy(built("versioned-2.so"), path, fs::copy_options::overwrite_existing);
    CHECK(vet().load_path != first.load_path);
    CHECK(descriptors() == before + 1);
}

TEST_CASE("without a cache files are tried once a process, and copied into memory") {
    const Folder folder;
    const Environment cache("XDG_CACHE_HOME", nullptr), home("HOME", nullptr);
    const fs::path path = folder / "v.so";
    fs::copy(built("versioned-1.so"), path);
    std::vector<std::string> said;
    const auto report = [&](const std::string& line) { said.push_back(line); };
    Vetting vetting;
    const VettedFile first = vetting.vet({file_at(path)}, report)[0];
    CHECK(text_of(first.load_path) == text_of(path));
    CHECK_FALSE(first.in_place);
    const Environment none("SCS_UGEN_PROBE", "/proc/none/program");
    CHECK(vetting.vet({file_at(path)}, report)[0].load_path == first.load_path);
    REQUIRE(said.size() == 1);
    CHECK(said[0].find("neither HOME nor XDG_CACHE_HOME") != std::string::npos);
}

TEST_CASE("a condemned file is left out until it changes") {
    const Folder folder;
    const fs::path path = folder / "v.so";
    fs::copy(built("versioned-1.so"), path);
    const auto report = [](const std::string&) {};
    Vetting vetting;
    REQUIRE(vetting.vet({file_at(path)}, report)[0].problem.empty());
    vetting.condemn(file_at(path), "crashed");
    CHECK(vetting.vet({file_at(path)}, report)[0].problem.starts_with("crashed when it was loaded"));
    CHECK(Vetting().vet({file_at(path)}, report)[0].problem.starts_with("crashed when it was loaded"));
    fs::copy(built("versioned-2.so"), path, fs::copy_options::overwrite_existing);
    CHECK(vetting.vet({file_at(path)}, report)[0].problem.empty());
}

TEST_CASE("a missing unit: the file that has it, or its pack, and what to do") {
    const std::string has = built("versioned-1.so"), hasnt = built("companions-1.so");
    const std::vector<LeftOut> files = {{"/proc/none.so", "gone"}, {hasnt, "no"}, {has, "because"}};
    MissingUnits missing;
    missing.set_files(files, {});
    const auto says = [&](std::string_view unit, const char* what, bool own_searched = true) {
        return missing.advice(unit, own_searched).find(what) != std::string::npos;
    };
    CHECK(missing.advice("Versioned", true) == has + " has it, but isn't loaded: because");
    CHECK(says("DWGBowed", "sc3-plugins-server"));
    CHECK(says("DWGBowed", "scsynth.ugen-path", false));
    CHECK(says("FluidAmpGate", "FluCoMa"));
    CHECK(says("FluidAmpGate", "unpack it"));
    CHECK(says("MiBraids", "mi-UGens"));
    CHECK_FALSE(says("Mixer", "mi-UGens"));
    CHECK(says("Nobodys", "Extensions"));
}

TEST_CASE("a missing unit of a pack that is there needs no unpacking") {
    MissingUnits missing;
    missing.set_files({{"/x/Flute.so", "no"}}, {"/x/FluidManipulation.so"});
    const std::string newer = missing.advice("FluidBufAmpTrigger", true);
    CHECK(newer.find("no file of it that is installed has it") != std::string::npos);
    CHECK(newer.find("unpack") == std::string::npos);
    missing.set_files({{"/x/FluidBufAmp.so", "cut short"}, {"/x/Flute.so", "no"}}, {});
    CHECK(missing.advice("FluidBufAmpTrigger", true) ==
          "it is of FluCoMa (https://www.flucoma.org), of which 1 file isn't loaded: /x/FluidBufAmp.so: cut short");
}

TEST_CASE("a file is named that has a missing unit, or none") {
    const Folder folder;
    const auto file = [&](const char* name, std::string_view units) {
        return LeftOut{folder.write(name, units), "because"};
    };
    using namespace std::string_view_literals;
    MissingUnits missing;
    missing.set_files({file("a.so", "\0One\0Two\0"sv), file("b.so", "\0One\0"sv), file("One.so", "\0One\0"sv),
                       file("c.so", "\0Two\0Three\0"sv)},
                      {});
    CHECK(missing.advice("One", true).find("One.so has it") != std::string::npos);
    CHECK(missing.advice("Two", true).find("no plugin file has it") != std::string::npos);
    CHECK(missing.advice("Three", true).find("c.so has it") != std::string::npos);
}

TEST_CASE("files are searched once for each missing unit, and for a number of them") {
    const Folder folder;
    const std::string path = folder / "one.so";
    using namespace std::string_view_literals;
    MissingUnits missing;
    missing.set_files({{path, "because"}}, {});
    const auto is_found = [&](std::string_view unit) {
        return missing.advice(unit, true).find("has it, but") != std::string::npos;
    };
    folder.write("one.so", "\0One\0"sv);
    CHECK(is_found("One"));
    folder.write("one.so", "\0Two\0"sv);
    CHECK(is_found("One"));
    for (size_t i = 1; i < MissingUnits::most_searches; ++i)
        CHECK_FALSE(is_found("Other" + std::to_string(i)));
    CHECK_FALSE(is_found("Two"));
    missing.set_files({{path, "because"}}, {path});
    CHECK_FALSE(is_found("Two"));
    missing.set_files({{path, "for another reason"}}, {});
    CHECK(is_found("Two"));
}
