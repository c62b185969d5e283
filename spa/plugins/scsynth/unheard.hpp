// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>

namespace scs::spa {

/// Finds out that synths play while no output is linked, and what to say then: once, until an output has been linked
/// again. WirePlumber's policy is asked for the reason by a property of the node. [main]
class Unheard {
public:
    /// Seconds of playing after which it is said.
    static constexpr int patience = 2;

    /// Called once a second. Whether synths play, and whether an output is linked. Returns the line to print; empty:
    /// none.
    std::string second(bool plays, bool linked);

    /// Whether nobody hears the synths: the policy is to say why.
    bool asks() const { return asked_ > 0; }
    /// The policy's answer. Empty: the user wants it so, or links are about to come.
    void answer(std::string reason) { reason_ = std::move(reason); }

private:
    static constexpr int pause = 3; ///< seconds without synths that don't end the asking: patterns have rests

    int played_ = 0; ///< seconds without a link
    int asked_ = 0;  ///< for how many seconds in a row; 0: not now
    int rests_ = 0;  ///< seconds since synths played
    bool said_ = false;
    std::optional<std::string> reason_; ///< none: nobody has answered
};

} // namespace scs::spa
