"use client";

import { useQueryClient } from "@tanstack/react-query";
import { usePathname, useRouter, useSearchParams } from "next/navigation";
import { useOffline } from "next/offline";
import { type ReactNode, useContext, useEffect, useEffectEvent, useState } from "react";
import { Button, buttonClass } from "@/app/_ui/button";
import { usePageActions } from "@/app/_ui/page/page-actions";
import { signInAddress } from "@/app/sign-in-target";
import { checkConnection, useConnectionLost, useOtherOrganization, useSignedOut } from "../data/connection";
import { useLiveRejection } from "../data/live";
import { OrganizationContext } from "../data/page-organization";
import { useTRPCClient } from "../data/providers";

/** A bar while the page receives no updates. When it disappears, the page reads its queries again. */
function NoticeBar({ title, text, act }: { title: string; text: string; act?: ReactNode }) {
  const queryClient = useQueryClient();
  useEffect(() => () => void queryClient.invalidateQueries(), [queryClient]);
  return (
    <>
      {/* The end of the page can be scrolled above the bar. */}
      <div aria-hidden="true" className="h-20" />
      <div
        className="fixed right-0 bottom-0 left-0 z-40 flex flex-wrap items-center gap-x-4 gap-y-2 border-line-strong border-t bg-waiting-wash px-4 py-2.5 sm:px-6 md:left-54"
        role="alert"
      >
        <p className="min-w-0 flex-1">
          <span className="font-medium">{title}</span> {text}
        </p>
        {act}
      </div>
    </>
  );
}

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
  // Next could not fetch a page.
  const isOffline = useOffline();
  useEffect(() => {
    if (isOffline) void checkConnection();
  }, [isOffline]);
  return useConnectionLost() ? <ConnectionBar /> : null;
}

function registerServiceWorker() {
  if ("serviceWorker" in navigator)
    navigator.serviceWorker.register("/service-worker.js").catch(() => undefined);
}

function ConnectionBar() {
  const [busy, setBusy] = useState(false);
  const retry = async () => {
    setBusy(true);
    const reached = await checkConnection();
    setBusy(false);
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

/** Shown while the server has no live stream for the page, which then reads its queries from time to time. */
export function LiveRejected() {
  const reason = useLiveRejection();
  return reason === null ? null : (
    <NoticeBar text={`${reason} This page updates more slowly.`} title="No live updates." />
  );
}

/** Shown when the session ends under an open page. Disappears after a sign-in in another tab. */
export function SessionEnded() {
  return useSignedOut() ? <SessionBar /> : null;
}

function SessionBar() {
  useAskOnFocus();
  const href = signInAddress(`${usePathname()}?${useSearchParams()}`);
  usePageActions([{ label: "Sign in again", href }]);
  return (
    <NoticeBar
      act={
        <a className={buttonClass("plain")} href={href}>
          Sign in again
        </a>
      }
      text="This page no longer updates."
      title="You have been signed out."
    />
  );
}

type OrganizationLeftProps = { organizations: { id: string; name: string }[] };

/**
 * Shown when the session has changed to another organization or person under an open page: somebody switched or signed
 * in in another tab, or is no longer a member. Disappears when it is back.
 */
export function OrganizationLeft({ organizations }: OrganizationLeftProps) {
  const other = useOtherOrganization();
  if (other === null) return null;
  return <OrganizationBar name={organizations.find(({ id }) => id === other)?.name} other={other} />;
}

type OrganizationBarProps = { other: string; name: string | undefined };

function OrganizationBar({ other, name = "another organization" }: OrganizationBarProps) {
  useAskOnFocus();
  const { id, name: shown } = useContext(OrganizationContext);
  const router = useRouter();
  // The server has rendered parts for the other organization, which are not shown.
  useEffect(() => () => router.refresh(), [router]);
  const reload = () => window.location.reload();
  usePageActions([{ label: "Reload the page", run: reload }]);
  const act = <Button onClick={reload}>Reload</Button>;
  return other === id ? (
    <NoticeBar
      act={act}
      text="This page no longer updates. Reload it to continue."
      title="You are signed in as another person."
    />
  ) : (
    <NoticeBar
      act={act}
      text={`This page of ${shown} no longer updates. Reload it to continue in ${name}.`}
      title={`You are now in ${name}.`}
    />
  );
}

/** The answer of any call shows whether the session is back. */
function useAskOnFocus(): void {
  const client = useTRPCClient();
  useEffect(() => {
    const ask = () => void client.account.organizations.query().catch(() => {});
    window.addEventListener("focus", ask);
    return () => window.removeEventListener("focus", ask);
  }, [client]);
}
