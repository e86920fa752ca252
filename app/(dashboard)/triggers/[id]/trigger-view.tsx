"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { CopyButton, copy } from "@/app/_ui/copy-button";
import { useTRPC } from "@/app/_ui/data/providers";
import { Fact, Facts, PartHead } from "@/app/_ui/figures/facts";
import { formatCredits } from "@/app/_ui/figures/format";
import { Moment } from "@/app/_ui/figures/time";
import { Link } from "@/app/_ui/link";
import { Command, DetailHead } from "@/app/_ui/page/page";
import { usePageActions } from "@/app/_ui/page/page-actions";
import { Badge } from "@/app/_ui/row-name";
import { notify } from "@/app/_ui/toast";
import type { TriggerDetail } from "@/server/catalog/webhooks/inspect-trigger";
import { WeekOf } from "../../_definitions/detail/week-of";
import { curlLine } from "../curl-line";
import { senderGuide } from "../sender-guide";
import { Deliveries } from "./deliveries";
import { TriggerActions } from "./trigger-actions";

export function TriggerView({ triggerId }: { triggerId: string }) {
  const trpc = useTRPC();
  const { data: trigger } = useSuspenseQuery(trpc.triggers.inspect.queryOptions({ triggerId }));
  useTriggerActions(trigger);
  return (
    <article>
      <DetailHead back={{ href: "/triggers", label: "Triggers" }} title={trigger.name}>
        {trigger.slug === trigger.name ? null : <span className="mono text-muted">{trigger.slug}</span>}
        {trigger.enabled ? null : <Badge>disabled</Badge>}
        <span className="ml-auto flex flex-wrap items-center gap-x-3 gap-y-2">
          <Link className="text-accent hover:underline" href={`/metrics?trigger=${trigger.id}`}>
            Metrics
          </Link>
          <Link className="text-accent hover:underline" href={`/runs?trigger=${trigger.id}`}>
            All runs
          </Link>
          <TriggerActions trigger={trigger} />
        </span>
      </DetailHead>
      <WeekOf of={{ kind: "trigger", id: trigger.id }} />
      <Definition trigger={trigger} />
      <CallIt trigger={trigger} />
      <Deliveries trigger={trigger} />
    </article>
  );
}

function useTriggerActions(trigger: TriggerDetail): void {
  const { url, masked, target } = trigger;
  const line = url === null ? null : curlLine(trigger, url);
  const copyAnd = (text: string, done: string) => () => void copy(text, () => notify(done));
  usePageActions([
    { label: "Runs of this trigger", href: `/runs?trigger=${trigger.id}` },
    ...(target.gone
      ? []
      : [{ label: `Open the ${target.kind} ${target.name}`, href: `/${target.kind}s/${target.id}` }]),
    ...(url === null || masked
      ? []
      : [
          { label: "Copy the address", run: copyAnd(url, "Address copied") },
          ...(line === null ? [] : [{ label: "Copy the call as curl", run: copyAnd(line, "Call copied") }]),
        ]),
  ]);
}

function Definition({ trigger }: { trigger: TriggerDetail }) {
  const { target } = trigger;
  return (
    <Facts label="Definition">
      <Fact name="Address">
        <Address trigger={trigger} />
      </Fact>
      <Fact name="Starts">
        <span className="text-muted capitalize">{target.kind}</span>{" "}
        {target.gone ? (
          target.name
        ) : (
          <Link className="text-accent hover:underline" href={`/${target.kind}s/${target.id}`}>
            {target.name}
          </Link>
        )}
        {target.gone ? <span className="text-failed"> (deleted: calls are rejected)</span> : null}
        {target.inactive ? <span className="text-failed"> (inactive: calls are rejected)</span> : null}
      </Fact>
      <Fact name="Signature">
        <Signature trigger={trigger} />
      </Fact>
      {trigger.filter ? (
        <Fact name="Only if">
          <span className="mono [overflow-wrap:anywhere]">{trigger.filter}</span>
        </Fact>
      ) : null}
      <Fact name="Rate limit">
        {trigger.rateLimit.requests} calls per {trigger.rateLimit.seconds} s
      </Fact>
      {trigger.maxCredits ? (
        <Fact name="Credits per run">At most {formatCredits(trigger.maxCredits)}</Fact>
      ) : null}
      {target.kind === "agent" ? (
        <Fact name="Message">
          {trigger.messageTemplate ? (
            <pre className="mono max-h-60 overflow-auto whitespace-pre-wrap [overflow-wrap:anywhere]">
              {trigger.messageTemplate}
            </pre>
          ) : (
            <span className="text-muted">The body as received</span>
          )}
        </Fact>
      ) : null}
      <Fact name="Created">
        <Moment at={trigger.createdAt} />
      </Fact>
    </Facts>
  );
}

function Address({ trigger }: { trigger: TriggerDetail }) {
  if (trigger.url === null) {
    return (
      <span className="text-failed">
        The address cannot be read, because it was encrypted with another STEPWELL_SECRET. Replace it to get a
        new one.
      </span>
    );
  }
  return (
    <span className="flex min-w-0 items-start gap-1">
      <span className="mono min-w-0 [overflow-wrap:anywhere]">{trigger.url}</span>
      {trigger.masked ? (
        <span className="shrink-0 text-muted">shown to members</span>
      ) : (
        <CopyButton className="-my-1" label="Copy the address" text={trigger.url} />
      )}
    </span>
  );
}

function Signature({ trigger }: { trigger: TriggerDetail }) {
  if (trigger.secrets.length === 0) {
    return <span className="text-muted">None: anyone who knows the address can call it</span>;
  }
  return (
    <>
      <p className="[overflow-wrap:anywhere]">
        {trigger.signatureText}.{" "}
        <Link className="text-accent underline" href={senderGuide(trigger.signature)}>
          Where to click
        </Link>
      </p>
      <ul className="text-muted">
        {trigger.secrets.map((secret) => (
          <li key={secret.id}>
            secret of <Moment at={secret.createdAt} />,{" "}
            {secret.expiresAt ? (
              <>
                valid until <Moment at={secret.expiresAt} />
              </>
            ) : (
              "valid until it is replaced"
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function CallIt({ trigger }: { trigger: TriggerDetail }) {
  if (trigger.url === null || trigger.masked) return null;
  const line = curlLine(trigger, trigger.url);
  if (line === null) return null;
  return (
    <section aria-label="Call it">
      <PartHead title="Call it">
        <CopyButton label="Copy the call" text={line} />
      </PartHead>
      <div className="px-4 pb-2 sm:px-6">
        {trigger.secrets.length > 0 ? (
          <p className="mb-1.5 text-muted">
            Set <span className="mono">SECRET</span> to the signing secret first; the line computes the
            signature.
          </p>
        ) : null}
        <Command>{line}</Command>
      </div>
    </section>
  );
}
