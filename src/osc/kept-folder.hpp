// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/descriptors.hpp"
#include "engine/base/result.hpp"
#include "osc/definition-sources.hpp"
#include "osc/server-state.hpp"
#include "osc/state-restore.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace scs::osc {

/// A folder in memory (a tmpfs) by which what a server has outlives its process: the samples of buffers lie there, and
/// a score says what else there is. A process that ends as it should removes what it has there. [worker]
class KeptFolder {
public:
    /// What ends sooner than that after it began has ended by what it began with.
    static constexpr std::chrono::seconds soon{10};

    /// Makes the folder if it isn't there. It must be this user's and nobody else's, and no other process may use it.
    static Result<std::unique_ptr<KeptFolder>> open(const std::string& path);
    /// Removes what is in it.
    ~KeptFolder();

    /// What a process has left that didn't end as it should. If the one that took that over ended soon, too, that is
    /// all but its nodes, and then nothing. Unless `all`, SynthDefs alone.
    StateToRestore recover(bool all = true);
    /// Memory for samples in it; ordinary memory if it has no more room; null if there is none.
    float* allocate(int64_t samples);
    /// Notes what there is now.
    void write(const DefinitionSources&, const std::vector<BufferState>&, const TreeState&);

private:
    using Clock = std::chrono::steady_clock;

    explicit KeptFolder(std::shared_ptr<Descriptor> folder) : folder_(std::move(folder)) {}
    /// false: it couldn't be written, and is as it was.
    bool write_file(const char* name, std::span<const std::shared_ptr<const DefinitionSource>>,
                    std::span<const BufferState>, const TreeState&);
    Result<SavedState> read_file(const char* name);
    void read_all_files(StateToRestore&, bool all, bool nodes);
    void remove_unused_samples(const StateToRestore&);
    template <class F>
    void for_each_file(F&& action);
    int ended_soon();
    void note_ended_soon(int times);

    const std::shared_ptr<Descriptor> folder_;
    const Clock::time_point began_ = Clock::now();
    bool recovered_ = false;                                       ///< and it isn't known yet whether that goes well
    std::vector<std::shared_ptr<const DefinitionSource>> written_; ///< what the file of SynthDefs has
};

/// [worker] The buffers that a server has now, with the files that their samples lie in.
std::vector<BufferState> list_buffers(const Buffers&);

} // namespace scs::osc
