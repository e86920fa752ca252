import type { Metadata } from "next";
import Link from "next/link";
import { CopyButton } from "@/app/_ui/copy-button";
import { Command, Empty, PageHead } from "@/app/_ui/page";
import { Cell, HeadCell, Table } from "@/app/_ui/table";
import { serverApi } from "@/app/request";
import { LastRunLink } from "../../last-run";

export const metadata: Metadata = { title: "Agents" };

export default async function AgentsPage() {
  const agents = await (await serverApi()).catalog.agents();
  return (
    <>
      <PageHead title="Agents" />
      {agents.length === 0 ? (
        <Empty title="No agents yet">
          <p>Declare one in YAML and apply it:</p>
          <Command>npm run -s stepwell -- apply agents.yaml</Command>
        </Empty>
      ) : (
        <Table className="max-md:block md:table-fixed" label="Agents">
          <thead className="max-md:hidden">
            <tr>
              <HeadCell>Agent</HeadCell>
              <HeadCell className="w-[20%]">Model</HeadCell>
              <HeadCell className="w-[24%] max-lg:hidden">Functions and tools</HeadCell>
              <HeadCell className="w-20 text-right max-lg:hidden">Steps</HeadCell>
              <HeadCell className="w-52">Last run</HeadCell>
            </tr>
          </thead>
          <tbody className="max-md:block">
            {agents.map((agent) => (
              <tr
                className="relative hover:bg-hover max-md:block max-md:border-line max-md:border-b max-md:px-4 max-md:py-2"
                key={agent.id}
              >
                <Cell className="max-md:block max-md:h-auto max-md:border-0 max-md:p-0!">
                  <span className="flex min-w-0 items-center gap-2">
                    <Link
                      className="min-w-0 truncate font-medium after:absolute after:inset-0"
                      href={`/agents/${agent.id}`}
                      prefetch={false}
                    >
                      {agent.name}
                    </Link>
                    {agent.slug === agent.name ? null : (
                      <span className="mono min-w-0 shrink-[9] truncate text-muted">{agent.slug}</span>
                    )}
                    <span className="text-faint">v{agent.version}</span>
                    {agent.status === "inactive" ? (
                      <span className="rounded border border-line-strong px-1.5 text-muted text-xs">
                        inactive
                      </span>
                    ) : null}
                    <span className="relative z-10">
                      <CopyButton label={`Copy the id of ${agent.name}`} text={agent.id} />
                    </span>
                  </span>
                </Cell>
                <Cell className="mono truncate text-muted max-md:block max-md:h-auto max-md:border-0 max-md:p-0!">
                  {agent.model}
                </Cell>
                <Cell className="truncate text-muted max-lg:hidden">
                  {[...agent.tools, ...agent.functions].join(", ") || "none"}
                </Cell>
                <Cell className="text-right text-muted max-lg:hidden">{agent.maxSteps}</Cell>
                <Cell className="whitespace-nowrap max-md:block max-md:h-auto max-md:border-0 max-md:p-0!">
                  <LastRunLink run={agent.lastRun} />
                </Cell>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </>
  );
}
