"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useTRPC, useTRPCClient } from "@/app/_ui/data/providers";
import { useRested } from "@/app/_ui/use-rested";

/** Problems are looked for when typing has paused for this long. */
const PAUSE_MS = 400;

/** The problems of a tool's YAML, as the server sees them. */
export function useChecked(yaml: string, enabled: boolean) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const checked = useRested(yaml, PAUSE_MS);
  return useQuery({
    queryKey: [...trpc.definitions.checkTool.mutationKey(), checked],
    // A mutation is sent as POST: a definition is too long for a URL.
    queryFn: ({ signal }) => client.definitions.checkTool.mutate({ yaml: checked }, { signal }),
    placeholderData: keepPreviousData,
    // Each pause makes a new key; old ones are of no use.
    gcTime: 0,
    enabled,
  });
}

export type Check = ReturnType<typeof useChecked>;
