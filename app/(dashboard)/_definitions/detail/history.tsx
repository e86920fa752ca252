"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { PartHead } from "@/app/_ui/figures/facts";
import { Ago } from "@/app/_ui/figures/time";
import { lazy } from "@/app/_ui/lazy";
import { SkeletonLine } from "@/app/_ui/page/page";
import { PagedList, usePages } from "@/app/_ui/paged-list";
import { useMay } from "@/app/_ui/role";
import { Badge } from "@/app/_ui/row-name";
import { Segments } from "@/app/_ui/segments";
import type { LineColumn } from "@/app/_ui/table";
import { notify } from "@/app/_ui/toast";
import type { DefinitionRef } from "@/server/catalog/definition-rows";
import type { VersionLine } from "@/server/catalog/versions";
import { versionsQuery } from "../query";

const FieldDiff = lazy(() => import("@/app/_ui/text/field-diff"), "FieldDiff");

const COLUMNS: LineColumn<VersionLine>[] = [
  {
    head: "Version",
    width: "w-44",
    area: "start",
    look: "line",
    cell: ({ number, current }) => (
      <>
        <span className="font-medium">v{number}</span>
        {current ? <Badge>current</Badge> : null}
      </>
    ),
  },
  {
    head: "Changed",
    area: "line",
    look: "wrap",
    cell: ({ changed, note }) => (
      <>
        <span className="text-muted">
          {changed === null ? "first version" : changed.join(", ") || "nothing"}
        </span>
        {note === "" ? null : <span className="block">{note}</span>}
      </>
    ),
  },
  { head: "By", width: "w-48", area: "lastStart", look: "cut", cell: ({ by }) => by },
  {
    head: "Time",
    width: "w-32",
    area: "last",
    look: "figure",
    cell: ({ at }) => <Ago at={at} className="text-muted" />,
  },
];

/** The versions. The current one opens to its changes, an earlier one to its differences from the current one. */
export function History({ of, current }: { of: DefinitionRef; current: number }) {
  const trpc = useTRPC();
  return (
    <section aria-label="Versions">
      <PartHead title="Versions" />
      <PagedList
        columns={COLUMNS}
        detailsOf={(version) => <Changes current={current} of={of} version={version} />}
        empty={null}
        keyOf={({ number }) => String(number)}
        label="Versions"
        list={usePages(versionsQuery(trpc, of))}
        what="versions"
      />
    </section>
  );
}

type VersionProps = { of: DefinitionRef; current: number; version: VersionLine };

function Changes({ of, current, version }: VersionProps) {
  const trpc = useTRPC();
  const [from, setFrom] = useState<"previous" | "current">(
    version.number === current ? "previous" : "current",
  );
  const query = useQuery(trpc.definitions.changes.queryOptions({ ...of, number: version.number, from }));
  return (
    <div className="flex flex-col gap-3 px-4 py-3 sm:pr-6 sm:pl-11">
      {version.number === current ? null : (
        <div className="flex flex-wrap items-center gap-2">
          <Segments
            label="Compare the version"
            onChange={setFrom}
            options={[
              { value: "current", label: `From current v${current}` },
              { value: "previous", label: version.changed === null ? "Its definition" : "Its changes" },
            ]}
            value={from}
          />
          <ReturnButton current={current} number={version.number} of={of} />
        </div>
      )}
      {query.isError ? (
        <p className="text-failed" role="alert">
          {describeError(query.error).message}
        </p>
      ) : query.data ? (
        query.data.length === 0 ? (
          <p className="text-muted">No differences.</p>
        ) : (
          query.data.map((change) => <FieldDiff change={change} key={change.field} />)
        )
      ) : (
        <SkeletonLine className="w-56" />
      )}
    </div>
  );
}

function ReturnButton({ of, number, current }: { of: DefinitionRef; number: number; current: number }) {
  const trpc = useTRPC();
  const router = useRouter();
  const returnTo = useMutation(
    trpc.definitions.returnTo.mutationOptions({
      meta: { refresh: [trpc.definitions.pathKey(), trpc.catalog.pathKey()] },
      onSuccess: ({ version, saved }, { number, current }) => {
        if (saved === "unchanged") notify(`Version ${number} equals the current version`);
        else {
          notify(`Version ${version} is current`, `It equals version ${number}.`, {
            label: "Undo",
            run: () => returnTo.mutate({ ...of, number: current, current: version }),
          });
        }
        router.refresh();
      },
      onError: (error, { number }) =>
        notify(`Could not return to version ${number}`, describeError(error).message),
    }),
  );
  if (!useMay("member")) return null;
  return (
    <Button disabled={returnTo.isPending} onClick={() => returnTo.mutate({ ...of, number, current })}>
      Return to v{number}
    </Button>
  );
}
