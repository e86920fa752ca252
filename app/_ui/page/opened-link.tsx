"use client";

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { Button, buttonClass } from "@/app/_ui/button";
import { dropToken, takeToken } from "@/app/_ui/data/link-token";
import { CallError, describeError } from "@/app/_ui/data/query-client";
import { SkeletonLine } from "@/app/_ui/page/page";

const NO_TOKEN = {
  code: "not_found",
  message: "The link is incomplete. Open the complete link that you got.",
  issues: [],
};

type Props<Facts> = {
  link: string;
  title: string;
  closed?: string;
  /** Throws `CallError`. */
  read: (token: string) => Promise<Facts>;
  children: (opened: { token: string; facts: Facts }) => ReactNode;
};

/** The page of a one-time link: reads its token and asks the server about it, then shows `children`. */
export function OpenedLink<Facts>({
  link,
  title,
  closed = "This link cannot be opened",
  read,
  children,
}: Props<Facts>) {
  const [attempt, setAttempt] = useState(0);
  const again = useCallback(() => setAttempt((before) => before + 1), []);
  useEffect(() => {
    // Another link that is opened in this tab changes only the fragment.
    window.addEventListener("hashchange", again);
    return () => window.removeEventListener("hashchange", again);
  }, [again]);
  const query = useQuery({
    queryKey: ["link", link, attempt],
    async queryFn() {
      const token = takeToken(link);
      if (token === null) throw new CallError(NO_TOKEN);
      return { token, facts: await read(token) };
    },
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const isFinal = query.isError && describeError(query.error).code === "not_found";
  useEffect(() => {
    if (isFinal) dropToken(link);
  }, [isFinal, link]);

  if (query.isPending) {
    return (
      <div aria-busy="true" className="flex flex-col gap-4">
        <h1 className="font-semibold text-title">{title}</h1>
        <SkeletonLine className="w-56" />
        <SkeletonLine className="w-40" />
      </div>
    );
  }
  if (query.isSuccess) return children(query.data);
  return (
    <div className="flex flex-col items-start gap-4">
      <h1 className="font-semibold text-title">{closed}</h1>
      <p className="text-muted [overflow-wrap:anywhere]" role="alert">
        {describeError(query.error).message}
      </p>
      {isFinal ? (
        <a className={buttonClass("primary")} href="/sign-in">
          Sign in
        </a>
      ) : (
        <Button look="primary" onClick={again}>
          Try again
        </Button>
      )}
    </div>
  );
}
