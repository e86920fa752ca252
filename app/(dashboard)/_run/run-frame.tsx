"use client";

import { useQueryErrorResetBoundary } from "@tanstack/react-query";
import { catchError, type ErrorInfo } from "next/error";
import { type ReactNode, Suspense } from "react";
import { buttonClass } from "@/app/_ui/button";
import { Link } from "@/app/_ui/link";
import { Unreadable } from "@/app/_ui/text/unreadable";

/** The place of a run beside the form that started it. If the run cannot be loaded, the form stays. */
export function RunFrame({ runId, children }: { runId: string; children: ReactNode }) {
  // Else the query would throw its last error again.
  const { reset } = useQueryErrorResetBoundary();
  return (
    <ErrorBoundary allowRetry={reset} key={runId} runId={runId}>
      <Suspense fallback={<p className="text-muted">Starting the run</p>}>{children}</Suspense>
    </ErrorBoundary>
  );
}

const ErrorBoundary = catchError(UnreadableRun);

type FallbackProps = { runId: string; allowRetry: () => void };

function UnreadableRun({ runId, allowRetry }: FallbackProps, { error, reset }: ErrorInfo) {
  const retry = () => {
    allowRetry();
    reset();
  };
  return (
    <Unreadable query={{ error, refetch: retry }} what="Could not load the run">
      <Link className={buttonClass()} href={`/runs/${runId}`}>
        Open run
      </Link>
    </Unreadable>
  );
}
