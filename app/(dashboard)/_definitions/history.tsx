"use client";

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { classNames } from "@/app/_ui/class-names";
import { diffLines } from "@/app/_ui/diff";
import { PartHead } from "@/app/_ui/facts";
import { ChevronRightIcon } from "@/app/_ui/icons";
import { OlderButton } from "@/app/_ui/older-button";
import { Bone } from "@/app/_ui/page";
import { useTRPC } from "@/app/_ui/providers";
import { describeError } from "@/app/_ui/query-client";
import { Ago } from "@/app/_ui/time";
import { Unreadable } from "@/app/_ui/unreadable";
import type { DefinitionRef, FieldChange, VersionLine } from "@/server/catalog/versions";
import { nearChanges } from "./near-changes";
import { versionsQuery } from "./query";

/** Who made which version when; a version opens to what it changed. */
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
              <Bone className="w-56" />
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
        <ChevronRightIcon
          className={classNames("shrink-0 text-faint", open && "rotate-90")}
          height="12"
          width="12"
        />
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
        <Bone className="w-56" />
      )}
    </div>
  );
}

const LOOKS = { left: "bg-failed-wash", right: "bg-added-wash", same: "text-muted" } as const;
const MARKS = { left: "−", right: "+", same: " " } as const;
const WORDS = { left: "removed: ", right: "added: ", same: "" } as const;

function FieldDiff({ change }: { change: FieldChange }) {
  const lines =
    change.from === null || change.to === null
      ? (change.to ?? change.from ?? "")
          .split("\n")
          .map((text) => ({ kind: change.to === null ? ("left" as const) : ("right" as const), text }))
      : diffLines(change.from, change.to);
  return (
    <div>
      <h3 className="text-muted text-xs">{change.field}</h3>
      {lines ? (
        <pre
          className="mono mt-0.5 max-h-96 overflow-auto rounded-md border border-line"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
          tabIndex={0}
        >
          {nearChanges(lines).map((line, index) => (
            <span
              className={classNames(
                "block min-w-full whitespace-pre-wrap px-2 [overflow-wrap:anywhere]",
                line ? LOOKS[line.kind] : "text-faint",
              )}
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one comparison never change.
              key={index}
            >
              {line ? (
                <>
                  <span aria-hidden="true">{MARKS[line.kind]} </span>
                  <span className="sr-only">{WORDS[line.kind]}</span>
                  {line.text}
                </>
              ) : (
                "…"
              )}
            </span>
          ))}
        </pre>
      ) : (
        <p>Rewritten: the two versions share too little to be compared by lines.</p>
      )}
    </div>
  );
}
