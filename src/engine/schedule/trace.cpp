// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/trace.hpp"

#include <algorithm>

namespace scs {

Trace::Rings::Rings(int threads, size_t records) {
    for (int i = 0; i < threads; ++i)
        of_.push_back(std::make_unique<RingBuffer<TraceRecord>>(records, RingOptions{WhenFull::drop_newest}));
}

Trace::~Trace() {
    delete rings_.load(std::memory_order_relaxed);
}

Trace& Trace::none() noexcept {
    static Trace none(0);
    return none;
}

// ---- threads that are traced

void Trace::write(size_t thread, TraceKind kind, int64_t began, int32_t count, std::string_view name) noexcept {
    Rings* const rings = rings_.load(std::memory_order_acquire);
    if (!rings || thread >= rings->of_.size())
        return;
    TraceRecord record;
    record.began = began;
    record.nsec = uint32_t(std::clamp<int64_t>(clock_.now() - began, 0, UINT32_MAX));
    record.count = count;
    record.kind = kind;
    record.name_bytes = uint8_t(std::min(name.size(), TraceRecord::most_name_bytes));
    std::copy_n(name.data(), record.name_bytes, record.name);
    (void)rings->of_[thread]->push(record); // the ring counts what finds no room
}

// ---- the data loop

int64_t Trace::begin_cycle() noexcept {
    if (on() && abandoned())
        on_.store(false, std::memory_order_relaxed);
    return begin();
}

int32_t Trace::start(std::unique_ptr<Rings>& rings) noexcept {
    if (on() && !abandoned()) // where no cycle runs, none ends it
        return 0;
    if (!has_rings())
        rings_.store(rings.release(), std::memory_order_release);
    last_read_ = clock_.now();
    number_ = number_ == INT32_MAX ? 1 : number_ + 1;
    on_.store(true, std::memory_order_relaxed);
    return number_;
}

bool Trace::read_by(int32_t number) noexcept {
    if (number != number_ || number == 0)
        return false;
    last_read_ = clock_.now();
    return true;
}

bool Trace::stop(int32_t number) noexcept {
    if (!read_by(number))
        return false;
    on_.store(false, std::memory_order_relaxed);
    return true;
}

// ---- the reader

void Trace::begin_reading() noexcept {
    if (Rings* const rings = rings_.load(std::memory_order_acquire))
        for (const auto& ring : rings->of_)
            (void)ring->consume(ring->capacity());
    dropped_before_ = all_dropped();
    pages_ = 0;
    next_ = 0;
    reads_from_ = clock_.now();
}

uint64_t Trace::all_dropped() const noexcept {
    uint64_t all = 0;
    if (const Rings* const rings = rings_.load(std::memory_order_acquire))
        for (const auto& ring : rings->of_)
            all += ring->dropped();
    return all;
}

uint64_t Trace::dropped() const noexcept {
    return all_dropped() - dropped_before_;
}

} // namespace scs
