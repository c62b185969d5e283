// SPDX-License-Identifier: GPL-3.0-or-later
#include "unheard.hpp"

namespace scs::spa {

std::string Unheard::second(bool plays, bool linked) {
    if (linked) {
        *this = {};
        return {};
    }
    rests_ = plays ? 0 : rests_ + 1;
    played_ += plays;
    if (played_ == 0 || rests_ >= pause) {
        asked_ = 0;
        reason_.reset();
        return {};
    }
    ++asked_;
    // Who was asked just now had no time to answer.
    if (said_ || !plays || played_ < patience || asked_ < 2 || (reason_ && reason_->empty()))
        return {};
    said_ = true;
    return "no output is linked, so nobody hears the synths: " +
           reason_.value_or("WirePlumber runs without the policy that links this server, or doesn't run; "
                            "systemctl --user restart wireplumber"
                            " (if that doesn't help, the files of wireplumber/README.md are missing)");
}

} // namespace scs::spa
