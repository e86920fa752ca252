"use client";

import { useSyncExternalStore } from "react";

/** Whether the server can be reached. Shared by the whole tab. */
let lost = false;
const listeners = new Set<() => void>();

/** Checks whether the server responds. Call it after a request or stream that broke off. */
export async function checkConnection(): Promise<boolean> {
  const reached = await fetch("/api/health", { cache: "no-store" }).then(
    () => true,
    () => false,
  );
  if (lost === reached) {
    lost = !reached;
    for (const listener of listeners) listener();
  }
  return reached;
}

/** Whether the last check got no response. */
export function useConnectionLost(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => lost,
    () => false,
  );
}
