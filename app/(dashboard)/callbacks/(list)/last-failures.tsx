"use client";

import { useMutation } from "@tanstack/react-query";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { PartHead } from "@/app/_ui/figures/facts";
import { formatPlural } from "@/app/_ui/figures/format";
import { PagedList, usePages } from "@/app/_ui/paged-list";
import { useMay } from "@/app/_ui/role";
import { RowName } from "@/app/_ui/row-name";
import type { LineColumn } from "@/app/_ui/table";
import { notify } from "@/app/_ui/toast";
import type { CallbackDeliveryLine } from "@/server/catalog/callbacks/inspect-callback-deliveries";
import { DeliveryShape, describeAttempt, NextAttempt } from "../attempt-mark";
import { deliveriesQuery, REFRESH_MS } from "../query";

/** Events that have not arrived yet, newest first. */
export function LastFailures() {
  const trpc = useTRPC();
  const mayAct = useMay("member");
  const { query, lines } = usePages(deliveriesQuery(trpc, { state: "undelivered" }), REFRESH_MS);
  const meta = { refresh: [trpc.callbacks.pathKey()] };
  const onError = (error: unknown) => void notify("Could not redeliver", describeError(error).message);
  const all = useMutation(
    trpc.callbacks.redeliverFailed.mutationOptions({
      meta,
      onError,
      onSuccess: ({ deliveries }) => void notify(`${formatPlural(deliveries, "event")} will be sent again`),
    }),
  );
  const one = useMutation(
    trpc.callbacks.redeliver.mutationOptions({
      meta,
      onError,
      onSuccess: () => void notify("The event is sent again"),
    }),
  );
  const action: LineColumn<CallbackDeliveryLine> = {
    head: "Actions",
    width: "w-28",
    area: "action",
    cell: ({ id }) => (
      <Button disabled={one.isPending} look="quiet" onClick={() => one.mutate({ deliveryId: id })}>
        Redeliver
      </Button>
    ),
  };
  if (query.isSuccess && lines.length === 0) return null;
  return (
    <section aria-label="Not delivered yet">
      <PartHead title="Not delivered yet">
        {mayAct ? (
          <Button
            disabled={all.isPending}
            onClick={() => all.mutate({ callbackId: null, since: new Date(0).toISOString() })}
          >
            {all.isPending ? "Redelivering" : "Redeliver all"}
          </Button>
        ) : null}
      </PartHead>
      <PagedList
        columns={mayAct ? [...COLUMNS, action] : COLUMNS}
        empty={null}
        keyOf={({ id }) => id}
        label="Not delivered yet"
        list={{ query, lines }}
        what="events"
      />
      <p className="px-4 py-3 text-muted text-xs sm:px-6">
        A redirect counts as a failure: the address has to answer itself. Attempts are kept with their status,
        their duration and the first KiB of the answer.
      </p>
    </section>
  );
}

const COLUMNS: LineColumn<CallbackDeliveryLine>[] = [
  {
    head: "Event",
    area: "line",
    cell: (line) => (
      <span className="flex min-w-0 items-center gap-2">
        <DeliveryShape {...line} />
        <RowName href={`/callbacks/${line.callbackId}?delivery=${line.id}`} name={line.type}>
          <span className="min-w-0 shrink-[9999] truncate text-muted">
            {[line.targetName, line.input].filter(Boolean).join(", ")}
          </span>
        </RowName>
      </span>
    ),
  },
  {
    head: "Callback",
    width: "w-44",
    area: "start",
    look: "cut",
    cell: ({ callbackName }) => callbackName,
  },
  {
    head: "Answer",
    width: "w-[24%]",
    area: "wide",
    look: "cut",
    cell: (line) => <span className={line.error ? "text-failed" : undefined}>{describeAttempt(line)}</span>,
  },
  { head: "Attempts", width: "w-24", area: "none", look: "figure", cell: ({ attempts }) => attempts },
  {
    head: "Next attempt",
    width: "w-32",
    area: "last",
    look: "muted",
    cell: (line) => <NextAttempt {...line} />,
  },
];
