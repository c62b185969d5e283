// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport-reader.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace scs::spa {
namespace {

/// Where spa_io_segment_bar has `ticks_per_beat` from PipeWire 1.3.81 on, and nothing before.
constexpr size_t ticks_per_beat_at = 40;
static_assert(offsetof(spa_io_segment_bar, beat) + 2 * sizeof(double) == ticks_per_beat_at);
static_assert(sizeof(spa_io_segment_bar) >= ticks_per_beat_at + sizeof(double));

constexpr double coarsest_tick = 1.0 / 192;
constexpr double most_corrected = 0.5; ///< beats by which a master may differ from its line, where it is no leap

bool between(double value, double low, double high) noexcept {
    return value >= low && value <= high; // false if it is no number
}

} // namespace

/// Where the transport is at a frame of the cycle.
struct TransportReader::Place {
    const spa_io_segment* segment = nullptr; ///< null: nowhere
    double frame = 0;
    double speed = 0;           ///< frames of the transport for one of the graph's, if it plays
    uint64_t left = UINT64_MAX; ///< frames of the graph until the segment ends, or repeats
};

TransportReader::Place TransportReader::place_in(const spa_io_position& position, uint64_t since_start) noexcept {
    const uint32_t count = std::min<uint32_t>(position.n_segments, SPA_IO_POSITION_MAX_SEGMENTS);
    if (count == 0)
        return {};
    const auto running = int64_t(position.clock.position + since_start - uint64_t(position.offset));
    const auto begun = [&](const spa_io_segment& segment) {
        return running >= 0 && uint64_t(running) >= segment.start;
    };
    const spa_io_segment* segment = &position.segments[0];
    uint64_t left = UINT64_MAX;
    for (uint32_t i = 1; i < count; ++i) {
        if (!begun(position.segments[i])) {
            left = position.segments[i].start - uint64_t(running);
            break;
        }
        segment = &position.segments[i];
    }
    if (!between(segment->rate, -64, 64) || segment->flags & SPA_IO_SEGMENT_FLAG_NO_POSITION)
        return {.left = left};
    Place place{segment, double(segment->position), segment->rate, left};
    if (!begun(*segment))
        return place;
    uint64_t since = uint64_t(running) - segment->start;
    if (segment->duration > 0 && since >= segment->duration) {
        if (!(segment->flags & SPA_IO_SEGMENT_FLAG_LOOPING)) { // over, and there is no other one
            place.frame += double(segment->duration) * segment->rate;
            place.speed = 0;
            return place;
        }
        since %= segment->duration;
    }
    if (segment->duration > 0)
        place.left = std::min(left, segment->duration - since);
    place.frame += double(since) * segment->rate;
    return place;
}

TransportReader::Bar TransportReader::read_bar(const spa_io_segment_bar& bar) noexcept {
    Bar found{true, bar.bpm, bar.beat, double(bar.signature_num), coarsest_tick, double(bar.offset)};
    if (!(bar.flags & SPA_IO_SEGMENT_BAR_FLAG_VALID) || !between(bar.bpm, 1e-3, 1e5) || !between(bar.beat, -1e9, 1e9) ||
        !between(bar.signature_num, 1.0 / 16, 4096))
        return {};
    double ticks;
    std::memcpy(&ticks, reinterpret_cast<const std::byte*>(&bar) + ticks_per_beat_at, sizeof ticks);
    if (between(ticks, 1, 1e9)) {
        found.tick = 1 / ticks;
        found.beat -= found.beats_per_bar; // bars count from 1 where there are ticks, as in JACK
    }
    return found;
}

/// Puts the line through what was said of frame `at`. Ticks are cut off, never added: at a steady tempo the line that
/// is highest is the best. Returns whether beats leap.
bool TransportReader::keep(const Bar& bar, double at) noexcept {
    const double beats_per_frame = bar.bpm / (60 * rate_);
    const double before = beat_at(at);
    const bool steady = bar_.valid && went_on_ && bar.bpm == bar_.bpm && bar.beats_per_bar == bar_.beats_per_bar;
    const bool leaps = !bar_.valid || !(std::abs(before - bar.beat) < (fresh_ ? bar.tick : most_corrected));
    beat_ = steady && between(before, bar.beat, bar.beat + bar.tick) ? before : bar.beat;
    frame_ = at;
    beats_per_frame_ = beats_per_frame;
    bar_ = bar;
    return leaps;
}

/// From frame `since` of the cycle on, until frame `until`.
Transport TransportReader::read_from(const Place& place, uint64_t since, uint64_t until) noexcept {
    Transport transport;
    transport.frame = double(since);
    transport.playing = copy_.state == SPA_IO_POSITION_STATE_RUNNING;
    transport.leaps = leaps_;
    if (!place.segment) {
        any_ = false;
        return transport;
    }
    // PipeWire shows the last cycle's place again when it stops, and what follows that when it goes on: two leaps.
    const bool follows = any_ && std::abs(place.frame - next_frame_) < 0.5;
    bool leaps = !follows;
    const Bar bar = read_bar(place.segment->bar);
    if (!bar.valid)
        bar_ = {};
    else if (bar != bar_) // the beat of a segment that begins within the cycle is that of its beginning
        leaps |= keep(bar, (any_ && since == 0 ? last_frame_ : place.frame) - bar.offset);
    went_on_ = follows;
    any_ = true;
    last_frame_ = place.frame;
    next_frame_ = place.frame + (transport.playing ? double(until - since) * place.speed : 0);
    transport.leaps = leaps_ += leaps;
    fresh_ = (fresh_ || leaps) && !transport.playing;
    if (!bar.valid)
        return transport;
    transport.tempo = bar.bpm / 60 * place.speed;
    transport.beat = beat_at(place.frame);
    transport.beats_per_frame = transport.playing ? beats_per_frame_ * place.speed : 0;
    transport.beats_per_bar = bar.beats_per_bar;
    return transport;
}

std::span<const Transport> TransportReader::read(const spa_io_position& shared, double rate) noexcept {
    std::memcpy(&copy_, &shared, sizeof copy_);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // what is checked is what is used
    if (&shared != shared_ || copy_.clock.id != clock_) { // another driver's
        shared_ = &shared;
        clock_ = copy_.clock.id;
        any_ = false;
        bar_ = {};
    }
    if (rate != rate_ && bar_.valid) {
        beat_ = beat_at(last_frame_);
        frame_ = last_frame_;
        beats_per_frame_ = bar_.bpm / (60 * rate);
    }
    rate_ = rate;
    const bool running = copy_.state == SPA_IO_POSITION_STATE_RUNNING;
    const uint64_t frames = copy_.clock.duration;
    size_t count = 0;
    for (uint64_t since = 0; count == 0 || (running && since < frames && count < most);) {
        const Place place = place_in(copy_, since);
        const uint64_t until = since + std::min(place.left, std::max(frames, since) - since);
        transports_[count++] = read_from(place, since, until);
        since = std::max(until, since + 1);
    }
    return std::span(transports_).first(count);
}

} // namespace scs::spa
