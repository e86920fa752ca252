"use client";

import { useLayoutEffect, useRef } from "react";
import { checkConnection, useOtherOrganization, useSignedOut } from "@/app/_ui/data/connection";
import { useOrganizationAddress } from "@/app/_ui/data/page-organization";
import { HEARTBEAT_EVENT, HEARTBEAT_MS } from "@/server/runs/live/event-stream";

const FIRST_WAIT_MS = 1_000;
/** Applies after the browser gave up. */
const MAX_WAIT_MS = 15_000;
/** A connection can end without a sign. */
const MAX_SILENCE_MS = 2 * HEARTBEAT_MS + 10_000;

type Handlers = Record<string, (data: string, id: string) => void>;

/**
 * Listens to server-sent events while mounted, visible, and signed in to the page's organization. Each opening calls
 * `address`; if only the connection broke off, the browser reconnects with the last id instead. @param address null:
 * do not listen. @param onRejected called after each rejected attempt, to refresh the page without events.
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
    /** The next opening: after a rejection, or when the stream has been silent. */
    let timer: ReturnType<typeof setTimeout> | undefined;
    let waitMs = FIRST_WAIT_MS;
    const close = () => {
      clearTimeout(timer);
      source?.close();
    };
    const open = () => {
      close();
      const path = latest.current.address?.();
      // Browsers allow few connections to a host, and hidden tabs would hold them.
      if (!path || document.visibilityState === "hidden") return;
      const opened = new EventSource(latest.current.ofOrganization(path));
      source = opened;
      const awaitNext = () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
          void checkConnection();
          open();
        }, MAX_SILENCE_MS);
      };
      awaitNext();
      opened.onopen = () => {
        waitMs = FIRST_WAIT_MS;
        awaitNext();
      };
      opened.onerror = () => {
        void checkConnection();
        // The browser connects again by itself.
        if (opened.readyState !== EventSource.CLOSED) return;
        latest.current.onRejected();
        clearTimeout(timer);
        timer = setTimeout(open, waitMs);
        waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
      };
      opened.addEventListener(HEARTBEAT_EVENT, awaitNext);
      for (const name of names.split(" ")) {
        opened.addEventListener(name, (event: MessageEvent<string>) => {
          awaitNext();
          latest.current.handlers[name]?.(event.data, event.lastEventId);
        });
      }
    };
    const follow = () => (document.visibilityState === "hidden" ? close() : open());
    open();
    document.addEventListener("visibilitychange", follow);
    window.addEventListener("online", open);
    return () => {
      document.removeEventListener("visibilitychange", follow);
      window.removeEventListener("online", open);
      close();
    };
  }, [listening, names]);
}
