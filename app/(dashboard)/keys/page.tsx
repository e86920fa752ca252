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
        <Table className="max-md:block" label="API keys">
          <thead className="max-md:hidden">
            <tr>
              <HeadCell>Key</HeadCell>
              <HeadCell>State</HeadCell>
              <HeadCell>May</HeadCell>
              <HeadCell>Last used</HeadCell>
              <HeadCell>Expires</HeadCell>
              <HeadCell>Created</HeadCell>
            </tr>
          </thead>
          <tbody className="max-md:block">
            {keys.map((key) => (
              <tr
                className="relative hover:bg-hover max-md:block max-md:border-line max-md:border-b max-md:px-4 max-md:py-2"
                key={key.id}
              >
                <Cell className="max-md:block max-md:h-auto max-md:border-0 max-md:p-0">
                  <span className="flex items-center gap-2 whitespace-nowrap">
                    <Link
                      className="font-medium after:absolute after:inset-0"
                      href={`/runs?key=${key.id}`}
                      prefetch={false}
                    >
                      {key.name}
                    </Link>
                    <span className="mono text-muted">{key.prefix}…</span>
                  </span>
                </Cell>
                <Cell
                  className={`max-md:inline max-md:h-auto max-md:border-0 max-md:p-0 ${key.state === "active" ? "" : "text-failed"}`}
                >
                  {key.state}
                  {key.revokedAt ? (
                    <>
                      {" "}
                      <Moment at={key.revokedAt} className="text-muted" />
                    </>
                  ) : null}
                </Cell>
                <Cell className="text-muted max-md:hidden">
                  {key.scopes.join(", ")}
                  {key.targets.length > 0 ? ` of ${key.targets.join(", ")}` : ""}
                </Cell>
                <Cell className="whitespace-nowrap text-muted max-md:block max-md:h-auto max-md:border-0 max-md:p-0">
                  {key.lastUsedAt ? <Ago at={key.lastUsedAt} /> : "never used"}
                </Cell>
                <Cell className="whitespace-nowrap text-muted max-md:hidden">
                  {key.expiresAt ? <Moment at={key.expiresAt} /> : "never"}
                </Cell>
                <Cell className="whitespace-nowrap text-muted max-md:hidden">
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
