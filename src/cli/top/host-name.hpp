// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"

#include <string>

namespace scs::top {

/// A server as it is named on the command line.
struct HostName {
    std::string host; ///< an IPv4 address, or a name that has one
    int port = 0;

    std::string text() const { return host + ":" + std::to_string(port); }
};

/// Reads HOST or HOST:PORT. An error is a sentence that begins with the text.
Result<HostName> read_host(const std::string& text, int usual_port);

/// The first IPv4 address of a name, or the address itself. Asks as the system is set up to, which may take seconds. An
/// error is a sentence that begins with the name.
Result<std::string> address_of(const std::string& host);

} // namespace scs::top
