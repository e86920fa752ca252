import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { captureConsole, createLogger } from "@/server/base/log";
import { testClock } from "@/testing/clock";
import { testLogger } from "@/testing/log";

const clock = testClock("2026-11-21T10:00:00.000Z");

function render(level: "debug" | "info", log: (logger: ReturnType<typeof createLogger>) => void): unknown[] {
  const lines: string[] = [];
  log(createLogger({ level, clock, destination: { write: (line) => lines.push(line) } }));
  return lines.map((line) => {
    expect(line).toMatch(/^[^\n]+\n$/);
    return JSON.parse(line);
  });
}

test("an entry is one line of JSON with time, level, message and the fields of all its parents", () => {
  const lines = render("info", (log) =>
    log.child({ runId: "r1" }).child({ step: 2 }).warn("late\nstep", { ms: 5 }),
  );
  expect(lines).toEqual([
    { runId: "r1", step: 2, ms: 5, time: "2026-11-21T10:00:00.000Z", level: "warn", message: "late\nstep" },
  ]);
});

test("a field cannot forge an entry's time, level or message", () => {
  const [line] = render("info", (log) => log.info("true", { level: "error", message: "forged", time: 0 }));
  expect(line).toMatchObject({ level: "info", message: "true", time: "2026-11-21T10:00:00.000Z" });
});

test("entries below the level are not written", () => {
  expect(render("info", (log) => log.debug("detail"))).toEqual([]);
  expect(render("debug", (log) => log.debug("detail"))).toHaveLength(1);
});

test("errors keep name, message, stack, code and cause; circles and big integers do not throw", () => {
  const error = Object.assign(new Error("outer", { cause: new TypeError("inner") }), {
    code: "E1",
    client: { host: "db" },
  });
  const circle: Record<string, unknown> = { big: 10n };
  circle.self = circle;
  const shared = { a: 1 };
  const [line] = render("info", (log) => log.error("failed", { error, circle, twice: [shared, shared] }));
  expect(line).toMatchObject({
    error: { name: "Error", message: "outer", code: "E1", cause: { name: "TypeError", message: "inner" } },
    circle: { big: 10, self: "[Circular]" },
    twice: [{ a: 1 }, { a: 1 }],
  });
  expect(line).not.toHaveProperty("error.client");
  expect(line).toHaveProperty("error.stack", expect.stringContaining("log.test.ts"));
});

test("the test logger collects entries of children too", () => {
  const log = testLogger();
  log.child({ a: 1 }).debug("seen");
  expect(log.entries).toMatchObject([{ level: "debug", message: "seen", fields: { a: 1 } }]);
});

test("keys, tokens, secrets and passwords never get into the log", () => {
  const key = `sw_live_${"a1B2".repeat(10)}`;
  const token = "tok-EN_".repeat(5).slice(0, 32);
  const cause = new Error(`connect postgres://stepwell:hunter22@db/x failed for Bearer ${"x".repeat(30)}`);
  const [line] = render("info", (log) =>
    log.error(`rejected ${key}`, {
      path: `/webhooks/${token}?a=1`,
      target: `http://stepwell.test/Webhooks/${token}`,
      headers: [key],
      error: new Error("no", { cause }),
      secret: "whsec_c2VjcmV0c2VjcmV0",
    }),
  );
  const text = JSON.stringify(line);
  for (const secret of [key, key.slice(0, 16), token, "hunter22", "xxxxx", "c2VjcmV0"])
    expect(text).not.toContain(secret);
  expect(text).toContain("postgres://stepwell:[redacted]@db/x");
  expect(text).toContain("/webhooks/[redacted]?a=1");
});

test("passwords of addresses are redacted, whatever the scheme, and nothing else of them", () => {
  const lines = render("info", (log) => {
    for (const each of [
      "redis+tls://:a1@h:5/0",
      "x-y.z://u:a1@h",
      "http://h:80/a:b@c",
      "see a://u:a1@h, b://v:a1@i",
    ])
      log.info(each);
  });
  expect(lines).toMatchObject([
    { message: "redis+tls://:[redacted]@h:5/0" },
    { message: "x-y.z://u:[redacted]@h" },
    { message: "http://h:80/a:b@c" },
    { message: "see a://u:[redacted]@h, b://v:[redacted]@i" },
  ]);
});

test("what libraries print becomes entries of the log", () => {
  const log = testLogger();
  const printer = { ...console };
  captureConsole(log, printer);
  printer.error("\u001b[31m⨯\u001b[39m %s failed", "rendering", new TypeError("no page"));
  printer.warn(new Error("alone"));
  printer.log("");
  expect(log.entries).toEqual([
    { level: "error", message: "⨯ rendering failed", fields: { error: new TypeError("no page") } },
    { level: "warn", message: "alone", fields: { error: new Error("alone") } },
  ]);
});

test.skipIf(process.platform !== "linux")(
  "a full disk ends nothing, and what was lost is said later",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "stepwell-log-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "log");
    const fd = openSync("/dev/full", "w");
    const log = createLogger({ clock, destination: fd });
    for (let n = 0; n < 5_000; n += 1) log.warn("full", { text: "x".repeat(n % 1_000) });
    closeSync(fd);
    // The lowest free number: the disk has room again.
    expect(openSync(path, "w")).toBe(fd);
    log.warn("full", { text: "x".repeat(1_000) });
    await new Promise(setImmediate);
    log.warn("room");
    const lines = readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const lost = 5_001 - lines.filter(({ message }) => message === "full").length;
    expect(lines.slice(-2)).toMatchObject([
      { message: "Lines of the log were lost", lines: lost },
      { message: "room" },
    ]);
    expect(lost).toBeGreaterThan(1_000);
  },
);

test("entries are written together, in order, and at the latest with the next warning", () => {
  const folder = mkdtempSync(join(tmpdir(), "stepwell-log-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "log");
  const log = createLogger({ clock, destination: openSync(path, "w") });
  const written = () => readFileSync(path, "utf8").split("\n").slice(0, -1);
  const messages = Array.from({ length: 300 }, (_, n) => `entry ${n}`);
  const counts = new Set<number>();
  for (const message of messages) {
    log.info(message);
    counts.add(written().length);
  }
  expect(counts.size).toBeLessThan(4);
  expect(written().length).toBeLessThan(300);
  log.warn("late");
  expect(written().map((line) => JSON.parse(line).message)).toEqual([...messages, "late"]);
});
