"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "@/app/_ui/button";
import { CopyButton } from "@/app/_ui/copy-button";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { formatDuration } from "@/app/_ui/figures/format";
import { StatusShape } from "@/app/_ui/figures/status";
import { Moment } from "@/app/_ui/figures/time";
import { JsonView } from "@/app/_ui/json/view";
import { Link } from "@/app/_ui/link";
import { SkeletonLine } from "@/app/_ui/page/page";
import { useMay } from "@/app/_ui/role";
import { Tabs } from "@/app/_ui/tabs";
import { PlainText } from "@/app/_ui/text/plain-text";
import { notify } from "@/app/_ui/toast";
import type { CallbackDeliveryDetail } from "@/server/catalog/callbacks/inspect-callback-deliveries";
import { Until } from "../attempt-mark";
import { REFRESH_MS } from "../query";

/** One event for a callback: its attempts and its body. Members can send it again. */
export function DeliveryInspector({ deliveryId }: { deliveryId: string }) {
  const trpc = useTRPC();
  const [tab, setTab] = useState("attempts");
  const { data: delivery, error } = useQuery({
    ...trpc.callbacks.delivery.queryOptions({ deliveryId }),
    refetchInterval: REFRESH_MS,
  });
  if (error && !delivery) {
    return (
      <p className="px-4 py-3 text-failed sm:px-6" role="alert">
        {describeError(error).message}
      </p>
    );
  }
  if (!delivery) {
    return (
      <div aria-busy="true" className="flex flex-col gap-3 px-4 py-3 sm:px-6">
        <SkeletonLine className="w-56" />
        <SkeletonLine className="w-40" />
      </div>
    );
  }
  const { body } = delivery;
  return (
    <section aria-label="Event" className="min-w-0">
      <Head delivery={delivery} />
      <Tabs
        onChange={setTab}
        tabs={[
          {
            value: "attempts",
            label: `Attempts ${delivery.attempts}`,
            content: <Attempts delivery={delivery} />,
          },
          {
            value: "body",
            label: "Payload",
            content:
              body === null ? (
                <p className="text-muted">The run was deleted, so there is nothing to send.</p>
              ) : (
                <>
                  <div className="flex items-center justify-between">
                    <p className="text-muted">As it would be sent now.</p>
                    <CopyButton label="Copy the payload" text={body} />
                  </div>
                  <JsonView text={body} />
                </>
              ),
          },
        ]}
        value={tab}
      />
    </section>
  );
}

function Head({ delivery }: { delivery: CallbackDeliveryDetail }) {
  const trpc = useTRPC();
  const mayAct = useMay("member");
  const redeliver = useMutation(
    trpc.callbacks.redeliver.mutationOptions({
      meta: { refresh: [trpc.callbacks.pathKey()] },
      onSuccess: () => void notify("The event is sent again"),
      onError: (error) => void notify("Could not redeliver", describeError(error).message),
    }),
  );
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5 sm:px-6">
      <h3 className="mono font-semibold">{delivery.type}</h3>
      <span className={delivery.deliveredAt === null ? "text-failed" : "text-completed"}>
        {delivery.deliveredAt === null ? "Not delivered" : "Delivered"}
      </span>
      {delivery.runId === null ? null : (
        <Link className="text-accent hover:underline" href={`/runs/${delivery.runId}`}>
          {delivery.targetName ?? "The run"}
        </Link>
      )}
      {mayAct && delivery.type !== "test" ? (
        <Button
          className="ml-auto"
          disabled={redeliver.isPending}
          onClick={() => redeliver.mutate({ deliveryId: delivery.id })}
        >
          Redeliver now
        </Button>
      ) : null}
    </div>
  );
}

function Attempts({
  delivery: { tries, nextAt, deliveredAt, webhookId },
}: {
  delivery: CallbackDeliveryDetail;
}) {
  return (
    <>
      {tries.length === 0 ? <p className="text-muted">Not tried yet.</p> : null}
      <ol className="flex flex-col gap-2.5">
        {tries.map(({ number, at, durationMs, status, error, answer }) => (
          <li className="flex flex-col gap-1" key={number}>
            <span className="flex flex-wrap items-center gap-x-3">
              <StatusShape status={error === null ? "Completed" : "Failed"} />
              <span className="text-muted tabular-nums">{number}</span>
              <span className="font-medium">{status ?? "No answer"}</span>
              <span className="text-muted">{formatDuration(durationMs)}</span>
              <Moment at={at} className="text-muted" />
            </span>
            {error === null ? null : <span className="[overflow-wrap:anywhere]">{error}</span>}
            {answer === "" ? null : (
              <div className="max-h-40 overflow-auto rounded-md border border-line bg-surface px-2.5 py-1.5">
                <PlainText text={answer} />
              </div>
            )}
          </li>
        ))}
      </ol>
      <p className="mt-3 text-muted">
        {nextAt !== null ? (
          <>
            The next attempt: <Until at={nextAt} />.{" "}
          </>
        ) : deliveredAt === null ? (
          "It is not tried again. "
        ) : null}
        <span className="mono">webhook-id</span> stays{" "}
        <span className="mono [overflow-wrap:anywhere]">{webhookId}</span>, so that the receiver can skip
        repetitions.
      </p>
    </>
  );
}
