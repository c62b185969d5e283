// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/settings.hpp"
#include "engine/schedule/pipeline.hpp"
#include "engine/voices/reaches.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace scs {

/// Divides the turns of a block into the stages of a pipeline of blocks. Audio buses set no limits to that, as each
/// block that is under way has its own. But what is handed on from one block to the next in any other way is one
/// stage's: control buses and sample buffers that are written, messages to clients, memory, and random numbers of which
/// nobody knows how many are drawn. [rt], after construction.
class StageCuts {
public:
    /// [worker] most: turns of a block.
    StageCuts(const Settings&, size_t most);

    void begin() noexcept;
    /// The next turn. `work`: how much there is to do in it, in any unit. false: it can't be in a pipeline, since
    /// nobody knows which buses it reaches, or a control is mapped to an audio bus: what that was like in earlier
    /// blocks matters, too.
    bool add(const Unison&, size_t work) noexcept;
    /// The next turn, in which nothing of its own is done.
    void skip() noexcept;
    /// The turns from `first` to the last one belong to one stage.
    void join(size_t first) noexcept { join(first, count_ - 1); }
    /// All turns were added. Divides them into at most so many stages, each with about that share of the work. false:
    /// nearly all of it would be one thread's, as a Pipeline gives stages to threads. May be called again with other
    /// shares.
    bool find(const std::array<double, Pipeline::most_stages>& shares, size_t stages, size_t threads) noexcept;

    size_t stages() const noexcept { return stages_; }
    /// If the work was in the time that the shares say: how many times as long as the mean the slowest thread takes.
    double uneven() const noexcept { return uneven_; }
    /// The turn behind a stage's last one.
    size_t end(size_t stage) const noexcept { return ends_[stage]; }
    size_t work(size_t stage) const noexcept {
        return size_t(work_[ends_[stage]] - work_[stage ? ends_[stage - 1] : 0]);
    }
    /// Whether any turn may reach the server's inputs.
    bool reaches_inputs() const noexcept { return reaches_inputs_; }
    /// Whether random numbers are drawn in one stage alone.
    bool draws_in_one() const noexcept { return draws_.join; }

private:
    struct Bus {
        uint32_t round; ///< the last in which it is reached
        uint32_t first, last;
        bool written;
    };
    void join(size_t first, size_t last) noexcept;
    void end() noexcept;
    void note_control(int64_t bus, bool writes) noexcept;
    void note_draws(const TurnFacts&) noexcept;

    std::vector<Bus> control_;
    std::vector<Bus*> reached_;
    std::vector<uint64_t> work_; ///< of all turns before each
    std::vector<int32_t> joins_; ///< how many runs of turns that belong together begin behind each, less those that end
    std::array<size_t, Pipeline::most_stages> ends_{};
    int64_t inputs_begin_, inputs_end_; ///< audio buses of the server's inputs
    size_t reached_count_ = 0, count_ = 0, stages_ = 0;
    double uneven_ = 1;
    /// From the first to the last turn that uses something which all share.
    struct Users {
        size_t first = 0, last = 0;
        bool any = false, join = false;
        void add(size_t turn) noexcept;
    };
    Users draws_, buffers_, messages_, memory_;
    bool reaches_inputs_ = false;
    bool ended_ = false; ///< what turns belong together is known
    uint32_t round_ = 0;
};

} // namespace scs
