"use client";

import { usePathname, useSearchParams } from "next/navigation";
import { describeError } from "@/app/_ui/data/query-client";
import { Problem } from "@/app/_ui/page/page";
import { signInAddress } from "../../sign-in-target";
import { Button, buttonClass } from "../button";

type Props = { query: { error: unknown; refetch: () => unknown }; what: string };

/** Replaces what a query could not load. `what` is a sentence such as "Could not load runs". */
export function Unreadable({ query, what }: Props) {
  const here = `${usePathname()}?${useSearchParams()}`;
  const { code, message } = describeError(query.error);
  return (
    <Problem title={what}>
      <p>{message}</p>
      {code === "unauthenticated" ? (
        <a className={buttonClass("plain", "mt-3")} href={signInAddress(here)}>
          Sign in
        </a>
      ) : (
        <Button className="mt-3" onClick={() => void query.refetch()}>
          Try again
        </Button>
      )}
    </Problem>
  );
}
