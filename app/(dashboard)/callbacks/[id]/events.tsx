"use client";

import clsx from "clsx";
import { useSearchParams } from "next/navigation";
import { useState } from "react";
import { ChoiceLinks } from "@/app/_ui/choice-links";
import { useTRPC } from "@/app/_ui/data/providers";
import { PartHead } from "@/app/_ui/figures/facts";
import { Ago } from "@/app/_ui/figures/time";
import { Empty } from "@/app/_ui/page/page";
import { OlderButton, usePages } from "@/app/_ui/paged-list";
import { Unreadable } from "@/app/_ui/text/unreadable";
import type { CallbackDeliveryLine } from "@/server/catalog/callbacks/inspect-callback-deliveries";
import type { CallbackDetail } from "@/server/catalog/callbacks/list-callbacks";
import { DeliveryShape, describeAttempt, Until } from "../attempt-mark";
import { deliveriesQuery, REFRESH_MS, readState, type ShownState } from "../query";
import { DeliveryInspector } from "./delivery-inspector";

export function Events({ callback: { id } }: { callback: CallbackDetail }) {
  const trpc = useTRPC();
  const params = useSearchParams();
  const state = readState(params.get("state"));
  const { query, lines } = usePages(deliveriesQuery(trpc, { callbackId: id, state }), REFRESH_MS);
  // Without a choice, the newest event is open; it stays open when newer ones come.
  const [first, setFirst] = useState<{ state: ShownState; id: string } | null>(null);
  if (lines[0] && first?.state !== state) setFirst({ state, id: lines[0].id });
  const chosen = params.get("delivery") ?? (first?.state === state ? first.id : null);
  const addressOf = (next: ShownState, delivery: string | null) => {
    const search = new URLSearchParams({
      ...(next ? { state: next } : {}),
      ...(delivery ? { delivery } : {}),
    }).toString();
    return `/callbacks/${id}${search ? `?${search}` : ""}`;
  };
  return (
    <section aria-label="Events">
      <PartHead title="Events">
        <ChoiceLinks
          label="Show"
          options={([null, "undelivered", "delivered"] as const).map((value) => ({
            value,
            label: STATE_LABELS[value ?? "all"],
            href: addressOf(value, null),
          }))}
          value={state}
        />
      </PartHead>
      {query.isError && lines.length === 0 ? (
        <Unreadable query={query} what="Could not load events" />
      ) : query.isSuccess && lines.length === 0 && chosen === null ? (
        <Empty title={state === null ? "No events yet" : "No such events"}>
          {state === null ? <p>Send a test, or wait until something happens.</p> : null}
        </Empty>
      ) : (
        <div className="grid border-line border-t lg:grid-cols-[minmax(20rem,2fr)_minmax(0,3fr)]">
          <div className="min-w-0 lg:border-line lg:border-r">
            <ul aria-busy={query.isPending}>
              {lines.map((line) => (
                <EventLine
                  href={addressOf(state, line.id)}
                  isChosen={line.id === chosen}
                  key={line.id}
                  line={line}
                />
              ))}
            </ul>
            <OlderButton query={query} what="events" />
          </div>
          {chosen === null ? null : <DeliveryInspector deliveryId={chosen} key={chosen} />}
        </div>
      )}
    </section>
  );
}

const STATE_LABELS = { all: "All", undelivered: "Not delivered", delivered: "Delivered" };

type EventLineProps = { line: CallbackDeliveryLine; href: string; isChosen: boolean };

function EventLine({ line, href, isChosen }: EventLineProps) {
  const { type, at, targetName, input, nextAt, deliveredAt } = line;
  return (
    <li className="border-line border-b">
      <a
        aria-current={isChosen ? "true" : undefined}
        className={clsx(
          "grid grid-cols-[auto_minmax(0,1fr)_auto] items-baseline gap-x-2 px-4 py-2 sm:px-6",
          isChosen ? "bg-selected" : "hover:bg-hover",
        )}
        href={href}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return;
          event.preventDefault();
          window.history.replaceState(null, "", href);
        }}
      >
        <span className="self-center">
          <DeliveryShape {...line} />
        </span>
        <span className="mono truncate font-medium">{type}</span>
        <Ago at={at} className="text-muted text-xs" />
        <span className="col-span-2 col-start-2 truncate text-muted">
          {[targetName, input].filter(Boolean).join(", ")}
          {targetName === null ? "" : " · "}
          {nextAt !== null && line.attempts > 0 ? (
            <>
              next attempt <Until at={nextAt} />
            </>
          ) : deliveredAt === null && nextAt === null ? (
            "given up"
          ) : (
            describeAttempt(line)
          )}
        </span>
      </a>
    </li>
  );
}
