"use client";

import { useSearchParams } from "next/navigation";
import { useState } from "react";
import { Button } from "@/app/_ui/button";
import { ChoiceLinks } from "@/app/_ui/choice-links";
import { useTRPC } from "@/app/_ui/data/providers";
import { PartHead } from "@/app/_ui/figures/facts";
import { formatBytes, NONE, shortId } from "@/app/_ui/figures/format";
import { Ago, useExact } from "@/app/_ui/figures/time";
import { lazy } from "@/app/_ui/lazy";
import { Link } from "@/app/_ui/link";
import { Empty } from "@/app/_ui/page/page";
import { PagedList, usePages } from "@/app/_ui/paged-list";
import { Badge } from "@/app/_ui/row-name";
import { type LineColumn, LineList } from "@/app/_ui/table";
import type { DeliverySummary } from "@/server/catalog/webhooks/inspect-deliveries";
import type { TriggerDetail } from "@/server/catalog/webhooks/inspect-trigger";
import { DELIVERY_OUTCOMES, type DeliveryOutcomeName } from "@/server/contract/enums";
import { OutcomeMark } from "../outcome";
import { openDelivery } from "./open-delivery";
import { deliveriesQuery, readOutcome } from "./query";

const DeliveryDialog = lazy(() => import("./delivery-dialog"), "DeliveryDialog");

/** Deliveries have no events, so a visible page polls. */
const REFRESH_MS = 5_000;

/** The deliveries of a trigger, newest first. Each opens to what was sent. */
export function Deliveries({ trigger }: { trigger: TriggerDetail }) {
  const trpc = useTRPC();
  const params = useSearchParams();
  const outcome = readOutcome(params.get("outcome"));
  const opened = params.get("delivery");
  // People call the trigger from elsewhere and watch what arrives. A hidden page does not ask.
  const { query, lines } = usePages(
    { ...deliveriesQuery(trpc, trigger.id, outcome), refetchOnWindowFocus: "always" },
    REFRESH_MS,
  );
  const [isRefreshing, setRefreshing] = useState(false);
  const refresh = async () => {
    setRefreshing(true);
    await query.refetch();
    setRefreshing(false);
  };
  const addressOf = (next: DeliveryOutcomeName | null, delivery?: string) => {
    const search = new URLSearchParams({
      ...(next ? { outcome: next } : {}),
      ...(delivery ? { delivery } : {}),
    }).toString();
    return `/triggers/${trigger.id}${search ? `?${search}` : ""}`;
  };
  return (
    <section aria-label="Deliveries">
      <PartHead title="Deliveries">
        <ChoiceLinks
          label="Outcome"
          options={[null, ...DELIVERY_OUTCOMES].map((value) => ({
            value,
            label: OUTCOME_LABELS[value ?? "all"],
            href: addressOf(value),
          }))}
          value={outcome}
        />
        <Button disabled={isRefreshing} onClick={() => void refresh()}>
          Refresh
        </Button>
      </PartHead>
      <PagedList
        columns={COLUMNS}
        empty={
          <Empty title={outcome ? `No ${outcome} deliveries` : "No deliveries yet"}>
            {outcome ? null : (
              <p>
                Every call to the address appears here, rejected ones with the reason. Try the call above.
              </p>
            )}
          </Empty>
        }
        keyOf={keyOf}
        label="Deliveries"
        list={{
          query,
          lines: lines.map((delivery) => ({ ...delivery, href: addressOf(outcome, delivery.id) })),
        }}
        what="deliveries"
      />
      {opened ? (
        <DeliveryDialog
          deliveryId={opened}
          key={opened}
          onClose={() => openDelivery(null)}
          trigger={trigger}
        />
      ) : null}
    </section>
  );
}

const OUTCOME_LABELS = {
  all: "All",
  accepted: "Accepted",
  repeated: "Repeated",
  rejected: "Rejected",
  filtered: "Filtered",
};

type Line = DeliverySummary & { href: string };
const keyOf = ({ id }: Line) => id;

const COLUMNS: LineColumn<Line>[] = [
  { head: "Received", width: "w-32", area: "start", look: "line", cell: (line) => <Received {...line} /> },
  {
    head: "Outcome",
    width: "w-56",
    area: "end",
    look: "line",
    cell: ({ outcome, status, redeliveryOf }) => (
      <span className="flex items-center gap-2">
        <span className="md:w-22">
          <OutcomeMark outcome={outcome} />
        </span>
        <span className="text-muted">{status}</span>
        {redeliveryOf ? <Badge>redelivery</Badge> : null}
      </span>
    ),
  },
  {
    head: "Reason",
    area: "lastStart",
    look: "wrap",
    cell: ({ reason, code, outcome }) =>
      reason ? (
        <>
          {reason} <span className="mono text-muted max-md:hidden">{code}</span>
        </>
      ) : outcome === "repeated" ? (
        <span className="text-muted max-md:hidden">Repeats an earlier call</span>
      ) : outcome === "filtered" ? (
        <span className="text-muted max-md:hidden">The filter rejects it</span>
      ) : null,
  },
  {
    head: "Size",
    width: "w-24",
    area: "none",
    look: "figure",
    cell: ({ bodyBytes }) => <span className="text-muted">{formatBytes(bodyBytes)}</span>,
  },
  {
    head: "Run",
    width: "w-32",
    area: "last",
    look: "line",
    cell: ({ runId }) =>
      runId ? (
        <Link className="mono relative z-10 text-accent hover:underline" href={`/runs/${runId}`}>
          {shortId(runId)}
        </Link>
      ) : (
        <span className="text-faint max-md:hidden">{NONE}</span>
      ),
  },
];

export const DeliveriesSkeleton = () => (
  <LineList columns={COLUMNS} keyOf={keyOf} label="Deliveries" lines={null} />
);

function Received({ id, href, receivedAt }: Line) {
  return (
    <a
      className="text-muted after:absolute after:inset-0"
      href={href}
      title={useExact(receivedAt)}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        openDelivery(id);
      }}
    >
      <span className="sr-only">Delivery </span>
      <Ago at={receivedAt} />
    </a>
  );
}
