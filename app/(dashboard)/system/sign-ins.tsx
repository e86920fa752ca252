"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { PartHead } from "@/app/_ui/figures/facts";
import { formatPlural } from "@/app/_ui/figures/format";
import { Ago } from "@/app/_ui/figures/time";
import { Badge } from "@/app/_ui/row-name";
import { type LineColumn, LineList } from "@/app/_ui/table";
import { Unreadable } from "@/app/_ui/text/unreadable";
import type { SignIn } from "@/server/operate/system/sign-ins";
import { describeDevice } from "../account/device";

const REFRESH_MS = 60_000;

const COLUMNS: LineColumn<SignIn>[] = [
  {
    head: "Person",
    area: "start",
    cell: ({ name, email, isOperator }) => (
      <span className="flex min-w-0 items-center gap-2">
        <span className="truncate font-medium" title={name}>
          {email}
        </span>
        {isOperator ? <Badge>operator</Badge> : null}
      </span>
    ),
  },
  { head: "Time", width: "w-32", area: "end", look: "muted", cell: ({ at }) => <Ago at={at} /> },
  { head: "Method", width: "w-28", area: "none", look: "muted", cell: ({ method }) => method },
  {
    head: "Address",
    width: "w-44",
    area: "lastStart",
    look: "cut",
    cell: ({ address }) => address ?? "unknown",
  },
  {
    head: "Device",
    width: "w-48",
    area: "last",
    look: "cut",
    cell: ({ userAgent }) => <span title={userAgent ?? undefined}>{describeDevice(userAgent)}</span>,
  },
];

/** The newest sessions of all people. One that was ended by a sign-out is gone. */
export function SignIns() {
  const options = useTRPC().system.signIns.queryOptions();
  const found = useQuery({ ...options, refetchInterval: REFRESH_MS });
  if (found.isError && !found.data) return <Unreadable query={found} what="Could not load sign-ins" />;
  return (
    <section aria-label="Sign-ins">
      <PartHead title="Sign-ins">
        <p className="text-muted text-xs">
          Newest 20 that have not signed out
          {found.data ? (
            <span title={found.data.operators.join(", ")}>
              ; {formatPlural(found.data.operators.length, "operator")}
            </span>
          ) : null}
        </p>
      </PartHead>
      <LineList
        columns={COLUMNS}
        empty={<p className="border-line border-t px-4 py-3 text-muted sm:px-6">No one is signed in.</p>}
        keyOf={({ at, email }) => `${at} ${email}`}
        label="Sign-ins"
        lines={found.data?.signIns ?? null}
      />
    </section>
  );
}
