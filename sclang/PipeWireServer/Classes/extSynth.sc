// SPDX-License-Identifier: GPL-3.0-or-later
// Satellites. Other servers get an ordinary synth in their place, which is neither freed, paused nor moved with the node.
+ Synth {
	*preceding { |aNode, defName, args|
		^this.prSatellite(0, \addBefore, aNode.asTarget, defName, args)
	}

	*succeeding { |aNode, defName, args|
		^this.prSatellite(1, \addAfter, aNode.asTarget, defName, args)
	}

	*prSatellite { |relation, addAction, target, defName, args|
		var synth;
		if(PipeWireServer.serves(target.server).not) { ^this.new(defName, args, target, addAction) };
		synth = this.basicNew(defName, target.server);
		synth.group = target.group;
		target.server.sendMsg("/sat_new", synth.defName, synth.nodeID, relation, target.nodeID, *(args.asOSCArgArray));
		^synth
	}
}
