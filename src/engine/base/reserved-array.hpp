// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <vector>

namespace scs {

/// An array of zeros that takes memory only for the pages that were written. Any thread may read any element: pages
/// that weren't written share one page of zeros.
template <class T>
class ReservedArray {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

public:
    /// [worker] Throws std::bad_alloc if there are no addresses left.
    explicit ReservedArray(size_t count) : bytes_(round_up(count * sizeof(T))), written_(bytes_ / page_bytes()) {
        void* const memory =
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            throw std::bad_alloc();
        data_ = static_cast<T*>(memory);
        madvise(memory, bytes_, MADV_NOHUGEPAGE); // a large page would be given as a whole
    }
    ~ReservedArray() { munmap(data_, bytes_); }
    ReservedArray(const ReservedArray&) = delete;
    ReservedArray& operator=(const ReservedArray&) = delete;

    T* data() noexcept { return data_; }
    const T* data() const noexcept { return data_; }
    size_t bytes() const noexcept { return bytes_; }
    T& operator[](size_t index) noexcept { return data_[index]; }
    const T& operator[](size_t index) const noexcept { return data_[index]; }

    /// [worker] Reads a number in each page, so that nobody who reads an element later has to wait for the system.
    void prepare_reading() const noexcept {
        for (size_t at = 0; at < bytes_; at += page_bytes())
            (void)*reinterpret_cast<const volatile char*>(first_byte() + at);
    }
    /// [worker] To be called before an element is written for the first time, so that its writer doesn't have to wait
    /// either. Others may read it meanwhile.
    void prepare_writing(size_t index) noexcept {
        const size_t first = index * sizeof(T), last = first + sizeof(T) - 1;
        for (size_t page = first / page_bytes(); page <= last / page_bytes(); ++page)
            if (!written_[page]) {
                give(first_byte() + page * page_bytes());
                written_[page] = true;
            }
    }

private:
    static size_t page_bytes() noexcept { return size_t(sysconf(_SC_PAGESIZE)); }
    static size_t round_up(size_t bytes) noexcept { return (bytes + page_bytes() - 1) / page_bytes() * page_bytes(); }
    /// Has the system give the page its own memory. Kernels before 5.14 do that only for one that is written.
    static void give(std::byte* page) noexcept {
        constexpr int populate_write = 23; // MADV_POPULATE_WRITE
        if (madvise(page, page_bytes(), populate_write) != 0)
            std::atomic_ref(*reinterpret_cast<uint32_t*>(page)).fetch_add(0, std::memory_order_relaxed);
    }
    std::byte* first_byte() const noexcept { return reinterpret_cast<std::byte*>(data_); }

    size_t bytes_;
    std::vector<bool> written_; ///< a bit for each page that has its own memory
    T* data_;
};

} // namespace scs
