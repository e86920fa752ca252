import { beforeAll, expect, test } from "vitest";
import { findModelFacts } from "@/server/work/models/catalog/find-model-facts";
import type { Attempt } from "@/server/work/models/port";
import {
  afterSeconds,
  bucket,
  fixedWindow,
  LIMIT,
  limitedProvider,
  MINUTE,
  slidingWindow,
} from "@/testing/limited-provider";
import { modelRequest } from "@/testing/servers/model-server";
import { virtualTime } from "@/testing/virtual-time";
import { Paces } from "./paces";

// Files are read in real time, also those of a package that is loaded with its first use.
beforeAll(() =>
  Promise.all([
    findModelFacts({ baseUrl: "http://limited.test", model: "any" }),
    import("@anthropic-ai/sdk"),
  ]),
);

const CASES: [string, Parameters<typeof limitedProvider>[0]][] = [
  ["Retry-After in seconds", { counting: fixedWindow, says: afterSeconds }],
  [
    "Retry-After as a date",
    {
      counting: fixedWindow,
      says: ({ allowed, resetMs }, now) =>
        allowed ? {} : { "retry-after": new Date(now.getTime() + resetMs + 999).toUTCString() },
    },
  ],
  [
    "retry-after-ms of a sliding window",
    {
      counting: slidingWindow,
      says: ({ allowed, resetMs }) => (allowed ? {} : { "retry-after-ms": `${Math.ceil(resetMs)}` }),
    },
  ],
  ["Retry-After of a bucket", { counting: bucket, says: afterSeconds }],
  [
    "x-ratelimit-…-requests with each answer",
    {
      counting: fixedWindow,
      says: ({ left, resetMs }) => ({
        "x-ratelimit-limit-requests": `${LIMIT}`,
        "x-ratelimit-remaining-requests": `${left}`,
        "x-ratelimit-reset-requests": `${Math.floor(resetMs / 1000)}s`,
      }),
    },
  ],
  [
    "anthropic-ratelimit-requests-… with each answer",
    {
      counting: slidingWindow,
      api: "anthropic",
      says: ({ left, resetMs }, now) => ({
        "anthropic-ratelimit-requests-remaining": `${left}`,
        "anthropic-ratelimit-requests-reset": new Date(now.getTime() + resetMs).toISOString(),
      }),
    },
  ],
  ["529 and Retry-After", { counting: fixedWindow, says: afterSeconds, api: "anthropic", status: 529 }],
  [
    "a wait in the text, with status 200",
    {
      counting: fixedWindow,
      says: () => ({}),
      errs: ({ resetMs }) => ({
        code: "rate_limit_exceeded",
        message: `Please try again in ${resetMs / 1000}s.`,
      }),
      status: 200,
    },
  ],
  ["429 and nothing else", { counting: fixedWindow, says: () => ({}) }],
];

test.each(CASES)("200 calls at once all end well with few rejections: %s", async (name, options) => {
  const time = virtualTime();
  const { provider, rejected } = limitedProvider(options, time);
  const calls = Array.from({ length: 200 }, () =>
    provider.call(modelRequest("hi", { organizationId: "org-1" })),
  );
  const replies = await time.pass(Promise.all(calls));
  expect(replies.map(({ content }) => content)).toEqual(Array(200).fill("ok"));
  // At least 140 s pass with a bucket, and 180 s with minutes.
  expect(time.clock.monotonicMs()).toBeLessThan(5 * MINUTE);
  const rejectedIn = (minute: number) => rejected.filter((at) => Math.floor(at / MINUTE) === minute).length;
  // The limit is found in the first minute.
  expect(rejectedIn(0)).toBeLessThanOrEqual(20);
  for (const minute of [1, 2, 3, 4]) expect(rejectedIn(minute)).toBeLessThanOrEqual(6);
  if (name.includes("with each answer")) expect(rejected).toEqual([]);
});

test("others' calls are not slowed, and waits are no errors", async () => {
  const time = virtualTime();
  const { provider } = limitedProvider({ counting: fixedWindow, says: afterSeconds }, time);
  const own = Array.from({ length: 100 }, () =>
    provider.call(modelRequest("hi", { organizationId: "org-1" })),
  );
  const { provider: another } = limitedProvider({ counting: fixedWindow, says: afterSeconds }, time);
  const shown: Attempt[][] = [];
  const late = async () => {
    await time.sleep(10_000, new AbortController().signal);
    const onRetry = async (attempts: Attempt[]) => void shown.push([...attempts]);
    const started = time.clock.monotonicMs();
    const [stranger, elsewhere] = await Promise.all([
      // This server does not know organizations and rejects it, but it does not wait before.
      provider.call(modelRequest("hi", { organizationId: "org-2" })),
      another.call(modelRequest("hi", { organizationId: "org-1" })),
    ]);
    expect(stranger.attempts[0]).toMatchObject({ error: expect.stringContaining("429") });
    expect(elsewhere.attempts).toMatchObject([{ error: null }]);
    expect(Date.parse(elsewhere.attempts[0]?.startedAt ?? "")).toBe(Date.parse("2026-01-01T00:00:10.000Z"));
    expect(started).toBe(10_000);
    return provider.call(modelRequest("hi", { organizationId: "org-1", onRetry }));
  };
  const [, waited] = await time.pass(Promise.all([Promise.all(own), late()]));
  expect(shown[0]).toMatchObject([{ waited: true, error: null, retryAt: expect.any(String) }]);
  expect(waited.attempts[0]).toMatchObject({ waited: true, error: null });
  expect(waited.attempts.at(-1)).toMatchObject({ error: null });
});

// OpenRouter's documentation of limits.
test.each([429, 200])("the headers in the body of a %s state the wait", async (status) => {
  const time = virtualTime();
  const counting = () => (now: number) => ({ allowed: now >= 42_000, left: 0, resetMs: 42_000 - now });
  const errs = ({ resetMs }: { resetMs: number }, now: Date) => {
    const reset = `${now.getTime() + resetMs}`;
    return { code: 429, metadata: { headers: { "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset } } };
  };
  const { provider, rejected } = limitedProvider({ counting, says: () => ({}), errs, status }, time);
  const { content } = await time.pass(provider.call(modelRequest("hi", { organizationId: "org-1" })));
  expect(content).toBe("ok");
  expect(rejected).toHaveLength(1);
});

test.each([429, 200])("a provider that names no wait is asked ever less often after a %s", async (status) => {
  const time = virtualTime();
  const counting = () => (now: number) => ({ allowed: now > MINUTE, left: 0, resetMs: MINUTE - now });
  const { provider, rejected } = limitedProvider({ counting, says: () => ({}), status }, time);
  const call = provider.call(modelRequest("hi", { organizationId: "org-1" }));
  await expect(time.pass(call)).rejects.toMatchObject({ reason: "unavailable" });
  // Each answer takes 200 ms; then follow one, two and four seconds.
  expect(rejected.slice(0, 4)).toEqual([100, 1_300, 3_500, 7_700]);
});

test("a call that is cancelled leaves the queue, and the others go on", async () => {
  const time = virtualTime();
  const pace = new Paces(time).of("provider", "org-1");
  const signal = new AbortController().signal;
  const first = await pace.depart(signal);
  pace.rejected(first, 30_000);
  const cancelled = new AbortController();
  const gone = pace.depart(cancelled.signal);
  const next = pace.depart(signal);
  const reason = new Error("cancelled by ada");
  cancelled.abort(reason);
  await expect(gone).rejects.toBe(reason);
  expect(await time.pass(next)).toEqual({ at: 30_000 });
});
