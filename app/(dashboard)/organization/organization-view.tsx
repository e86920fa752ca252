"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { Button } from "@/app/_ui/button";
import { CopyButton } from "@/app/_ui/copy-button";
import { useTRPC } from "@/app/_ui/data/providers";
import { Fact, Facts, PartHead } from "@/app/_ui/figures/facts";
import { Figure, Figures } from "@/app/_ui/figures/figures";
import { formatCount, formatCredits, formatPlural, NONE } from "@/app/_ui/figures/format";
import { Day } from "@/app/_ui/figures/time";
import { EditIcon } from "@/app/_ui/icons";
import { lazy } from "@/app/_ui/lazy";
import { Link } from "@/app/_ui/link";
import { PageHead } from "@/app/_ui/page/page";
import { usePageActions } from "@/app/_ui/page/page-actions";
import { useMay } from "@/app/_ui/role";
import { useDialog } from "@/app/_ui/use-dialog";
import type { OrganizationFacts } from "@/server/catalog/organization/own-organization";
import { RailLinks } from "../_definitions/detail/rail-links";

const Rename = lazy(() => import("./rename"), "Rename");

export function OrganizationView() {
  const trpc = useTRPC();
  const isOwner = useMay("owner");
  const { data } = useSuspenseQuery(trpc.organization.inspect.queryOptions());
  const { dialog, open } = useDialog();
  const rename = () => open(<Rename name={data.name} />);
  usePageActions(isOwner ? [{ label: "Rename the organization", icon: <EditIcon />, run: rename }] : []);
  return (
    <>
      <PageHead title="Settings">
        {isOwner ? (
          <Button onClick={rename}>
            <EditIcon />
            Rename
          </Button>
        ) : (
          <p className="text-muted">Owners rename the organization.</p>
        )}
      </PageHead>
      <PlanFigures facts={data} />
      <div className="grid flex-1 xl:grid-cols-[minmax(0,1fr)_24rem]">
        <div className="min-w-0 xl:border-line xl:border-r">
          <PartHead title="Organization" />
          <Facts label="Organization">
            <Fact name="Name">{data.name}</Fact>
            <Fact name="Slug">
              <span className="mono">{data.slug}</span>
            </Fact>
            <Fact name="Id">
              <span className="flex items-center gap-1.5">
                <span className="mono min-w-0">{data.id}</span>
                <CopyButton className="-my-1" label="Copy the id" text={data.id} />
              </span>
            </Fact>
            <Fact name="Created">
              <Day at={data.createdAt} />
            </Fact>
            <Fact name="State">
              {data.suspended ? (
                <span className="text-waiting">
                  Suspended since <Day at={data.suspended.at} />
                  {data.suspended.reason === null ? "" : `: ${data.suspended.reason}`}
                </span>
              ) : (
                "Active"
              )}
            </Fact>
          </Facts>
          <Limits plan={data.plan} />
        </div>
        <div className="min-w-0 xl:-mt-px">
          <RailLinks
            links={CONTENTS.map(({ key, name, href }) => ({
              href,
              name,
              note: formatCount(data.usage[key]),
            }))}
            title="Contents"
          />
        </div>
      </div>
      {dialog}
    </>
  );
}

function PlanFigures({ facts: { plan, usage } }: { facts: OrganizationFacts }) {
  const trpc = useTRPC();
  const { data: balance } = useSuspenseQuery(trpc.credits.balance.queryOptions());
  return (
    <Figures label="Plan">
      <Figure
        name="Credits left"
        note={
          <>
            {Number(balance.monthly) > 0 ? `${formatCredits(balance.monthly, 2)} granted each month. ` : ""}
            <Link className="inline-flex min-h-6 items-center text-accent underline" href="/credits">
              Open the ledger
            </Link>
          </>
        }
        value={formatCredits(balance.available, 2)}
      />
      <Figure
        chart={plan ? <UsedBar limit={plan.concurrency} used={usage.running} /> : null}
        name="Runs at once"
        note="running now"
        value={plan ? `${formatCount(usage.running)} of ${formatCount(plan.concurrency)}` : NONE}
      />
      <Figure
        name="Starts"
        note="per key in any 60 seconds"
        value={plan ? limitOf(plan.startsPerMinute) : NONE}
      />
      <Figure
        name="Retention"
        note="then ended runs and webhook deliveries are deleted"
        value={plan ? formatPlural(plan.retentionDays, "day") : NONE}
      />
    </Figures>
  );
}

const BAR_WIDTH = 72;

function UsedBar({ used, limit }: { used: number; limit: number }) {
  return (
    <svg aria-hidden="true" className="max-sm:hidden" height={6} width={BAR_WIDTH}>
      <rect className="fill-selected" height={6} rx={3} width={BAR_WIDTH} />
      <rect className="fill-accent" height={6} rx={3} width={BAR_WIDTH * Math.min(1, used / limit)} />
    </svg>
  );
}

function Limits({ plan }: { plan: OrganizationFacts["plan"] }) {
  return (
    <>
      <PartHead title="Plan">
        <p className="text-muted text-xs">The operator of this installation changes the plan.</p>
      </PartHead>
      <Facts label="Limits">
        <Fact name="API access">{plan?.apiAccess ? "On" : "Off: keys are rejected, webhooks work"}</Fact>
        <Fact name="Reads">
          {plan === null ? "None" : `${limitOf(plan.readsPerMinute)} per key in any 60 seconds`}
        </Fact>
        <Fact name="Never deleted">Credits and the audit log</Fact>
      </Facts>
    </>
  );
}

const limitOf = (limit: number | "unlimited") => (limit === "unlimited" ? limit : formatCount(limit));

const CONTENTS = [
  { key: "agents", name: "Agents", href: "/agents" },
  { key: "tools", name: "Tools", href: "/tools" },
  { key: "triggers", name: "Triggers", href: "/triggers" },
  { key: "modelProviders", name: "Model providers", href: "/models" },
  { key: "secrets", name: "Secrets", href: "/secrets" },
  { key: "apiKeys", name: "Usable API keys", href: "/keys" },
  { key: "members", name: "Members", href: "/members" },
] as const;
