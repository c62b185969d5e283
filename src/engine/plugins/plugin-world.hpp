// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/aligned-array.hpp"
#include "engine/base/settings.hpp"

#include <cstdint>
#include <memory>

namespace scs {

class Buffers;
class Buses;
class Outbox;
class PluginHost;
class Pool;
class ScopeBuffers;
struct RandomState;

/// What plugins know as the World, one an engine, and what it leads to. Outside this folder it is only a handle.
/// [rt] unless said otherwise.
class PluginWorld {
public:
    /// [worker] All outlive it. `scopes` may be null: there are none.
    PluginWorld(const Settings&, PluginHost&, Buses&, Buffers&, Pool&, Outbox&, ScopeBuffers* scopes);
    ~PluginWorld();

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

    PluginHost& host() noexcept { return host_; }
    Buffers& buffers() noexcept { return buffers_; }
    Pool& pool() noexcept { return pool_; }
    Outbox& outbox() noexcept { return outbox_; }
    ScopeBuffers* scopes() noexcept { return scopes_; }
    /// false: offline, nobody is notified of anything and slow jobs run in place.
    bool real_time() const noexcept { return real_time_; }
    /// Memory that all audio wires share.
    float* wire_space() noexcept { return wires_.get(); }

    struct Abi;
    Abi& abi() noexcept { return *abi_; }

private:
    PluginHost& host_;
    Buses& buses_;
    Buffers& buffers_;
    Pool& pool_;
    Outbox& outbox_;
    ScopeBuffers* scopes_;
    bool real_time_;
    std::unique_ptr<Abi> abi_;
    AlignedArray<float> wires_;
};

} // namespace scs
