// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/named-buffers.hpp"

#include "engine/plugins/osc-arguments.hpp"

#include <algorithm>

namespace scs {

constexpr int most_arguments = 256; ///< to look at

NamedBuffers::NamedBuffers(const std::optional<std::span<const std::byte>>& arguments, int buffers) noexcept
    : any_(!arguments) {
    if (any_)
        return;
    sc_msg_iter message = read_arguments(*arguments);
    for (int left = most_arguments; !any_ && message.remain() > 0; --left) {
        const char tag = message.nextTag('\0');
        if (tag == '\0')
            return;
        if (left == 0)
            any_ = true;
        else if (tag == 'i')
            add(message.geti(), buffers);
        else if (tag == 'f')
            add(double(message.getf()), buffers);
        else if (tag == 'd')
            add(message.getd(), buffers);
        else if (tag == 's')
            (void)message.gets();
        else if (tag == 'b')
            message.skipb();
        else if (tag == 'T' || tag == 'F' || tag == 'N' || tag == 'I' || tag == '[' || tag == ']')
            ++message.count; // no data
        else
            any_ = true;
    }
}

void NamedBuffers::add(double number, int buffers) noexcept {
    if (!(number >= 0 && number < buffers) || number != double(int32_t(number)))
        return;
    const auto end = numbers_.begin() + ptrdiff_t(count_);
    if (std::find(numbers_.begin(), end, int32_t(number)) != end)
        return;
    if (count_ == numbers_.size())
        any_ = true;
    else
        numbers_[count_++] = int32_t(number);
}

} // namespace scs
