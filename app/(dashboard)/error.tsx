"use client";

import { Button } from "@/app/_ui/button";
import { Problem } from "@/app/_ui/page/page";
import { usePageActions } from "@/app/_ui/page/page-actions";

/** A page that failed, within the layout, so that the navigation still works. */
export default function DashboardPageError({
  error,
  retry,
}: {
  error: Error & { digest?: string };
  retry: () => void;
}) {
  usePageActions([{ label: "Try this page again", run: retry }]);
  return (
    <Problem title="This page could not be shown">
      <p>
        {error.digest
          ? `The server could not render this page (reference ${error.digest}). The cause is in its log.`
          : "The page failed in the browser. Try loading it again."}
      </p>
      <Button className="mt-3" onClick={retry}>
        Try again
      </Button>
    </Problem>
  );
}
