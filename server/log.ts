import { type Clock, systemClock } from "@/server/clock";

/** The levels, least important first. */
export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

/** Facts that belong to an entry: ids, figures, an `error` (an `Error` is written with its stack and causes). */
export type LogFields = Readonly<Record<string, unknown>>;

export type Logger = {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log, with `fields` added to every entry. */
  child(fields: LogFields): Logger;
};

/** One entry of the log, before it is written. */
export type LogEntry = { at: Date; level: LogLevel; message: string; fields: LogFields };

/**
 * Makes a logger that hands every entry of `level` or above to `write`.
 * @param options.write receives the entries in order; it must not throw.
 */
export function createLogger(options: {
  level?: LogLevel;
  clock?: Clock;
  write?: (entry: LogEntry) => void;
}): Logger {
  const { level = "info", clock = systemClock, write = writeToStandardError } = options;
  const threshold = logLevels.indexOf(level);

  const withFields = (common: LogFields): Logger => {
    const at = (entryLevel: LogLevel) => (message: string, fields?: LogFields) => {
      if (logLevels.indexOf(entryLevel) < threshold) return;
      write({ at: clock.now(), level: entryLevel, message, fields: { ...common, ...fields } });
    };
    return {
      debug: at("debug"),
      info: at("info"),
      warn: at("warn"),
      error: at("error"),
      child: (fields) => withFields({ ...common, ...fields }),
    };
  };
  return withFields({});
}

/** One JSON object a line for machines; a readable line when standard error is a terminal. */
function writeToStandardError(entry: LogEntry): void {
  process.stderr.write(`${process.stderr.isTTY ? renderForPeople(entry) : renderAsJson(entry)}\n`);
}

/** Renders an entry as one line of JSON: `time`, `level`, `message`, then its fields. */
export function renderAsJson({ at, level, message, fields }: LogEntry): string {
  return redact(stringify({ ...fields, time: at.toISOString(), level, message }));
}

/**
 * The last net under what callers of the log forgot to leave out: API keys, triggers' tokens, signing secrets, passwords in
 * addresses.
 */
function redact(line: string): string {
  return line
    .replace(/\bsw_live_[0-9A-Za-z]{8,}/g, "sw_live_[redacted]")
    .replace(/(\/webhooks\/)[\w%-]{16,}/g, "$1[redacted]")
    .replace(/\bwhsec_[0-9A-Za-z+/=]{8,}/g, "whsec_[redacted]")
    .replace(/\b([a-z][a-z0-9+]*:\/\/[^\s:@/"]*):[^\s@/"]+@/gi, "$1:[redacted]@")
    .replace(/\b(Bearer\s+|sk-)[\w.~+/-]{16,}/g, "$1[redacted]");
}

function renderForPeople({ at, level, message, fields }: LogEntry): string {
  const { error, ...rest } = fields;
  const facts = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : stringify(value)}`,
  );
  const line = [at.toISOString().slice(11, 23), level.padEnd(5), message, ...facts].join(" ");
  if (error === undefined) return redact(line);
  return redact(`${line}\n${error instanceof Error ? (error.stack ?? error.message) : stringify(error)}`);
}

/** A log must never throw: circles, BigInts and hostile getters become text. */
function stringify(value: unknown): string {
  const ancestors: unknown[] = [];
  try {
    return (
      JSON.stringify(value, function (this: unknown, _key, item: unknown) {
        if (typeof item === "bigint") return item.toString();
        if (typeof item !== "object" || item === null) return item;
        while (ancestors.length > 0 && ancestors.at(-1) !== this) ancestors.pop();
        if (ancestors.includes(item)) return "[circular]";
        const plain = item instanceof Error ? describeError(item) : item;
        ancestors.push(plain);
        return plain;
      }) ?? "undefined"
    );
  } catch (fault) {
    return JSON.stringify({ message: "unprintable log entry", fault: String(fault) });
  }
}

/** Own fields only when they are plain facts (`code`, `status`, …): libraries hang whole clients on their errors. */
function describeError(error: Error): LogFields {
  const facts = Object.entries(error).filter(([, value]) => !["object", "function"].includes(typeof value));
  const { name, message, stack, cause } = error;
  return { ...Object.fromEntries(facts), name, message, stack, ...(cause === undefined ? {} : { cause }) };
}
