// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/transport/jack.hpp"

#include <atomic>
#include <cstdint>
#include <dlfcn.h>
#include <memory>
#include <string>
#include <utility>

namespace scs::transport {

namespace {

// What is used of JACK's interface, whose headers need not be there.
struct Client;
struct [[gnu::packed]] Position {
    uint64_t unique_1, usecs;
    uint32_t frame_rate, frame, valid;
    int32_t bar, beat, tick;
    double bar_start_tick;
    float beats_per_bar, beat_type;
    double ticks_per_beat, beats_per_minute, frame_time, next_time;
    uint32_t bbt_offset;
    float audio_frames_per_video_frame;
    uint32_t video_offset;
    double tick_double;
    int32_t padding[5];
    uint64_t unique_2;
};
constexpr uint32_t has_bars = 0x10;
constexpr int no_server_start = 1, stopped = 0;

using Tell = void (*)(int state, uint32_t frames, Position*, int located, void* self);

class Library {
public:
    /// PipeWire's own, wherever the system's is JACK's.
    Library() {
        for (const char* const name : {SCS_PIPEWIRE_LIBJACK, "libjack.so.0"})
            if (!handle_)
                handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        find(open, "jack_client_open");
        find(close, "jack_client_close");
        find(activate, "jack_activate");
        find(rate, "jack_get_sample_rate");
        find(on_shutdown, "jack_on_shutdown");
        find(set_timebase, "jack_set_timebase_callback");
        find(release_timebase, "jack_release_timebase");
        find(start, "jack_transport_start");
        find(stop, "jack_transport_stop");
        find(locate, "jack_transport_locate");
        find(query, "jack_transport_query");
    }
    bool whole() const { return whole_; }

    Client* (*open)(const char* name, int options, int* status, ...) = nullptr;
    int (*close)(Client*) = nullptr;
    int (*activate)(Client*) = nullptr;
    uint32_t (*rate)(Client*) = nullptr;
    void (*on_shutdown)(Client*, void (*)(void*), void*) = nullptr;
    int (*set_timebase)(Client*, int conditional, Tell, void*) = nullptr;
    int (*release_timebase)(Client*) = nullptr;
    void (*start)(Client*) = nullptr;
    void (*stop)(Client*) = nullptr;
    int (*locate)(Client*, uint32_t frame) = nullptr;
    int (*query)(const Client*, Position*) = nullptr;

private:
    template <class F>
    void find(F& function, const char* name) {
        void* const found = handle_ ? dlsym(handle_, name) : nullptr;
        function = reinterpret_cast<F>(found);
        whole_ = whole_ && found;
    }

    void* handle_ = nullptr; // stays: threads of it may still end
    bool whole_ = true;
};

class PipeWireJack final : public Jack {
public:
    PipeWireJack(const Library& library, Client* client, double tempo, int beats_per_bar)
        : jack_(library), client_(client), timeline_(tempo, beats_per_bar, double(library.rate(client))) {}
    ~PipeWireJack() override {
        jack_.release_timebase(client_);
        jack_.close(client_);
    }

    /// false: it isn't the master.
    bool begin() {
        jack_.on_shutdown(
            client_, [](void* self) { static_cast<PipeWireJack*>(self)->gone_ = true; }, this);
        const Tell tell = [](int, uint32_t, Position* position, int located, void* self) {
            static_cast<PipeWireJack*>(self)->tell(*position, located != 0);
        };
        if (jack_.activate(client_) != 0 || jack_.set_timebase(client_, 0, tell, this) != 0)
            return false;
        repeat();
        return true;
    }

    void start() override { jack_.start(client_); }
    void stop() override { jack_.stop(client_); }
    bool locate(double beat) override {
        const int64_t frame = timeline_.locate(beat);
        return frame >= 0 && jack_.locate(client_, uint32_t(frame)) == 0;
    }
    void set_tempo(double beats_a_second) override {
        timeline_.set_tempo(beats_a_second);
        repeat();
    }
    bool gone() const override { return gone_; }

private:
    /// While nothing plays beats are told only of a new place: a locate to the same one, unless there is one already.
    void repeat() {
        Position position{};
        if (!timeline_.locating() && jack_.query(client_, &position) == stopped)
            (void)jack_.locate(client_, position.frame);
    }

    void tell(Position& position, bool located) noexcept {
        const Timeline::Place place = timeline_.at(position.frame, located);
        position.valid = has_bars;
        position.bar = place.bar;
        position.beat = place.beat;
        position.tick = place.tick;
        position.bar_start_tick = place.bar_start_tick;
        position.beats_per_bar = float(timeline_.beats_per_bar());
        position.beat_type = 4;
        position.ticks_per_beat = Timeline::ticks_per_beat;
        position.beats_per_minute = place.beats_per_minute;
    }

    const Library jack_;
    Client* const client_;
    Timeline timeline_;
    std::atomic<bool> gone_{false};
};

} // namespace

Result<std::unique_ptr<Jack>> Jack::open(double tempo, int beats_per_bar) {
    const Library library;
    if (!library.whole())
        return Error{"PipeWire's libjack is missing (package pipewire-jack)"};
    Client* const client = library.open("scsynth-transport", no_server_start, nullptr);
    if (!client)
        return Error{"no PipeWire to be a JACK client of"};
    auto jack = std::make_unique<PipeWireJack>(library, client, tempo, beats_per_bar);
    if (!jack->begin())
        return Error{"PipeWire lets nobody drive the transport: no device drives the graph"};
    return std::unique_ptr<Jack>(std::move(jack));
}

} // namespace scs::transport
