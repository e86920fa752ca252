import { createInterface, type Interface } from "node:readline/promises";
import { Writable } from "node:stream";
import { createLogger, STDERR } from "@/server/base/log";
import { readEnvironment } from "@/server/base/settings/env";
import { decodeUtf8 } from "@/server/base/utf8";
import { closeServices, wire } from "@/wiring";
import type { Terminal } from "./command";
import { runCommandLine } from "./command-line";

const { INIT_CWD, STEPWELL_URL, STEPWELL_KEY } = process.env;

const output = new AbortController();

const processTerminal: Terminal = {
  // npm, and the program of the package, run commands in the folder of the project.
  caller: { folder: INIT_CWD ?? ".", url: STEPWELL_URL, key: STEPWELL_KEY },
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
  async readLine(prompt) {
    if (!process.stdin.isTTY) return readFirstLine();
    return ask(prompt, createInterface({ input: process.stdin, output: process.stderr }));
  },
  readPassword: (prompt) => (process.stdin.isTTY ? askSilently(prompt) : readFirstLine()),
  readSecret: async (prompt) => {
    if (process.stdin.isTTY) return askSilently(prompt);
    const bytes = await readInput(MAX_SECRET_INPUT);
    if (bytes.length > MAX_SECRET_INPUT) throw new Error("The value has more than 64 KiB.");
    return decodeUtf8(bytes).replace(/\r?\n$/, "");
  },
  readInput: () => readInput(),
  closed: output.signal,
};

async function askSilently(prompt: string): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  // First, because it turns off the echo.
  const asking = createInterface({ input: process.stdin, output: silent, terminal: true });
  process.stderr.write(prompt);
  try {
    return await ask("", asking);
  } finally {
    process.stderr.write("\n");
  }
}

/** Rejects after Ctrl-C or Ctrl-D, which close the interface without an answer. */
function ask(prompt: string, asking: Interface): Promise<string> {
  return new Promise<string>((resolve, reject) => {
    asking.once("close", () => reject(new Error("Interrupted: nothing was entered.")));
    asking.question(prompt).then(resolve, reject);
  }).finally(() => asking.close());
}

const MAX_SECRET_INPUT = 64 * 1024;

/** Not by the path /dev/stdin, which cannot be opened if standard input is a socket or another user's file. */
async function readInput(enough = Number.POSITIVE_INFINITY): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > enough) break;
  }
  return Buffer.concat(chunks);
}

async function readFirstLine(): Promise<string> {
  // In Latin-1, each character of a line is one byte.
  for await (const line of createInterface({ input: process.stdin.setEncoding("latin1") })) {
    return decodeUtf8(Buffer.from(line, "latin1"));
  }
  return "";
}

// `stepwell export acme | head` closes the pipe early, which is not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  output.abort();
});

let services: ReturnType<typeof wire> | undefined;
process.exitCode = await runCommandLine(process.argv.slice(2), processTerminal, () => {
  const env = readEnvironment();
  // Standard output is the command's.
  services = wire(env, createLogger({ level: env.logLevel, destination: STDERR }));
  return services;
});
if (services) {
  // A command that ends a run is a worker: its connections would keep the process alive.
  await services.engine.stop();
  await closeServices(services);
}
