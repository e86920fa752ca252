"use client";

import { useInfiniteQuery } from "@tanstack/react-query";
import { useSearchParams } from "next/navigation";
import { Button } from "@/app/_ui/button";
import { ChoiceLinks } from "@/app/_ui/choice-links";
import { useTRPC } from "@/app/_ui/data/providers";
import { PartHead } from "@/app/_ui/figures/facts";
import { formatBytes, NONE, shortId } from "@/app/_ui/figures/format";
import { Ago, useExact } from "@/app/_ui/figures/time";
import { lazy } from "@/app/_ui/lazy";
import { Link } from "@/app/_ui/link";
import { OlderButton } from "@/app/_ui/older-button";
import { Empty } from "@/app/_ui/page/page";
import { RowSkeletons } from "@/app/_ui/page/skeletons";
import { Cell, HeadCell, Table } from "@/app/_ui/table";
import { Unreadable } from "@/app/_ui/text/unreadable";
import type { DeliverySummary } from "@/server/catalog/webhooks/inspect-deliveries";
import type { TriggerDetail } from "@/server/catalog/webhooks/inspect-trigger";
import { DELIVERY_OUTCOMES, type DeliveryOutcomeName } from "@/server/contract/enums";
import { OutcomeMark } from "../outcome";
import { openDelivery } from "./open-delivery";
import { deliveriesQuery, readOutcome } from "./query";

/** It is loaded with the first delivery that is opened. */
const DeliveryDialog = lazy(() => import("./delivery-dialog"), "DeliveryDialog");

/** Deliveries have no events, so a visible page reads them again this often. */
const REFRESH_MS = 5_000;

/** The deliveries of a trigger, newest first. Each opens to what was sent. */
export function Deliveries({ trigger }: { trigger: TriggerDetail }) {
  const trpc = useTRPC();
  const params = useSearchParams();
  const outcome = readOutcome(params.get("outcome"));
  const opened = params.get("delivery");
  const query = useInfiniteQuery({
    ...deliveriesQuery(trpc, trigger.id, outcome),
    // People call the trigger from elsewhere and watch what arrives. A hidden page does not ask.
    refetchInterval: REFRESH_MS,
    refetchOnWindowFocus: "always",
  });
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
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
        <Button disabled={query.isFetching} onClick={() => void query.refetch()}>
          Refresh
        </Button>
      </PartHead>
      {query.isError && items.length === 0 ? (
        <Unreadable query={query} what="The deliveries could not be read" />
      ) : query.isSuccess && items.length === 0 ? (
        <Empty title={outcome ? `No ${outcome} deliveries` : "No deliveries yet"}>
          {outcome ? null : (
            <p>Every call to the address appears here, refused ones with the reason. Try the call above.</p>
          )}
        </Empty>
      ) : (
        <Table className="max-md:block" label="Deliveries">
          <thead className="max-md:hidden">
            <tr>
              <HeadCell>Received</HeadCell>
              <HeadCell>Outcome</HeadCell>
              <HeadCell className="w-full">Reason</HeadCell>
              <HeadCell className="text-right">Size</HeadCell>
              <HeadCell>Run</HeadCell>
            </tr>
          </thead>
          <tbody className="max-md:block">
            {query.isPending ? (
              <RowSkeletons columns={5} />
            ) : (
              items.map((delivery) => (
                <DeliveryRow delivery={delivery} href={addressOf(outcome, delivery.id)} key={delivery.id} />
              ))
            )}
          </tbody>
        </Table>
      )}
      <OlderButton query={query} what="deliveries" />
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

const OUTCOME_LABELS = { all: "All", accepted: "Accepted", repeated: "Repeated", rejected: "Rejected" };

const STACKED = "max-md:block max-md:h-auto max-md:border-0 max-md:p-0!";

function DeliveryRow({ delivery, href }: { delivery: DeliverySummary; href: string }) {
  const received = useExact(delivery.receivedAt);
  return (
    <tr className="relative hover:bg-hover max-md:block max-md:border-line max-md:border-b max-md:px-4 max-md:py-2">
      <Cell className={`whitespace-nowrap max-md:float-right ${STACKED}`}>
        <a
          className="text-muted after:absolute after:inset-0"
          href={href}
          title={received}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey) return;
            event.preventDefault();
            openDelivery(delivery.id);
          }}
        >
          <span className="sr-only">Delivery </span>
          <Ago at={delivery.receivedAt} />
        </a>
      </Cell>
      <Cell className={`whitespace-nowrap ${STACKED}`}>
        <span className="inline-block w-22">
          <OutcomeMark outcome={delivery.outcome} />
        </span>{" "}
        <span className="text-muted">{delivery.status}</span>
        {delivery.redeliveryOf ? (
          <span className="ml-2 rounded border border-line-strong px-1.5 text-muted text-xs">redelivery</span>
        ) : null}
      </Cell>
      <Cell className={`[overflow-wrap:anywhere] max-md:truncate ${STACKED}`}>
        {delivery.reason ? (
          <>
            {delivery.reason} <span className="mono text-muted max-md:hidden">{delivery.code}</span>
          </>
        ) : delivery.outcome === "repeated" ? (
          <span className="text-muted max-md:hidden">Repeats an earlier call</span>
        ) : null}
      </Cell>
      <Cell className="whitespace-nowrap text-right text-muted max-md:hidden">
        {formatBytes(delivery.bodyBytes)}
      </Cell>
      <Cell className={`whitespace-nowrap ${STACKED}`}>
        {delivery.runId ? (
          <Link className="mono relative z-10 text-accent hover:underline" href={`/runs/${delivery.runId}`}>
            {shortId(delivery.runId)}
          </Link>
        ) : (
          <span className="text-faint max-md:hidden">{NONE}</span>
        )}
      </Cell>
    </tr>
  );
}
