// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "osc/server.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace scs::osc {

/// Takes some blocks of samples: a pointer for each output channel, `frames` samples at each. Returns false to
/// end the rendering.
using BlockSink = std::function<bool(const float* const* channels, int frames)>;

/// Writes the samples of the next blocks: a pointer for each input channel, room for `frames` samples at each.
using BlockSource = std::function<void(float* const* channels, int frames)>;

/// Renders a score as `scsynth -N` does, with an engine of its own. A score is a sequence of bundles in the order of
/// their times, each after its size (int32, big-endian); time 0 is the start. The last block rendered is the one in
/// which the last bundle runs. Of `settings` it uses engine (real_time is taken to be false), synthdef_path,
/// load_synthdefs, restricted_path, and log (failures of commands among others). Without a source the inputs are
/// silent.
///
/// Returns the number of frames. Errors: a malformed score or bundles out of order, with the number of the bundle
/// (from 1) and the byte where its size is; no engine. The sink has got the blocks before the error.
/// [any] but the data loop.
Result<uint64_t> render_score(std::span<const std::byte> score, const ServerSettings& settings, const BlockSink& sink,
                              const BlockSource& source = {});

/// The time of the score's last bundle in seconds; 0 if there is none. Checks nothing: for a broken score the result
/// may be anything. [any]
double score_seconds(std::span<const std::byte> score) noexcept;

} // namespace scs::osc
