// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/units/block-inputs.hpp"

#include "engine/units/unit-facts.hpp"

namespace scs {
namespace {

constexpr uint64_t every = ~uint64_t(0);

struct Group {
    uint64_t inputs;
    std::string_view ugens; ///< their names, a space before and behind each
};
// Found by giving each input of each unit another number in each sample, and comparing.
constexpr Group groups[] = {
    {0x1, " APF Allpass1 Allpass2 AllpassC AllpassL AllpassN AmpComp AmpCompA Amplitude AmplitudeMod AttackSlope "
          "AudioMSG AverageOutput BAllPass BBandPass BBandStop BFEncode1 BFEncode2 BHiPass BHiShelf BLowPass "
          "BLowShelf BMoog BPF BPZ2 BPeakEQ BRF BRZ2 Balance Ball CircleRamp Clip Clipper4 Clipper8 CombC CombL "
          "CombN ComplexRes Convolution2 Convolution2L CrossoverDistortion DWGSoundBoard Decay Decay2 Decimator "
          "Delay1 Delay2 DelayC DelayL DelayN DriveNoise EnvDetect EnvFollow FMHEncode0 FMHEncode1 FMHEncode2 FOS "
          "Fold Formlet FreeVerb FreqShift GVerb Gammatone Gate GlitchBPF GlitchBRF GlitchHPF GlitchRHPF HPF HPZ1 "
          "HPZ2 HairCell Hasher Hilbert IIRFilter Integrator Klank LPCError LPF LPF1 LPF18 LPFVS6 LPZ1 LPZ2 LTI Lag "
          "Lag2 Lag2UD Lag3 Lag3UD LagUD Latch LeakDC Limiter LinExp LinPan2 MantissaMask Maxamp Meddis "
          "MembraneCircle MembraneHexagon MidEQ ModDif MonoGrain MonoGrainBF MoogFF MoogVCF Normalizer OSTrunc4 "
          "OSTrunc8 OnePole OneZero OteySoundBoard Pan2 Pan4 PanAz PanB PanB2 PanX PartConv Peak PeakFollower "
          "PermMod PermModArray PermModT PitchShift Pluck PosRatio PulseCount PulseDivider RHPF RLPF RMEQ RMS "
          "RMShelf RMShelf2 Ramp Resonz Ringz RunningMax RunningMin RunningSum SOS SVF Schmidt SetResetFF SineShaper "
          "Slew Slope SmoothDecimator SoftClipAmp4 SoftClipAmp8 SoftClipper4 SoftClipper8 Spreader Spring Stepper "
          "StereoConvolution2L Summer SwitchDelay TBall TDelay TermanWang Timer ToggleFF TwoPole TwoTube TwoZero "
          "VOSIM Vibrato WalshHadamard WaveletDaub WeaklyNonlinear WeaklyNonlinear2 Wrap ZeroCrossing "},
    {0x2, " BLBufRd BufAllpassC BufAllpassL BufAllpassN BufCombC BufCombL BufCombN BufDelayC BufDelayL BufDelayN "
          "BufRd CoinGate DelTapWr LPCAnalyzer Median "},
    {0x3, " BFEncodeSter Balance2 BiPanB2 Compander Concat Concat2 Convolution DiodeRingMod FreeVerb2 LinXFade2 "
          "Rotate2 UHJ2B XFade2 "},
    {0x4, " DoubleWell3 GrainIn GrainInJ InGrain InGrainB InGrainBBF InGrainBF InGrainI InGrainIBF TExpRand TIRand "
          "TRand "},
    {every ^ 0x1, " DiskOut OffsetOut Out ReplaceOut Select "},
    {0x7, " B2Ster B2UHJ DecodeB2 Disintegrator "},
    {0xf, " A2B B2A BFManipulate "},
    {0x40, " DWGPlucked DWGPlucked2 DWGPluckedStiff "},
    {0x6, " WaveTerrain "},
    {0x1ff, " FMHDecode1 "},
    {every ^ 0xff, " RecordBuf "},
    {every ^ 0x5, " BufWr "},
    {every ^ 0x3, " XOut "},
    {every, " LocalOut "},
};

bool has_name(std::string_view names, std::string_view name) {
    for (size_t at = names.find(name); at != names.npos; at = names.find(name, at + 1))
        if (at > 0 && names[at - 1] == ' ' && names[at + name.size()] == ' ')
            return true;
    return false;
}

} // namespace

uint64_t block_inputs(std::string_view ugen) {
    for (const Group& group : groups)
        if (has_name(group.ugens, ugen))
            return group.inputs;
    return find_unit_facts(ugen) ? 0 : every;
}

} // namespace scs
