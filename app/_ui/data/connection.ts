"use client";

import { createStore } from "./store";

/** Whether the server cannot be reached. */
const lost = createStore(false);

/** Checks whether the server responds. Call it after a request or stream that broke off. */
export async function checkConnection(): Promise<boolean> {
  const reached = await fetch("/api/health", { cache: "no-store" }).then(
    () => true,
    () => false,
  );
  lost.set(!reached);
  return reached;
}

/** Whether the last check got no response. */
export const useConnectionLost = lost.use;
