"use client";

import { useEffect, useRef } from "react";
import { useSignedOut } from "@/app/_ui/session";

/** How long is waited at most before the next try where the browser gave up. */
const MAX_WAIT_MS = 15_000;

type Handlers = Record<string, (data: string, id: string) => void>;

/**
 * Listens to server-sent events while mounted. A dropped connection is taken up again: by the browser itself,
 * which sends the last id along, or by us when the browser gives up (the answer was a refusal: there are too many
 * streams, say), where `address` is asked again. Not while nobody is signed in: what `look` asks finds that out, and the
 * frame says it (signed-out.tsx).
 * @param address null: do not listen.
 * @param look what the page does instead of listening: called at every try that was refused.
 */
export function useEvents(address: (() => string) | null, handlers: Handlers, look: () => void): void {
  const latest = useRef({ address, handlers, look });
  useEffect(() => {
    latest.current = { address, handlers, look };
  });
  const names = Object.keys(handlers).join(" ");
  const signedOut = useSignedOut();
  const listening = address !== null && !signedOut;
  useEffect(() => {
    if (!listening) return;
    let source: EventSource | undefined;
    let retry: ReturnType<typeof setTimeout> | undefined;
    let waitMs = 1_000;
    const open = () => {
      const to = latest.current.address?.();
      if (!to) return;
      source = new EventSource(to);
      source.onopen = () => {
        waitMs = 1_000;
      };
      source.onerror = () => {
        if (source?.readyState !== EventSource.CLOSED) return;
        latest.current.look();
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
