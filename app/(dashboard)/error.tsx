"use client";

import { Button } from "@/app/_ui/button";
import { Problem } from "@/app/_ui/page/page";
import { usePageActions } from "@/app/_ui/page/page-actions";

type Props = { error: Error & { digest?: string }; retry: () => void };

/** A page that failed, within the layout, so that the navigation still works. */
export default function DashboardPageError({ error, retry }: Props) {
  // A part whose script did not load stays missing until the page is loaded again.
  const again = error.digest ? retry : () => window.location.reload();
  usePageActions([{ label: "Try this page again", run: again }]);
  return (
    <Problem title="Could not show this page">
      <p>
        {error.digest
          ? `The server could not render this page (reference ${error.digest}). The cause is in its log.`
          : "It failed in the browser, or a part of it did not load. Check the connection and load it again."}
      </p>
      <Button className="mt-3" onClick={again}>
        {error.digest ? "Try again" : "Load the page again"}
      </Button>
    </Problem>
  );
}
