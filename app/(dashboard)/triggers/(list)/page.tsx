import type { Metadata } from "next";
import Link from "next/link";
import { Command, Empty, PageHead } from "@/app/_ui/page";
import { Cell, HeadCell, Table } from "@/app/_ui/table";
import { serverApi } from "@/app/request";
import { LastRunLink } from "../../last-run";

export const metadata: Metadata = { title: "Triggers" };

export default async function TriggersPage() {
  const triggers = await (await serverApi()).catalog.triggers();
  return (
    <>
      <PageHead title="Triggers" />
      {triggers.length === 0 ? (
        <Empty title="No triggers yet">
          <p>
            A trigger is a webhook address that starts runs of one agent or tool. Declare one in YAML and
            apply it:
          </p>
          <Command>npm run -s stepwell -- apply triggers.yaml</Command>
        </Empty>
      ) : (
        <Table className="max-md:block md:table-fixed" label="Triggers">
          <thead className="max-md:hidden">
            <tr>
              <HeadCell>Trigger</HeadCell>
              <HeadCell className="w-[24%]">Starts</HeadCell>
              <HeadCell className="w-28 max-lg:hidden">Signature</HeadCell>
              <HeadCell className="w-32 max-lg:hidden">Limit</HeadCell>
              <HeadCell className="w-52">Last run</HeadCell>
            </tr>
          </thead>
          <tbody className="max-md:block">
            {triggers.map((trigger) => (
              <tr
                className="relative hover:bg-hover max-md:block max-md:border-line max-md:border-b max-md:px-4 max-md:py-2"
                key={trigger.id}
              >
                <Cell className="max-md:block max-md:h-auto max-md:border-0 max-md:p-0!">
                  <span className="flex min-w-0 items-center gap-2">
                    <Link
                      className="min-w-0 truncate font-medium after:absolute after:inset-0"
                      href={`/triggers/${trigger.id}`}
                      prefetch={false}
                    >
                      {trigger.name}
                    </Link>
                    {trigger.slug === trigger.name ? null : (
                      <span className="mono min-w-0 shrink-[9] truncate text-muted">{trigger.slug}</span>
                    )}
                    {trigger.enabled ? null : (
                      <span className="rounded border border-line-strong px-1.5 text-muted text-xs">
                        disabled
                      </span>
                    )}
                  </span>
                </Cell>
                <Cell className="truncate max-md:block max-md:h-auto max-md:border-0 max-md:p-0!">
                  <span className="text-muted">{trigger.target.kind}</span> {trigger.target.name}
                  {trigger.target.gone ? (
                    <span className="text-failed"> (deleted: calls are refused)</span>
                  ) : null}
                </Cell>
                <Cell className="text-muted max-lg:hidden">{trigger.signed ? "required" : "none"}</Cell>
                <Cell className="whitespace-nowrap text-muted max-lg:hidden">
                  {trigger.rateLimit.requests} per {trigger.rateLimit.seconds} s
                </Cell>
                <Cell className="whitespace-nowrap max-md:block max-md:h-auto max-md:border-0 max-md:p-0!">
                  <LastRunLink run={trigger.lastRun} />
                </Cell>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </>
  );
}
