"use client";

import { useMutation, useSuspenseQuery } from "@tanstack/react-query";
import { Button } from "@/app/_ui/button";
import { describeDevice } from "@/app/_ui/data/device";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { PartHead } from "@/app/_ui/figures/facts";
import { formatPlural } from "@/app/_ui/figures/format";
import { Ago, Day } from "@/app/_ui/figures/time";
import { signOut } from "@/app/_ui/sign-out";
import { Badge, List, ListCell, ListRow } from "@/app/_ui/table";
import { useNotify } from "@/app/_ui/toast";
import type { SessionLine } from "@/server/auth/own-account";

const COLUMNS = [
  ["Device"],
  ["Address", "w-32 max-lg:hidden"],
  ["Last used", "w-26"],
  ["Signed in", "w-28"],
  ["", "w-26"],
] as const;

/** Where the person is signed in. */
export function SessionList() {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.account.sessions.queryOptions());
  return (
    <section aria-label="Sessions">
      <PartHead title="Sessions">
        <p className="text-muted text-xs">A session ends 14 days after its last use.</p>
        {data.length > 1 ? <EndOthers /> : null}
      </PartHead>
      <List columns={COLUMNS} label="Sessions">
        {data.map((session) => (
          <Row key={session.id} session={session} />
        ))}
      </List>
    </section>
  );
}

function EndOthers() {
  const trpc = useTRPC();
  const notify = useNotify();
  const end = useMutation(
    trpc.account.endSession.mutationOptions({
      meta: { refresh: [trpc.account.sessions.pathKey()] },
      onSuccess: ({ ended }) => {
        notify(formatPlural(ended, "other session is signed out", "other sessions are signed out"));
      },
      onError: (error) => notify("The other sessions stay signed in", describeError(error).message),
    }),
  );
  return (
    <Button disabled={end.isPending} onClick={() => end.mutate({ sessionId: null })}>
      Sign out all others
    </Button>
  );
}

function Row({ session }: { session: SessionLine }) {
  const trpc = useTRPC();
  const notify = useNotify();
  const device = describeDevice(session.userAgent);
  const end = useMutation(
    trpc.account.endSession.mutationOptions({
      meta: { refresh: [trpc.account.sessions.pathKey()] },
      onSuccess: () => {
        notify(`${device} is signed out`);
      },
      onError: (error) => notify(`${device} is still signed in`, describeError(error).message),
    }),
  );
  return (
    <ListRow>
      <ListCell area="line">
        <span className="flex min-w-0 items-center gap-2">
          <span className="truncate font-medium" title={session.userAgent ?? undefined}>
            {device}
          </span>
          {session.current ? <Badge>current</Badge> : null}
        </span>
      </ListCell>
      <ListCell className="truncate text-muted" area="wide">
        {session.ipAddress || "unknown"}
      </ListCell>
      <ListCell className="whitespace-nowrap text-muted" area="share">
        <span className="md:hidden">used </span>
        <Ago at={session.lastUsedAt} />
      </ListCell>
      <ListCell className="whitespace-nowrap text-muted" area="none">
        <Day at={session.createdAt} />
      </ListCell>
      <ListCell area="action">
        {session.current ? (
          <Button look="quiet" onClick={() => void signOut()}>
            Sign out
          </Button>
        ) : (
          <Button
            aria-label={`Sign out ${device}`}
            disabled={end.isPending}
            look="quiet"
            onClick={() => end.mutate({ sessionId: session.id })}
          >
            Sign out
          </Button>
        )}
      </ListCell>
    </ListRow>
  );
}
