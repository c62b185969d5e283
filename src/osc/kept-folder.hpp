// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/descriptors.hpp"
#include "engine/base/line-limit.hpp"
#include "engine/base/result.hpp"
#include "osc/definition-sources.hpp"
#include "osc/server-state.hpp"
#include "osc/state-restore.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace scs::osc {

/// A folder in memory (a tmpfs) by which what a server has outlives its process: the samples of buffers lie there, and
/// a score says what else there is. A process that ends as it should removes what it has there. [worker]
class KeptFolder {
public:
    /// What ends sooner than that after it began has ended by what it began with.
    static constexpr std::chrono::seconds soon{10};

    /// Gets a line for the log: what couldn't be written, or is left out.
    using Warn = std::function<void(const std::string&)>;

    /// Makes the folder if it isn't there. It must be this user's and nobody else's, and no other process may use it.
    static Result<std::unique_ptr<KeptFolder>> open(
        const std::string& path, Warn = [](const std::string&) {});
    /// Removes what is in it.
    ~KeptFolder();

    /// What a process has left that didn't end as it should. If the one that took that over ended soon, too, that is
    /// all but its nodes, and then nothing; less also where it can't be noted that one does. Unless `all`, SynthDefs
    /// alone.
    StateToRestore recover(bool all = true);
    /// Memory for samples in it; ordinary memory if it has no more room; null if there is none.
    float* allocate(int64_t samples);
    /// Notes what there is now. What can't be written is as it was before, and marked as that.
    void write(const DefinitionSources&, const std::vector<BufferState>&, const TreeState&);

private:
    using Clock = std::chrono::steady_clock;

    struct FileNames;
    static const FileNames definitions_file, state_file;

    KeptFolder(std::shared_ptr<Descriptor> folder, Warn warn) : folder_(std::move(folder)), warn_(std::move(warn)) {}
    /// 0, or errno's why it couldn't be written.
    int write_file(const FileNames&, std::span<const std::shared_ptr<const DefinitionSource>>,
                   std::span<const BufferState>, const TreeState&);
    int replace_file(const FileNames&, std::span<const std::byte>);
    void set_aside(const FileNames&);
    void tell_failure(int error);
    bool has(const FileNames&) const;
    std::optional<SavedState> read_file(const FileNames&);
    void read_all_files(StateToRestore&, bool all, bool nodes);
    void remove_unused_samples(const StateToRestore&);
    template <class F>
    void for_each_file(F&& action);
    int ended_soon();
    /// false: it can't be noted.
    bool note_ended_soon(int times);

    const std::shared_ptr<Descriptor> folder_;
    const Warn warn_;
    const Clock::time_point began_ = Clock::now();
    bool recovered_ = false; ///< and it isn't known yet whether that goes well
    /// What the file of SynthDefs has; none: another process's, or what couldn't be written.
    std::optional<std::vector<std::shared_ptr<const DefinitionSource>>> written_;
    bool failed_ = false; ///< the last writing
    LineLimit failures_{3, std::chrono::seconds(10)};
};

/// [worker] The buffers that a server has now, with the files that their samples lie in.
std::vector<BufferState> list_buffers(const Buffers&);

} // namespace scs::osc
