"use client";

import { type ReactNode, useEffect, useRef, useSyncExternalStore } from "react";

/** Something that can be done on the page one is on, as the palette offers it: a call, an address, or a download. */
export type PageAction = { label: string; icon?: ReactNode } & (
  | { run: () => void }
  | { href: string; download?: boolean }
);

const registered = new Map<object, PageAction[]>();
const listeners = new Set<() => void>();
const NONE: PageAction[] = [];
let all = NONE;

function publish(): void {
  all = [...registered.values()].flat();
  for (const listener of listeners) listener();
}

/** Offers actions in the palette for as long as the component is shown. */
export function usePageActions(actions: PageAction[]): void {
  const key = useRef<object>({});
  useEffect(() => {
    registered.set(key.current, actions);
    publish();
  });
  useEffect(() => {
    const { current } = key;
    return () => {
      registered.delete(current);
      publish();
    };
  }, []);
}

/** What the components that are shown now offer, in the order in which they appeared. */
export function useOfferedActions(): PageAction[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => all,
    () => NONE,
  );
}
