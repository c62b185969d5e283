// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/packs/elf-file.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <optional>
#include <string_view>
#include <vector>

namespace scs {
namespace {

constexpr unsigned own_machine =
#if defined(__x86_64__)
    EM_X86_64;
#elif defined(__aarch64__)
    EM_AARCH64;
#elif defined(__riscv)
    EM_RISCV;
#elif defined(__powerpc64__)
    EM_PPC64;
#else
    EM_NONE; // any is taken
#endif
constexpr unsigned own_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

std::string name_of(unsigned machine) {
    switch (machine) {
    case EM_386: return "32-bit x86";
    case EM_X86_64: return "x86_64";
    case EM_ARM: return "32-bit ARM";
    case EM_AARCH64: return "aarch64";
    case EM_RISCV: return "RISC-V";
    case EM_PPC64: return "ppc64";
    default: return "another machine (ELF number " + std::to_string(machine) + ")";
    }
}

/// Reads structures at offsets that the file itself names.
class Reader {
public:
    explicit Reader(std::span<const std::byte> file) : file_(file) {}

    bool has(uint64_t offset, uint64_t bytes) const { return offset <= file_.size() && bytes <= file_.size() - offset; }

    template <class T>
    std::optional<T> at(uint64_t offset) const {
        if (!has(offset, sizeof(T)))
            return {};
        T value;
        std::memcpy(&value, file_.data() + offset, sizeof value);
        return value;
    }

    std::string_view text(uint64_t offset, uint64_t bytes) const {
        if (!has(offset, bytes))
            return {};
        return {reinterpret_cast<const char*>(file_.data()) + offset, size_t(bytes)};
    }

private:
    std::span<const std::byte> file_;
};

std::string problem_with(const Elf64_Ehdr& head) {
    const auto word_size = head.e_ident[EI_CLASS];
    if (own_machine != EM_NONE &&
        (word_size != ELFCLASS64 || head.e_ident[EI_DATA] != own_order || head.e_machine != own_machine))
        return "built for " + name_of(head.e_machine) + ", and this is " + name_of(own_machine);
    if (head.e_type != ET_DYN)
        return "not a shared library";
    return {};
}

/// The tables of the dynamic section that say what the file looks for.
struct Dynamic {
    uint64_t strings = 0, string_bytes = 0; ///< where they lie in memory, and their size
    std::vector<uint64_t> run_paths;        ///< within the strings
};

Dynamic read_dynamic(const Reader& file, const Elf64_Phdr& segment) {
    Dynamic found;
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
        const auto entry = file.at<Elf64_Dyn>(segment.p_offset + at);
        if (!entry || entry->d_tag == DT_NULL)
            break;
        switch (entry->d_tag) {
        case DT_STRTAB: found.strings = entry->d_un.d_ptr; break;
        case DT_STRSZ: found.string_bytes = entry->d_un.d_val; break;
        case DT_RPATH:
        case DT_RUNPATH: found.run_paths.push_back(entry->d_un.d_val); break;
        default: break;
        }
    }
    return found;
}

bool names(std::string_view strings, std::string_view symbol) {
    for (size_t at = strings.find(symbol); at != strings.npos; at = strings.find(symbol, at + 1)) {
        const size_t end = at + symbol.size();
        if (at > 0 && strings[at - 1] == '\0' && end < strings.size() && strings[end] == '\0')
            return true;
    }
    return false;
}

/// Functions by which a library learns where it was loaded from.
bool asks_where_it_is(std::string_view strings) {
    constexpr std::string_view functions[] = {"dladdr", "dladdr1", "dlinfo", "dl_iterate_phdr"};
    return std::any_of(std::begin(functions), std::end(functions),
                       [&](std::string_view function) { return names(strings, function); });
}

bool looks_beside_itself(const Dynamic& dynamic, std::string_view strings) {
    return std::any_of(dynamic.run_paths.begin(), dynamic.run_paths.end(), [&](uint64_t at) {
        const std::string_view path = at < strings.size() ? strings.substr(at) : std::string_view();
        const std::string_view whole = path.substr(0, path.find('\0'));
        return whole.find("$ORIGIN") != whole.npos || whole.find("${ORIGIN}") != whole.npos;
    });
}

} // namespace

ElfFacts read_elf(std::span<const std::byte> bytes) {
    const Reader file(bytes);
    const auto head = file.at<Elf64_Ehdr>(0);
    if (file.text(0, SELFMAG) != std::string_view(ELFMAG, SELFMAG))
        return {"not a shared library"};
    if (!head)
        return {"cut short"};
    if (std::string problem = problem_with(*head); !problem.empty())
        return {std::move(problem)};
    std::vector<Elf64_Phdr> loaded;
    std::optional<Elf64_Phdr> dynamic;
    for (uint64_t i = 0; i < head->e_phnum; ++i) {
        const auto segment = file.at<Elf64_Phdr>(head->e_phoff + i * sizeof(Elf64_Phdr));
        if (!segment || !file.has(segment->p_offset, segment->p_filesz))
            return {"cut short"};
        if (segment->p_type == PT_LOAD)
            loaded.push_back(*segment);
        else if (segment->p_type == PT_DYNAMIC)
            dynamic = segment;
    }
    if (loaded.empty() || !dynamic)
        return {"not a shared library"};
    const Dynamic tables = read_dynamic(file, *dynamic);
    for (const Elf64_Phdr& each : loaded)
        if (tables.strings >= each.p_vaddr && tables.strings - each.p_vaddr < each.p_filesz) {
            const uint64_t offset = tables.strings - each.p_vaddr;
            const std::string_view strings =
                file.text(each.p_offset + offset, std::min(tables.string_bytes, each.p_filesz - offset));
            return {"", asks_where_it_is(strings) || looks_beside_itself(tables, strings)};
        }
    return {};
}

} // namespace scs
