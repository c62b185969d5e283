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

constexpr auto is_controller = [](const ControlEvent& event) noexcept {
    using Kind = ControlEvent::Kind;
    return (event.kind >= Kind::controller && event.kind <= Kind::own_parameter) || event.of_device();
};

} // namespace

std::unique_ptr<Binding>* Bindings::find(int32_t id) noexcept {
    const auto end = bindings_.begin() + count_;
    const auto found = std::find_if(bindings_.begin(), end, [&](const auto& each) { return each->id() == id; });
    return found == end ? nullptr : &*found;
}

/// Puts a binding, or none, in the place of another one, or of none.
void Bindings::swap(std::unique_ptr<Binding>& place, std::unique_ptr<Binding>& binding) noexcept {
    const auto count = [this](const auto& each, int change) {
        listening_ += each && each->hears_synths() ? change : 0;
        in_each_block_ += each && each->in_each_block() ? change : 0;
    };
    count(binding, 1);
    count(place, -1);
    if (place) {
        told_.forget(place->id());
        place->end(targets_);
    }
    place.swap(binding);
}

bool Bindings::put(std::unique_ptr<Binding>& binding) noexcept {
    if (std::unique_ptr<Binding>* const found = find(binding->id())) {
        swap(*found, binding);
        return true;
    }
    if (count_ == most)
        return false;
    swap(bindings_[count_++], binding);
    return true;
}

SCS_UNPROVEN_BEGIN // nothing is deleted: what is overwritten has moved
std::unique_ptr<Binding> Bindings::take(int32_t id) noexcept {
    std::unique_ptr<Binding>* const found = find(id);
    if (!found)
        return {};
    std::unique_ptr<Binding> taken;
    swap(*found, taken);
    std::move(found + 1, bindings_.data() + count_, found);
    --count_;
    next_ -= found < bindings_.data() + next_;
    return taken;
}
SCS_UNPROVEN_END

size_t Bindings::begin_cycle(NtpTime start, double rate, std::span<const ControlEvent> events,
                             std::span<const Transport> transports) noexcept {
    start_ = start;
    rate_ = rate;
    const auto moved = std::find_if(events.rbegin(), events.rend(), is_controller);
    if (moved != events.rend())
        note_moved(*moved);
    for (const Transport& transport : transports)
        transports_.add(transport);
    const size_t refused = std::exchange(targets_.refused, 0);
    return refused + (count_ > 0 ? events_.add(events) : 0);
}

void Bindings::tell(const ControlEvent& event) noexcept {
    note_moved(event);
    if (count_ == 0)
        return;
    if (by_clients_count_ < most_told)
        by_clients_[by_clients_count_++] = event;
    else
        ++targets_.refused;
}

void Bindings::note_moved(const ControlEvent& event) noexcept {
    last_moved_ = event;
    moved_ = true;
}

void Bindings::clear() noexcept {
    events_.clear();
    by_clients_count_ = 0;
    transports_.clear();
    told_.clear();
    next_ = 0;
    event_gone_ = half_done_ != nullptr; // that is finished all the same
}

void Bindings::hear(const SynthEvent& event) noexcept {
    if (listening_ == 0)
        return;
    if (told_.full()) {
        ++targets_.refused;
        return;
    }
    for (size_t i = 0; i < count_; ++i)
        if (bindings_[i]->hears(event))
            targets_.refused += !told_.add(bindings_[i]->id(), event, targets_.block);
}

/// `frame`: of the cycle, when it is heard; `in_block`: the same, of the block.
void Bindings::set_time(int frame, int in_block) noexcept {
    targets_.seconds = seconds_ + frame / rate_;
    targets_.time = ntp_advance(start_, frame, rate_);
    world_.set_offset(in_block, 0.f);
}

/// false: there was no time for all that the binding does.
template <class Event>
bool Bindings::carry_out(Binding& binding, const Event& event) noexcept {
    FaultGuard::progress();
    if (!targets_.tree.freeing().finish() || deadline_.spend(binding.cost()))
        return false;
    binding.handle(event, targets_);
    return finish(binding);
}

bool Bindings::finish(Binding& binding) noexcept {
    if (binding.go_on())
        return true;
    half_done_ = &binding;
    return false;
}

/// Has a binding do what it does by itself before frame `until` of the block. false: there was no time for all of it.
bool Bindings::act(Binding& binding, const BlockStart& block, int until) noexcept {
    for (int at; (at = binding.act(block, until, targets_)) >= 0;) {
        FaultGuard::progress();
        set_time(block.frame + at, at);
        event_gone_ = true;
        if (!targets_.tree.freeing().finish() || deadline_.spend(binding.cost())) {
            half_done_ = &binding;
            return false;
        }
        if (!finish(binding))
            return false;
        event_gone_ = false;
    }
    return true;
}

bool Bindings::go_on() noexcept {
    if (!half_done_)
        return true;
    FaultGuard::progress();
    if (!targets_.tree.freeing().finish() || !half_done_->go_on())
        return false;
    half_done_ = nullptr;
    if (!std::exchange(event_gone_, false))
        advance();
    return true;
}

/// After a binding has handled the first event.
void Bindings::advance() noexcept {
    if (in_told_)
        told_.pop();
    else
        ++next_;
}

void Bindings::end_cycle(int frames) noexcept {
    events_.end_cycle(frames);
    transports_.end_cycle(frames);
    seconds_ += frames / rate_;
}

/// false: there was no time for all bindings; next_ is the one that goes on with the event.
bool Bindings::handle(const ControlEvent& event, const BlockStart& block) noexcept {
    const int heard = event.frame + block.delay, in_block = std::clamp(heard - block.frame, 0, block.frames - 1);
    for (; next_ < count_; advance()) {
        Binding& binding = *bindings_[next_];
        if (!binding.hears(event) || binding.hears_packets() != (event.kind == ControlEvent::Kind::packet))
            continue;
        if (binding.in_each_block() && event.of_clock() && !act(binding, block, in_block))
            return false;
        set_time(heard, in_block);
        if (!carry_out(binding, event))
            return false;
    }
    return true;
}

/// Handles all that synths have told before this block. false: there was no time for all of it.
bool Bindings::run_told(int frame) noexcept {
    in_told_ = true;
    told_.sort(targets_.block);
    // What a synth tells when it is made here has to wait: its binding may make another one.
    for (; !told_.empty() && told_.first().block != targets_.block; advance()) {
        const SynthEventQueue::Entry& entry = told_.first();
        set_time(frame + entry.frame, entry.frame);
        const SynthEvent event{entry.node, entry.id, {}, told_.values(entry), entry.frame};
        std::unique_ptr<Binding>* const binding = find(entry.binding);
        if (deadline_.spend(event_cost) || (binding && !entry.gone && !carry_out(**binding, event)))
            return false;
    }
    in_told_ = false;
    return true;
}

/// false: there was no time for all bindings.
bool Bindings::begin_block(const BlockStart& start) noexcept {
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

/// Has all bindings do what they do by themselves in the block. false: there was no time for all of them.
bool Bindings::end_block(const BlockStart& block) noexcept {
    for (size_t i = 0; in_each_block_ > 0 && i < count_; ++i)
        if (bindings_[i]->in_each_block() && !act(*bindings_[i], block, block.frames))
            return false;
    return true;
}

bool Bindings::run(int frame, int block_size, int delay, int32_t block) noexcept {
    targets_.block = block;
    if (by_clients_count_ > 0)
        targets_.refused +=
            events_.insert(std::span(by_clients_).first(std::exchange(by_clients_count_, 0)), frame - delay);
    bool begun = in_each_block_ == 0;
    if (begun && told_.empty() && !events_.any_before(frame + block_size, delay))
        return true;
    transports_.forget_before(frame, delay);
    const BlockStart start{
        seconds_ + frame / rate_,         rate_, frame, block_size, delay, transports_, world_.link(),
        ntp_advance(start_, frame, rate_)};
    bool whole = run_told(frame);
    while (whole && events_.any_before(frame + block_size, delay)) {
        const ControlEvent& event = events_.first();
        if (!begun && event.frame + delay > frame) {
            begun = true;
            if (!(whole = begin_block(start)))
                break;
        }
        whole = !deadline_.spend(event_cost) && handle(event, start);
        if (whole) {
            events_.pop();
            next_ = 0;
        }
    }
    whole = whole && (begun || begin_block(start)) && end_block(start);
    world_.set_offset(0, 0.f);
    return whole;
}

} // namespace scs
