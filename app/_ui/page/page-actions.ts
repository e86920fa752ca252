"use client";

import { type ReactNode, useEffect, useRef } from "react";
import { createStore } from "@/app/_ui/data/store";

/** An action of the current page that the palette offers: a call, a link or a download. */
export type PageAction = { label: string; icon?: ReactNode } & (
  | { run: () => void }
  | { href: string; download?: boolean }
);

const registered = new Map<object, PageAction[]>();
const offered = createStore<PageAction[]>([]);

function publish(): void {
  // A page may show the button of an action twice.
  const byLabel = new Map([...registered.values()].flat().map((action) => [action.label, action]));
  offered.set([...byLabel.values()]);
}

/** Offers actions in the palette while the component is mounted. */
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

/** The actions of all mounted components, in the order they were mounted. */
export const useOfferedActions = offered.use;
