import { CopyButton, copy } from "@/app/_ui/copy-button";
import { curlOf } from "@/app/_ui/curl";
import { useOrganizationAddress } from "@/app/_ui/data/page-organization";
import { shortId } from "@/app/_ui/figures/format";
import { Status } from "@/app/_ui/figures/status";
import { CopyIcon, DownloadIcon, TerminalIcon } from "@/app/_ui/icons";
import { ActionMenu } from "@/app/_ui/page/page-actions";
import { usePayload } from "@/app/_ui/text/use-payload";
import { notify } from "@/app/_ui/toast";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import { RunActions } from "./actions";
import { AdjacentRuns, BackToRuns } from "./list-links";

/**
 * The head of a run's page: title, status and actions. `reserve` keeps space for what appears when a watched run ends.
 */
export function RunHeader({ run, reserve }: { run: RunDetail; reserve: boolean }) {
  return (
    <header className="flex min-h-14 flex-wrap items-center gap-x-3 gap-y-1 border-line border-b px-4 py-2 sm:px-6 lg:flex-nowrap">
      <span className="flex shrink-0 items-center">
        <BackToRuns />
        <AdjacentRuns runId={run.id} />
      </span>
      <h1 className="min-w-0 truncate font-semibold text-title tracking-[-0.012em]" title={run.targetName}>
        {run.targetName}
      </h1>
      {/* As wide as the widest, since on a phone a wider one would wrap. */}
      <Status className={reserve ? "min-w-24" : ""} status={run.status} waiting={run.waiting} />
      <span className="flex shrink-0 items-center text-muted">
        <span className="mono" title={run.id}>
          <span className="sr-only">run </span>
          {shortId(run.id)}
        </span>
        <CopyButton label="Copy the run's id" text={run.id} />
      </span>
      <div className="ml-auto flex items-center gap-2">
        <RunActions reserve={reserve} run={run} />
        <RunMenu run={run} />
      </div>
    </header>
  );
}

function RunMenu({ run }: { run: RunDetail }) {
  const addressOf = useOrganizationAddress();
  const input = usePayload(run.input, addressOf(`/api/runs/${run.id}/text?field=input`));
  const copyCurl = () =>
    copy(
      async () => startingCall(run, await input.read()),
      () => notify("Copied as curl", "Set API_KEY to one of your keys before running it."),
    );
  const copyId = () => copy(run.id, () => notify("Run id copied"));
  const file = addressOf(`/api/runs/${run.id}/download`);
  return (
    <ActionMenu
      actions={[
        { label: "Copy as curl", icon: <TerminalIcon />, run: () => void copyCurl() },
        { label: "Copy the run's id", short: "Copy id", icon: <CopyIcon />, run: () => void copyId() },
        {
          label: "Download the run as JSON",
          short: "Download as JSON",
          icon: <DownloadIcon />,
          href: file,
          download: true,
        },
      ]}
      label="More"
    />
  );
}

function startingCall(run: RunDetail, input: string): string {
  const path = run.kind === "agent" ? `/v1/agents/run/${run.agentId}` : `/v1/tools/run/${run.toolId}`;
  const body = run.kind === "agent" ? JSON.stringify({ userMessage: input }) : input;
  return curlOf({ url: window.location.origin + path, body });
}
