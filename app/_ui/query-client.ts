import { QueryClient } from "@tanstack/react-query";
import { TRPCClientError } from "@trpc/client";

/** A client whose data stays fresh by live events; so it does not refetch on every focus. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        retry: (failures, error) => failures < 2 && !isFinal(error),
      },
    },
  });
}

/** The part of an error's data that `server/api/trpc.ts` shows to callers. Written by hand: zod weighs too much here. */
function readShownError(data: unknown): { code: string; message: string } | null {
  const shown: unknown = typeof data === "object" && data !== null && "shown" in data ? data.shown : null;
  if (typeof shown !== "object" || shown === null || !("code" in shown) || !("message" in shown)) return null;
  const { code, message } = shown;
  return typeof code === "string" && typeof message === "string" ? { code, message } : null;
}

/** What the server said of an error, or a sentence of our own when it could not be reached. */
export function describeError(error: unknown): { code: string; message: string } {
  if (error instanceof TRPCClientError) {
    const shown = readShownError(error.data);
    if (shown) return shown;
    return {
      code: "unreachable",
      message: "The server could not be reached. Check the connection and try again.",
    };
  }
  return { code: "internal_error", message: error instanceof Error ? error.message : "Something failed." };
}

function isFinal(error: unknown): boolean {
  return !["unreachable", "internal_error", "rate_limited"].includes(describeError(error).code);
}
