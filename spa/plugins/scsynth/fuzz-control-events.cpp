// SPDX-License-Identifier: GPL-3.0-or-later
// What a control port brings: the first byte is half the number of frames in the cycle, the rest a spa_pod_sequence.
#include "control-reader.hpp"
#include "osc/packet-binding.hpp"

#include <cmath>
#include <cstdlib>
#include <span>

using namespace scs;

namespace {

bool within(const ControlEvent& event, int frames) {
    using Kind = ControlEvent::Kind;
    const bool parameter = event.kind == Kind::parameter || event.kind == Kind::own_parameter;
    return event.frame >= 0 && event.frame < frames && event.channel < 16 && event.number < (parameter ? 16384 : 128) &&
           std::isfinite(event.value) && std::abs(event.value) <= (event.kind == Kind::song_position ? 16383.f : 1.f);
}

void check(bool right) {
    if (!right)
        std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static spa::ControlReader reader;
    static osc::PacketReader packets(osc::PacketBinding::limits);
    if (size == 0)
        return 0;
    reader.take_osc();
    const int frames = 1 + data[0] * 2;
    reader.begin(uint32_t(frames));
    const uint64_t before = reader.received();
    for (uint8_t port = 0; port < 2; ++port)
        reader.read(port, std::as_bytes(std::span(data + 1, size - 1)));
    const std::span<ControlEvent> events = reader.events();
    check(events.size() <= spa::ControlReader::most_events && reader.received() - before == events.size());
    size_t bytes = 0;
    int frame = 0;
    for (const ControlEvent& event : events) {
        check(within(event, frames) && event.frame >= frame);
        frame = event.frame;
        bytes += event.packet.size();
        if (event.kind == ControlEvent::Kind::packet)
            (void)packets.read(event.packet);
    }
    check(bytes <= spa::ControlReader::most_bytes);
    return 0;
}
