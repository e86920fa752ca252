"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { Fact, Facts, PartHead } from "@/app/_ui/figures/facts";
import { formatCredits } from "@/app/_ui/figures/format";
import { Moment } from "@/app/_ui/figures/time";
import { Link } from "@/app/_ui/link";
import { DetailHead } from "@/app/_ui/page/page";
import type { CallbackDetail } from "@/server/catalog/callbacks/list-callbacks";
import { REFRESH_MS } from "../query";
import { CallbackState, DeliveredOf, FailureLine, HourBars } from "../state";
import { CallbackActions } from "./callback-actions";
import { Events } from "./events";
import { RedeliverSince } from "./redeliver-since";

export function CallbackView({ callbackId }: { callbackId: string }) {
  const trpc = useTRPC();
  const { data: callback } = useSuspenseQuery({
    ...trpc.callbacks.inspect.queryOptions({ callbackId }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <article>
      <DetailHead back={{ href: "/callbacks", label: "Callbacks" }} title={callback.name}>
        <CallbackState {...callback} />
        <span className="ml-auto flex flex-wrap items-center gap-2">
          <CallbackActions callback={callback} />
        </span>
      </DetailHead>
      <FailureLine callback={callback}>
        <RedeliverSince callbackId={callback.id} since={callback.failingSince ?? callback.since} />
      </FailureLine>
      <section aria-label="Last 24 hours">
        <PartHead title="Last 24 hours">
          <span className="text-muted">
            <DeliveredOf callback={callback} /> delivered
          </span>
        </PartHead>
        <div className="px-4 pb-3 sm:px-6">
          <HourBars callback={callback} tall />
        </div>
      </section>
      <Definition callback={callback} />
      <Events callback={callback} />
    </article>
  );
}

function Definition({ callback }: { callback: CallbackDetail }) {
  const { url, events, creditsBelow, secrets } = callback;
  return (
    <Facts label="Definition">
      <Fact name="Address">
        {url === null ? (
          <span className="text-muted">The X-Callback-Url of each start</span>
        ) : (
          <span className="mono">{url}</span>
        )}
      </Fact>
      <Fact name="Events">
        <span className="mono">{events.join(", ")}</span>
      </Fact>
      {creditsBelow === null ? null : <Fact name="Credits below">{formatCredits(creditsBelow)}</Fact>}
      <Fact name="Only">
        <Filter callback={callback} />
      </Fact>
      <Fact name="Secret">
        {secrets.map(({ hint, until }) => (
          <p key={`${hint} ${until}`}>
            <span className="mono">{hint ?? "cannot be read: rotate it"}</span>
            {until === null ? null : (
              <span className="text-muted">
                {" "}
                also signs until <Moment at={until} />
              </span>
            )}
          </p>
        ))}
      </Fact>
    </Facts>
  );
}

function Filter({ callback: { agents, tools, triggers, metadata } }: { callback: CallbackDetail }) {
  const links = [
    ...agents.map(({ id, name }) => ({ href: `/agents/${id}`, name })),
    ...tools.map(({ id, name }) => ({ href: `/tools/${id}`, name })),
    ...triggers.map(({ id, name }) => ({ href: `/triggers/${id}`, name })),
  ];
  const pairs = Object.entries(metadata);
  if (links.length === 0 && pairs.length === 0) {
    return <span className="text-muted">All runs that no other run started</span>;
  }
  return (
    <span className="flex flex-wrap gap-x-3">
      {links.map(({ href, name }) => (
        <Link className="text-accent hover:underline" href={href} key={href}>
          {name}
        </Link>
      ))}
      {pairs.map(([name, value]) => (
        <span className="mono" key={name}>
          {name} = {value}
        </span>
      ))}
    </span>
  );
}
