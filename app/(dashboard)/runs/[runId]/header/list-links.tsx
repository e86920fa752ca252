import { useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { useRouter } from "next/navigation";
import { type MouseEvent, useEffect, useRef } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { useBrowserValue } from "@/app/_ui/data/store";
import { ChevronDownIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import { BackLink } from "@/app/_ui/page/page";
import { useKeyHint, usePageKeys } from "@/app/_ui/page/page-keys";
import { readFilter } from "../../address";
import { lastListSearch, rememberOpenedRun } from "../../last-list";

/** Null on the server, which does not know it. */
function useLastListSearch(): string | null {
  return useBrowserValue<string | null>(lastListSearch, null);
}

/**
 * The link to the list with its last filters. If possible it goes back in the history, which restores the scroll
 * position.
 */
export function BackToRuns() {
  const href = `/runs${useLastListSearch() ?? ""}`;
  return (
    <BackLink href={href} onClick={(event) => returnInHistory(event, href)}>
      Runs
    </BackLink>
  );
}

/** Goes back if the list is the previous entry, to keep the loaded rows and the scroll position. */
function returnInHistory(event: MouseEvent, href: string): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
  // Not every browser has it.
  const navigation: Navigation | undefined = window.navigation;
  const at = navigation?.currentEntry?.index ?? 0;
  const before = navigation?.entries()[at - 1]?.url;
  if (!before || before !== new URL(href, location.href).href) return;
  event.preventDefault();
  window.history.back();
}

type Way = "newer" | "older";

const NEWER = <ChevronDownIcon className="rotate-180" />;
const WAYS = [
  { way: "newer", other: "older", keys: "p", title: "Newer run in the list", icon: NEWER },
  { way: "older", other: "newer", keys: "n", title: "Older run in the list", icon: <ChevronDownIcon /> },
] as const;

/** The same link of the next run's page takes the focus. */
let walking: (typeof WAYS)[number] | null = null;

/**
 * Links to the previous and next run of the reader's list. They replace the history entry, so that "back" still
 * leads to the list.
 */
export function AdjacentRuns({ runId }: { runId: string }) {
  const trpc = useTRPC();
  const router = useRouter();
  const search = useLastListSearch();
  const { filter } = readFilter(new URLSearchParams(search ?? ""));
  const { data, refetch } = useQuery({
    ...trpc.runs.neighbors.queryOptions({ runId, filter }),
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
  const hints = { p: useKeyHint("p"), n: useKeyHint("n") };
  usePageKeys({ p: () => void go("newer"), n: () => void go("older") });

  const links = { newer: useRef<HTMLAnchorElement>(null), older: useRef<HTMLAnchorElement>(null) };
  // At the end of the list, the link back to it takes the focus.
  useEffect(() => {
    if (walking === null || !data) return;
    links[data[walking.way] === null ? walking.other : walking.way].current?.focus();
    walking = null;
  });
  return (
    <span className="flex items-center">
      {WAYS.map((each) => {
        const { way, keys, title, icon } = each;
        const next = data?.[way];
        const look = "inline-flex size-7 items-center justify-center rounded-md";
        // Without an adjacent run the space stays.
        return next ? (
          <Link
            aria-label={title}
            className={clsx(look, "text-muted hover:bg-hover hover:text-ink")}
            href={`/runs/${next}`}
            key={way}
            onClick={() => {
              rememberOpenedRun(next);
              walking = each;
            }}
            ref={links[way]}
            replace
            title={`${title}${hints[keys]}`}
          >
            {icon}
          </Link>
        ) : (
          <span aria-hidden="true" className={clsx(look, "text-faint opacity-40")} key={way}>
            {icon}
          </span>
        );
      })}
    </span>
  );
}
