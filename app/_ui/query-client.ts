import { QueryClient } from "@tanstack/react-query";
import { TRPCClientError } from "@trpc/client";
import { z } from "zod/mini";

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

const shownError = z.object({
  shown: z.object({ code: z.string(), message: z.string(), requestId: z.string() }),
});

/** What the server said of an error, or a sentence of our own when it could not be reached. */
export function describeError(error: unknown): { code: string; message: string } {
  if (error instanceof TRPCClientError) {
    const parsed = shownError.safeParse(error.data);
    if (parsed.success) return parsed.data.shown;
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
