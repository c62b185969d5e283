// SPDX-License-Identifier: GPL-3.0-or-later
// libFuzzer target: what `pw-scsynth top` reads. The bytes up to the first NUL are a HOST of its command line; after it
// come answers of that host, each with a byte in front that says how many words it has.
#include "cli/top/host-name.hpp"
#include "cli/top/json.hpp"
#include "cli/top/overview.hpp"
#include "cli/top/query.hpp"
#include "osc/codec/test-packets.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

using namespace scs;
using namespace scs::top;

namespace {

void read_name(const std::string& text) {
    const auto host = read_host(text, 57110);
    if (!host)
        return;
    const auto again = read_host(host.value().text(), 1);
    if (!again || again.value().host != host.value().host || again.value().port != host.value().port)
        std::abort();
}

/// A terminal obeys control characters.
void check(std::string_view text) {
    if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }))
        std::abort();
}

void show(const Sample& sample) {
    const Model model = make_model(sample);
    check(to_json(model, "host", 57110));
    for (const int depth : {1, View::all_depths}) {
        View view;
        view.depth = depth;
        for (const Size size : {Size{1, 1}, Size{40, 10}, Size{}}) {
            for (const ScreenLine& line : draw(Scene{"host:57110", &model, ""}, view, size))
                check(line.text);
            for (const ScreenLine& line : draw({ServerRow{"host", &model, ""}}, view, size))
                check(line.text);
        }
    }
}

/// false: the query has ended.
bool take(Query& query, std::span<const std::byte> packet) {
    const auto decoded = osc::decode(packet);
    if (!decoded)
        return true;
    bool goes_on = true;
    osc::test::for_each_message(decoded.value(), [&](const osc::PacketBundle&, const osc::Message& message) {
        if (!goes_on)
            return;
        const Query::Step step = query.take(message);
        if (step == Query::Step::done)
            show(query.sample());
        goes_on = step == Query::Step::ask || step == Query::Step::ignored;
    });
    return goes_on;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::span<const uint8_t> all(data, size);
    const auto end = size_t(std::find(all.begin(), all.end(), uint8_t{0}) - all.begin());
    read_name(std::string(all.begin(), all.begin() + ptrdiff_t(end)));
    auto left = all.subspan(std::min(end + 1, size));
    Query query;
    while (!left.empty()) {
        const size_t bytes = std::min(size_t{left.front()} * 4, left.size() - 1);
        if (!take(query, std::as_bytes(left.subspan(1, bytes))))
            break;
        left = left.subspan(1 + bytes);
    }
    return 0;
}
