"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Button } from "@/app/_ui/button";
import { CopyButton } from "@/app/_ui/copy-button";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { Dialog } from "@/app/_ui/dialog";
import { formatBytes, shortId } from "@/app/_ui/figures/format";
import { Moment } from "@/app/_ui/figures/time";
import { JsonView } from "@/app/_ui/json/view";
import { Link } from "@/app/_ui/link";
import { SkeletonLine } from "@/app/_ui/page/page";
import { useMay } from "@/app/_ui/role";
import { PlainText } from "@/app/_ui/text/plain-text";
import type { DeliveryDetail } from "@/server/catalog/webhooks/inspect-deliveries";
import type { TriggerDetail } from "@/server/catalog/webhooks/inspect-trigger";
import { TemplatePreview } from "../_form/template-field";
import { OutcomeMark } from "../outcome";
import { openDelivery } from "./open-delivery";

type DeliveryDialogProps = { deliveryId: string; trigger: TriggerDetail; onClose: () => void };

/** One delivery: the request, the response and its reason. Members can redeliver it. */
export function DeliveryDialog({ deliveryId, trigger, onClose }: DeliveryDialogProps) {
  const trpc = useTRPC();
  const { data: delivery, error } = useQuery(trpc.triggers.delivery.queryOptions({ deliveryId }));
  const mayAct = useMay("member");
  return (
    <Dialog onClose={onClose} title="Delivery" wide>
      {error ? (
        <p className="text-failed" role="alert">
          {describeError(error).message}
        </p>
      ) : delivery ? (
        <>
          <Summary delivery={delivery} />
          {delivery.signatureCheck ? <SignatureCheck check={delivery.signatureCheck} /> : null}
          {mayAct && delivery.bodyNote === null ? <Redelivery delivery={delivery} trigger={trigger} /> : null}
          <Body delivery={delivery} />
          {mayAct && delivery.bodyNote === null && trigger.target.kind === "agent" ? (
            <TemplatePreview deliveryId={delivery.id} saved={trigger.messageTemplate} />
          ) : null}
          <Part copied={{ label: "Copy the headers", text: delivery.headers }} title="Headers">
            <JsonView text={delivery.headers} />
          </Part>
        </>
      ) : (
        <div aria-busy="true" className="flex flex-col gap-3">
          <SkeletonLine className="w-56" />
          <SkeletonLine className="w-40" />
          <SkeletonLine className="w-64" />
        </div>
      )}
    </Dialog>
  );
}

function Summary({ delivery }: { delivery: DeliveryDetail }) {
  return (
    <div className="flex flex-col gap-1">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <OutcomeMark outcome={delivery.outcome} />
        <span>{delivery.status}</span>
        <span className="text-muted">
          <Moment at={delivery.receivedAt} />
        </span>
        <span className="text-muted tabular-nums">{formatBytes(delivery.bodyBytes)}</span>
        {delivery.runId ? <RunLink runId={delivery.runId} /> : null}
      </p>
      {delivery.reason ? (
        <p className="[overflow-wrap:anywhere]">
          {delivery.reason} <span className="mono text-muted">{delivery.code}</span>
        </p>
      ) : null}
      {delivery.senderId ? (
        <p className="text-muted">
          Sender's id <span className="mono [overflow-wrap:anywhere]">{delivery.senderId}</span>
        </p>
      ) : null}
      {delivery.outcome === "repeated" ? (
        <p className="text-muted">
          Repeats an earlier call and started nothing.{" "}
          {delivery.firstDeliveryId ? (
            <FirstDelivery deliveryId={delivery.firstDeliveryId} triggerId={delivery.triggerId} />
          ) : (
            "That call's delivery is no longer stored."
          )}
        </p>
      ) : null}
      {delivery.redeliveryOf ? (
        <p className="text-muted">
          A redelivery of <span className="mono">{shortId(delivery.redeliveryOf)}</span>
        </p>
      ) : null}
    </div>
  );
}

function SignatureCheck({ check }: { check: NonNullable<DeliveryDetail["signatureCheck"]> }) {
  const { likely, header, expected, received, signed } = check;
  return (
    <Part copied={null} title="Signature">
      <p>{likely}</p>
      <p className="text-muted [overflow-wrap:anywhere]">
        <span className="mono">{header}</span> must have {expected}.{" "}
        {received
          ? `Received: ${received.length} characters, ${received.encoding}${received.start === "" ? "" : `, starting with ${received.start}`}.`
          : "It is missing."}
      </p>
      {signed ? (
        <>
          <p className="text-muted">The {formatBytes(signed.bytes)} that must be signed start with:</p>
          <pre className="mono whitespace-pre-wrap [overflow-wrap:anywhere]">{signed.start}</pre>
        </>
      ) : null}
    </Part>
  );
}

function FirstDelivery({ deliveryId, triggerId }: { deliveryId: string; triggerId: string }) {
  return (
    <>
      The body is with{" "}
      <a
        className="text-accent underline"
        href={`/triggers/${triggerId}?delivery=${deliveryId}`}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return;
          event.preventDefault();
          openDelivery(deliveryId);
        }}
      >
        the first delivery <span className="mono">{shortId(deliveryId)}</span>
      </a>
      .
    </>
  );
}

function RunLink({ runId }: { runId: string }) {
  return (
    <Link className="text-accent underline" href={`/runs/${runId}`}>
      run <span className="mono">{shortId(runId)}</span>
    </Link>
  );
}

function Redelivery({ delivery, trigger }: { delivery: DeliveryDetail; trigger: TriggerDetail }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [asking, setAsking] = useState(false);
  const redeliver = useMutation(
    trpc.triggers.redeliver.mutationOptions({
      // A rejected redelivery is recorded as well, so a failure also refreshes the list.
      onSettled: () => {
        setAsking(false);
        return queryClient.invalidateQueries({ queryKey: trpc.triggers.deliveries.pathKey() });
      },
    }),
  );
  return (
    <div aria-live="polite" className="flex flex-col items-start gap-2">
      {redeliver.isSuccess ? (
        <p>
          Delivered again as <RunLink runId={redeliver.data.runId} />.
        </p>
      ) : null}
      {redeliver.isError ? <p className="text-failed">{describeError(redeliver.error).message}</p> : null}
      {asking ? (
        <>
          <p>
            This starts a new run of {trigger.target.name} with this body and the trigger's current settings.
            It costs credits like any other run.
          </p>
          <div className="flex gap-2">
            <Button
              disabled={redeliver.isPending}
              look="primary"
              onClick={() => redeliver.mutate({ deliveryId: delivery.id })}
            >
              {redeliver.isPending ? "Starting" : "Start the run"}
            </Button>
            <Button disabled={redeliver.isPending} onClick={() => setAsking(false)}>
              Cancel
            </Button>
          </div>
        </>
      ) : (
        <Button
          onClick={() => {
            redeliver.reset();
            setAsking(true);
          }}
        >
          Redeliver
        </Button>
      )}
    </div>
  );
}

function Body({ delivery }: { delivery: DeliveryDetail }) {
  const { id, outcome, bodyBytes: bytes, bodyNote, ...start } = delivery;
  const trpc = useTRPC();
  const [complete, setComplete] = useState(false);
  const all = useQuery(
    trpc.triggers.delivery.queryOptions({ deliveryId: id, complete: true }, { enabled: complete }),
  );
  const { body } = all.data ?? start;
  const isHex = body.kind === "hex";
  return (
    <Part
      copied={body.kind === "empty" ? null : { label: "Copy the body as shown", text: body.text }}
      note={isHex ? "not UTF-8, as bytes" : ""}
      title="Body"
    >
      {outcome === "repeated" && bodyNote !== null ? (
        <p className="text-muted">The body of a repetition is not stored.</p>
      ) : bodyNote !== null ? (
        <p className="text-muted">The body was not stored: {bodyNote}. It cannot be delivered again.</p>
      ) : body.kind === "empty" ? (
        <p className="text-faint">empty</p>
      ) : isHex ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        <pre className="mono overflow-x-auto" tabIndex={0}>
          {body.text}
        </pre>
      ) : body.kind === "json" ? (
        <JsonView cut={body.cut} text={body.text} />
      ) : (
        <PlainText text={body.text} />
      )}
      {body.cut ? (
        <p className="mt-1 text-muted">
          The start of {formatBytes(bytes)}.{" "}
          {isHex ? null : (
            <button
              className="text-accent underline"
              disabled={all.isFetching}
              onClick={() => setComplete(true)}
              type="button"
            >
              {all.isFetching ? "Loading" : "Show all"}
            </button>
          )}
        </p>
      ) : null}
      {all.isError ? <p className="text-failed">{describeError(all.error).message}</p> : null}
    </Part>
  );
}

type PartProps = {
  title: string;
  note?: string;
  copied: { label: string; text: string } | null;
  children: ReactNode;
};

function Part({ title, note, copied, children }: PartProps) {
  return (
    <section aria-label={title}>
      <div className="flex items-center justify-between">
        <h3 className="font-medium">
          {title} <span className="text-muted">{note}</span>
        </h3>
        {copied ? <CopyButton {...copied} /> : null}
      </div>
      {children}
    </section>
  );
}
