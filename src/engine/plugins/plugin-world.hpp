// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/aligned-array.hpp"
#include "engine/base/nonblocking.hpp"
#include "engine/base/settings.hpp"
#include "engine/rt/ntp-time.hpp"
#include "engine/world/link-timeline.hpp"
#include "engine/world/pointer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace scs {

class Buffers;
class Buses;
class Outbox;
class PluginHost;
class Pool;
class ScopeBuffers;
struct RandomState;

/// The plugin ABI's World with all that it points to; each engine has one. Outside this folder it is only a handle.
/// [rt] unless a function says otherwise.
class PluginWorld {
public:
    /// [worker] All arguments must outlive it. `scopes` may be null: then there are none.
    PluginWorld(const Settings&, PluginHost&, Buses&, Buffers&, Pool&, Outbox&, ScopeBuffers* scopes);
    /// [any] What plugins know of it stays, but empty.
    ~PluginWorld();
    /// [any but rt] Tells plugins' threads that the end is near. They send no messages any more.
    void stop_running() noexcept;

    /// New synths get this rate, Hz; running ones keep theirs.
    void set_sample_rate(double rate) noexcept SCS_NONBLOCKING;
    /// Number of the block that is rendered next.
    void set_block(int32_t number) noexcept SCS_NONBLOCKING;
    /// Sets at which time within the block the synths that are made now begin: frame 0 … block - 1, and a fraction of a
    /// frame.
    void set_offset(int frame, float fraction) noexcept SCS_NONBLOCKING;
    /// The frame that set_offset() got.
    int offset() const noexcept SCS_NONBLOCKING;
    /// The fraction that set_offset() got.
    float subsample_offset() const noexcept SCS_NONBLOCKING;
    /// The random generator that synths use unless they choose another.
    RandomState* random() noexcept;
    void set_counts(int64_t units, int synths, int groups) noexcept SCS_NONBLOCKING;

    PluginHost& host() noexcept { return host_; }
    Buffers& buffers() noexcept { return buffers_; }
    Pool& pool() noexcept { return pool_; }
    Outbox& outbox() noexcept { return outbox_; }
    ScopeBuffers* scopes() noexcept { return scopes_; }
    Pointer& pointer() noexcept { return pointer_; }
    LinkTimeline& link() noexcept { return link_; }
    /// When the first frame is heard of the block that is rendered next.
    NtpTime time() const noexcept { return time_; }
    void set_time(NtpTime time) noexcept { time_ = time; }
    /// false: offline; nobody is notified, and slow jobs run in place.
    bool real_time() const noexcept { return real_time_; }
    /// Which plugin files' definitions it sees: Settings::plugins.
    int plugins() const noexcept { return plugins_; }
    /// The memory of the audio wires, shared by all synths.
    float* wire_space() noexcept { return wires_.get(); }

    /// While it lives, a plugin carries out a command with these arguments; see commands.hpp for what they are.
    class Call {
    public:
        Call(PluginWorld& world, std::span<const std::byte> arguments) noexcept : world_(world), outer_(world.call_) {
            world.call_ = arguments;
        }
        ~Call() { world_.call_ = outer_; }
        Call(const Call&) = delete;
        Call& operator=(const Call&) = delete;

    private:
        PluginWorld& world_;
        std::optional<std::span<const std::byte>> outer_;
    };
    /// The arguments of the command that a plugin carries out; nothing: it was called for another reason.
    const std::optional<std::span<const std::byte>>& call() const noexcept { return call_; }

    struct Abi;
    Abi& abi() noexcept { return *abi_; }

private:
    PluginHost& host_;
    Buses& buses_;
    Buffers& buffers_;
    Pool& pool_;
    Outbox& outbox_;
    ScopeBuffers* scopes_;
    Pointer pointer_;
    LinkTimeline link_;
    NtpTime time_ = 0;
    bool real_time_;
    int plugins_;
    std::unique_ptr<Abi> abi_;
    AlignedArray<float> wires_;
    std::optional<std::span<const std::byte>> call_;
};

} // namespace scs
