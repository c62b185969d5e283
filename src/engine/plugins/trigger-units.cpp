// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/trigger-units.hpp"

#include "engine/plugins/graph-instance.hpp"
#include "engine/plugins/interface-table.hpp"
#include "engine/plugins/node-messages.hpp"
#include "engine/plugins/registry.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>

namespace scs {
namespace {

/// A number without its fraction. What is out of range, or no number, becomes the lowest int, as on x86.
int whole(float number) noexcept {
    return number >= -2147483648.f && number < 2147483648.f ? int(number) : std::numeric_limits<int>::min();
}

/// A unit's memory is zeroed before its constructor runs. A trigger is input 0, an ID is input 1.
struct TriggerUnit : ::Unit {
    float before; ///< the last value of the trigger

    /// The frame of the server's block in which one of the unit's block lies.
    int server_frame(int frame) const noexcept {
        const OwnTicks* const own = Instance::of(*this).own;
        return own ? own->server_frame(frame) : frame;
    }
    bool at_audio_rate(int input) const noexcept { return mInput[input]->mCalcRate == calc_FullRate; }
    float in(int input, int frame = 0) const noexcept { return mInBuf[input][at_audio_rate(input) ? frame : 0]; }
    int id() const noexcept { return whole(in(1)); }
};

/// Calls `send` with each frame at which the trigger becomes positive.
template <class Send>
void each_trigger(TriggerUnit& unit, int samples, Send send) noexcept {
    const int count = unit.at_audio_rate(0) ? samples : 1;
    for (int frame = 0; frame < count; ++frame) {
        const float now = unit.mInBuf[0][frame];
        if (now > 0.f && unit.before <= 0.f)
            send(frame);
        unit.before = now;
    }
}

void send_triggers(::Unit* self, int samples) {
    auto& unit = *static_cast<TriggerUnit*>(self);
    each_trigger(unit, samples, [&](int frame) {
        send_trigger(unit.mParent->mNode, unit.server_frame(frame), unit.id(), unit.in(2, frame));
    });
}

void start_send_trig(::Unit* unit) {
    unit->mCalcFunc = send_triggers;
}

/// Inputs 2 and on: the length of the path, its characters, the values.
struct SendReply : TriggerUnit {
    char* path;
    float* values;
    int path_length;

    int first_value() const noexcept { return 3 + path_length; }
    int count() const noexcept { return int(mNumInputs) - first_value(); }
};

void send_nothing(::Unit*, int) {}

void send_replies(::Unit* self, int samples) {
    auto& unit = *static_cast<SendReply*>(self);
    each_trigger(unit, samples, [&](int frame) {
        // Values of a trigger at control rate are those of the block's first frame.
        for (int i = 0; i < unit.count(); ++i)
            unit.values[i] = unit.in(unit.first_value() + i, frame);
        send_node_reply(unit.mParent->mNode, unit.server_frame(frame), unit.id(), {unit.path, size_t(unit.path_length)},
                        {unit.values, size_t(unit.count())});
    });
}

void start_send_reply(::Unit* self) {
    auto& unit = *static_cast<SendReply*>(self);
    unit.path_length = std::clamp(whole(unit.in(2)), 0, int(unit.mNumInputs) - 3);
    const size_t value_bytes = size_t(unit.count()) * sizeof(float);
    void* const memory =
        interface_table()->fRTAlloc(unit.mWorld, value_bytes + size_t(unit.path_length) + 1); // never 0
    if (!memory) {
        interface_table()->fPrint("SendReply: RT memory allocation failed\n");
        unit.mCalcFunc = send_nothing;
        return;
    }
    unit.values = static_cast<float*>(memory);
    unit.path = static_cast<char*>(memory) + value_bytes;
    for (int i = 0; i < unit.path_length; ++i)
        unit.path[i] = char(whole(unit.in(3 + i)));
    unit.mCalcFunc = send_replies;
}

void end_send_reply(::Unit* self) {
    interface_table()->fRTFree(self->mWorld, static_cast<SendReply*>(self)->values);
}

} // namespace

void define_trigger_units(PluginRegistry& registry) {
    registry.define_unit("SendTrig", sizeof(TriggerUnit), start_send_trig, nullptr, 0);
    registry.define_unit("SendReply", sizeof(SendReply), start_send_reply, end_send_reply, 0);
}

} // namespace scs
