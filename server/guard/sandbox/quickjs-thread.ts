/**
 * The program of a sandbox thread (sandbox.ts): QuickJS as WebAssembly. After each response, its linear memory is
 * restored from an image, so nothing of a request remains. A machine whose memory has grown, or that threw
 * unexpectedly, is replaced.
 */
export const QUICKJS_THREAD = `
"use strict";
const { readFileSync } = require("node:fs");
const { setPriority } = require("node:os");
const { pathToFileURL } = require("node:url");
const { parentPort, workerData } = require("node:worker_threads");
const { engine, wasm, scripts, memoryBytes, maxAnswerLength } = workerData;

// Scripts give way to the service and its database. On Linux this concerns only the calling thread.
if (process.platform === "linux") setPriority(10);

let library;
let compiled;
let snapshot;
let machine;
let deadline = Infinity;
let now = 0;
let stopped = false;

async function open() {
  library ??= await import(pathToFileURL(engine).href);
  compiled ??= new WebAssembly.Module(readFileSync(wasm));
  const { QuickJS, MAX_STACK_SIZE } = library;
  let memory;
  const options = {
    wasm: compiled,
    memoryLimit: memoryBytes,
    maxStackSize: MAX_STACK_SIZE,
    timezoneOffset: 0,
    interruptHandler: () => (stopped ||= performance.now() > deadline),
    // All that a machine can reach of the outside: a stopped clock, no entropy, no output.
    wasi: (given) => {
      memory = given;
      return {
        clock_time_get(_id, _precision, at) {
          new DataView(memory.buffer).setBigUint64(at, BigInt(now) * 1000000n, true);
          return 0;
        },
        random_get: () => 0,
        fd_write: () => 8,
      };
    },
  };
  let vm;
  if (snapshot === undefined) {
    vm = await QuickJS.create(options);
    for (const script of scripts) vm.evalCode(script, "sandbox").dispose();
    vm.runGC();
    // What a request leaves is thrown away with the memory; collecting it would only take time.
    vm.gcThreshold = memoryBytes / 4;
    snapshot = vm.snapshot();
  } else {
    vm = await QuickJS.restore(snapshot, options);
  }
  const opened = { vm, memory, handle: vm.global.getProp("$handle"), self: vm.undefined };
  opened.image = new Uint8Array(memory.buffer).slice();
  return opened;
}

function evaluate({ vm, handle, self }, request) {
  vm.callFunction(handle, self, vm.newString(request));
  vm.executePendingJobs();
  const answer = vm.global.getProp("$answer");
  if (!answer.isString) return { issue: "answer" };
  if (answer.getProp("length").toNumber() > maxAnswerLength) return { issue: "length" };
  return { value: answer.toString() };
}

function answer({ request, timeoutMs, now: moment }) {
  deadline = performance.now() + timeoutMs;
  now = moment;
  stopped = false;
  try {
    const answered = evaluate(machine, request);
    return stopped ? { issue: "time" } : answered;
  } catch {
    machine = undefined;
    return { issue: stopped ? "time" : "memory" };
  } finally {
    deadline = Infinity;
  }
}

async function recycle() {
  if (machine !== undefined && machine.memory.buffer.byteLength === machine.image.length) {
    new Uint8Array(machine.memory.buffer).set(machine.image);
  } else {
    machine = await open();
  }
}

let ready = recycle().then(() => parentPort.postMessage("ready"));
parentPort.on("message", (request) => {
  ready = ready.then(() => {
    parentPort.postMessage(answer(request));
    return recycle();
  });
});
`;
