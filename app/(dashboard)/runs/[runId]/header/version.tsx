"use client";

import { useState } from "react";
import { lazy } from "@/app/_ui/lazy";
import { usePageActions } from "@/app/_ui/page/page-actions";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";

const Configuration = lazy(() => import("./configuration"), "Configuration");

/** The version a run was started with. It opens to the frozen configuration and what has changed since. */
export function Version({ run }: { run: RunDetail }) {
  const [open, setOpen] = useState(false);
  usePageActions([{ label: "Show the run's configuration", run: () => setOpen(true) }]);
  const { targetVersion, currentVersion } = run;
  return (
    <>
      <button
        aria-haspopup="dialog"
        className="underline decoration-line-strong underline-offset-2 hover:text-ink"
        onClick={() => setOpen(true)}
        title="Configuration of this run"
        type="button"
      >
        v{targetVersion}
      </button>
      {currentVersion !== null && currentVersion !== targetVersion ? `, now v${currentVersion}` : null}
      {open ? <Configuration onClose={() => setOpen(false)} run={run} /> : null}
    </>
  );
}
