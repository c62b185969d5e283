-- SPDX-License-Identifier: GPL-3.0-or-later
-- A session with Tidal: arguments are the ports of SuperDirt and of its server, to which Tidal sends the values of
-- control buses, and three for itself. It plays from its second cycle to its eighth.
{-# LANGUAGE OverloadedStrings #-}
import Control.Concurrent (threadDelay)
import Sound.Tidal.Context
import System.Environment (getArgs)

piece :: ControlPattern
piece = seqP
    [ (2, 4, sound "click*4")
    , (4, 5, n "0 7" # sound "superpiano")
    , (5, 6, sound "pad*4" # legato 0.5 # hcutoffbus 1 "20 5000 20 5000")
    , (6, 7, n "<c'maj e'min>*2" # sound "supersquare" # sustain 0.3 # room 0.4 # orbit 1)
    , (7, 8, chop 2 $ sound "pad*2" # speed "1 -1" # crush 6)
    ]

main :: IO ()
main = do
    [dirt, server, control, tempo, client] <- map read <$> getArgs
    stream <- startTidal superdirtTarget {oPort = dirt, oBusPort = Just server, oLatency = 0.3}
                         defaultConfig {cCtrlPort = control, cTempoPort = tempo, cTempoClientPort = client}
    threadDelay 1000000 -- for the answer, which says which buses Tidal may use
    streamReplace stream 1 piece
    threadDelay 16000000
    streamHush stream
