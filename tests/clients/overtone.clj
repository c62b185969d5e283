; SPDX-License-Identifier: GPL-3.0-or-later
; A session with Overtone: arguments are "boot" or the port of a running server, a WAV file and a file to record to.
; Each finished step prints "STEP name value". Each form is compiled when those before it have been run, as Overtone's
; macros ask for a connected server.
(use 'overtone.core)
(let [[way sound record] *command-line-args*]
  (def way way)
  (def sound sound)
  (def record record))
(defn step [name value] (println "STEP" name value) (flush))

; It waits five seconds for a server, which a busy machine may take to start one.
(alter-var-root #'overtone.sc.defaults/N-RETRIES (constantly 600))
(if (= way "boot")
  (boot-external-server)
  (connect-server "127.0.0.1" (Integer/parseInt way)))
(step "connected" (server-connected?))
(demo 0.5 (* 0.3 (sin-osc 440)))
(Thread/sleep 800)

(definst tone [freq 330 gate 1]
  (* 0.3 (env-gen (adsr 0.01 0.1 0.7 0.1) gate :action FREE) (saw freq)))
(let [voice (tone)]
  (Thread/sleep 300)
  (ctl voice :freq 220)
  (Thread/sleep 300)
  (step "playing" (node-live? voice))
  (ctl voice :gate 0)
  (Thread/sleep 400)
  (step "ended" (not (node-live? voice))))
(at (+ (now) 300) (tone :freq 550))
(Thread/sleep 600)
(stop)

(let [kept (buffer 4800)]
  (buffer-write! kept (repeat 4800 0.5))
  (step "buffer" (every? #(= 0.5 %) (buffer-read kept 0 100)))
  (buffer-free kept))
(def loaded (load-sample sound))
(step "sample" (:size loaded))
(defsynth player [] (out 0 (play-buf 1 loaded :action FREE)))
(player)
(Thread/sleep 600)
(let [level (control-bus)]
  (control-bus-set! level 0.25)
  (step "bus" (first (control-bus-get level))))

(recording-start record)
(demo 0.3 (* 0.3 (pan2 (sin-osc 660))))
(Thread/sleep 500)
(recording-stop)
(step "tree" (boolean (:children (node-tree))))
(step "defs" (pos? (:n-loaded-synths (server-status))))
(when (= way "boot")
  (kill-server)
  (Thread/sleep 1000)) ; another thread sends
(step "done" true)
(System/exit 0)
