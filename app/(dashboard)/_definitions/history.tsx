"use client";

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { useState } from "react";
import { PartHead } from "@/app/_ui/facts";
import { ChevronRightIcon } from "@/app/_ui/icons";
import { OlderButton } from "@/app/_ui/older-button";
import { SkeletonLine } from "@/app/_ui/page";
import { useTRPC } from "@/app/_ui/providers";
import { describeError } from "@/app/_ui/query-client";
import { Ago } from "@/app/_ui/time";
import type { DefinitionRef, VersionLine } from "@/server/catalog/versions";
import { FieldDiff } from "../../_ui/text/field-diff";
import { Unreadable } from "../../_ui/text/unreadable";
import { versionsQuery } from "./query";

/** Who made which version and when. A version opens to its changes. */
export function History({ of }: { of: DefinitionRef }) {
  const trpc = useTRPC();
  const query = useInfiniteQuery(versionsQuery(trpc, of));
  const versions = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <section aria-label="Versions">
      <PartHead title="Versions" />
      {query.isError && versions.length === 0 ? (
        <Unreadable
          error={query.error}
          onRetry={() => void query.refetch()}
          what="The versions could not be read"
        />
      ) : (
        <ol aria-busy={query.isPending} aria-label="Versions" className="border-line border-t">
          {query.isPending ? (
            <li className="flex h-10 items-center border-line border-b px-6">
              <SkeletonLine className="w-56" />
            </li>
          ) : (
            versions.map((version) => <VersionRow key={version.number} of={of} version={version} />)
          )}
        </ol>
      )}
      <OlderButton query={query} what="versions" />
    </section>
  );
}

function VersionRow({ of, version }: { of: DefinitionRef; version: VersionLine }) {
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
        {version.current ? (
          <span className="rounded border border-line-strong px-1.5 text-muted text-xs">current</span>
        ) : null}
        <span className="min-w-0 text-muted">
          {version.changed === null ? "made" : `changed ${version.changed.join(", ") || "nothing"}`} by{" "}
          {version.by}
        </span>
        <Ago at={version.at} className="ml-auto whitespace-nowrap text-muted" />
      </button>
      {open ? <Changes number={version.number} of={of} /> : null}
    </li>
  );
}

function Changes({ of, number }: { of: DefinitionRef; number: number }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.definitions.changes.queryOptions({ ...of, number }));
  return (
    <div className="flex flex-col gap-3 px-4 pb-3 sm:pr-6 sm:pl-11">
      {query.isError ? (
        <p className="text-failed" role="alert">
          {describeError(query.error).message}
        </p>
      ) : query.data ? (
        query.data.map((change) => <FieldDiff change={change} key={change.field} />)
      ) : (
        <SkeletonLine className="w-56" />
      )}
    </div>
  );
}
