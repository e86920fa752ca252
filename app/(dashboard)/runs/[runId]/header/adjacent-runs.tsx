"use client";

import { useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { useRouter } from "next/navigation";
import { type Ref, useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { ChevronDownIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import { usePageKeys } from "@/app/_ui/page/page-keys";
import { readAddress } from "../../address";
import { lastListSearch, rememberOpenedRun } from "../../last-list";

type Way = "newer" | "older";

/** The direction of the link that was followed: the same link of the next run's page takes the focus. */
let walking: Way | null = null;

/**
 * Links to the previous and next run of the list the reader came from. They replace the history entry, so that "back"
 * still leads to the list.
 */
export function AdjacentRuns({ runId }: { runId: string }) {
  const trpc = useTRPC();
  const router = useRouter();
  // Null on the server, which does not know the list.
  const search = useSyncExternalStore<string | null>(
    () => () => {},
    lastListSearch,
    () => null,
  );
  const filter = useMemo(() => readAddress(new URLSearchParams(search ?? "")).filter, [search]);
  const { data, refetch } = useQuery({
    ...trpc.runs.neighbours.queryOptions({ runId, filter }),
    enabled: search !== null,
    // A newer run may have started since.
    staleTime: 0,
  });

  async function go(way: Way) {
    const next = data?.[way] ?? (await refetch()).data?.[way];
    // The reader may have left the page meanwhile.
    if (!next || location.pathname !== `/runs/${runId}`) return;
    rememberOpenedRun(next);
    router.replace(`/runs/${next}`);
  }
  usePageKeys({ p: () => void go("newer"), n: () => void go("older") });

  const links = { newer: useRef<HTMLAnchorElement>(null), older: useRef<HTMLAnchorElement>(null) };
  // At the end of the list, the link back to it takes the focus.
  useEffect(() => {
    if (walking === null || !data) return;
    const link = data[walking] === null ? links[walking === "newer" ? "older" : "newer"] : links[walking];
    link.current?.focus();
    walking = null;
  });
  return (
    <span className="flex items-center">
      <Step label="Newer run in the list" next={data?.newer} keys="p" ref={links.newer} way="newer" />
      <Step label="Older run in the list" next={data?.older} keys="n" ref={links.older} way="older" />
    </span>
  );
}

/** A link to the adjacent run; without one its space stays. */
function Step({
  label,
  keys,
  next,
  way,
  ref,
}: {
  label: string;
  keys: string;
  next: string | null | undefined;
  way: Way;
  ref: Ref<HTMLAnchorElement>;
}) {
  const icon = <ChevronDownIcon className={way === "newer" ? "rotate-180" : undefined} />;
  const look = "inline-flex size-7 items-center justify-center rounded-md";
  if (!next) {
    return (
      <span aria-hidden="true" className={clsx(look, "text-faint opacity-40")}>
        {icon}
      </span>
    );
  }
  return (
    <Link
      aria-label={label}
      className={clsx(look, "text-muted hover:bg-hover hover:text-ink")}
      href={`/runs/${next}`}
      onClick={() => {
        rememberOpenedRun(next);
        walking = way;
      }}
      ref={ref}
      replace
      title={`${label} (${keys})`}
    >
      {icon}
    </Link>
  );
}
