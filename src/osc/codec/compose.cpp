// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/codec/compose.hpp"

#include <lo/lo.h>

#include <memory>
#include <string>
#include <type_traits>

namespace scs::osc {
namespace {

constexpr size_t max_blob = 1u << 30;

struct Free {
    void operator()(lo_message message) const { lo_message_free(message); }
};
using MessagePtr = std::unique_ptr<std::remove_pointer_t<lo_message>, Free>;

struct FreeBlob {
    void operator()(lo_blob blob) const { lo_blob_free(blob); }
};
using BlobPtr = std::unique_ptr<std::remove_pointer_t<lo_blob>, FreeBlob>;

/// Adds an argument; false if liblo could not.
struct Adder {
    lo_message message;

    bool operator()(int32_t value) const { return lo_message_add_int32(message, value) == 0; }
    bool operator()(float value) const { return lo_message_add_float(message, value) == 0; }
    bool operator()(double value) const { return lo_message_add_double(message, value) == 0; }
    bool operator()(std::string_view text) const {
        return lo_message_add_string(message, std::string(text).c_str()) == 0;
    }
    bool operator()(std::span<const std::byte> bytes) const {
        if (bytes.empty() || bytes.size() > max_blob)
            return false;
        const BlobPtr blob(lo_blob_new(int32_t(bytes.size()), bytes.data()));
        return blob && lo_message_add_blob(message, blob.get()) == 0;
    }
};

} // namespace

Result<std::span<const std::byte>> ReplyComposer::compose(std::string_view address, std::span<const ReplyArg> args) {
    const std::string path(address.substr(0, address.find('\0')));
    if (path.empty())
        return Error{"reply without an address"};
    const MessagePtr message(lo_message_new());
    if (!message)
        return Error{path + ": no memory for the reply"};
    for (const ReplyArg& arg : args)
        if (!std::visit(Adder{message.get()}, arg))
            return Error{path + ": liblo does not take an argument of the reply"};
    buffer_.resize(lo_message_length(message.get(), path.c_str()));
    size_t size = 0;
    if (lo_message_serialise(message.get(), path.c_str(), buffer_.data(), &size) == nullptr)
        return Error{path + ": reply cannot be serialised"};
    return std::span<const std::byte>(buffer_).first(size);
}

} // namespace scs::osc
