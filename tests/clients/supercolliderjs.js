// SPDX-License-Identifier: GPL-3.0-or-later
// A session with supercolliderjs: arguments are node_modules, the server's program, its port and a WAV file; where
// sclang is, .supercollider.yaml in the home says. Each finished step prints "STEP name value".
const [modules, scsynth, serverPort, sound] = process.argv.slice(2);
const sc = require(modules + "/supercolliderjs");

const step = (name, value) => console.log("STEP", name, value);
const seconds = (count) => new Promise((resolve) => setTimeout(resolve, 1000 * count));

async function main() {
    const server = await sc.server.boot({ scsynth, serverPort, numOutputBusChannels: "4", maxLogins: "8" });
    server.receive.subscribe((message) => message[0] === "/fail" && console.log("FAIL", ...message));
    step("booted", server.isRunning);
    const def = await server.synthDef("tone", `SynthDef("tone", { |out, freq = 440, amp = 0.2|
        Out.ar(out, SinOsc.ar(freq, 0, amp) ! 2) })`);
    const group = await server.group();
    const tone = await server.synth(def, { freq: 550 }, group);
    step("synth", tone.id >= 1000);
    await seconds(0.5);
    tone.set({ freq: 660 });
    await seconds(0.5);
    await tone.free();
    const buffer = await server.buffer(4800, 2);
    await buffer.free();
    const read = await server.readBuffer(sound, 1);
    await read.free();
    step("buffers", "done");
    const status = await server.callAndResponse({ call: ["/status"], response: ["/status.reply"] });
    step("status", status.length);
    await group.free();
    const ended = new Promise((resolve) => server.process.on("exit", resolve));
    server.quit();
    step("exit", await ended);
    process.exit(0);
}

main().catch((error) => {
    console.log("ERROR", error);
    process.exit(1);
});
