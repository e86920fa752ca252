import { createLogger, type LogEntry, type Logger } from "@/server/log";

/** A logger for tests that keeps every entry, of all levels, instead of writing it. */
export type TestLogger = Logger & { readonly entries: LogEntry[] };

/** Makes a logger whose `entries` can be read by a test. */
export function testLogger(): TestLogger {
  const entries: LogEntry[] = [];
  return { ...createLogger({ level: "debug", write: (entry) => entries.push(entry) }), entries };
}
