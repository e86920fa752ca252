"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import dynamic from "next/dynamic";
import { useState } from "react";
import { Button } from "@/app/_ui/button";
import { CopyButton } from "@/app/_ui/copy-button";
import { Fact, Facts, PartHead } from "@/app/_ui/facts";
import { formatCount, formatCredits, formatPlural } from "@/app/_ui/format";
import { EditIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import { PageHead } from "@/app/_ui/page";
import { usePageActions } from "@/app/_ui/page-actions";
import { useTRPC } from "@/app/_ui/providers";
import { useMay } from "@/app/_ui/role";
import { Day } from "@/app/_ui/time";
import type { OrganizationFacts } from "@/server/catalog/organization/own-organization";

const Rename = dynamic(() => import("./rename").then((part) => part.Rename));

/** The organization, its plan, and what it uses of it. The operator changes the plan; an owner renames. */
export function OrganizationView() {
  const trpc = useTRPC();
  const isOwner = useMay("owner");
  const { data } = useSuspenseQuery(trpc.organization.inspect.queryOptions());
  const [renaming, setRenaming] = useState(false);
  usePageActions(
    isOwner ? [{ label: "Rename the organization", icon: <EditIcon />, run: () => setRenaming(true) }] : [],
  );
  return (
    <>
      <PageHead title="Settings">
        {isOwner ? (
          <Button onClick={() => setRenaming(true)}>
            <EditIcon />
            Rename
          </Button>
        ) : (
          <p className="text-muted">Owners rename the organization.</p>
        )}
      </PageHead>
      <Facts label="Organization">
        <Fact name="Name">{data.name}</Fact>
        <Fact name="Slug">
          <span className="mono">{data.slug}</span>
        </Fact>
        <Fact name="Id">
          <span className="flex items-center gap-1.5">
            <span className="mono min-w-0">{data.id}</span>
            <CopyButton label="Copy the id" text={data.id} />
          </span>
        </Fact>
        <Fact name="Created">
          <Day at={data.createdAt} />
        </Fact>
        <Fact name="State">
          {data.suspended ? (
            <span className="text-waiting">
              suspended since <Day at={data.suspended.at} />
              {data.suspended.reason === null ? "" : `: ${data.suspended.reason}`}
            </span>
          ) : (
            "active"
          )}
        </Fact>
      </Facts>
      <Plan facts={data} />
      <Contents usage={data.usage} />
      {renaming ? <Rename name={data.name} onClose={() => setRenaming(false)} /> : null}
    </>
  );
}

function Plan({ facts: { plan, usage } }: { facts: OrganizationFacts }) {
  const trpc = useTRPC();
  const { data: balance } = useSuspenseQuery(trpc.credits.balance.queryOptions());
  return (
    <>
      <PartHead title="Plan">
        <p className="text-muted text-xs">The operator of this installation changes the plan.</p>
      </PartHead>
      <Facts label="Plan">
        <Fact name="API access">{plan?.apiAccess ? "on" : "off"}</Fact>
        {plan === null ? null : (
          <>
            <Fact name="Runs at once">
              <Used limit={plan.concurrency} used={usage.running} />
            </Fact>
            <Fact name="Starts">{perMinute(plan.startsPerMinute)}</Fact>
            <Fact name="Reads">{perMinute(plan.readsPerMinute)}</Fact>
            <Fact name="Retention">
              Ended runs and webhook deliveries are deleted after {formatPlural(plan.retentionDays, "day")}.
              Credits and the audit log stay.
            </Fact>
          </>
        )}
        <Fact name="Credits">
          {formatCredits(balance.available)} left
          <span className="text-muted">
            {Number(balance.monthly) > 0 ? ` · ${formatCredits(balance.monthly)} granted each month` : ""}
          </span>{" "}
          ·{" "}
          <Link className="text-accent underline" href="/credits">
            Open the ledger
          </Link>
        </Fact>
      </Facts>
    </>
  );
}

const perMinute = (limit: number | "unlimited") =>
  limit === "unlimited" ? "unlimited" : `${formatCount(limit)} per key in any 60 seconds`;

const BAR_WIDTH = 160;

/** How much of a limit is used, as words and as a bar. */
function Used({ used, limit }: { used: number; limit: number }) {
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <span>
        {formatCount(used)} of {formatCount(limit)} now
      </span>
      <svg aria-hidden="true" height={6} width={BAR_WIDTH}>
        <rect className="fill-selected" height={6} rx={3} width={BAR_WIDTH} />
        <rect className="fill-accent" height={6} rx={3} width={BAR_WIDTH * Math.min(1, used / limit)} />
      </svg>
    </span>
  );
}

const CONTENTS = [
  { key: "agents", one: "agent", href: "/agents" },
  { key: "tools", one: "tool", href: "/tools" },
  { key: "triggers", one: "trigger", href: "/triggers" },
  { key: "secrets", one: "secret", href: "/secrets" },
  { key: "apiKeys", one: "usable API key", href: "/keys" },
  { key: "members", one: "member", href: "/members" },
] as const;

function Contents({ usage }: { usage: OrganizationFacts["usage"] }) {
  return (
    <section aria-label="Contents">
      <PartHead title="Contents" />
      <ul className="flex flex-wrap gap-x-6 gap-y-2 border-line border-y px-4 py-2.5 sm:px-6">
        {CONTENTS.map(({ key, one, href }) => (
          <li key={key}>
            <Link className="hover:text-accent" href={href}>
              {formatPlural(usage[key], one)}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
