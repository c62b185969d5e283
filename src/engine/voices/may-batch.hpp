// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/nodes/node.hpp"
#include "engine/voices/batch.hpp"
#include "engine/voices/voice.hpp"

namespace scs {

// Which voices may be computed together: functions that look at nodes and change nothing. [rt]

/// The voice of a node; null for a group, a synth of plugins' units, or null.
inline Voice* voice_of(const Node* node) noexcept {
    return node && !node->is_group ? static_cast<const Synth*>(node)->voice : nullptr;
}

/// Whether a node is a voice of the same SynthDef. Most neighbours aren't, so this is asked first.
inline bool same_code(const Synth& synth, const Node* node) noexcept {
    const Voice* voice = voice_of(node);
    return voice && voice->code == synth.voice->code;
}

/// Whether a node is a voice that may be in a batch now.
inline bool may_batch(const Node* node) noexcept {
    const Voice* voice = voice_of(node);
    return voice && node->run == Run::on && voice->code->batchable && voice->caught_up && !voice->backoff &&
           !voice->audio_maps && !(voice->maps && voice->code->writes_control_buses);
}

/// Whether two voices have the same program and rate, so that they may be in one batch.
inline bool alike(const Synth& a, const Synth& b) noexcept {
    return a.voice->code == b.voice->code && a.voice->sample_rate == b.voice->sample_rate;
}

/// Whether nothing that a node does can end or pause another one, or change what that keeps from block to block.
inline bool acts_on_itself(const Node& node) noexcept {
    return !node.is_group && static_cast<const Synth&>(node).facts->acts_on_itself;
}

/// Whether a voice of `code` may have its turn before or after this node alike: nothing changes then but the order in
/// which the two add to buses.
bool passes(const NativeCode& code, const Node&) noexcept SCS_NONBLOCKING;

/// A voice in front of another one that may be in a batch with it.
struct Partner {
    Synth* voice;  ///< null: there is none
    Synth* behind; ///< the first voice after it in the other one's batch; if that is lone, the other one
};
/// The nearest such voice, across nodes that the voice may pass.
Partner partner_before(Synth&) noexcept SCS_NONBLOCKING;

/// Whether no operation of the batch writes a bus that another one reaches. Then computing operation by operation gives
/// the same as voice by voice. Call follow_maps() first, as mapped controls may be bus numbers.
bool reaches_apart(Batch&) noexcept SCS_NONBLOCKING;

/// Whether a batch will be computed as it is in its next turn, if nothing changes until then, and all of it together.
bool keeps_together(Batch&) noexcept SCS_NONBLOCKING;

} // namespace scs
