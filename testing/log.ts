import type { LogFields, Logger, LogLevel } from "@/server/log";

/** One entry of the log, before it is written. */
export type LogEntry = { level: LogLevel; message: string; fields: LogFields };

/** A logger for tests that keeps every entry, of all levels, instead of writing it. */
export type TestLogger = Logger & { readonly entries: LogEntry[] };

/** Makes a logger whose `entries` can be read by a test. */
export function testLogger(): TestLogger {
  const entries: LogEntry[] = [];
  const withFields = (common: LogFields): Logger => {
    const keep = (level: LogLevel) => (message: string, fields?: LogFields) => {
      entries.push({ level, message, fields: { ...common, ...fields } });
    };
    return {
      debug: keep("debug"),
      info: keep("info"),
      warn: keep("warn"),
      error: keep("error"),
      request: (request) => keep("info")("request", request),
      child: (fields) => withFields({ ...common, ...fields }),
    };
  };
  return { ...withFields({}), entries };
}
