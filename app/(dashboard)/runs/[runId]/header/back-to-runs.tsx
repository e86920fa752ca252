"use client";

import { type MouseEvent, useSyncExternalStore } from "react";
import { BackLink } from "@/app/_ui/page/page";
import { lastListSearch } from "../../last-list";

/**
 * The link to the list with its last filters. If possible it goes back in the history, which restores the scroll
 * position.
 */
export function BackToRuns() {
  const href = useSyncExternalStore(
    () => () => {},
    () => `/runs${lastListSearch()}`,
    () => "/runs",
  );
  return (
    <BackLink href={href} onClick={(event) => returnInHistory(event, href)}>
      Runs
    </BackLink>
  );
}

/** Goes back if the list is the previous entry, which keeps the loaded rows and the scroll position. */
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
