# SPDX-License-Identifier: GPL-3.0-or-later
"""OSC for the tests: the examples' own codec and client."""
from examples.client import Client, Failed, NoReply
from examples.osc import (IMMEDIATELY, Bundle, Double, Message, OscError, TimeTag, decode, encode)

__all__ = ["IMMEDIATELY", "Bundle", "Client", "Double", "Failed", "Message", "NoReply", "OscError",
           "TimeTag", "decode", "encode"]
