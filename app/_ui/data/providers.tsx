"use client";

import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider, useQueryClient } from "@tanstack/react-query";
import { createTRPCClient, type getFetch, httpBatchLink, splitLink } from "@trpc/client";
import { createTRPCContext } from "@trpc/tanstack-react-query";
import { LucideProvider } from "lucide-react";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { TimeProvider } from "@/app/_ui/data/clock";
import { checkConnection, noteResponse } from "@/app/_ui/data/connection";
import { exactInput } from "@/app/_ui/data/exact-input";
import { OrganizationContext, type PageOrganization, pageIn } from "@/app/_ui/data/page-organization";
import { createQueryClient } from "@/app/_ui/data/query-client";
import { isStart, repeatStarts, startIdOf } from "@/app/_ui/data/repeat-starts";
import { syncWithResponse } from "@/app/_ui/data/server-clock";
import { lazy } from "@/app/_ui/lazy";
import type { DashboardRouter } from "@/server/api/dashboard/router";
import { MAX_BATCHED_CALLS } from "@/server/contract/enums";
import { ORGANIZATION_HEADER } from "@/server/contract/page-organization";
import { START_ID_HEADER } from "@/server/contract/start-id";

/** Loads after the page, so that messages can appear when the connection is lost. */
const Toasts = lazy(() => import("@/app/_ui/toasts"), "Toasts");

const { TRPCProvider, useTRPC, useTRPCClient } = createTRPCContext<DashboardRouter>();

export { useTRPC, useTRPCClient };

const fetchAndNote: ReturnType<typeof getFetch> = async (address, { signal, ...init } = {}) => {
  const askedAt = Date.now();
  const response = await fetch(address, { ...init, signal: signal ?? null }).catch((error: unknown) => {
    if (!signal?.aborted) void checkConnection();
    throw error;
  });
  if (response.status >= 500) void checkConnection();
  noteResponse(response);
  syncWithResponse(response, askedAt);
  return response;
};

type Props = {
  now: number;
  timeZone: string;
  timeZoneChosen: boolean;
  nonce: string | undefined;
  children: ReactNode;
};

/** The context that client components need. `now` is the server's time in ms when it rendered. */
export function Providers({ now, timeZone, timeZoneChosen, nonce, children }: Props) {
  const [queryClient] = useState(() => createQueryClient());
  return (
    <CSPProvider disableStyleElements nonce={nonce}>
      <QueryClientProvider client={queryClient}>
        <TimeProvider chosen={timeZoneChosen} now={now} timeZone={timeZone}>
          <LucideProvider absoluteStrokeWidth size={16} strokeWidth={1.5}>
            {children}
            <Toasts />
          </LucideProvider>
        </TimeProvider>
      </QueryClientProvider>
    </CSPProvider>
  );
}

function createPageClient(page: string) {
  const headers = { [ORGANIZATION_HEADER]: page };
  const options = { url: "/api/trpc", maxURLLength: 6_000, fetch: fetchAndNote };
  return createTRPCClient<DashboardRouter>({
    links: [
      repeatStarts,
      exactInput,
      splitLink({
        condition: isStart,
        true: httpBatchLink({
          ...options,
          maxItems: 1,
          headers: ({ opList: [start] }) => ({ ...headers, [START_ID_HEADER]: startIdOf(start) }),
        }),
        false: httpBatchLink({ ...options, maxItems: MAX_BATCHED_CALLS, headers }),
      }),
    ],
  });
}

type OrganizationProviderProps = { organization: PageOrganization; children: ReactNode };

/**
 * The organization and person of the pages inside, which each of their calls names. If the server renders them again for
 * others, the browser loads the document again, so that nothing read before stays in memory.
 */
export function OrganizationProvider({ organization, children }: OrganizationProviderProps) {
  const queryClient = useQueryClient();
  const page = pageIn(organization);
  const [first] = useState(page);
  const isOther = page !== first;
  useEffect(() => {
    if (isOther) window.location.reload();
  }, [isOther]);
  const trpcClient = useMemo(() => createPageClient(page), [page]);
  if (isOther) return null;
  return (
    <OrganizationContext value={organization}>
      <TRPCProvider queryClient={queryClient} trpcClient={trpcClient}>
        {children}
      </TRPCProvider>
    </OrganizationContext>
  );
}
