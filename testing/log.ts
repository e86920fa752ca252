import type { LogFields, Logger, LogLevel } from "@/server/base/log";

type LogEntry = { level: LogLevel; message: string; fields: LogFields };

export type TestLogger = Logger & { readonly entries: LogEntry[] };

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
