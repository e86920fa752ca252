"use client";

import { usePathname, useSearchParams } from "next/navigation";
import { Button, buttonClass } from "@/app/_ui/button";
import { Problem } from "@/app/_ui/page";
import { describeError } from "@/app/_ui/query-client";
import { signInAddress } from "@/app/sign-in/target";

/** Stands where a list would be when it could not be read. `what` is the whole sentence. */
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
