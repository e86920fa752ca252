import type { Metadata } from "next";
import Link from "next/link";
import { CopyButton } from "@/app/_ui/copy-button";
import { Command, Empty, PageHead } from "@/app/_ui/page";
import { Cell, HeadCell, Table } from "@/app/_ui/table";
import { serverApi } from "@/app/request";
import { LastRunLink } from "../../last-run";

export const metadata: Metadata = { title: "Tools" };

export default async function ToolsPage() {
  const tools = await (await serverApi()).catalog.tools();
  return (
    <>
      <PageHead title="Tools" />
      {tools.length === 0 ? (
        <Empty title="No tools yet">
          <p>Declare one in YAML and apply it:</p>
          <Command>npm run -s stepwell -- apply tools.yaml</Command>
        </Empty>
      ) : (
        <Table className="max-md:block md:table-fixed" label="Tools">
          <thead className="max-md:hidden">
            <tr>
              <HeadCell>Tool</HeadCell>
              <HeadCell className="w-[30%]">Description</HeadCell>
              <HeadCell className="w-[18%] max-lg:hidden">Steps</HeadCell>
              <HeadCell className="w-52">Last run</HeadCell>
            </tr>
          </thead>
          <tbody className="max-md:block">
            {tools.map((tool) => (
              <tr
                className="relative hover:bg-hover max-md:block max-md:border-line max-md:border-b max-md:px-4 max-md:py-2"
                key={tool.id}
              >
                <Cell className="max-md:block max-md:h-auto max-md:border-0 max-md:p-0!">
                  <span className="flex min-w-0 items-center gap-2">
                    <Link
                      className="min-w-0 truncate font-medium after:absolute after:inset-0"
                      href={`/tools/${tool.id}`}
                      prefetch={false}
                    >
                      {tool.name}
                    </Link>
                    {tool.slug === tool.name ? null : (
                      <span className="mono min-w-0 shrink-[9] truncate text-muted">{tool.slug}</span>
                    )}
                    <span className="text-faint">v{tool.version}</span>
                    <span className="relative z-10">
                      <CopyButton label={`Copy the id of ${tool.name}`} text={tool.id} />
                    </span>
                  </span>
                </Cell>
                <Cell className="truncate text-muted max-md:block max-md:h-auto max-md:border-0 max-md:p-0!">
                  {tool.description}
                </Cell>
                <Cell className="mono truncate text-muted max-lg:hidden">{tool.uses.join(" → ")}</Cell>
                <Cell className="whitespace-nowrap max-md:block max-md:h-auto max-md:border-0 max-md:p-0!">
                  <LastRunLink run={tool.lastRun} />
                </Cell>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </>
  );
}
