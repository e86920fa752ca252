"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useOffline } from "next/offline";
import { useEffect, useEffectEvent, useState } from "react";
import { Button } from "@/app/_ui/button";
import { usePageActions } from "@/app/_ui/page/page-actions";
import { checkConnection, useConnectionLost } from "./connection";

const FIRST_WAIT_MS = 2_000;
const MAX_WAIT_MS = 15_000;

/** Shown while the server cannot be reached. It tries again by itself, and the page catches up afterwards. */
export function ConnectionLost() {
  useEffect(() => {
    const check = () => void checkConnection();
    window.addEventListener("offline", check);
    registerServiceWorker();
    return () => window.removeEventListener("offline", check);
  }, []);
  // A page that could not be fetched.
  const isOffline = useOffline();
  useEffect(() => {
    if (isOffline) void checkConnection();
  }, [isOffline]);
  return useConnectionLost() ? <Bar /> : null;
}

/** The service worker shows our page when a page cannot be loaded. Browsers offer it over https and on localhost only. */
function registerServiceWorker() {
  if ("serviceWorker" in navigator)
    navigator.serviceWorker.register("/service-worker.js").catch(() => undefined);
}

function Bar() {
  const queryClient = useQueryClient();
  const [busy, setBusy] = useState(false);
  const retry = async () => {
    setBusy(true);
    const reached = await checkConnection();
    setBusy(false);
    if (reached) void queryClient.invalidateQueries();
    return reached;
  };
  const retryNow = useEffectEvent(retry);
  useEffect(() => {
    let waitMs = FIRST_WAIT_MS;
    let timer: ReturnType<typeof setTimeout>;
    const plan = () => {
      timer = setTimeout(async () => {
        if (await retryNow()) return;
        waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
        plan();
      }, waitMs);
    };
    plan();
    const now = () => void retryNow();
    window.addEventListener("online", now);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("online", now);
    };
  }, []);
  usePageActions([{ label: "Connect again", run: () => void retry() }]);
  return (
    <>
      {/* The end of the page can be scrolled above the bar. */}
      <div aria-hidden="true" className="h-20" />
      <div
        className="fixed right-0 bottom-0 left-0 z-40 flex flex-wrap items-center gap-x-4 gap-y-2 border-line-strong border-t bg-waiting-wash px-4 py-2.5 sm:px-6 md:left-54"
        role="alert"
      >
        <p className="min-w-0 flex-1">
          <span className="font-medium">The connection to the server is lost.</span> What you see may be out
          of date. Runs continue.
        </p>
        <Button disabled={busy} onClick={() => void retry()}>
          {busy ? "Connecting" : "Retry"}
        </Button>
      </div>
    </>
  );
}
