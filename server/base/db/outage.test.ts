import { expect, test } from "vitest";
import { isTransient, retryWhileUnavailable } from "./outage";

const passing = () => Object.assign(new Error("connect"), { code: "ECONNREFUSED" });

test("connection losses, restarts, deadlocks and timeouts are temporary; invalid statements and engine errors are not", () => {
  const withCode = (code: string) => Object.assign(new Error("x"), { code });
  for (const code of [
    "P1001",
    "08006",
    "25P03",
    "57P01",
    "57P03",
    "57014",
    "40P01",
    "40001",
    "53300",
    "ECONNRESET",
  ]) {
    expect(isTransient(withCode(code)), code).toBe(true);
  }
  const prisma = (code: string) =>
    Object.assign(new Error(`x\nDatabase error. Code: \`${code}\`. Message: \`x\``), { code: "P2039" });
  expect(isTransient(prisma("57P03"))).toBe(true);
  expect(isTransient(prisma("42P01"))).toBe(false);
  expect(isTransient(new Error("Connection terminated unexpectedly"))).toBe(true);
  // Of a connection, and of one of the pool.
  expect(isTransient(new Error("timeout expired"))).toBe(true);
  expect(isTransient(new Error("timeout exceeded when trying to connect"))).toBe(true);
  expect(isTransient(new AggregateError([passing()]))).toBe(true);
  for (const code of ["42P01", "23505", "22021"]) expect(isTransient(withCode(code)), code).toBe(false);
  expect(isTransient(new TypeError("x is not a function"))).toBe(false);
  expect(isTransient("ECONNREFUSED")).toBe(false);
});

test("retryWhileUnavailable retries until it succeeds", async () => {
  let attempts = 0;
  const result = await retryWhileUnavailable(async () => {
    if (++attempts < 3) throw passing();
    return "done";
  }, new AbortController().signal);
  expect([result, attempts]).toEqual(["done", 3]);
});

test("retryWhileUnavailable throws permanent errors at once, and temporary ones after an abort", async () => {
  const patience = new AbortController();
  await expect(
    retryWhileUnavailable(async () => {
      throw new TypeError("wrong");
    }, patience.signal),
  ).rejects.toThrow("wrong");
  const attempt = retryWhileUnavailable(async () => {
    patience.abort();
    throw passing();
  }, patience.signal);
  await expect(attempt).rejects.toThrow("connect");
});
