// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/rate-buses.hpp"

#include "engine/ugens/bus-places.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace scs {

// ---- reading

namespace {

/// The most samples that a filter gives at once.
int most_raised(const Ticks& ticks) noexcept {
    return std::max(ticks.rate.frames, ticks.rate.factor);
}
size_t reader_floats(const Ticks& ticks) noexcept {
    if (ticks.rate.factor == 1)
        return 0;
    const int most = most_raised(ticks);
    return size_t(most) + HalfBand::bytes(ticks.rate.factor, most) / sizeof(float);
}

} // namespace

size_t BusReader::bytes(const Ticks& ticks, int channels) noexcept {
    return sizeof(BusReader) + size_t(channels) * (sizeof(Channel) + reader_floats(ticks) * sizeof(float));
}

BusReader* BusReader::make(void* memory, const Ticks& ticks, int channels) noexcept {
    auto* const self = new (memory) BusReader;
    self->channels_ = channels;
    auto* floats = reinterpret_cast<float*>(self->list() + channels);
    for (int c = 0; c < channels; ++c, floats += reader_floats(ticks)) {
        Channel& channel = *new (self->list() + c) Channel;
        if (ticks.rate.factor == 1)
            continue;
        channel.ready = floats;
        channel.filter.begin(ticks.rate.factor, most_raised(ticks), floats + most_raised(ticks));
    }
    return self;
}

void BusReader::find(const Space& space, float number) noexcept {
    const int32_t first = bus_of(number, space.audio_buses);
    for (int c = 0; c < channels_; ++c) {
        const int32_t bus = bus_after(first, c, space.audio_buses);
        list()[c].bus = bus >= 0 && age(space, space.audio_touched[bus]) == 0 ? bus : -1;
    }
}

void BusReader::find_feedback(const Space& space, float number) noexcept {
    if (number != number_)
        forget_heard();
    number_ = number;
    const int32_t first = bus_of(number, space.audio_buses);
    for (int c = 0; c < channels_; ++c)
        follow(space, c, bus_after(first, c, space.audio_buses));
}

/// Until 3.13 all channels share one bit of `in_time_`.
void BusReader::follow(const Space& space, int channel, int32_t bus) noexcept {
    const uint32_t blocks = bus < 0 ? 2 : age(space, space.audio_touched[bus]);
    const int32_t bit = space.release >= Release::v3_14 ? int32_t(1u << (unsigned(channel) % 32)) : 1;
    const bool sounds = blocks == 0 || (blocks == 1 && !(in_time_ & bit));
    in_time_ = blocks == 0 ? in_time_ | bit : in_time_ & ~bit;
    list()[channel].bus = sounds ? bus : -1;
}

float BusReader::first(const Space& space, const Ticks& ticks, int channel) const noexcept {
    const int32_t bus = list()[channel].bus;
    return bus < 0 || ticks.rate.factor != 1 ? 0.f : *audio_bus(space, bus);
}

void BusReader::take(const Space& space, const Ticks& ticks, int channel, float* to) noexcept {
    Channel& its = list()[channel];
    const SynthRate& rate = ticks.rate;
    const auto fill = [&](float* frames, int count) {
        if (its.bus < 0)
            std::fill_n(frames, count, 0.f);
        else
            std::copy_n(audio_bus(space, its.bus) + ticks.place(), count, frames);
    };
    if (rate.factor == 1)
        return fill(to, rate.frames);
    const int places = ticks.places();
    if (places && its.count == 0) {
        fill(its.ready, places);
        its.filter.raise(its.ready, places);
        its.count = places * rate.factor;
    }
    const int taken = std::min(its.count, rate.frames);
    std::copy_n(its.ready, taken, to);
    std::fill_n(to + taken, rate.frames - taken, 0.f);
    its.count -= taken;
    std::memmove(its.ready, its.ready + taken, size_t(its.count) * sizeof(float));
}

// ---- a value, a control bus or an audio bus

namespace {

size_t whole_pointers(size_t bytes) noexcept {
    return (bytes + 7) & ~size_t(7);
}

} // namespace

size_t ControlReader::bytes(const Ticks& ticks, int channels) noexcept {
    return sizeof(ControlReader) + whole_pointers(size_t(channels) * sizeof(Channel)) +
           BusReader::bytes(ticks, channels);
}

ControlReader* ControlReader::make(void* memory, const Ticks& ticks, int channels) noexcept {
    auto* const self = new (memory) ControlReader;
    for (int c = 0; c < channels; ++c)
        new (self->list() + c) Channel;
    auto* const rest = reinterpret_cast<std::byte*>(self + 1) + whole_pointers(size_t(channels) * sizeof(Channel));
    self->buses_ = BusReader::make(rest, ticks, channels);
    return self;
}

void ControlReader::find(const Space& space, const Ticks& ticks, int channel, int32_t mapped, float value) noexcept {
    Channel& its = list()[channel];
    const int32_t bus = mapped < 0 ? -mapped - 1 : -1;
    if (channel == 0 && std::exchange(followed_, bus) != bus)
        buses_->forget_heard();
    its.hears = bus >= 0;
    if (!its.found && !its.hears)
        its.next = value;
    its.found = true;
    if (its.hears)
        return buses_->follow(space, channel, bus);
    its.value = mapped ? its.next : value;
    its.slope = mapped ? (value - its.next) / float(ticks.server_frames * ticks.rate.factor) : 0.f;
    its.next = value;
    buses_->rest(channel);
}

float ControlReader::first(const Space& space, const Ticks& ticks, int channel) const noexcept {
    return list()[channel].hears ? buses_->first(space, ticks, channel) : list()[channel].value;
}

void ControlReader::take(const Space& space, const Ticks& ticks, int channel, float* to) noexcept {
    buses_->take(space, ticks, channel, to); // of all channels, so that a filter goes on when its control is mapped
    const Channel& its = list()[channel];
    if (its.hears)
        return;
    const int before = ticks.samples_before();
    for (int i = 0; i < ticks.rate.frames; ++i)
        to[i] = its.value + its.slope * float(before + i);
}

// ---- writing

namespace {

size_t writer_filter_bytes(const Ticks& ticks) noexcept {
    return ticks.rate.factor == 1 ? 0 : HalfBand::bytes(ticks.rate.factor, ticks.rate.frames);
}

/// By four, as the compiler doesn't know that the two never overlap.
void add_to(float* to, const float* from, int count, bool fresh) noexcept {
    if (fresh) {
        std::copy_n(from, count, to);
        return;
    }
    using Four [[gnu::vector_size(4 * sizeof(float))]] = float;
    int i = 0;
    for (; i + 4 <= count; i += 4) {
        Four sum, more;
        std::memcpy(&sum, to + i, sizeof sum);
        std::memcpy(&more, from + i, sizeof more);
        sum += more;
        std::memcpy(to + i, &sum, sizeof sum);
    }
    for (; i < count; ++i)
        to[i] += from[i];
}

} // namespace

/// Of a queue, frames.
int BusWriter::room(const Ticks& ticks, int late) noexcept {
    const int kept = std::max(ticks.frames_ahead() - ticks.delay(), 0) + late;
    return kept || ticks.rate.factor != 1 ? kept + std::max(ticks.rate.frames / ticks.rate.factor, 1) : 0;
}

size_t BusWriter::bytes(const Ticks& ticks, int channels, int late) noexcept {
    return sizeof(BusWriter) + size_t(ticks.rate.frames) * sizeof(float) +
           size_t(channels) *
               (sizeof(Channel) + size_t(room(ticks, late)) * sizeof(float) + writer_filter_bytes(ticks));
}

BusWriter* BusWriter::make(void* memory, const Ticks& ticks, int channels, int late) noexcept {
    auto* const self = new (memory) BusWriter;
    self->channels_ = channels;
    self->room_ = room(ticks, late);
    self->scratch_ = reinterpret_cast<float*>(self->list() + channels);
    float* floats = self->scratch_ + ticks.rate.frames;
    for (int c = 0; c < channels; ++c) {
        Channel& channel = *new (self->list() + c) Channel;
        channel.dropped = ticks.ahead ? ticks.delay() : 0;
        channel.queue = floats;
        channel.queued = late;
        std::fill_n(floats, late, 0.f);
        floats += self->room_;
        if (ticks.rate.factor != 1)
            channel.filter.begin(ticks.rate.factor, ticks.rate.frames, floats);
        floats += writer_filter_bytes(ticks) / sizeof(float);
    }
    return self;
}

void BusWriter::find(const Space& space, float number) noexcept {
    const int32_t first = bus_of(number, space.audio_buses);
    for (int c = 0; c < channels_; ++c)
        list()[c].bus = bus_after(first, c, space.audio_buses);
    found_ = true;
}

/// Lowers the rate of a tick's samples and puts them into the queue.
void BusWriter::enqueue(const Ticks& ticks, Channel& channel, const float* samples) noexcept {
    int count = ticks.rate.frames;
    if (ticks.rate.factor != 1) {
        count = channel.filter.lower(samples, count, scratch_);
        samples = scratch_;
    }
    const int left_out = std::min(channel.dropped, count);
    channel.dropped -= left_out;
    std::memmove(channel.queue, channel.queue + channel.gone, size_t(channel.queued) * sizeof(float));
    channel.gone = 0;
    count = std::min(count - left_out, room_ - channel.queued);
    std::copy_n(samples + left_out, count, channel.queue + channel.queued);
    channel.queued += count;
}

/// The next frames, with silence after the last one.
const float* BusWriter::dequeue(Channel& channel, int count) noexcept {
    const int there = std::min(channel.queued, count);
    const float* const first = channel.queue + channel.gone;
    channel.queued -= there;
    channel.gone += there;
    if (there == count)
        return first;
    std::copy_n(first, there, scratch_);
    std::fill_n(scratch_ + there, count - there, 0.f);
    return scratch_;
}

const float* BusWriter::pass(const Ticks& ticks, Channel& channel, const float* samples) noexcept {
    const int places = ticks.places();
    if (!is_direct(ticks)) {
        enqueue(ticks, channel, samples);
        if (ticks.current < 0)
            return nullptr;
        samples = dequeue(channel, places);
    }
    return channel.bus >= 0 && places ? samples : nullptr;
}

const float* BusWriter::held(const Ticks& ticks, float value) noexcept {
    std::fill_n(scratch_, ticks.rate.frames, value);
    return scratch_;
}

void BusWriter::add(Space& space, const Ticks& ticks, int channel, const float* samples) noexcept {
    Channel& its = list()[channel];
    const float* const frames = pass(ticks, its, samples);
    if (!frames)
        return;
    if (ticks.begins_block())
        its.fresh = !touch(space, its.bus);
    add_to(audio_bus(space, its.bus) + ticks.place(), frames, ticks.places(), its.fresh);
}

void BusWriter::replace(Space& space, const Ticks& ticks, int channel, const float* samples) noexcept {
    Channel& its = list()[channel];
    const float* const frames = pass(ticks, its, samples);
    if (!frames)
        return;
    touch(space, its.bus);
    std::copy_n(frames, ticks.places(), audio_bus(space, its.bus) + ticks.place());
}

void BusWriter::fade(Space& space, const Ticks& ticks, int channel, const float* samples, float from,
                     float to) noexcept {
    Channel& its = list()[channel];
    const float* const frames = pass(ticks, its, samples);
    if (!frames || (from == to && from == 0.f))
        return;
    const int count = ticks.places();
    float* const bus = audio_bus(space, its.bus);
    if (!touch(space, its.bus))
        std::fill_n(bus, ticks.server_frames, 0.f);
    float* const at = bus + ticks.place();
    if (from == to && from == 1.f) {
        std::copy_n(frames, count, at);
        return;
    }
    const float slope = float(double(to - from) * (1.0 / count));
    float level = from;
    for (int i = 0; i < count; ++i, level += slope)
        at[i] += level * (frames[i] - at[i]);
}

int BusWriter::tail_of(const Ticks& ticks, const Channel& channel) noexcept {
    return std::min(channel.queued + ticks.delay(), ticks.server_frames);
}

void BusWriter::write_tail(Space& space, const Ticks& ticks) noexcept {
    if (!std::exchange(found_, false) || is_direct(ticks))
        return;
    const SynthRate& rate = ticks.rate;
    for (Channel* its = list(); its != list() + channels_; ++its) {
        if (its->bus < 0)
            continue;
        float* const bus = audio_bus(space, its->bus);
        const bool fresh = !touch(space, its->bus);
        const int length = tail_of(ticks, *its);
        // Some ticks bring no frame: those that are shorter than one.
        int place = 0, left = (length + 1) * rate.factor;
        for (; place < length && left > 0; left -= std::min(rate.frames, rate.factor)) {
            if (its->queued == 0)
                enqueue(ticks, *its, held(ticks, 0.f));
            const int count = std::min({its->queued, length - place, rate.frames});
            add_to(bus + place, dequeue(*its, count), count, fresh);
            place += count;
        }
        if (fresh)
            std::fill_n(bus + place, ticks.server_frames - place, 0.f);
    }
}

void BusWriter::write_tail_in_ticks(Space& space, const Ticks& ticks) noexcept {
    const bool begins = ticks.begins_block() && std::exchange(found_, false) && !is_direct(ticks);
    const int places = ticks.places();
    for (Channel* its = list(); its != list() + channels_; ++its) {
        if (ticks.begins_block()) {
            const bool writes = begins && its->bus >= 0;
            its->tail = writes ? tail_of(ticks, *its) : 0;
            its->fresh = writes && !touch(space, its->bus);
        }
        if (!its->tail && !its->fresh)
            continue;
        enqueue(ticks, *its, held(ticks, 0.f));
        const float* const frames = dequeue(*its, places);
        float* const bus = audio_bus(space, its->bus) + ticks.place();
        const int count = std::min(its->tail, places);
        add_to(bus, frames, count, its->fresh);
        if (its->fresh)
            std::fill_n(bus + count, places - count, 0.f);
        its->tail -= count;
    }
}

} // namespace scs
