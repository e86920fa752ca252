"use client";

import { usePathname, useSearchParams } from "next/navigation";
import { useEffect } from "react";
import { buttonClass } from "@/app/_ui/button";
import { usePageActions } from "@/app/_ui/page/page-actions";
import { signInAddress } from "@/app/sign-in/target";
import { useTRPCClient } from "./providers";
import { useSignedOut } from "./session";

/**
 * Shown when the session ends under an open page, with a link to sign in and return. It overlays the lower edge, so
 * that nothing moves, and disappears after a sign-in in another tab.
 */
export function SessionEnded() {
  return useSignedOut() ? <Bar /> : null;
}

function Bar() {
  const client = useTRPCClient();
  const href = signInAddress(`${usePathname()}?${useSearchParams()}`);
  usePageActions([{ label: "Sign in again", href }]);
  useEffect(() => {
    // The response of any call shows whether the session is back.
    const ask = () => void client.account.organizations.query().catch(() => {});
    window.addEventListener("focus", ask);
    return () => window.removeEventListener("focus", ask);
  }, [client]);
  return (
    <>
      {/* The end of the page can be scrolled above the bar. */}
      <div aria-hidden="true" className="h-20" />
      <div
        className="fixed right-0 bottom-0 left-0 z-40 flex flex-wrap items-center gap-x-4 gap-y-2 border-line-strong border-t bg-waiting-wash px-4 py-2.5 sm:px-6 md:left-54"
        role="alert"
      >
        <p className="min-w-0 flex-1">
          <span className="font-medium">You have been signed out.</span> This page no longer updates.
        </p>
        <a className={buttonClass("plain")} href={href}>
          Sign in again
        </a>
      </div>
    </>
  );
}
