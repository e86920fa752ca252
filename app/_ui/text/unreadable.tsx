"use client";

import { usePathname, useSearchParams } from "next/navigation";
import type { ReactNode } from "react";
import { describeError } from "@/app/_ui/data/query-client";
import { Problem } from "@/app/_ui/page/page";
import { signInAddress } from "../../sign-in-target";
import { Button, buttonClass } from "../button";

type Props = { query: { error: unknown; refetch: () => unknown }; what: string; children?: ReactNode };

/** Replaces what a query could not load. `what` is a sentence such as "Could not load runs"; `children` are more ways out. */
export function Unreadable({ query, what, children }: Props) {
  const here = `${usePathname()}?${useSearchParams()}`;
  const { code, message } = describeError(query.error);
  return (
    <Problem title={what}>
      <p>{message}</p>
      <p className="mt-3 flex gap-2">
        {code === "unauthenticated" ? (
          <a className={buttonClass()} href={signInAddress(here)}>
            Sign in
          </a>
        ) : (
          <Button onClick={() => void query.refetch()}>Try again</Button>
        )}
        {children}
      </p>
    </Problem>
  );
}
