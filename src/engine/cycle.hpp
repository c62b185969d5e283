// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/engine-status.hpp"
#include "engine/base/nonblocking.hpp"
#include "engine/base/settings.hpp"
#include "engine/control/control-event.hpp"
#include "engine/control/transport.hpp"
#include "engine/rt/clock.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/rt/longest-block.hpp"
#include "engine/rt/reblock.hpp"

#include <span>

namespace scs {

struct BlockInputs;
struct EngineParts;
struct StreamCounts;

/// What the engine does in a cycle: commands, blocks, and the counts that others see. [rt], after construction.
class Cycle {
public:
    /// [worker] The parts may be still being made: the constructor leaves them alone.
    Cycle(EngineParts&, const Settings&, EngineStatus&, const StreamCounts&, const NanoClock&);

    /// See Engine::process(). `began`: when it did, by the engine's clock.
    void run(int frames, NtpTime frame0, double rate, const float* const* in, float* const* out, const CycleLimit&,
             std::span<const ControlEvent> events, std::span<const Transport> transports,
             int64_t began) noexcept SCS_NONBLOCKING;
    /// See Engine::run_idle().
    bool run_idle(double rate) noexcept SCS_NONBLOCKING;

    /// Number of the block that is being rendered, or else of the next one.
    int32_t block_number() const noexcept { return block_; }
    int input_delay() const noexcept { return reblocker_.input_delay(); }
    void reset_carry() noexcept { reblocker_.reset(); }

private:
    bool take_in(const CycleLimit&, int64_t began) noexcept;
    void set_rate(double rate) noexcept;
    int calm_blocks(int frame, double rate) const noexcept;
    void render_block(int frame, double rate, const float* const* in, float* const* out) noexcept;
    bool compute_block(int frame, double rate, const float* const* in) noexcept;
    bool render(int calm, const BlockInputs&) noexcept;
    bool take_ready() noexcept;
    void note_bad_block() noexcept;
    void tell_of_priority() noexcept;
    void publish() noexcept;

    EngineParts& p_;
    const Settings& settings_;
    EngineStatus& status_;
    const StreamCounts& streams_;
    const NanoClock& clock_;
    Reblocker reblocker_;
    int32_t block_ = 0;
    NtpTime now_ = 0;                      ///< of the cycle's first frame; 0 before the first cycle
    int frames_ = 0;                       ///< of the cycle
    const float* const* inputs_ = nullptr; ///< the same
    bool rendering_ = true;                ///< false: for the rest of the cycle, blocks are left out
    /// Blocks that were computed at once.
    struct {
        int count = 0;    ///< of this cycle, 0: none are left
        int computed = 0; ///< not after the deadline
        int next = 0;     ///< which of them is the next block
    } ready_;
    LongestBlock longest_block_;
};

} // namespace scs
