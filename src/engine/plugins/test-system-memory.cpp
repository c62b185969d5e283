// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of the C library that plugins get beside the data loop: what is known of it.
#include "engine/plugins/system-memory.hpp"

#include "engine/base/test-sanitized.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {
bool exhausted = false; ///< whether operator new has no memory left
} // namespace

void* operator new(size_t bytes) {
    void* const memory = exhausted ? nullptr : std::malloc(bytes);
    if (!memory)
        throw std::bad_alloc();
    return memory;
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
    std::free(memory);
}

namespace scs {
namespace {

/// Ours, so that it can be moved; it is freed.
bool takes_back(void* piece) {
    void* const moved = SystemMemory::reallocate(piece, 8);
    SystemMemory::free(moved);
    return moved;
}

TEST_CASE("a piece keeps its content where it moves, and is known there") {
    void* piece = SystemMemory::allocate(16);
    REQUIRE(piece);
    std::memcpy(piece, "fifteen letters", 16);
    void* const wall = SystemMemory::allocate(16); // it has to move
    piece = SystemMemory::reallocate(piece, 1 << 20);
    REQUIRE(piece);
    CHECK(std::memcmp(piece, "fifteen letters", 16) == 0);
    CHECK(takes_back(piece));
    CHECK(takes_back(wall));
}

#ifndef SCS_SANITIZED // a sanitizer ends the program that asks for this much
TEST_CASE("what the system can't move stays where it is") {
    void* const piece = SystemMemory::allocate(16);
    CHECK(!SystemMemory::reallocate(piece, SIZE_MAX / 4));
    CHECK(takes_back(piece));
}
#endif

TEST_CASE("memory of others, or freed, is left alone") {
    char others[16];
    CHECK(!SystemMemory::reallocate(others, 8));
    SystemMemory::free(others);
    void* const piece = SystemMemory::allocate(16);
    SystemMemory::free(piece);
    CHECK(!SystemMemory::reallocate(piece, 8));
    SystemMemory::free(piece);
}

TEST_CASE("without memory for the list of pieces there are no new ones, and the others still move") {
    void* piece = SystemMemory::allocate(16);
    exhausted = true;
    void* const another = SystemMemory::allocate(16);
    piece = SystemMemory::reallocate(piece, 1 << 20);
    exhausted = false;
    CHECK(!another);
    CHECK(takes_back(piece));
}

} // namespace
} // namespace scs
