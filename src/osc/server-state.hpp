// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "engine/definitions/definitions.hpp"
#include "engine/nodes/node.hpp"
#include "engine/world/buffers.hpp"
#include "osc/endpoint.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace scs::osc {

/// A group or synth as it was, and is to be again. A synth begins anew: its units have their first state.
struct NodeState {
    struct Mapped {
        int32_t control = 0, bus = 0;
        bool audio = false;
    };

    int32_t id = 0;
    int32_t parent = 0; ///< of a satellite: the node that it belongs to
    Satellite satellite = Satellite::no;
    bool parallel = false; ///< of a group
    bool paused = false;
    std::string definition; ///< empty: a group
    std::vector<float> controls;
    std::vector<Mapped> mapped;
};

/// A client that gets notifications, by UDP.
struct LoginState {
    UdpPeer peer;
    int32_t id = 0;
};

/// The nodes, each after its parent and in the order in which they run, without the root; and the control buses, up to
/// the last that isn't 0. Synths that end by themselves aren't among them (Staying).
struct TreeState {
    std::vector<NodeState> nodes;
    std::vector<float> control_buses;
    std::vector<LoginState> logins; ///< only in a KeptFolder
};

/// A sample buffer; `samples`: frames × channels, interleaved, or null: zeros.
struct BufferState {
    int32_t number = 0, frames = 0, channels = 0;
    double rate = 0; ///< Hz
    const float* samples = nullptr;
    std::string file; ///< that has the samples, of a KeptFolder; empty: none
};

/// Takes the bytes of a file piece by piece. false: it can take no more.
using ByteSink = std::function<bool(std::span<const std::byte>)>;

/// [worker] Writes what there is as a score (see render_score()): commands that make it anew, in this server or in
/// another SuperCollider server, also offline. It is never empty. false: the sink can take no more.
bool write_score(std::span<const std::shared_ptr<const DefinitionSource>> definitions,
                 std::span<const BufferState> buffers, const TreeState&, const ByteSink&);

/// What a score of write_score() holds.
struct SavedState {
    std::vector<std::vector<std::byte>> definitions;
    std::vector<BufferState> buffers; ///< whose samples are in `samples`, in this order
    std::vector<std::unique_ptr<float[], void (*)(float*) noexcept>> samples;
    TreeState tree;
};

/// Whose score it is: a file's, or a KeptFolder's, which names files of samples, and clients.
enum class ScoreOf : bool { file, kept_folder };
/// Where samples lie.
using AllocateSamples = std::function<float*(int64_t samples)>;

/// [worker] Reads such a score. Errors: it is empty, other commands than write_score() writes, malformed ones, buffers
/// for which there is no memory; with the byte at which the bundle begins. Nothing else of them is checked: what
/// doesn't exist or fit is left out when it is restored. Allocates a small multiple of the score's size, and what
/// buffers take.
Result<SavedState> read_score(std::span<const std::byte> score, ScoreOf, const AllocateSamples&);

/// [worker] The same of a file, packet by packet, so that one of another kind is refused where it isn't as it should
/// be, however large it is. Errors also: it is no file, it can't be read, there isn't enough memory for it.
Result<SavedState> read_score(int fd, ScoreOf, const AllocateSamples&);

} // namespace scs::osc
