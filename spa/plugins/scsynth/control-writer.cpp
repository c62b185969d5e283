// SPDX-License-Identifier: GPL-3.0-or-later
#include "control-writer.hpp"

#include "engine/control/midi.hpp"

#include <spa/control/control.h>
#include <spa/pod/pod.h>
#include <spa/utils/type.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

namespace scs::spa {
namespace {

constexpr uint32_t ump_control = 4; ///< SPA_CONTROL_UMP, which PipeWire has from 1.4 on

/// Writes one piece after the other, and nothing more once one finds no room.
class Pieces {
public:
    explicit Pieces(std::span<std::byte> to) noexcept : to_(to) {}

    template <class T>
    void add(const T& value) noexcept {
        copy(&value, sizeof value);
    }
    void copy(const void* from, size_t size) noexcept {
        fits_ = fits_ && size <= to_.size() - used_;
        if (!fits_)
            return;
        if (size > 0)
            std::memcpy(to_.data() + used_, from, size);
        used_ += size;
    }
    /// Zeros up to a multiple of `bytes`, at least `least` of them.
    void pad(size_t bytes, size_t least = 0) noexcept {
        constexpr std::byte zeros[16]{};
        copy(zeros, least + (bytes - (used_ + least) % bytes) % bytes);
    }
    bool fit() const noexcept { return fits_; }
    size_t used() const noexcept { return used_; }

private:
    std::span<std::byte> to_;
    size_t used_ = 0;
    bool fits_ = true;
};

/// A string of OSC.
void add_text(Pieces& to, std::string_view text) noexcept {
    to.copy(text.data(), text.size());
    to.pad(4, 1);
}

void add_number(Pieces& to, uint32_t bits) noexcept {
    to.add(std::endian::native == std::endian::little ? __builtin_bswap32(bits) : bits);
}

/// The message that clients get. `to` begins at a multiple of 4 bytes.
void write_message(const OutgoingEvent& event, Pieces& to) noexcept {
    const size_t value_bytes = event.values * sizeof(float);
    const auto* const text = reinterpret_cast<const char*>(event.packet.data() + value_bytes);
    const std::string_view path(text, event.packet.size() - value_bytes);
    add_text(to, path.empty() ? "/tr" : path.substr(0, path.find('\0')));
    to.copy(",ii", 3);
    for (uint32_t i = 0; i < event.values; ++i)
        to.add('f');
    to.pad(4, 1);
    add_number(to, uint32_t(event.node));
    add_number(to, uint32_t(event.id));
    for (uint32_t i = 0; i < event.values; ++i) {
        uint32_t bits;
        std::memcpy(&bits, event.packet.data() + i * sizeof bits, sizeof bits);
        add_number(to, bits);
    }
}

} // namespace

ControlWriter::ControlWriter(bool packets) : packets_(packets) {
    order_.reserve(OutgoingQueue::most);
}

void ControlWriter::add(const OutgoingEvent& event, int64_t frame) noexcept {
    constexpr int64_t last = INT32_MAX;
    OutgoingEvent placed = event;
    placed.frame = int32_t(std::clamp<int64_t>(frame, 0, last));
    if (!queue_.add(placed, event.packet))
        unsent_.fetch_add(1, std::memory_order_relaxed);
}

void ControlWriter::hurry() noexcept {
    for (OutgoingEvent& each : queue_.events())
        each.frame = 0;
}

/// Returns the bytes that it takes; 0: there is no room for any.
uint32_t ControlWriter::write_sequence(uint8_t port, std::span<std::byte> to) noexcept {
    if (to.size() < sizeof(spa_pod_sequence))
        to = {};
    size_t used = sizeof(spa_pod_sequence), sent = 0, unsent = 0;
    for (const uint64_t each : order_) {
        const OutgoingEvent& event = queue_.events()[uint32_t(each)];
        if (event.port != port)
            continue;
        const size_t body = used + sizeof(spa_pod_control);
        if (body >= to.size()) {
            ++unsent;
            continue;
        }
        Pieces pieces(to.subspan(body));
        spa_pod_control head{};
        head.offset = uint32_t(event.frame);
        if (event.kind == ControlEvent::Kind::packet) {
            head.type = SPA_CONTROL_OSC;
            write_message(event, pieces);
        } else if (packets_) {
            head.type = ump_control;
            pieces.add(write_ump(event));
        } else {
            head.type = SPA_CONTROL_Midi;
            const MidiMessage message = write_midi(event);
            pieces.copy(message.bytes.data(), message.size);
        }
        head.value = {uint32_t(pieces.used()), SPA_TYPE_Bytes};
        pieces.pad(8);
        unsent += !pieces.fit();
        if (!pieces.fit())
            continue;
        std::memcpy(to.data() + used, &head, sizeof head);
        used = body + pieces.used();
        ++sent;
    }
    sent_.fetch_add(sent, std::memory_order_relaxed);
    unsent_.fetch_add(unsent, std::memory_order_relaxed);
    if (to.empty())
        return 0;
    const spa_pod_sequence sequence{{uint32_t(used - sizeof(spa_pod)), SPA_TYPE_Sequence}, {0, 0}};
    std::memcpy(to.data(), &sequence, sizeof sequence);
    return uint32_t(used);
}

void ControlWriter::write(uint32_t frames, std::span<PortIo> ports) noexcept {
    order_.clear();
    const std::span<OutgoingEvent> events = queue_.events();
    for (size_t i = 0; i < events.size(); ++i)
        if (uint32_t(events[i].frame) < frames)
            order_.push_back(uint64_t(events[i].frame) << 32 | i);
    std::sort(order_.begin(), order_.end());
    for (size_t i = 0; i < ports.size(); ++i)
        if (const std::span<std::byte> to = ports[i].begin_bytes(); to.data())
            ports[i].end_bytes(write_sequence(uint8_t(i), to));
    if (events.empty())
        return;
    queue_.remove_before(int32_t(frames));
    for (OutgoingEvent& each : queue_.events())
        each.frame -= int32_t(frames);
}

} // namespace scs::spa
