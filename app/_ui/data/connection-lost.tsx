"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useOffline } from "next/offline";
import { useEffect, useEffectEvent, useState } from "react";
import { Button } from "@/app/_ui/button";
import { usePageActions } from "@/app/_ui/page/page-actions";
import { checkConnection, useConnectionLost } from "./connection";
import { NoticeBar } from "./notice-bar";

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
    <NoticeBar
      act={
        <Button disabled={busy} onClick={() => void retry()}>
          {busy ? "Connecting" : "Retry"}
        </Button>
      }
      text="What you see may be out of date. Runs continue."
      title="The connection to the server is lost."
    />
  );
}
