// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/abi.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace scs {

/// What differs between the versions of SuperCollider's plugin API that this server hosts. World, Unit, Wire, Rate and
/// SndBuf are the same in all of them.
///
/// - 3, of 3.9 to 3.14: InterfaceTable and Graph of the headers; scfft's memory is a C++ class.
/// - 5, of 3.15's development in spring 2026: InterfaceTable without mUnused0 and with three functions more, Graph of
/// the
///   headers, SpectraMemory.
/// - 6, 7 and 4, of its later development and of 3.15: that InterfaceTable, GraphOf315, SpectraMemory.
///
/// SuperCollider's sources say that the release goes back to 4, which early 2026 had given to a table in between: files
/// of those months must be built anew.
enum class PluginApi : uint8_t { v3, v5, v6 };
inline constexpr size_t plugin_api_count = 3;
inline constexpr const char* hosted_versions = "3 to 7"; ///< for people

/// [any] Nothing: that version isn't hosted.
constexpr std::optional<PluginApi> hosted_api(int version) noexcept {
    switch (version) {
    case 3: return PluginApi::v3;
    case 5: return PluginApi::v5;
    case 4:
    case 6:
    case 7: return PluginApi::v6;
    default: return {};
    }
}

/// SuperCollider's Graph since version 6. A synth may have blocks and a rate of its own there; those of this server run
/// once in each of its blocks, at its rate.
struct GraphOf315 {
    ::Node mNode;
    int32_t mRefCount;
    /// In version 6 two numbers of 16 bits, then the flags and four unused bytes. A synth without blocks of its own has
    /// 1, 0 and 0, which are the same bytes.
    uint32_t mNumTicks, mTickCounter, mFlags;
    ::Rate *mFullRate, *mBufRate;
    uint32_t mNumWires, mNumControls;
    ::Wire* mWire;
    float* mControls;
    float** mMapControls;
    int32* mAudioBusOffsets;
    int32* mControlRates;
    uint32_t mNumUnits, mNumCalcUnits;
    ::Unit **mUnits, **mCalcUnits;
    int32_t mSampleOffset;
    float mSubsampleOffset;
    ::RGen* mRGen;
    ::Unit *mLocalAudioBusUnit, *mLocalControlBusUnit;
    ::SndBuf* mLocalSndBufs;
    int32_t localBufNum, localMaxBufNum;
    void* mPrivate;
};
static_assert(sizeof(GraphOf315) == 224 && offsetof(GraphOf315, mNumTicks) == 68 && offsetof(GraphOf315, mFlags) == 76);
static_assert(offsetof(GraphOf315, mSampleOffset) == 168 && offsetof(GraphOf315, mLocalSndBufs) == 200);

/// SuperCollider's SCFFT_Allocator since version 4.
struct SpectraMemory {
    void* (*allocate)(void* user, size_t bytes);
    void (*free)(void* user, void* memory);
    void* user;
};

/// What tables have since version 5 beside those of the headers. Reply addresses, stages and units are opaque here.
struct FunctionsOf315 {
    using AddressedCommand = void (*)(::Unit*, ::sc_msg_iter*, void* reply_address);
    using AddressedStage = bool (*)(::World*, void* data, void* reply_address);
    using UnitStage = bool (*)(::Unit*, void* data, void* reply_address);

    bool (*define_unit_command)(const char* unit, const char* name, AddressedCommand);
    int (*do_asynchronous)(::World*, void* reply_address, const char* name, void* data, AddressedStage, AddressedStage,
                           AddressedStage, AsyncFreeFn, int completion_bytes, const void* completion);
    int (*do_asynchronous_of_unit)(::Unit*, void* reply_address, const char* name, void* data, UnitStage, UnitStage,
                                   UnitStage, AsyncFreeFn, int completion_bytes, const void* completion);
    ::scfft* (*fft_create)(size_t points, size_t window_points, int window, float* in, float* out, int direction,
                           SpectraMemory*);
    void (*fft_destroy)(::scfft*, SpectraMemory*);
};

/// An InterfaceTable since version 5, pointer by pointer.
class TableOf315 {
public:
    TableOf315(const ::InterfaceTable& table, const FunctionsOf315& functions) noexcept {
        std::array<uintptr_t, sizeof table / sizeof(uintptr_t)> old{};
        std::memcpy(old.data(), &table, sizeof table);
        old[place(offsetof(::InterfaceTable, fSCfftCreate))] = reinterpret_cast<uintptr_t>(functions.fft_create);
        old[place(offsetof(::InterfaceTable, fSCfftDestroy))] = reinterpret_cast<uintptr_t>(functions.fft_destroy);
        size_t next = 0;
        for (size_t i = 0; i < old.size(); ++i) {
            if (i != place(offsetof(::InterfaceTable, mUnused0)))
                pointers_[next++] = old[i];
            if (i == place(offsetof(::InterfaceTable, fDefineUnitCmd)))
                pointers_[next++] = reinterpret_cast<uintptr_t>(functions.define_unit_command);
            if (i == place(offsetof(::InterfaceTable, fDoAsynchronousCommand))) {
                pointers_[next++] = reinterpret_cast<uintptr_t>(functions.do_asynchronous);
                pointers_[next++] = reinterpret_cast<uintptr_t>(functions.do_asynchronous_of_unit);
            }
        }
    }
    /// As plugins get it. Nobody here may use it as the type says.
    ::InterfaceTable* get() noexcept { return reinterpret_cast<::InterfaceTable*>(pointers_.data()); }

private:
    static constexpr size_t place(size_t offset) noexcept { return offset / sizeof(uintptr_t); }
    std::array<uintptr_t, sizeof(::InterfaceTable) / sizeof(uintptr_t) + 2> pointers_{};
};

} // namespace scs
