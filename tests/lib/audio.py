# SPDX-License-Identifier: GPL-3.0-or-later
"""Sound files as arrays, and measurements of signals: level, frequency, clicks, impulses."""
import struct

import numpy as np

_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE


def read_wav(path):
    """(samples, rate): float64 samples of shape (frames, channels), full scale 1."""
    chunks = wav_chunks(path)
    kind, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", chunks[b"fmt "])
    if kind == _EXTENSIBLE:
        kind = struct.unpack_from("<H", chunks[b"fmt "], 24)[0]
    samples = _samples(chunks[b"data"], kind, bits)
    frames = len(samples) // channels
    return samples[:frames * channels].reshape(frames, channels), rate


def wav_chunks(path):
    """{name: bytes} of a WAV file's chunks. Some programs write a chunk with the time of day."""
    data = open(path, "rb").read()
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise ValueError(f"{path} is not a WAV file")
    return dict(_chunks(data))


def write_wav(path, samples, rate):
    """Write samples (frames, channels) or (frames,) as 32 bit float."""
    samples = np.asarray(samples, dtype="<f4")
    channels = 1 if samples.ndim == 1 else samples.shape[1]
    data = samples.tobytes()
    fmt = struct.pack("<HHIIHHH", _FLOAT, channels, rate, rate * channels * 4, channels * 4, 32, 0)
    chunks = [(b"fmt ", fmt), (b"fact", struct.pack("<I", len(samples))), (b"data", data)]
    body = b"WAVE" + b"".join(name + struct.pack("<I", len(raw)) + raw for name, raw in chunks)
    with open(path, "wb") as out:
        out.write(b"RIFF" + struct.pack("<I", len(body)) + body)


def peak(signal):
    return float(np.max(np.abs(signal), initial=0.0))


def rms(signal):
    return float(np.sqrt(np.mean(np.square(signal)))) if len(signal) else 0.0


def trim(signal, threshold=1e-4):
    """The part between the first and the last sample above the threshold."""
    loud = np.flatnonzero(np.abs(signal) > threshold)
    return signal[loud[0]:loud[-1] + 1] if len(loud) else signal[:0]


def frequency(signal, rate):
    """The frequency in Hz of the strongest sine: the spectrum's peak, refined by the advance of
    its phase between two windows half a signal apart (error far below 0.01 Hz for 0.5 s)."""
    size = len(signal) // 2
    if size < 64:
        raise ValueError(f"{len(signal)} samples are too few for a frequency")
    window = np.hanning(size)
    spectra = [np.fft.rfft(signal[start:start + size] * window) for start in (0, size)]
    coarse = _interpolated_peak(np.abs(spectra[0])) * rate / size
    phases = [_phase_at(signal[start:start + size] * window, coarse / rate) for start in (0, size)]
    advance = (phases[1] - phases[0] - 2 * np.pi * coarse * size / rate + np.pi) % (2 * np.pi)
    return coarse + (advance - np.pi) * rate / (2 * np.pi * size)


def clicks(signal, factor=4.0):
    """Frames where the curvature is far above the signal's usual one. In sines and other smooth
    signals these are gaps, repeats and jumps."""
    curvature = np.abs(np.diff(signal, 2))
    if not len(curvature):
        return []
    usual = np.quantile(curvature, 0.9) + 1e-6
    return _first_of_runs(np.flatnonzero(curvature > factor * usual) + 1, 64)


def impulses(signal, threshold, apart=16):
    """Frames of single impulses above the threshold, at least `apart` frames from each other."""
    return _first_of_runs(np.flatnonzero(np.abs(signal) > threshold), apart)


def _chunks(data):
    pos = 12
    while pos + 8 <= len(data):
        name, size = data[pos:pos + 4], struct.unpack_from("<I", data, pos + 4)[0]
        yield name, data[pos + 8:pos + 8 + size]
        pos += 8 + size + size % 2


def _samples(raw, kind, bits):
    width = bits // 8
    raw = raw[:len(raw) // width * width]
    if kind == _FLOAT:
        return np.frombuffer(raw, f"<f{width}").astype(np.float64)
    if kind != _PCM:
        raise ValueError(f"WAV format {kind} is neither PCM nor float")
    if bits == 24:
        wide = np.zeros((len(raw) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(raw, np.uint8).reshape(-1, 3)
        return wide.view("<i4")[:, 0] / 2**31
    return np.frombuffer(raw, f"<i{width}") / float(2**(bits - 1))


def _interpolated_peak(magnitudes):
    top = int(np.argmax(magnitudes[1:-1])) + 1
    left, middle, right = np.log(magnitudes[top - 1:top + 2] + 1e-30)
    return top + 0.5 * (left - right) / (left - 2 * middle + right)


def _phase_at(signal, cycles_per_frame):
    turns = np.exp(-2j * np.pi * cycles_per_frame * np.arange(len(signal)))
    return np.angle(np.dot(signal, turns))


def _first_of_runs(frames, apart):
    found = []
    last = None
    for frame in frames:
        if last is None or frame - last >= apart:
            found.append(int(frame))
        last = frame
    return found
