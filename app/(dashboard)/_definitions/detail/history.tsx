"use client";

import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { PartHead } from "@/app/_ui/figures/facts";
import { Ago } from "@/app/_ui/figures/time";
import { ChevronRightIcon } from "@/app/_ui/icons";
import { lazy } from "@/app/_ui/lazy";
import { OlderButton } from "@/app/_ui/older-button";
import { SkeletonLine } from "@/app/_ui/page/page";
import { useMay } from "@/app/_ui/role";
import { Segments } from "@/app/_ui/segments";
import { Badge } from "@/app/_ui/table";
import { Unreadable } from "@/app/_ui/text/unreadable";
import { useNotify } from "@/app/_ui/toast";
import type { DefinitionRef } from "@/server/catalog/definition-rows";
import type { VersionLine } from "@/server/catalog/versions";
import { versionsQuery } from "../query";

/** It is loaded with the first version that is opened. */
const FieldDiff = lazy(() => import("@/app/_ui/text/field-diff"), "FieldDiff");

/** Who made which version and when. A version opens to its changes; an earlier one can be returned to. */
export function History({ of, current }: { of: DefinitionRef; current: number }) {
  const trpc = useTRPC();
  const query = useInfiniteQuery(versionsQuery(trpc, of));
  const versions = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <section aria-label="Versions">
      <PartHead title="Versions" />
      {query.isError && versions.length === 0 ? (
        <Unreadable query={query} what="The versions could not be read" />
      ) : (
        <ol aria-busy={query.isPending} aria-label="Versions" className="border-line border-t">
          {query.isPending ? (
            <li className="flex h-10 items-center border-line border-b px-6">
              <SkeletonLine className="w-56" />
            </li>
          ) : (
            versions.map((version) => (
              <VersionRow current={current} key={version.number} of={of} version={version} />
            ))
          )}
        </ol>
      )}
      <OlderButton query={query} what="versions" />
    </section>
  );
}

type VersionProps = { of: DefinitionRef; current: number; version: VersionLine };

function VersionRow({ of, current, version }: VersionProps) {
  const [open, setOpen] = useState(false);
  return (
    <li className="border-line border-b">
      <button
        aria-expanded={open}
        className="flex min-h-10 w-full flex-wrap items-center gap-x-2 px-4 py-1.5 text-left hover:bg-hover sm:px-6"
        onClick={() => setOpen(!open)}
        type="button"
      >
        <ChevronRightIcon className={clsx("shrink-0 text-faint", open && "rotate-90")} size={12} />
        <span className="font-medium">v{version.number}</span>
        {version.current ? <Badge>current</Badge> : null}
        <span className="min-w-0 text-muted">
          {version.changed === null ? "made" : `changed ${version.changed.join(", ") || "nothing"}`} by{" "}
          {version.by}
        </span>
        {version.note === "" ? null : (
          <span className="min-w-0 basis-full pl-5 [overflow-wrap:anywhere]">{version.note}</span>
        )}
        <Ago at={version.at} className="ml-auto whitespace-nowrap text-muted" />
      </button>
      {open ? <Changes current={current} of={of} version={version} /> : null}
    </li>
  );
}

function Changes({ of, current, version }: VersionProps) {
  const trpc = useTRPC();
  const [from, setFrom] = useState<"previous" | "current">("previous");
  const query = useQuery(trpc.definitions.changes.queryOptions({ ...of, number: version.number, from }));
  return (
    <div className="flex flex-col gap-3 px-4 pb-3 sm:pr-6 sm:pl-11">
      {version.number === current ? null : (
        <div className="flex flex-wrap items-center gap-2">
          <Segments
            label="Compare the version"
            onChange={setFrom}
            options={[
              { value: "previous", label: version.changed === null ? "Its definition" : "Its changes" },
              { value: "current", label: `From current v${current}` },
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

/** Makes an earlier version the current one, as a new version; the message offers to undo it. */
function ReturnButton({ of, number, current }: { of: DefinitionRef; number: number; current: number }) {
  const trpc = useTRPC();
  const router = useRouter();
  const notify = useNotify();
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
