"use client";

import { useEffect, useRef } from "react";

type Handlers = Record<string, (data: string, id: string) => void>;

/**
 * Listens to server-sent events while mounted. A dropped connection is taken up again: by the browser itself,
 * which sends the last id along, or by us when the browser gives up, where `address` is asked again.
 * @param address null: do not listen.
 */
export function useEvents(address: (() => string) | null, handlers: Handlers): void {
  const latest = useRef({ address, handlers });
  useEffect(() => {
    latest.current = { address, handlers };
  });
  const names = Object.keys(handlers).join(" ");
  const listening = address !== null;
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
        retry = setTimeout(open, waitMs);
        waitMs = Math.min(waitMs * 2, 30_000);
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
