import type { Metadata } from "next";
import Link from "next/link";
import { Command, Empty, PageHead } from "@/app/_ui/page";
import { Cell, HeadCell, Table } from "@/app/_ui/table";
import { Ago, Moment } from "@/app/_ui/time";
import { serverApi } from "@/app/request";

export const metadata: Metadata = { title: "API keys" };

export default async function KeysPage() {
  const keys = await (await serverApi()).catalog.keys();
  return (
    <>
      <PageHead title="API keys" />
      {keys.length === 0 ? (
        <Empty title="No API keys yet">
          <p>A key lets a program start and read runs. It is shown once, when it is made:</p>
          <Command>npm run -s stepwell -- keys create</Command>
        </Empty>
      ) : (
        <Table className="max-md:block md:table-fixed" label="API keys">
          <thead className="max-md:hidden">
            <tr>
              <HeadCell>Key</HeadCell>
              <HeadCell className="w-[14%]">State</HeadCell>
              <HeadCell className="w-44 max-lg:hidden">May</HeadCell>
              <HeadCell className="w-32">Last used</HeadCell>
              <HeadCell className="w-32 max-lg:hidden">Expires</HeadCell>
              <HeadCell className="w-[22%] max-lg:hidden">Created</HeadCell>
            </tr>
          </thead>
          <tbody className="max-md:block">
            {keys.map((key) => (
              <tr
                className="relative hover:bg-hover max-md:block max-md:border-line max-md:border-b max-md:px-4 max-md:py-2"
                key={key.id}
              >
                <Cell className="max-md:block max-md:h-auto max-md:border-0 max-md:p-0!">
                  <span className="flex min-w-0 items-center gap-2">
                    <Link
                      className="min-w-0 truncate font-medium after:absolute after:inset-0"
                      href={`/runs?key=${key.id}`}
                      prefetch={false}
                    >
                      {key.name}
                    </Link>
                    <span className="mono shrink-0 text-muted">{key.prefix}…</span>
                  </span>
                </Cell>
                <Cell
                  className={`max-md:inline max-md:h-auto max-md:border-0 max-md:p-0! ${key.state === "active" ? "" : "text-failed"}`}
                >
                  {key.state}
                  {key.revokedAt ? (
                    <>
                      {" "}
                      <Moment at={key.revokedAt} className="text-muted" />
                    </>
                  ) : null}
                </Cell>
                <Cell className="text-muted max-lg:hidden">
                  {key.scopes.join(", ")}
                  {key.targets.length > 0 ? ` of ${key.targets.join(", ")}` : ""}
                </Cell>
                <Cell className="whitespace-nowrap text-muted max-md:block max-md:h-auto max-md:border-0 max-md:p-0!">
                  {key.lastUsedAt ? <Ago at={key.lastUsedAt} /> : "never used"}
                </Cell>
                <Cell className="whitespace-nowrap text-muted max-lg:hidden">
                  {key.expiresAt ? <Moment at={key.expiresAt} /> : "never"}
                </Cell>
                <Cell className="truncate text-muted max-lg:hidden">
                  <Moment at={key.createdAt} /> by {key.createdBy}
                </Cell>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </>
  );
}
