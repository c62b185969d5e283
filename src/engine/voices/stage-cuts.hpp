// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/settings.hpp"
#include "engine/schedule/pipeline.hpp"
#include "engine/voices/reaches.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
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
    bool add(const Item&, size_t work) noexcept;
    /// The next turn, in which nothing is done but what another one's has left.
    void skip(size_t work = 0) noexcept;
    /// The turns from `first` to the last one belong to one stage.
    void join(size_t first) noexcept { join(first, count_ - 1); }
    /// What is known of those who do the work, besides how many they are.
    struct Threads {
        std::span<const double> shares; ///< of all work, each thread's
        double hand_over = 0;           ///< what it costs to go on with what another one has had, as work
        double blocks = 1;              ///< that pass the stages one behind the other
    };
    /// All turns were added. Divides them into at most so many stages, so that each thread has about its share of the
    /// work, as a Pipeline gives stages to threads in turn. false: nearly all of it would be one thread's. May be
    /// called again.
    bool find(const Threads&, size_t stages) noexcept;

    size_t stages() const noexcept { return stages_; }
    /// What the blocks would take with these stages, as work.
    double time() const noexcept { return time_; }
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
    size_t cut_near(size_t begin, double target) const noexcept;
    void note_control(int64_t bus, bool writes) noexcept;
    void note_draws(const TurnFacts&) noexcept;

    std::vector<Bus> control_;
    std::vector<Bus*> reached_;
    std::vector<uint64_t> work_; ///< of all turns before each
    std::vector<int32_t> joins_; ///< how many runs of turns that belong together begin behind each, less those that end
    std::array<size_t, Pipeline::most_stages> ends_{};
    int64_t inputs_begin_, inputs_end_; ///< audio buses of the server's inputs
    size_t reached_count_ = 0, count_ = 0, stages_ = 0;
    double time_ = 0;
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
