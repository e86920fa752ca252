import { isatty } from "node:tty";
import { format, stripVTControlCharacters } from "node:util";
import { type DestinationStream, pino } from "pino";
import pretty from "pino-pretty";
import { type Clock, systemClock } from "@/server/base/clock";

/** The levels, least important first. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Facts of an entry: ids, figures, an `error` (an `Error` is written with its stack and causes). */
export type LogFields = Readonly<Record<string, unknown>>;

export type Logger = Record<LogLevel, (message: string, fields?: LogFields) => void> & {
  /** Formatted by hand, because there are many. */
  request(request: LoggedRequest): void;
  child(fields: LogFields): Logger;
};

type LoggedRequest = {
  requestId: string | undefined;
  method: string;
  path: string;
  status: number;
  durationMs: number;
};

const STDOUT = 1;
export const STDERR = 2;

/**
 * Creates a logger of one JSON object per line, or readable lines on a terminal. Remaining secrets become
 * `[redacted]`. `destination`: a file descriptor (default: standard output) or a writer of lines.
 */
export function createLogger(options: {
  level?: LogLevel;
  clock?: Clock;
  destination?: number | DestinationStream;
}): Logger {
  const { level = "info", clock = systemClock, destination = STDOUT } = options;
  const time = createTimeText(clock);
  const output = typeof destination === "number" ? openOutput(destination, time) : destination;
  const log = pino(
    {
      level,
      base: null,
      messageKey: "message",
      timestamp: () => `,"time":"${time()}"`,
      formatters: { level: (label) => ({ level: label }), bindings: toFacts, log: toFacts },
      hooks: { streamWrite: redact },
    },
    output,
  );
  return wrap(log, (request) => {
    if (!log.isLevelEnabled("info")) return;
    const { requestId, method, path, status, durationMs } = request;
    const id = requestId === undefined ? "" : `,"requestId":"${requestId}"`;
    const what = `"method":"${method}","path":${redact(JSON.stringify(path))},"status":${status},"durationMs":${durationMs}`;
    output.write(`{"level":"info","time":"${time()}"${id},${what},"message":"request"}\n`);
  });
}

function createTimeText(clock: Clock): () => string {
  let known = { ms: Number.NaN, text: "" };
  return () => {
    const now = clock.now();
    const ms = now.getTime();
    if (ms !== known.ms) known = { ms, text: now.toISOString() };
    return known.text;
  };
}

/** Sends libraries' console output to the log, so that every line is one entry. */
export function captureConsole(
  log: Logger,
  target: Pick<Console, "debug" | "log" | "info" | "warn" | "error"> = console,
): void {
  const capture =
    (level: LogLevel) =>
    (...values: unknown[]) => {
      const error = values.find((value) => value instanceof Error);
      const texts = values.filter((value) => value !== error);
      const message = stripVTControlCharacters(format(...texts)).trim();
      if (error !== undefined) log[level](message || error.message, { error });
      else if (message !== "") log[level](message);
    };
  for (const level of LOG_LEVELS) target[level] = capture(level);
  target.log = capture("info");
}

/** Logs process warnings and uncaught errors. An uncaught error still ends the process. */
export function captureErrors(log: Logger): void {
  process.removeAllListeners("warning");
  process.on("warning", (error) => log.warn(error.message, { error }));
  process.on("uncaughtException", (error) => {
    log.error("Uncaught error; the process ends", { error });
    process.exit(1);
  });
}

// The length is in characters.
const BATCH_LENGTH = 12_288;
const BATCH_MS = 200;

// A system call per entry would take a quarter of a poll's time. The destination's own batches (`minLength`)
// copy all collected text for every entry.
function inBatches(output: DestinationStream): DestinationStream & { flush: () => void } {
  let text = "";
  const flush = () => {
    if (text === "") return;
    const batch = text;
    text = "";
    output.write(batch);
  };
  return {
    flush,
    write(line) {
      text += line;
      if (text.length >= BATCH_LENGTH) flush();
    },
  };
}

/** The most text to keep that could not be written, in bytes. */
const MAX_UNWRITTEN = 1_048_576;

// A file on a full disk must not end the process: pino's own listener would. The text is written with the next one.
function openFile(fd: number, time: () => string): DestinationStream {
  const file = pino.destination({ dest: fd, sync: true, maxLength: MAX_UNWRITTEN });
  let lost = 0;
  file.removeAllListeners("error").on("error", () => undefined);
  file.on("drop", (text) => {
    lost += text.split("\n").length - 1;
    // Tries to write what is kept: a dropped text does not.
    file.write("");
  });
  file.on("drain", () => {
    if (lost === 0) return;
    const lines = lost;
    lost = 0;
    file.write(
      `{"level":"warn","time":"${time()}","lines":${lines},"message":"Lines of the log were lost"}\n`,
    );
  });
  return file;
}

// Synchronous, so that nothing is lost when the process ends.
function openOutput(fd: number, time: () => string): DestinationStream {
  if (!isatty(fd)) {
    const output = inBatches(openFile(fd, time));
    setInterval(output.flush, BATCH_MS).unref();
    process.on("exit", output.flush);
    return output;
  }
  return pretty({
    destination: fd,
    sync: true,
    messageKey: "message",
    translateTime: "SYS:HH:MM:ss.l",
    errorLikeObjectKeys: ["error"],
  });
}

function wrap(log: pino.Logger, request: Logger["request"]): Logger {
  const write =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      log[level](fields, message);
      if (level === "warn" || level === "error") log.flush();
    };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    request,
    child: (fields) => wrap(log.child(fields), request),
  };
}

const RESERVED = new Set(["time", "level", "message"]);

// They cannot overwrite an entry's time, level and message.
function toFacts(fields: object): LogFields {
  const facts: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (RESERVED.has(name)) continue;
    facts[name] = Array.isArray(value) ? value.map(toFact) : toFact(value);
  }
  return facts;
}

function toFact(value: unknown): unknown {
  return value instanceof Error ? errorFields(value, 0) : value;
}

const MAX_CAUSES = 8;

// Only plain values (`code`, `status`, …), because libraries attach whole clients to their errors.
function errorFields(error: Error, depth: number): LogFields {
  const facts = Object.entries(error).filter(([, value]) => !["object", "function"].includes(typeof value));
  const { name, message, stack, cause } = error;
  const described = { ...Object.fromEntries(facts), name, message, stack };
  if (cause === undefined || depth >= MAX_CAUSES) return described;
  return { ...described, cause: cause instanceof Error ? errorFields(cause, depth + 1) : cause };
}

// Secrets that a caller failed to redact contain one of these.
const SUSPECT = /sw_live_|\/webhooks\/|whsec_|:\/\/|Bearer|sk-/i;

function redact(line: string): string {
  if (!SUSPECT.test(line)) return line;
  return (
    line
      .replace(/\bsw_live_[0-9A-Za-z]{8,}/g, "sw_live_[redacted]")
      .replace(/(\/webhooks\/)[\w%-]{16,}/gi, "$1[redacted]")
      .replace(/\bwhsec_[0-9A-Za-z+/=]{8,}/g, "whsec_[redacted]")
      // Without the scheme: each word of a long line would be searched for one.
      .replace(/(:\/\/[^\s:@/"]*):[^\s@/"]+@/g, "$1:[redacted]@")
      .replace(/\b(Bearer\s+|sk-)[\w.~+/-]{16,}/g, "$1[redacted]")
  );
}
