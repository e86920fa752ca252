"use client";

import { useLayoutEffect, useRef } from "react";
import { checkConnection, noteResponse, useOtherOrganization, useSignedOut } from "@/app/_ui/data/connection";
import { useOrganizationAddress } from "@/app/_ui/data/page-organization";
import { callServer, readError } from "@/app/_ui/data/query-client";
import { createStore } from "@/app/_ui/data/store";
import { HEARTBEAT_EVENT, HEARTBEAT_MS } from "@/server/runs/live/event-stream";

const FIRST_WAIT_MS = 1_000;
/** Applies after the browser gave up. */
const MAX_WAIT_MS = 15_000;
/** A connection can end without a sign. */
const MAX_SILENCE_MS = 2 * HEARTBEAT_MS + 10_000;

const rejection = createStore<string | null>(null);

/** The reason why the page has no live stream; null: it has one, or needs none. */
export const useLiveRejection = rejection.use;

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
    const over = new AbortController();
    const close = () => {
      clearTimeout(timer);
      source?.close();
    };
    const open = () => {
      close();
      const path = latest.current.address?.();
      // Browsers allow few connections to a host, and hidden tabs would hold them.
      if (!path || document.visibilityState === "hidden") return;
      const to = latest.current.ofOrganization(path);
      const opened = new EventSource(to);
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
        rejection.set(null);
        awaitNext();
      };
      opened.onerror = () => {
        void checkConnection();
        // The browser connects again by itself.
        if (opened.readyState !== EventSource.CLOSED) return;
        if (waitMs === FIRST_WAIT_MS) {
          void readRejection(to, over.signal).then((reason) => {
            if (!over.signal.aborted && source?.readyState !== EventSource.OPEN) rejection.set(reason);
          });
        }
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
      over.abort();
      close();
      rejection.set(null);
    };
  }, [listening, names]);
}

/** An EventSource cannot read the answer that rejects it. Null: the limit of streams is not the reason. */
async function readRejection(address: string, signal: AbortSignal): Promise<string | null> {
  try {
    const response = await callServer(address, { signal });
    noteResponse(response);
    // There is a free slot by now.
    if (response.ok) {
      await response.body?.cancel();
      return null;
    }
    const { code, message } = await readError(response);
    return code === "rate_limited" ? message : null;
  } catch {
    return null;
  }
}
