// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/settings.hpp"

#include <cstdint>
#include <memory>

namespace scs {

class Buffers;
class Buses;
class Engine;
class Pool;
struct RandomState;

/// What plugins know as the World: one an engine. The only thing here that is visible outside this folder is
/// this handle. [rt] unless said otherwise.
class World {
public:
    World(Engine&, const Settings&, Buses&, Buffers&, Pool&); // [worker]
    ~World();

    /// New synths get this rate, running ones keep theirs.
    void set_sample_rate(double rate) noexcept;
    /// Number of the block that is rendered next.
    void set_block(int32_t number) noexcept;
    /// Where in the block what runs now begins: frame 0 … block - 1, and the fraction beyond it.
    void set_offset(int frame, float fraction) noexcept;
    /// Frame of set_offset().
    int offset() const noexcept;
    /// Fraction of set_offset().
    float subsample_offset() const noexcept;
    /// The generator that synths draw from unless they ask for another.
    RandomState* random() noexcept;
    void set_counts(int64_t units, int synths, int groups) noexcept;

    /// Opens the locks that a crashed unit held. Nothing but the data loop takes them.
    void release_locks() noexcept;

    Engine& engine() noexcept { return engine_; }
    Pool& pool() noexcept { return pool_; }
    /// Memory that all audio wires share.
    float* wire_space() noexcept { return wires_; }

    struct Abi;
    Abi& abi() noexcept { return *abi_; }

private:
    Engine& engine_;
    Pool& pool_;
    Buses& buses_;
    Buffers& buffers_;
    std::unique_ptr<Abi> abi_;
    float* wires_;
};

} // namespace scs
