// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/host-name.hpp"

#include "cli/top/server-options.hpp"

#include <array>
#include <cmath>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace scs::top {

Result<HostName> read_host(const std::string& text, int usual_port) {
    const size_t colon = text.find(':');
    HostName found{text.substr(0, colon), usual_port};
    if (found.host.empty() || text.front() == '-' || text.find(':', colon + 1) < text.size())
        return Error{text + ": expected a host's name or IPv4 address, and a port if it isn't " +
                     std::to_string(usual_port) + ", as in studio:57120"};
    if (colon == std::string::npos)
        return found;
    const auto port = read_number(text.substr(colon + 1), 1, 65535);
    if (!port || *port != std::trunc(*port))
        return Error{text + ": expected a port after the colon, 1 to 65535"};
    found.port = int(*port);
    return found;
}

Result<std::string> address_of(const std::string& host) {
    addrinfo hints{};
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_DGRAM;
    addrinfo* list = nullptr;
    int status = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(list, ::freeaddrinfo);
    std::array<char, INET_ADDRSTRLEN> text{};
    if (status == 0)
        status = ::getnameinfo(found->ai_addr, found->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
    if (status != 0)
        return Error{host + ": no IPv4 address is known of this host (" + ::gai_strerror(status) +
                     "); its address does as well, and \"getent ahostsv4 " + host + "\" shows which names are known"};
    return std::string(text.data());
}

} // namespace scs::top
