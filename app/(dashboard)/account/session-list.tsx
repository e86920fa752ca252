"use client";

import { useMutation, useSuspenseQuery } from "@tanstack/react-query";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { PartHead } from "@/app/_ui/figures/facts";
import { formatPlural } from "@/app/_ui/figures/format";
import { Day } from "@/app/_ui/figures/time";
import { Badge } from "@/app/_ui/row-name";
import { signOut } from "@/app/_ui/sign-out";
import { type LineColumn, LineList } from "@/app/_ui/table";
import { notify } from "@/app/_ui/toast";
import type { SessionLine } from "@/server/catalog/auth/own-account";
import { SESSION_DAYS } from "@/server/contract/limits";
import { LastUsed } from "../usage-columns";
import { describeDevice } from "./device";

const COLUMNS: LineColumn<SessionLine>[] = [
  {
    head: "Device",
    area: "line",
    cell: ({ userAgent, current }) => (
      <span className="flex min-w-0 items-center gap-2">
        <span className="truncate font-medium" title={userAgent ?? undefined}>
          {describeDevice(userAgent)}
        </span>
        {current ? <Badge>current</Badge> : null}
      </span>
    ),
  },
  { head: "Address", width: "w-32", area: "wide", look: "cut", cell: (line) => line.ipAddress || "unknown" },
  {
    head: "Last used",
    width: "w-26",
    area: "share",
    look: "muted",
    cell: ({ lastUsedAt }) => <LastUsed at={lastUsedAt} />,
  },
  {
    head: "Signed in",
    width: "w-28",
    area: "none",
    look: "muted",
    cell: (line) => <Day at={line.createdAt} />,
  },
  { head: "Actions", width: "w-26", area: "action", cell: (session) => <EndSession session={session} /> },
];

export function SessionList() {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.account.sessions.queryOptions());
  const endOthers = useEndSession("The other sessions stay signed in", (ended) =>
    formatPlural(ended, "other session is signed out", "other sessions are signed out"),
  );
  return (
    <section aria-label="Sessions">
      <PartHead title="Sessions">
        <p className="text-muted text-xs">A session ends {SESSION_DAYS} days after its last use.</p>
        {data.length > 1 ? (
          <Button disabled={endOthers.isPending} onClick={() => endOthers.mutate({ sessionId: null })}>
            Sign out all others
          </Button>
        ) : null}
      </PartHead>
      <LineList columns={COLUMNS} keyOf={({ id }) => id} label="Sessions" lines={data} />
    </section>
  );
}

function EndSession({ session: { id, current, userAgent } }: { session: SessionLine }) {
  const device = describeDevice(userAgent);
  const end = useEndSession(`${device} is still signed in`, () => `${device} is signed out`);
  return current ? (
    <Button look="quiet" onClick={() => void signOut()}>
      Sign out
    </Button>
  ) : (
    <Button
      aria-label={`Sign out ${device}`}
      disabled={end.isPending}
      look="quiet"
      onClick={() => end.mutate({ sessionId: id })}
    >
      Sign out
    </Button>
  );
}

function useEndSession(failed: string, done: (ended: number) => string) {
  const trpc = useTRPC();
  return useMutation(
    trpc.account.endSession.mutationOptions({
      meta: { refresh: [trpc.account.sessions.pathKey()] },
      onSuccess: ({ ended }) => notify(done(ended)),
      onError: (error) => notify(failed, describeError(error).message),
    }),
  );
}
