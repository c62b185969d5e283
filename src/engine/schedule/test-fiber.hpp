// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <memory>
#include <ucontext.h>
#include <utility>

#if defined(__has_feature)
#define SCS_HAS_FEATURE(x) __has_feature(x)
#else
#define SCS_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || SCS_HAS_FEATURE(address_sanitizer)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define SCS_FIBERS_TOLD 1
#else
#define SCS_FIBERS_TOLD 0
#endif

namespace scs::test {

/// A function with a stack of its own, which runs in turns with others in one thread. It may be left in the midst: what
/// is on its stack then is never destroyed. The thread's own stack is a Fiber, too, which is never started.
class Fiber {
public:
    using Body = void (*)(void* argument);

    Fiber() = default;
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// The body begins when somebody switches to it. It must not return, but switch to another.
    void start(Body body, void* argument) {
        body_ = body;
        argument_ = argument;
        if (!stack_)
            stack_ = std::make_unique<char[]>(stack_bytes);
#if SCS_FIBERS_TOLD
        ASAN_UNPOISON_MEMORY_REGION(stack_.get(), stack_bytes); // what an earlier body has left
        bottom_ = stack_.get();
        bytes_ = stack_bytes;
#endif
        getcontext(&context_);
        context_.uc_stack.ss_sp = stack_.get();
        context_.uc_stack.ss_size = stack_bytes;
        context_.uc_link = nullptr;
        makecontext(&context_, enter, 0);
    }

    /// Goes on there. Returns when somebody switches back to `from`, which is the one that runs.
    static void switch_to(Fiber& from, Fiber& to) {
        from_ = &from;
        to_ = &to;
#if SCS_FIBERS_TOLD
        void* fake = nullptr;
        __sanitizer_start_switch_fiber(&fake, to.bottom_, to.bytes_);
        swapcontext(&from.context_, &to.context_);
        arrive(fake);
#else
        swapcontext(&from.context_, &to.context_);
#endif
    }

private:
    static constexpr size_t stack_bytes = 256 * 1024;

    static void enter() {
#if SCS_FIBERS_TOLD
        arrive(nullptr);
#endif
        to_->body_(to_->argument_);
    }
#if SCS_FIBERS_TOLD
    static void arrive(void* fake) {
        __sanitizer_finish_switch_fiber(fake, &from_->bottom_, &from_->bytes_);
    }
    const void* bottom_ = nullptr;
    size_t bytes_ = 0;
#endif

    static inline Fiber *from_ = nullptr, *to_ = nullptr; ///< of the last switch
    ucontext_t context_;
    std::unique_ptr<char[]> stack_;
    Body body_ = nullptr;
    void* argument_ = nullptr;
};

} // namespace scs::test
