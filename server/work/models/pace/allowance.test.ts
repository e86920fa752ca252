import { expect, test } from "vitest";
import { readAllowance } from "./allowance";

const now = new Date("2026-01-01T00:00:00.000Z");

test.each<[string, Record<string, string>, { calls: number; ms: number } | null]>([
  ["nothing", {}, null],
  [
    "OpenAI",
    { "x-ratelimit-remaining-requests": "59", "x-ratelimit-reset-requests": "1s" },
    { calls: 59, ms: 1_000 },
  ],
  [
    "OpenAI, minutes",
    { "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s" },
    { calls: 0, ms: 360_000 },
  ],
  [
    "OpenAI, milliseconds",
    { "x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-requests": "120ms" },
    { calls: 9, ms: 120 },
  ],
  [
    "Groq",
    {
      "x-ratelimit-remaining-requests": "14370",
      "x-ratelimit-reset-requests": "2m59.56s",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "7.66s",
    },
    { calls: 0, ms: 7_660 },
  ],
  ["tokens that are left", { "x-ratelimit-remaining-tokens": "10", "x-ratelimit-reset-tokens": "7s" }, null],
  [
    "Anthropic",
    {
      "anthropic-ratelimit-requests-remaining": "3",
      "anthropic-ratelimit-requests-reset": "2026-01-01T00:00:20Z",
    },
    { calls: 3, ms: 20_000 },
  ],
  [
    "Anthropic, output tokens",
    {
      "anthropic-ratelimit-requests-remaining": "3",
      "anthropic-ratelimit-requests-reset": "2026-01-01T00:00:20Z",
      "anthropic-ratelimit-output-tokens-remaining": "0",
      "anthropic-ratelimit-output-tokens-reset": "2026-01-01T00:00:05Z",
    },
    { calls: 0, ms: 5_000 },
  ],
  ["seconds", { "x-ratelimit-remaining": "1", "x-ratelimit-reset": "30" }, { calls: 1, ms: 30_000 }],
  [
    "a Unix time",
    { "x-ratelimit-remaining": "1", "x-ratelimit-reset": `${now.getTime() / 1000 + 40}` },
    { calls: 1, ms: 40_000 },
  ],
  [
    "a Unix time in milliseconds",
    { "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${now.getTime() + 40_000}` },
    { calls: 0, ms: 40_000 },
  ],
  [
    "a time in the past",
    { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "2025-01-01T00:00:00Z" },
    { calls: 0, ms: 0 },
  ],
  ["Azure, without a reset", { "x-ratelimit-remaining-requests": "5" }, null],
  ["nonsense", { "x-ratelimit-remaining": "many", "x-ratelimit-reset": "soon" }, null],
  ["nonsense in the reset", { "x-ratelimit-remaining": "5", "x-ratelimit-reset": "1.2.3s" }, null],
])("%s", (_name, headers, expected) => {
  expect(readAllowance(new Headers(headers), now)).toEqual(expected);
});
