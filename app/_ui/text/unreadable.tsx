"use client";

import { usePathname, useSearchParams } from "next/navigation";
import { describeError } from "@/app/_ui/data/query-client";
import { Problem } from "@/app/_ui/page/page";
import { signInAddress } from "../../sign-in/target";
import { Button, buttonClass } from "../button";

/** Replaces a list that could not be loaded. `what` is the whole sentence. */
export function Unreadable({ what, error, onRetry }: { what: string; error: unknown; onRetry: () => void }) {
  const here = `${usePathname()}?${useSearchParams()}`;
  const { code, message } = describeError(error);
  return (
    <Problem title={what}>
      <p>{message}</p>
      {code === "unauthenticated" ? (
        <a className={buttonClass("plain", "mt-3")} href={signInAddress(here)}>
          Sign in
        </a>
      ) : (
        <Button className="mt-3" onClick={onRetry}>
          Try again
        </Button>
      )}
    </Problem>
  );
}
