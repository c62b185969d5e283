// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// SCS_SANITIZED is defined in a build with the address or the thread sanitizer: gcc and clang say so in different ways.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SCS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SCS_SANITIZED 1
#endif
#endif
