import { QueryClient } from "@tanstack/react-query";
import { createTRPCClient } from "@trpc/client";
import { createTRPCOptionsProxy } from "@trpc/tanstack-react-query";
import { expect, test } from "vitest";
import type { DashboardRouter } from "@/server/api/dashboard/router";
import { recentRunsQuery, weekQuery } from "../runs/query";
import { versionsQuery } from "./query";

const trpc = createTRPCOptionsProxy<DashboardRouter>({
  client: createTRPCClient<DashboardRouter>({ links: [] }),
  queryClient: new QueryClient(),
});
const reference = { kind: "agent" as const, id: "0193c4aa-0000-7000-8000-000000000000" };

// The server prefetches by kind and id. A definition in the key would miss that, and may be too long for a URL.
test.each([versionsQuery, recentRunsQuery, weekQuery])("%o names only the kind and the id", (query) => {
  const definition = { ...reference, name: "Desk", systemPrompt: "Be brief." };
  expect(query(trpc, definition).queryKey).toEqual(query(trpc, reference).queryKey);
});
