// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/control/bindings.hpp"

#include "engine/guard/fault-guard.hpp"
#include "engine/plugins/plugin-world.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/tree/tree.hpp"

#include <algorithm>
#include <utility>

namespace scs {

namespace {

constexpr int64_t event_cost = 100; ///< ns, an estimate for the deadline: of one that no binding hears

bool is_controller(const ControlEvent& event) noexcept {
    using Kind = ControlEvent::Kind;
    return event.of_channel() && event.kind != Kind::note_on && event.kind != Kind::note_off &&
           event.kind != Kind::note_pressure;
}

} // namespace

std::unique_ptr<Binding>* Bindings::find(int32_t id) noexcept {
    const auto end = bindings_.begin() + count_;
    const auto found = std::find_if(bindings_.begin(), end, [&](const auto& each) { return each->id() == id; });
    return found == end ? nullptr : &*found;
}

bool Bindings::put(std::unique_ptr<Binding>& binding) noexcept {
    if (std::unique_ptr<Binding>* const found = find(binding->id())) {
        (*found)->end(targets_);
        in_each_block_ += binding->in_each_block();
        in_each_block_ -= (*found)->in_each_block();
        found->swap(binding);
        return true;
    }
    if (count_ == most)
        return false;
    in_each_block_ += binding->in_each_block();
    bindings_[count_++].swap(binding);
    return true;
}

std::unique_ptr<Binding> Bindings::take(int32_t id) noexcept {
    std::unique_ptr<Binding>* const found = find(id);
    if (!found)
        return {};
    (*found)->end(targets_);
    std::unique_ptr<Binding> taken = std::move(*found);
    in_each_block_ -= taken->in_each_block();
    std::move(found + 1, bindings_.data() + count_, found);
    --count_;
    next_ -= found < bindings_.data() + next_;
    return taken;
}

size_t Bindings::begin_cycle(NtpTime start, double rate, std::span<const ControlEvent> events,
                             const Transport* transport) noexcept {
    start_ = start;
    rate_ = rate;
    const auto moved = std::find_if(events.rbegin(), events.rend(), is_controller);
    if (moved != events.rend()) {
        last_moved_ = *moved;
        moved_ = true;
    }
    if (transport)
        transports_.add(*transport);
    return count_ > 0 ? events_.add(events) : 0;
}

void Bindings::end_cycle(int frames) noexcept {
    events_.end_cycle(frames);
    transports_.end_cycle(frames);
    seconds_ += frames / rate_;
}

/// false: there was no time for all bindings; next_ is the one that goes on with the event.
bool Bindings::handle(const ControlEvent& event) noexcept {
    for (; next_ < count_; ++next_) {
        Binding& binding = *bindings_[next_];
        if (!binding.hears(event))
            continue;
        FaultGuard::progress();
        if (!targets_.tree.freeing().finish() || deadline_.spend(binding.cost()))
            return false;
        binding.handle(event, targets_);
    }
    return true;
}

/// false: there was no time for all bindings.
bool Bindings::begin_block(int frame, int delay) noexcept {
    const BlockStart start{seconds_ + frame / rate_, transports_.in_effect(frame, delay), double(frame - delay)};
    for (size_t i = 0; i < count_; ++i) {
        if (!bindings_[i]->in_each_block())
            continue;
        FaultGuard::progress();
        if (deadline_.spend(bindings_[i]->cost()))
            return false;
        bindings_[i]->begin_block(start, targets_);
    }
    return true;
}

bool Bindings::run(int frame, int block_size, int delay, int32_t block) noexcept {
    bool begun = in_each_block_ == 0;
    if (begun && !events_.any_before(frame + block_size, delay))
        return true;
    targets_.block = block;
    bool whole = true;
    while (whole && events_.any_before(frame + block_size, delay)) {
        const ControlEvent& event = events_.first();
        if (!begun && event.frame + delay > frame) {
            begun = true;
            if (!(whole = begin_block(frame, delay)))
                break;
        }
        targets_.seconds = seconds_ + (event.frame + delay) / rate_;
        targets_.time = ntp_advance(start_, event.frame + delay, rate_);
        world_.set_offset(std::clamp(event.frame + delay - frame, 0, block_size - 1), 0.f);
        whole = !deadline_.spend(event_cost) && handle(event);
        if (whole) {
            events_.pop();
            next_ = 0;
        }
    }
    world_.set_offset(0, 0.f);
    return whole && (begun || begin_block(frame, delay));
}

} // namespace scs
