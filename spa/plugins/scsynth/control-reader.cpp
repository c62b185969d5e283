// SPDX-License-Identifier: GPL-3.0-or-later
#include "control-reader.hpp"

#include "engine/control/midi.hpp"

#include <spa/control/control.h>
#include <spa/pod/pod.h>
#include <spa/utils/type.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace scs::spa {
namespace {

constexpr uint32_t ump_control = 4; ///< SPA_CONTROL_UMP, which PipeWire has from 1.4 on

/// The end of a piece of `bytes` that begins at `at`; pods are multiples of 8 bytes.
constexpr size_t padded_end(size_t at, size_t bytes) noexcept {
    return (at + bytes + 7) & ~size_t(7);
}

template <class T>
T read_at(std::span<const std::byte> bytes, size_t at) noexcept {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

MidiRead read_message(uint32_t type, std::span<const std::byte> body, ControlEvent& event) noexcept {
    if (type == SPA_CONTROL_Midi)
        return read_midi({reinterpret_cast<const uint8_t*>(body.data()), body.size()}, event);
    std::array<uint32_t, 4> words;
    if (body.size() > sizeof words || body.size() % sizeof words[0] != 0)
        return MidiRead::malformed;
    std::memcpy(words.data(), body.data(), body.size());
    return read_ump(std::span(words).first(body.size() / sizeof words[0]), event);
}

} // namespace

void ControlReader::add_packet(std::span<const std::byte> packet, const ControlEvent& at) noexcept {
    if (packet.size() > packets_.size() - packet_bytes_ || events_.size() == most_events)
        return refuse();
    const std::span<std::byte> copy = std::span(packets_).subspan(packet_bytes_, packet.size());
    std::copy(packet.begin(), packet.end(), copy.begin());
    packet_bytes_ += packet.size();
    ControlEvent& event = events_.emplace_back(at);
    event.kind = ControlEvent::Kind::packet;
    event.packet = copy;
    received_.fetch_add(1, std::memory_order_relaxed);
}

void ControlReader::add(uint32_t type, std::span<const std::byte> body, const ControlEvent& at) noexcept {
    if (type == SPA_CONTROL_OSC && takes_osc_)
        return add_packet(body, at);
    if (type != SPA_CONTROL_Midi && type != ump_control)
        return;
    ControlEvent event = at;
    switch (read_message(type, body, event)) {
    case MidiRead::malformed: return refuse();
    case MidiRead::other: return;
    case MidiRead::event: break;
    }
    if (events_.size() == most_events)
        return refuse();
    events_.push_back(event);
    received_.fetch_add(1, std::memory_order_relaxed);
}

void ControlReader::read(uint8_t port, std::span<const std::byte> shared) noexcept {
    if (shared.empty() || frames_ == 0)
        return;
    const std::span<std::byte> all = std::span(copy_).first(std::min(shared.size(), copy_.size()));
    std::memcpy(all.data(), shared.data(), all.size());
    if (all.size() < sizeof(spa_pod_sequence))
        return refuse();
    const auto head = read_at<spa_pod>(all, 0);
    const size_t end = sizeof(spa_pod) + head.size;
    if (head.type != SPA_TYPE_Sequence || head.size < sizeof(spa_pod_sequence_body))
        return refuse();
    for (size_t at = sizeof(spa_pod_sequence); at < end;) {
        if (end - at < sizeof(spa_pod_control) || all.size() < at + sizeof(spa_pod_control))
            return refuse();
        const auto control = read_at<spa_pod_control>(all, at);
        const size_t body = at + sizeof(spa_pod_control);
        if (control.value.size > end - body || control.value.size > all.size() - body)
            return refuse();
        ControlEvent event;
        event.port = port;
        event.frame = int32_t(std::min(control.offset, frames_ - 1));
        if (control.value.type == SPA_TYPE_Bytes)
            add(control.type, all.subspan(body, control.value.size), event);
        at = padded_end(body, control.value.size);
    }
}

std::span<ControlEvent> ControlReader::events() noexcept {
    const auto earlier = [](const ControlEvent& a, const ControlEvent& b) { return a.frame < b.frame; };
    if (std::is_sorted(events_.begin(), events_.end(), earlier))
        return events_;
    // Each port has its own order. std::stable_sort() would allocate.
    order_.clear();
    for (size_t i = 0; i < events_.size(); ++i)
        order_.push_back(uint64_t(events_[i].frame) << 32 | i);
    std::sort(order_.begin(), order_.end());
    sorted_.clear();
    for (const uint64_t each : order_)
        sorted_.push_back(events_[uint32_t(each)]);
    return sorted_;
}

} // namespace scs::spa
