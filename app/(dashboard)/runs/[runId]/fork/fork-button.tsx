import { useState } from "react";
import { IconButton } from "@/app/_ui/button";
import { ForkIcon } from "@/app/_ui/icons";
import { lazy } from "@/app/_ui/lazy";
import { useMay } from "@/app/_ui/role";
import { isTerminal } from "@/server/contract/enums";
import type { WorkLine } from "../lines";
import type { Workbench } from "../use-workbench";
import { forkPointOf } from "./fork-point";

const ForkDialog = lazy(() => import("./fork-dialog"), "ForkDialog");

/**
 * Forks the page's own run from a line, once it has ended and while its agent or tool exists. A child run is forked on
 * its own page.
 */
export function ForkButton({ line, bench }: { line: WorkLine; bench: Workbench | undefined }) {
  const mayRun = useMay("member");
  const [open, setOpen] = useState(false);
  if (!mayRun || bench === undefined) return null;
  const { run, own } = bench;
  if (line.runId !== run.id || !isTerminal(run.status) || run.currentVersion === null) return null;
  return (
    <>
      <IconButton label="Fork from here" onClick={() => setOpen(true)}>
        <ForkIcon />
      </IconButton>
      {open ? (
        <ForkDialog onClose={() => setOpen(false)} own={own} point={forkPointOf(line, own)} run={run} />
      ) : null}
    </>
  );
}
