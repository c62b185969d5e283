// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "osc/codec/reply-record.hpp"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace scs::osc {

/// Makes OSC messages, through liblo, to be sent from the server's own socket. Each call reuses the
/// buffer of the one before. Allocates. [osc] [worker]
class ReplyComposer {
public:
    /// The serialised message; valid until the next call. Address and strings go up to their first
    /// NUL. Error: an empty address, a blob that is empty (liblo makes none before 0.32) or over 1 GiB, or no
    /// memory.
    Result<std::span<const std::byte>> compose(std::string_view address, std::span<const ReplyArg> args);

private:
    std::vector<std::byte> buffer_;
};

} // namespace scs::osc
