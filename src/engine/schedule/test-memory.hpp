// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

namespace scs::test {

/// What threads see of each other's writes, as C++ has it. An atomic variable has all values that it was ever given,
/// and who reads it may find an older one, unless something newer happens before the read. So a memory order that is
/// too weak shows, also on processors on which it wouldn't. Plain variables have one value, and two accesses that
/// nothing orders are a race. Reads don't find what is written later: that one kind of surprise is left out.
class Memory {
public:
    static constexpr size_t most_threads = 4, most_entries = 64;

    struct Access {
        enum Kind : uint8_t { load, store, add, compare_exchange } kind;
        uint32_t variable = 0;
        std::memory_order order{}, failed_order{};
        uint64_t operand = 0, expected = 0;
    };

    explicit Memory(size_t threads) : threads_(threads) {}
    /// As if it was new.
    void clear() {
        atomics_.clear();
        plains_.clear();
        cell_count_ = entries_ = 0;
        views_ = {};
        left_ = {};
    }

    /// New variables, by their numbers.
    uint32_t add_atomic(uint64_t value) {
        atomics_.push_back({value, none});
        return uint32_t(atomics_.size() - 1);
    }
    uint32_t add_plain(uint64_t value) {
        Plain plain{.value = value, .writes_known = new_entry(1'000'000 + plains_.size() * 8)};
        for (size_t thread = 0; thread < threads_; ++thread)
            plain.reads_known[thread] = new_entry(1'000'001 + plains_.size() * 8 + thread);
        plains_.push_back(plain);
        return uint32_t(plains_.size() - 1);
    }
    /// What an atomic variable has before threads begin.
    uint64_t& first(uint32_t variable) { return atomics_[variable].first; }
    /// What thread 0 has written so far, all others know.
    void share_all() {
        for (View& view : views_)
            view = views_[0];
    }

    /// In how many ways an access may turn out.
    size_t outcomes(size_t thread, const Access& access) {
        if (access.kind == Access::store || access.kind == Access::add)
            return 1;
        const Cell& cell = this->cell(access.variable);
        size_t count = 0;
        for (size_t i = oldest(thread, cell, access); i < cell.values.size(); ++i)
            count += may_find(thread, cell, i, access);
        return count;
    }
    /// Returns the value that is found.
    uint64_t perform(size_t thread, const Access& access, size_t outcome) {
        Cell& cell = this->cell(access.variable);
        size_t found = cell.values.size() - 1;
        if (access.kind == Access::load || access.kind == Access::compare_exchange)
            for (found = oldest(thread, cell, access); !may_find(thread, cell, found, access) || outcome-- > 0;)
                ++found;
        const uint64_t value = cell.values[found].value;
        View& view = views_[thread];
        see(view[cell.known], found);
        if (access.kind != Access::store && acquires(fails(access, value) ? access.failed_order : access.order))
            join(view, cell.values[found].view);
        if (!writes(access, value))
            return value;
        see(view[cell.known], cell.values.size());
        // What a read-modify-write leaves goes on to publish what the value that it has found did.
        Value next{access.kind == Access::add ? value + access.operand : access.operand,
                   access.kind == Access::store ? View{} : cell.values[found].view};
        if (releases(access.order))
            join(next.view, view);
        if (access.order == std::memory_order_seq_cst)
            cell.last_in_order = cell.values.size();
        cell.values.push_back(next);
        return value;
    }

    static bool writes(const Access& access, uint64_t found) {
        return access.kind != Access::load && !fails(access, found);
    }

    /// Accesses to plain variables. false: a race.
    bool read(size_t thread, uint32_t variable, uint64_t& value) {
        Plain& plain = plains_[variable];
        value = plain.value;
        see(views_[thread][plain.reads_known[thread]], ++plain.reads[thread]);
        return views_[thread][plain.writes_known] == plain.writes;
    }
    bool write(size_t thread, uint32_t variable, uint64_t value) {
        Plain& plain = plains_[variable];
        View& view = views_[thread];
        bool ordered = view[plain.writes_known] == plain.writes;
        for (size_t other = 0; other < threads_; ++other)
            ordered = ordered && view[plain.reads_known[other]] == plain.reads[other];
        plain.value = value;
        plain.reads_before = plain.reads;
        see(view[plain.writes_known], ++plain.writes);
        return ordered;
    }

    /// As time goes by, a thread sees the newest value of each atomic variable.
    void refresh(size_t thread) {
        for (const Cell& cell : cells())
            see(views_[thread][cell.known], cell.values.size() - 1);
    }
    /// The thread reads nothing any more.
    void leave(size_t thread) {
        refresh(thread);
        left_[thread] = true;
    }

    /// How many values of each atomic variable, and how many accesses to each plain one, happen before what comes next.
    using View = std::array<uint8_t, most_entries>;
    const View& known(size_t thread) const { return views_[thread]; }
    void forget(size_t thread, const View& but) { views_[thread] = but; }

    /// A number for all that can have to do with what threads will find. What came before, and nobody can find any
    /// more, doesn't count, so different pasts can have the same number.
    uint64_t hash() {
        find_floors();
        uint64_t sum = 0;
        for (const Cell& cell : cells()) {
            const size_t floor = floors_[cell.known];
            for (size_t i = floor; i < cell.values.size(); ++i)
                sum +=
                    mix(mix(weights_[cell.known] + i - floor) + mix(cell.values[i].value) + hash(cell.values[i].view));
            sum += mix(weights_[cell.known] + 77 + (std::max(cell.last_in_order, floor) - floor));
        }
        for (const Plain& plain : plains_) {
            sum += mix(weights_[plain.writes_known] + plain.value);
            for (size_t thread = 0; thread < threads_; ++thread)
                sum += mix(weights_[plain.reads_known[thread]] + plain.reads[thread] - plain.reads_before[thread]);
        }
        for (size_t thread = 0; thread < threads_; ++thread)
            if (!left_[thread])
                sum += mix(hash(views_[thread]) + thread);
        return sum;
    }

    static uint64_t mix(uint64_t x) {
        x += 0x9e3779b97f4a7c15;
        x = (x ^ x >> 32) * 0xd6e8feb86659fd93;
        x = (x ^ x >> 32) * 0xd6e8feb86659fd93;
        return x ^ x >> 32;
    }

private:
    static constexpr uint32_t none = UINT32_MAX;

    struct Value {
        uint64_t value = 0;
        View view{}; ///< what who acquires it gets to know
    };
    struct Atomic {
        uint64_t first;
        uint32_t cell; ///< none: nobody has touched it yet
    };
    struct Cell {
        uint32_t known = 0; ///< its entry in a view
        std::vector<Value> values;
        size_t last_in_order = 0; ///< which value the last write of memory_order_seq_cst has made
    };
    struct Plain {
        uint64_t value = 0;
        uint32_t writes_known = 0; ///< entries in a view
        std::array<uint32_t, most_threads> reads_known{};
        uint8_t writes = 0;
        std::array<uint8_t, most_threads> reads{}, reads_before{}; ///< all, and those before the last write
    };

    static void see(uint8_t& known, size_t count) {
        if (count > UINT8_MAX)
            too_large("many accesses");
        known = std::max(known, uint8_t(count));
    }
    static void join(View& view, const View& other) {
        for (size_t i = 0; i < view.size(); ++i)
            view[i] = std::max(view[i], other[i]);
    }
    static bool acquires(std::memory_order order) {
        return order != std::memory_order_relaxed && order != std::memory_order_release;
    }
    static bool releases(std::memory_order order) {
        return order == std::memory_order_release || order >= std::memory_order_acq_rel;
    }
    static bool fails(const Access& access, uint64_t value) {
        return access.kind == Access::compare_exchange && value != access.expected;
    }
    /// A compare-exchange finds the newest value if it succeeds, and never what was expected if it fails. Of values
    /// that are the same, an older one that tells no more is enough: a thread that has found it may do all that it may
    /// after the other.
    bool may_find(size_t thread, const Cell& cell, size_t i, const Access& access) const {
        const Value& value = cell.values[i];
        const bool fails = this->fails(access, value.value);
        if (access.kind == Access::compare_exchange && !fails)
            return i + 1 == cell.values.size();
        const bool acquires = this->acquires(fails ? access.failed_order : access.order);
        for (size_t older = oldest(thread, cell, access); older < i; ++older)
            if (const Value& other = cell.values[older];
                other.value == value.value && (!acquires || knows_no_more(other.view, value.view)))
                return false;
        return true;
    }
    static bool knows_no_more(const View& view, const View& than) {
        for (size_t i = 0; i < view.size(); ++i)
            if (view[i] > than[i])
                return false;
        return true;
    }
    size_t oldest(size_t thread, const Cell& cell, const Access& access) const {
        const size_t known = views_[thread][cell.known];
        return access.order == std::memory_order_seq_cst ? std::max(known, cell.last_in_order) : known;
    }

    /// Only variables that are used have a cell. In which order they are used depends on the interleaving, so hashes
    /// are made of sums.
    Cell& cell(uint32_t variable) {
        Atomic& atomic = atomics_[variable];
        if (atomic.cell == none) {
            atomic.cell = uint32_t(cell_count_++);
            if (cells_.size() < cell_count_)
                cells_.emplace_back();
            Cell& cell = cells_[atomic.cell];
            cell.known = new_entry(variable);
            cell.values.assign(1, Value{atomic.first, {}});
            cell.last_in_order = 0;
        }
        return cells_[atomic.cell];
    }
    std::span<const Cell> cells() const { return std::span(cells_).first(cell_count_); }
    uint32_t new_entry(size_t number) {
        if (entries_ == most_entries)
            too_large("many variables");
        weights_[entries_] = mix(number + 1) | 1u;
        return uint32_t(entries_++);
    }
    [[noreturn]] static void too_large(const char* what) {
        std::fprintf(stderr, "too %s for the model\n", what);
        std::abort();
    }

    /// What all know of an entry, which makes no difference any more.
    void find_floors() {
        floors_ = {};
        for (const Cell& cell : cells()) {
            uint8_t floor = uint8_t(cell.values.size() - 1);
            for (size_t thread = 0; thread < threads_; ++thread)
                floor = std::min(floor, views_[thread][cell.known]);
            floors_[cell.known] = floor;
        }
        for (const Plain& plain : plains_) {
            floors_[plain.writes_known] = uint8_t(plain.writes - std::min<uint8_t>(plain.writes, 1));
            for (size_t thread = 0; thread < threads_; ++thread)
                floors_[plain.reads_known[thread]] = plain.reads_before[thread];
        }
    }
    uint64_t hash(const View& view) const {
        uint64_t sum = 0;
        for (size_t i = 0; i < entries_; ++i)
            sum += weights_[i] * uint64_t(std::max(view[i], floors_[i]) - floors_[i]);
        return mix(sum);
    }

    size_t threads_, entries_ = 0;
    std::array<View, most_threads> views_{};
    std::array<bool, most_threads> left_{};
    std::vector<Atomic> atomics_;
    std::vector<Cell> cells_; ///< more than are used: they keep their memory
    size_t cell_count_ = 0;
    std::vector<Plain> plains_;
    std::array<uint64_t, most_entries> weights_{};
    View floors_{};
};

} // namespace scs::test
