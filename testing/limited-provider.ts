import type { ModelApi } from "@/server/base/models/model-api";
import type { EgressFetch } from "@/server/guard/egress/trusted-fetch";
import { Paces } from "@/server/work/models/pace/paces";
import { createProvider } from "@/server/work/models/provider";
import type { virtualTime } from "./virtual-time";

/** Calls that are allowed in a minute. */
export const LIMIT = 60;
export const MINUTE = 60_000;

type Verdict = { allowed: boolean; left: number; resetMs: number };
type Counting = () => (now: number) => Verdict;

/** Each minute on the clock has its calls. */
export const fixedWindow: Counting = () => {
  let minute = -1;
  let used = 0;
  return (now) => {
    if (Math.floor(now / MINUTE) !== minute) used = 0;
    minute = Math.floor(now / MINUTE);
    const allowed = used < LIMIT;
    if (allowed) used += 1;
    return { allowed, left: LIMIT - used, resetMs: MINUTE - (now % MINUTE) };
  };
};
/** No minute has more calls. */
export const slidingWindow: Counting = () => {
  let times: number[] = [];
  return (now) => {
    times = times.filter((at) => at > now - MINUTE);
    const allowed = times.length < LIMIT;
    if (allowed) times.push(now);
    return { allowed, left: LIMIT - times.length, resetMs: (times[0] ?? now) + MINUTE - now };
  };
};
/** One more call each second, at most 60 saved. */
export const bucket: Counting = () => {
  let tokens = LIMIT;
  let last = 0;
  return (now) => {
    tokens = Math.min(LIMIT, tokens + (now - last) / 1_000);
    last = now;
    const allowed = tokens >= 1;
    if (allowed) tokens -= 1;
    return { allowed, left: Math.floor(tokens), resetMs: Math.max(0, 1_000 * (1 - tokens)) };
  };
};

type Says = (verdict: Verdict, now: Date) => Record<string, string>;
export const afterSeconds: Says = ({ allowed, resetMs }) =>
  allowed ? {} : { "retry-after": `${Math.ceil(resetMs / 1000)}` };

type Limited = {
  counting: Counting;
  says: Says;
  /** Fields of the error beside its type. */
  errs?: (verdict: Verdict, now: Date) => object;
  api?: ModelApi;
  status?: number;
  paces?: Paces;
};

export function limitedProvider(
  { counting, says, errs, api, status = 429, paces }: Limited,
  time: ReturnType<typeof virtualTime>,
) {
  const decide = counting();
  const rejected: number[] = [];
  let accepted = 0;
  const pass = (ms: number) => time.sleep(ms, new AbortController().signal);
  const fetch: EgressFetch = async () => {
    await pass(100);
    const now = time.clock.now();
    const verdict = decide(time.clock.monotonicMs());
    const headers = { "content-type": "application/json", ...says(verdict, now) };
    if (!verdict.allowed) {
      rejected.push(time.clock.monotonicMs());
      await pass(100);
      const error = { type: "rate_limit_error", message: "Too many requests", ...errs?.(verdict, now) };
      return new Response(JSON.stringify({ type: "error", error }), { status, headers });
    }
    accepted += 1;
    await pass(400 + 37 * (accepted % 40));
    const body =
      api === "anthropic"
        ? {
            content: [{ type: "text", text: "ok" }],
            stop_reason: "end_turn",
            usage: { input_tokens: 10, output_tokens: 5 },
          }
        : {
            choices: [{ message: { content: "ok" }, finish_reason: "stop" }],
            usage: { prompt_tokens: 10, completion_tokens: 5 },
          };
    return new Response(JSON.stringify(body), { headers });
  };
  const { clock, sleep } = time;
  const provider = createProvider({
    name: "limited",
    api,
    baseUrl: "http://limited.test/v1",
    fetch,
    clock,
    random: () => 0.5,
    sleep,
    paces: paces ?? new Paces({ clock, sleep }),
  });
  return { provider, rejected };
}
