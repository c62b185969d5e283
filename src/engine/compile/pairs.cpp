// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compile/pairs.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace scs {
namespace {

// So that what it takes is bounded: how many operations there may be, and how far apart two that become a pair.
constexpr size_t most_ops = 1024, farthest = 64;
constexpr uint32_t nobody = UINT32_MAX;

/// In the place of an operation that the one before it has computed, too.
void computed_already(const Op&, Block&) SCS_NONBLOCKING {}

/// Whether it does nothing but compute outputs from inputs and its state, so that others may come before it.
bool is_pure(const Kernel& kernel) noexcept {
    return kernel.effect == Effect::none && !kernel.reads_buffers && !kernel.acts_when_done && !kernel.waits_for_done &&
           !kernel.forgets_controls && !kernel.sends && !kernel.looks_back && !kernel.writes_own_buffers &&
           !kernel.state_of;
}

class Pairing {
public:
    Pairing(std::span<Op> ops, std::span<Operand> operands, const PairFacts& facts)
        : ops_(ops),
          operands_(operands),
          facts_(facts),
          order_(ops.size()),
          needs_(ops.size()),
          sources_(operands.size(), nobody) {
        std::iota(order_.begin(), order_.end(), 0u);
    }

    std::vector<uint32_t> run() {
        if (ops_.size() <= most_ops && find_needs()) {
            for (size_t at = 0; at + 1 < order_.size(); ++at)
                at += pair_at(at);
            if (!pairs_.empty() && give_out_wires())
                reorder();
            else
                std::iota(order_.begin(), order_.end(), 0u);
        }
        std::vector<uint32_t> now(order_.size());
        for (uint32_t place = 0; place < order_.size(); ++place)
            now[order_[place]] = place;
        return now;
    }

private:
    const Kernel& kernel_of(uint32_t op) const noexcept { return *facts_.kernels[ops_[op].unit]; }
    std::span<Operand> inputs_of(uint32_t op) const noexcept { return operands_of(op).first(ops_[op].inputs); }
    std::span<Operand> outputs_of(uint32_t op) const noexcept { return operands_of(op).subspan(ops_[op].inputs); }
    std::span<Operand> operands_of(uint32_t op) const noexcept {
        return operands_.subspan(size_t(ops_[op].operands - operands_.data()),
                                 size_t(ops_[op].inputs) + ops_[op].outputs);
    }

    /// Finds which operation writes what each one reads. False where that can't be seen.
    bool find_needs() {
        std::map<std::pair<Base, uintptr_t>, uint32_t> writers;
        for (uint32_t op = 0; op < ops_.size(); ++op) {
            if (kernel_of(op).pulls)
                return false;
            const auto need = [&](const Operand& input) {
                const auto writer = writers.find({input.base, input.offset});
                if (writer != writers.end())
                    needs_[op].push_back(writer->second);
                return writer == writers.end() ? nobody : writer->second;
            };
            for (const Operand& input : inputs_of(op))
                if (input.base != Base::fixed &&
                    (sources_[size_t(&input - operands_.data())] = need(input)) == nobody && input.base == Base::audio)
                    return false;
            if (ops_[op].gain)
                need(ops_[op].gain->factor);
            for (const Operand& output : outputs_of(op))
                if (!writers.insert_or_assign({output.base, output.offset}, op).second && output.base != Base::audio)
                    return false; // nothing gives these out anew
        }
        return true;
    }

    /// Whether the operation computes one unit of its kernel, with or without a gain.
    bool is_single(uint32_t op) const noexcept {
        const Kernel& kernel = kernel_of(op);
        return ops_[op].run == kernel.lone || (ops_[op].gain && ops_[op].run == kernel.lone_scaled);
    }

    /// Makes the operation at a place the first of a pair, if it can be. Returns how many further places that takes.
    size_t pair_at(size_t at) {
        const uint32_t first = order_[at];
        if (!facts_.pair_of(kernel_of(first)) || !is_single(first))
            return 0;
        for (size_t other = at + 1; other < std::min(order_.size(), at + 1 + farthest); ++other) {
            const uint32_t second = order_[other];
            if (&kernel_of(second) != &kernel_of(first) || !is_single(second) || !needed_between(at, other))
                continue;
            // What it needs comes first, then both, then the others, each in its order.
            const auto begin = order_.begin() + ptrdiff_t(at), end = order_.begin() + ptrdiff_t(other);
            const auto middle = std::stable_partition(begin, end, [&](uint32_t op) { return needed_[op]; });
            std::rotate(middle + 1, end, end + 1);
            pairs_.push_back({first, second});
            return size_t(middle - begin) + 1;
        }
        return 0;
    }

    /// Marks what the operation at the second place needs of those from the first place on. False if it needs the first
    /// one, or something that may not come before what it isn't in need of.
    bool needed_between(size_t at, size_t other) {
        needed_.assign(ops_.size(), false);
        for (const uint32_t op : needs_[order_[other]])
            needed_[op] = true;
        for (size_t i = other - 1; i > at; --i)
            if (needed_[order_[i]])
                for (const uint32_t op : needs_[order_[i]])
                    needed_[op] = true;
        if (needed_[order_[at]])
            return false;
        bool waits = false;
        for (size_t i = at + 1; i < other; ++i)
            if (!is_pure(kernel_of(order_[i]))) {
                if (needed_[order_[i]] && waits)
                    return false;
                waits = waits || !needed_[order_[i]];
            }
        return true;
    }

    /// Gives each audio wire a place that no other has that is still to be read, in the new order. An operation's
    /// outputs are never where its inputs are. False, and nothing has changed, if there aren't enough.
    bool give_out_wires() {
        std::vector<uint32_t> left(operands_.size()); // of each output: how often it is still to be read
        const auto output_of = [&](const Operand& input) {
            const uint32_t op = sources_[size_t(&input - operands_.data())];
            const std::span<Operand> outputs = outputs_of(op);
            const auto same = [&](const Operand& output) {
                return output.base == input.base && output.offset == input.offset;
            };
            return size_t(&*std::ranges::find_if(outputs, same) - operands_.data());
        };
        const auto is_audio = [](const Operand& operand) { return operand.base == Base::audio; };
        std::vector<std::pair<size_t, size_t>> reads; // (input, output)
        for (uint32_t op = 0; op < ops_.size(); ++op)
            for (const Operand& input : inputs_of(op))
                if (is_audio(input)) {
                    reads.push_back({size_t(&input - operands_.data()), output_of(input)});
                    ++left[reads.back().second];
                }
        std::vector<uint32_t> places(operands_.size()), free;
        uint32_t count = 0;
        const auto release = [&](size_t output) { free.push_back(places[output]); };
        std::vector<size_t> source(operands_.size());
        for (const auto& [input, output] : reads)
            source[input] = output;
        for (const uint32_t op : order_) {
            for (const Operand& output : outputs_of(op)) {
                if (!is_audio(output))
                    continue;
                uint32_t& place = places[size_t(&output - operands_.data())];
                if (free.empty()) {
                    place = count++;
                } else {
                    place = free.back();
                    free.pop_back();
                }
            }
            for (const Operand& input : inputs_of(op))
                if (is_audio(input) && --left[source[size_t(&input - operands_.data())]] == 0)
                    release(source[size_t(&input - operands_.data())]);
            for (const Operand& output : outputs_of(op))
                if (is_audio(output) && left[size_t(&output - operands_.data())] == 0)
                    release(size_t(&output - operands_.data()));
        }
        if (count > facts_.most_wires)
            return false;
        for (const auto& [input, output] : reads)
            operands_[input].offset = uintptr_t(places[output]) * facts_.wire_bytes;
        for (uint32_t op = 0; op < ops_.size(); ++op)
            for (Operand& output : outputs_of(op))
                if (is_audio(output))
                    output.offset = uintptr_t(places[size_t(&output - operands_.data())]) * facts_.wire_bytes;
        return true;
    }

    void reorder() {
        for (const auto& [first, second] : pairs_) {
            ops_[first].run = facts_.pair_of(kernel_of(first));
            ops_[second].run = computed_already;
        }
        const std::vector<Op> before(ops_.begin(), ops_.end());
        for (size_t place = 0; place < order_.size(); ++place)
            ops_[place] = before[order_[place]];
    }

    const std::span<Op> ops_;
    const std::span<Operand> operands_;
    const PairFacts& facts_;
    std::vector<uint32_t> order_;              ///< operations
    std::vector<std::vector<uint32_t>> needs_; ///< of each operation: which write what it reads
    std::vector<uint32_t> sources_;            ///< of each operand that is read: which operation wrote it
    std::vector<bool> needed_;                 ///< of each operation
    std::vector<std::pair<uint32_t, uint32_t>> pairs_;
};

} // namespace

std::vector<uint32_t> pair_up(std::span<Op> ops, std::span<Operand> operands, const PairFacts& facts) {
    return Pairing(ops, operands, facts).run();
}

} // namespace scs
