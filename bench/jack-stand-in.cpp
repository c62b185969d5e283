// SPDX-License-Identifier: GPL-3.0-or-later
// In place of libjack, for a server that is to be measured from outside: put before it by LD_PRELOAD, it is the only
// client's whole JACK. A thread calls the server's process function for 64 frames at 48 kHz at the pace of real time.
// As soon as there is a file CYCLE_TIMES.go, it notes how long each of CYCLE_TIMES_COUNT calls takes, back to back or,
// with CYCLE_TIMES_PACED, at that pace, and writes that to the file CYCLE_TIMES. These are the environment's. With
// CYCLE_TIMES_PRIORITY the thread is SCHED_FIFO.
//
// JACK's functions and types are declared here as its documentation describes them, as far as the servers use them.
#include "cycle-times.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <pthread.h>
#include <thread>
#include <unistd.h>

namespace {

constexpr uint32_t frames = 64, rate = 48000;
constexpr int64_t period = 1'000'000'000ll * frames / rate; // ns

const char* variable(const char* name) {
    return std::getenv(name);
}

int priority() {
    const char* text = variable("CYCLE_TIMES_PRIORITY");
    return text ? std::atoi(text) : 0;
}

} // namespace

// JACK tells clients nothing of these but their addresses.
struct StandInPort {
    std::string name;
    alignas(64) float buffer[frames] = {};
};

struct StandInClient {
    std::string name;
    int (*process)(uint32_t, void*) = nullptr;
    void* process_data = nullptr;
    void (*thread_init)(void*) = nullptr;
    void* thread_init_data = nullptr;
    std::deque<StandInPort> ports;
    std::thread thread;
    std::atomic<bool> over{false};

    void call() { (void)process(frames, process_data); }
    void run() {
        if (const sched_param wanted{priority()}; wanted.sched_priority)
            (void)pthread_setschedparam(pthread_self(), SCHED_FIFO, &wanted);
        if (thread_init)
            thread_init(thread_init_data);
        const char* path = variable("CYCLE_TIMES");
        const std::string go = std::string(path ? path : "") + ".go";
        bool measured = !path;
        scs::bench::CycleTimes pace(1, period);
        for (unsigned cycle = 0; !over; ++cycle) {
            pace.wait();
            call();
            if (!measured && cycle % 64 == 0 && access(go.c_str(), F_OK) == 0) {
                measure(path);
                measured = true;
            }
        }
    }

private:
    void measure(const char* path) {
        const char* count = variable("CYCLE_TIMES_COUNT");
        scs::bench::CycleTimes times(count ? size_t(std::max(1ll, std::atoll(count))) : 100'000,
                                     variable("CYCLE_TIMES_PACED") ? period : 0);
        while (!times.complete() && !over) {
            times.wait();
            times.measure([this] { call(); });
        }
        if (!times.write(path))
            std::perror(path);
    }
};

#pragma GCC visibility push(default)
extern "C" {

StandInClient* jack_client_open(const char* name, int, int* status, ...) {
    if (status)
        *status = 0;
    auto* client = new StandInClient;
    client->name = name;
    return client;
}

int jack_deactivate(StandInClient* client) {
    client->over = true;
    if (client->thread.joinable())
        client->thread.join();
    return 0;
}

int jack_client_close(StandInClient* client) {
    (void)jack_deactivate(client);
    delete client;
    return 0;
}

int jack_activate(StandInClient* client) {
    client->over = false;
    client->thread = std::thread([client] { client->run(); });
    return 0;
}

char* jack_get_client_name(StandInClient* client) {
    return client->name.data();
}
uint32_t jack_get_sample_rate(StandInClient*) {
    return rate;
}
uint32_t jack_get_buffer_size(StandInClient*) {
    return frames;
}
float jack_cpu_load(StandInClient*) {
    return 0;
}
pthread_t jack_client_thread_id(StandInClient* client) {
    return client->thread.native_handle();
}
int jack_client_real_time_priority(StandInClient*) {
    return priority() ? priority() : -1;
}

int jack_set_process_callback(StandInClient* client, int (*process)(uint32_t, void*), void* data) {
    client->process = process;
    client->process_data = data;
    return 0;
}
int jack_set_thread_init_callback(StandInClient* client, void (*init)(void*), void* data) {
    client->thread_init = init;
    client->thread_init_data = data;
    return 0;
}
// What these would tell of never happens.
int jack_set_xrun_callback(StandInClient*, int (*)(void*), void*) {
    return 0;
}
int jack_set_graph_order_callback(StandInClient*, int (*)(void*), void*) {
    return 0;
}
int jack_set_sample_rate_callback(StandInClient*, int (*)(uint32_t, void*), void*) {
    return 0;
}
int jack_set_buffer_size_callback(StandInClient*, int (*)(uint32_t, void*), void*) {
    return 0;
}
void jack_on_shutdown(StandInClient*, void (*)(void*), void*) {}
void jack_on_info_shutdown(StandInClient*, void (*)(int, const char*, void*), void*) {}

StandInPort* jack_port_register(StandInClient* client, const char* name, const char*, unsigned long, unsigned long) {
    StandInPort& port = client->ports.emplace_back();
    port.name = client->name + ":" + name;
    return &port;
}
void* jack_port_get_buffer(StandInPort* port, uint32_t) {
    return port->buffer;
}
const char* jack_port_name(const StandInPort* port) {
    return port->name.c_str();
}
void jack_port_get_latency_range(StandInPort*, int, uint32_t* range) {
    range[0] = range[1] = 0;
}
// There are no others to be connected to.
const char** jack_get_ports(StandInClient*, const char*, const char*, unsigned long) {
    return nullptr;
}
int jack_connect(StandInClient*, const char*, const char*) {
    return 0;
}
}
#pragma GCC visibility pop
