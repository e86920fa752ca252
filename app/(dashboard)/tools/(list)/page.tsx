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
        <Table className="max-md:block" label="Tools">
          <thead className="max-md:hidden">
            <tr>
              <HeadCell>Tool</HeadCell>
              <HeadCell>Description</HeadCell>
              <HeadCell>Steps</HeadCell>
              <HeadCell>Last run</HeadCell>
            </tr>
          </thead>
          <tbody className="max-md:block">
            {tools.map((tool) => (
              <tr
                className="relative hover:bg-hover max-md:block max-md:border-line max-md:border-b max-md:px-4 max-md:py-2"
                key={tool.id}
              >
                <Cell className="max-md:block max-md:h-auto max-md:border-0 max-md:p-0">
                  <span className="flex items-center gap-2 whitespace-nowrap">
                    <Link
                      className="font-medium after:absolute after:inset-0"
                      href={`/tools/${tool.id}`}
                      prefetch={false}
                    >
                      {tool.name}
                    </Link>
                    <span className="mono text-muted">{tool.slug}</span>
                    <span className="text-faint">v{tool.version}</span>
                    <span className="relative z-10">
                      <CopyButton label={`Copy the id of ${tool.name}`} text={tool.id} />
                    </span>
                  </span>
                </Cell>
                <Cell className="max-w-md truncate text-muted max-md:block max-md:h-auto max-md:border-0 max-md:p-0">
                  {tool.description}
                </Cell>
                <Cell className="mono max-w-xs truncate text-muted max-md:hidden">
                  {tool.uses.join(" → ")}
                </Cell>
                <Cell className="whitespace-nowrap max-md:block max-md:h-auto max-md:border-0 max-md:p-0">
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
