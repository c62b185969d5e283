// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/plugin-world.hpp"

#include "engine/plugins/interface-table.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/system-memory.hpp"
#include "engine/ugens/kernel.hpp"
#include "engine/world/buffers-abi.hpp"
#include "engine/world/buses.hpp"

#include <mutex>
#include <new>
#include <random>

namespace scs {
namespace {

constexpr double two_pi = 6.28318530717958647692;

} // namespace

::Rate rate_of(double samples_per_second, int length) noexcept {
    ::Rate rate{};
    rate.mSampleRate = samples_per_second;
    rate.mSampleDur = 1. / samples_per_second;
    rate.mBufDuration = length / samples_per_second;
    rate.mBufRate = 1. / rate.mBufDuration;
    rate.mSlopeFactor = 1. / length;
    rate.mRadiansPerSample = two_pi / samples_per_second;
    rate.mBufLength = length;
    // Filters compute three samples in each iteration, then the remaining ones.
    rate.mFilterLoops = length / 3;
    rate.mFilterRemain = length % 3;
    rate.mFilterSlope = rate.mFilterLoops ? 1. / rate.mFilterLoops : 0.;
    return rate;
}

PluginWorld::PluginWorld(const Settings& settings, PluginHost& host, Buses& buses, Buffers& buffers, Pool& pool,
                         Outbox& outbox, ScopeBuffers* scopes)
    : host_(host),
      buses_(buses),
      buffers_(buffers),
      pool_(pool),
      outbox_(outbox),
      scopes_(scopes),
      real_time_(settings.real_time),
      plugins_(settings.plugins),
      abi_(std::make_unique<Abi>()),
      wires_(aligned_zeros<float>(size_t(settings.wire_buffers) * size_t(settings.block_size))) {
    abi_->random.resize(size_t(settings.random_seeds));
    std::random_device seed;
    for (::RGen& generator : abi_->random)
        generator.init(seed());

    abi_->world.owner = this;
    ::World& w = abi_->world.abi;
    w.mBufLength = settings.block_size;
    w.mNumAudioBusChannels = uint32_t(settings.audio_buses);
    w.mNumControlBusChannels = uint32_t(settings.control_buses);
    w.mNumInputs = uint32_t(settings.inputs);
    w.mNumOutputs = uint32_t(settings.outputs);
    w.mAudioBus = buses.audio(0);
    w.mControlBus = buses.control();
    w.mAudioBusTouched = buses.audio_touched();
    w.mControlBusTouched = buses.control_touched();
    w.mNumSndBufs = uint32_t(settings.buffers);
    w.mSndBufs = buffers.abi().live.data();
    w.mSndBufsNonRealTimeMirror = buffers.abi().latest.data();
    w.mSndBufUpdates = buffers.abi().updates.data();
    w.mNumRGens = uint32_t(settings.random_seeds);
    w.mRGen = abi_->random.data();
    w.mRealTime = settings.real_time;
    w.mRunning = true;
    w.mErrorNotification = 1;
    w.mVerbosity = settings.verbosity;
    abi_->lasting.non_rt_lock = buffers.abi().non_rt_lock;
    w.mNRTLock = abi_->lasting.non_rt_lock.get();
    for (size_t api = 0; api < plugin_api_count; ++api) {
        AbiWorld& each = abi_->lasting.worlds[api];
        each = abi_->world;
        each.api = api;
        each.abi.ft = interface_table(PluginApi(api));
    }
    set_sample_rate(settings.sample_rate);
}

PluginWorld::~PluginWorld() {
    abi_->lasting.end();
    SystemMemory::free_given_back(); // of the last synths; nobody else may come
}

void PluginWorld::stop_running() noexcept {
    const std::lock_guard lock(abi_->lasting.owned);
    for (AbiWorld& each : abi_->lasting.worlds)
        each.abi.mRunning = false;
}

void PluginWorld::set_sample_rate(double rate) noexcept {
    if (rate == abi_->world.abi.mSampleRate)
        return;
    for (AbiWorld& each : abi_->lasting.worlds) {
        ::World& w = each.abi;
        w.mFullRate = rate_of(rate, w.mBufLength);
        w.mBufRate = rate_of(rate / w.mBufLength, 1);
        w.mSampleRate = rate;
    }
}

void PluginWorld::set_block(int32_t number) noexcept {
    for (AbiWorld& each : abi_->lasting.worlds)
        each.abi.mBufCounter = number;
}

void PluginWorld::set_offset(int frame, float fraction) noexcept {
    for (AbiWorld& each : abi_->lasting.worlds) {
        each.abi.mSampleOffset = frame;
        each.abi.mSubsampleOffset = fraction;
    }
}

int PluginWorld::offset() const noexcept {
    return abi_->world.abi.mSampleOffset;
}

float PluginWorld::subsample_offset() const noexcept {
    return abi_->world.abi.mSubsampleOffset;
}

RandomState* PluginWorld::random() noexcept {
    static_assert(sizeof(::RGen) == sizeof(RandomState));
    return reinterpret_cast<RandomState*>(abi_->random.data());
}

void PluginWorld::set_counts(int64_t units, int synths, int groups) noexcept {
    for (AbiWorld& each : abi_->lasting.worlds) {
        each.abi.mNumUnits = uint32_t(units);
        each.abi.mNumGraphs = uint32_t(synths);
        each.abi.mNumGroups = uint32_t(groups);
    }
}

} // namespace scs
