"use client";

import { usePathname, useSearchParams } from "next/navigation";
import { useEffect } from "react";
import { buttonClass } from "@/app/_ui/button";
import { usePageActions } from "@/app/_ui/page/page-actions";
import { signInAddress } from "@/app/sign-in/target";
import { NoticeBar } from "./notice-bar";
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
