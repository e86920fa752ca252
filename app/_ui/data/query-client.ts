import { MutationCache, QueryClient, type QueryKey } from "@tanstack/react-query";
import { TRPCClientError } from "@trpc/client";
import { JSON_TYPE } from "@/server/contract/media-types";

declare module "@tanstack/react-query" {
  interface Register {
    /** `refresh`: queries to refetch before the mutation's own `onSuccess`. */
    mutationMeta: { refresh?: QueryKey[] };
  }
}

/**
 * Queries are repeated after an error that is not final, and when somebody returns to a page that has not been updated
 * for 30 s.
 */
export function createQueryClient(isFinal: (error: unknown) => boolean = isFinalAnswer): QueryClient {
  return new QueryClient({
    mutationCache: new MutationCache({
      // biome-ignore lint/complexity/useMaxParams: React Query calls it with five.
      onSuccess: (_data, _variables, _result, { meta }, { client }) =>
        Promise.all((meta?.refresh ?? []).map((queryKey) => client.invalidateQueries({ queryKey }))),
    }),
    defaultOptions: {
      // The browser may say "offline" while it reaches the server. A paused mutation would start later, unasked.
      mutations: { networkMode: "always" },
      queries: {
        networkMode: "always",
        refetchOnReconnect: true,
        staleTime: 30_000,
        retry: (failures, error) => failures < 2 && !isFinal(error),
      },
    },
  });
}

/**
 * An error as pages show it. `issues` are issues of the input; `path` is a JSON pointer into it, "" for the whole
 * input.
 */
export type ShownError = { code: string; message: string; issues: { path: string; message: string }[] };

/** A call that failed, with what to show of it. */
export class CallError extends Error {
  readonly shown: ShownError;

  constructor(shown: ShownError) {
    super(shown.message);
    this.shown = shown;
  }
}

/** Null for any other error. Parsed by hand, because zod would add to the page's size. */
function readShown(error: unknown): ShownError | null {
  const code = memberOf(error, "code");
  const message = memberOf(error, "message");
  if (typeof code !== "string" || typeof message !== "string") return null;
  const issues = memberOf(error, "issues");
  return { code, message, issues: Array.isArray(issues) ? issues.flatMap(readIssue) : [] };
}

function readIssue(issue: unknown): ShownError["issues"] {
  const path = memberOf(issue, "path");
  const message = memberOf(issue, "message");
  return typeof path === "string" && typeof message === "string" ? [{ path, message }] : [];
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

const UNREACHABLE: ShownError = {
  code: "unreachable",
  message: "Could not reach the server. Check the connection and try again.",
  issues: [],
};
const FAILED: ShownError = { code: "internal_error", message: "The call failed. Try again.", issues: [] };

/** The server's error message, or our own sentence if the call did not reach the server. */
export function describeError(error: unknown): ShownError {
  if (error instanceof CallError) return error.shown;
  if (error instanceof TRPCClientError) return readShown(memberOf(error.data, "shown")) ?? UNREACHABLE;
  return error instanceof Error ? { ...FAILED, message: error.message } : FAILED;
}

/** `fetch`, which throws a `CallError` if it did not reach the server. */
export function callServer(path: string, init?: RequestInit): Promise<Response> {
  return fetch(path, init).catch(() => {
    throw new CallError(UNREACHABLE);
  });
}

/** Sends JSON to a route of ours and returns the JSON that it answers. Throws `CallError`. */
export async function postJson<Answer>(path: string, sent: object): Promise<Answer> {
  const response = await callServer(path, {
    method: "POST",
    headers: { "content-type": JSON_TYPE },
    body: JSON.stringify(sent),
  });
  if (!response.ok) throw new CallError(await readError(response));
  return response.json().catch(() => null);
}

/** The error in a route's answer. */
export async function readError(response: Response): Promise<ShownError> {
  return readShown(await response.json().catch(() => null)) ?? FAILED;
}

function isFinalAnswer(error: unknown): boolean {
  return !["unreachable", "internal_error", "rate_limited"].includes(describeError(error).code);
}
