// SPDX-License-Identifier: GPL-3.0-or-later
// A UGen plugin for the tests: each of its UGens does one thing that a UGen must not do.
#include "engine/abi/abi.hpp"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <malloc.h>
#include <pthread.h>
#include <thread>
#include <unistd.h>

namespace {

volatile int* volatile nowhere = nullptr;
volatile int far = 48; ///< a loop's bound that the compiler doesn't know

void run_for_ever(::Unit*, int) {
    for (volatile bool more = true; more;) {
    }
}

void wait_for_ever(::Unit*, int) {
    for (volatile bool more = true; more;)
        pause();
}

void wait_for_itself(::Unit*, int) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
}

void crash(::Unit*, int) {
    *nowhere = 1;
}

void abort_now(::Unit*, int) {
    std::abort();
}

void smash_stack(::Unit*, int) {
    volatile char room[16];
    for (int i = 0; i < far; ++i)
        room[i] = 1;
    (void)room[0];
}

void terminate_now(::Unit*, int) {
    std::terminate();
}

void throw_now() {
    throw 1;
}

void throw_through_noexcept(::Unit*, int) noexcept {
    throw_now();
}

/// The C library notices at the second call, without a lock.
void free_twice(::Unit*, int) {
    void* volatile memory = std::malloc(40);
    void* volatile again = memory;
    std::free(memory);
    std::free(again);
}

/// The C library notices when more is asked for, and holds the lock of the arena then.
void spoil_heap(::Unit*, int) {
    auto* const memory = static_cast<volatile char*>(std::malloc(60000)); // larger than what was freed before
    const size_t end = malloc_usable_size(const_cast<char*>(memory)) + 8;
    for (size_t i = 0; i < end; ++i)
        memory[i] = char(0xff);
    void* volatile more = std::malloc(100000);
    (void)more;
}

void exit_now(::Unit*, int) {
    std::exit(0);
}

/// Its thread crashes, under nobody's guard.
void crash_on_a_thread(::Unit*, int) {
    std::thread([] { crash(nullptr, 1); }).detach();
}

template <UnitCalcFunc calc>
void construct(::Unit* unit) {
    unit->mCalcFunc = calc;
}

template <UnitCalcFunc calc>
void do_at_start(::Unit* unit) {
    unit->mCalcFunc = [](::Unit*, int) {};
    calc(unit, 1);
}

/// Overwrites the real-time memory after the unit.
void construct_scribble(::Unit* unit) {
    unit->mCalcFunc = [](::Unit*, int) {};
    std::memset(unit + 1, 3, 65536);
}

void generate_for_ever(::World*, ::SndBuf*, ::sc_msg_iter*) {
    run_for_ever(nullptr, 1);
}

} // namespace

#define EXPORT extern "C" [[gnu::visibility("default")]]

EXPORT int api_version() {
    return 3;
}

EXPORT int server_type() {
    return sc_server_scsynth;
}

EXPORT void load(::InterfaceTable* table) {
    const auto define = [&](const char* name, UnitCtorFunc constructor) {
        table->fDefineUnit(name, sizeof(::Unit), constructor, nullptr, 0);
    };
    define("Endless", construct<run_for_ever>);
    define("EndlessStart", do_at_start<run_for_ever>);
    define("Waits", construct<wait_for_ever>);
    define("WaitsStart", do_at_start<wait_for_ever>);
    define("Deadlock", construct<wait_for_itself>);
    define("Crash", construct<crash>);
    define("Abort", construct<abort_now>);
    define("SmashStack", construct<smash_stack>);
    define("Terminate", construct<terminate_now>);
    define("ThrowNoexcept", construct<throw_through_noexcept>);
    define("Exit", construct<exit_now>);
    define("CrashThread", do_at_start<crash_on_a_thread>);
    define("FreeTwice", construct<free_twice>);
    define("SpoilHeap", construct<spoil_heap>);
    define("Scribble", construct_scribble);
    table->fDefineBufGen("endless", generate_for_ever);
}
