"use client";

import { useLayoutEffect, useRef } from "react";
import { checkConnection, useOtherOrganization, useSignedOut } from "@/app/_ui/data/connection";
import { useOrganizationAddress } from "@/app/_ui/data/page-organization";

/** Applies after the browser gave up. */
const MAX_WAIT_MS = 15_000;

type Handlers = Record<string, (data: string, id: string) => void>;

/**
 * Listens to server-sent events while mounted and signed in to the page's organization. The browser reconnects with the
 * last id; after a rejection, the hook calls `address` again. @param address null: do not listen. @param onRejected
 * called after each rejected attempt, to refresh the page without events.
 */
export function useEvents(address: (() => string) | null, handlers: Handlers, onRejected: () => void): void {
  const ofOrganization = useOrganizationAddress();
  const latest = useRef({ address, handlers, onRejected, ofOrganization });
  useLayoutEffect(() => {
    latest.current = { address, handlers, onRejected, ofOrganization };
  });
  const names = Object.keys(handlers).join(" ");
  const signedOut = useSignedOut();
  const isElsewhere = useOtherOrganization() !== null;
  const listening = address !== null && !signedOut && !isElsewhere;
  // A layout effect: no attempt that is due may begin after the page shows that it stopped.
  useLayoutEffect(() => {
    if (!listening) return;
    let source: EventSource | undefined;
    let retry: ReturnType<typeof setTimeout> | undefined;
    let waitMs = 1_000;
    const open = () => {
      const to = latest.current.address?.();
      if (!to) return;
      source = new EventSource(latest.current.ofOrganization(to));
      source.onopen = () => {
        waitMs = 1_000;
      };
      source.onerror = () => {
        void checkConnection();
        // The browser connects again by itself.
        if (source?.readyState !== EventSource.CLOSED) return;
        latest.current.onRejected();
        retry = setTimeout(open, waitMs);
        waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
      };
      for (const name of names.split(" ")) {
        source.addEventListener(name, (event: MessageEvent<string>) =>
          latest.current.handlers[name]?.(event.data, event.lastEventId),
        );
      }
    };
    open();
    return () => {
      clearTimeout(retry);
      source?.close();
    };
  }, [listening, names]);
}
