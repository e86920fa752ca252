"use client";

import { type MouseEvent, useSyncExternalStore } from "react";
import { ChevronLeftIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import { searchLeft } from "../../list-left";

/** The way back to the list as it was left, with its filters; as far as the browser knows, to the very same place in it. */
export function BackToRuns() {
  const href = useSyncExternalStore(
    () => () => {},
    () => `/runs${searchLeft()}`,
    () => "/runs",
  );
  return (
    <Link
      className="-ml-1 flex items-center gap-0.5 rounded-md py-1 pr-1.5 text-muted hover:text-ink"
      href={href}
      onClick={(event) => returnInHistory(event, href)}
    >
      <ChevronLeftIcon />
      Runs
    </Link>
  );
}

/** Goes back when the list is the page before this one, which keeps what was loaded and how far it was scrolled. */
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
