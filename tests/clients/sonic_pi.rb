# SPDX-License-Identifier: GPL-3.0-or-later
# Plays all that Sonic Pi has: each synth, each sample, each effect; controls, stops, loads and frees.
use_debug false
set_volume! 1

synth_names.each do |name|
  synth name, note: 60, sustain: 0.05, release: 0.05, amp: 0.5
  sleep 0.125
end

all_sample_names.each do |name|
  sample name, finish: 0.1, amp: 0.5
  sleep 0.05
end

(fx_names.to_a - [:record]).each do |name| # it needs a buffer: below
  with_fx name, reps: 2 do
    sample :elec_blip, amp: 0.5
    synth :saw, note: 50, release: 0.05
    sleep 0.05
  end
end

with_fx :reverb, room: 0.7 do |reverb|
  tone = synth :prophet, note: 50, sustain: 1, cutoff: 80, cutoff_slide: 0.3, amp: 0.5
  control tone, cutoff: 110, note: 57
  control reverb, mix: 0.2
  sleep 0.5
  kill tone
end

sample :loop_amen, beat_stretch: 2, rate: -1, start: 0.2, finish: 0.6, lpf: 100, pitch: 3
sample :loop_amen, onset: 2
play_chord [60, 64, 67], release: 0.2
live_audio :input, amp: 0
sleep 0.5
live_audio :input, :stop
with_fx :record, buffer: buffer[:kept, 1] do
  play 60, release: 0.2
  sleep 1
end
sample buffer[:kept, 1]
sleep 0.5
sample_free_all
sample :elec_ping
sleep 0.3
print "everything played"
