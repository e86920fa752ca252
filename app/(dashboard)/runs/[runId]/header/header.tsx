"use client";

import clsx from "clsx";
import { CopyButton, copyText } from "@/app/_ui/copy-button";
import { formatCount, formatCredits, formatPlural, shortId } from "@/app/_ui/format";
import { CopyIcon, DownloadIcon, MoreIcon, TerminalIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import { Menu, MenuItem, MenuLink } from "@/app/_ui/menu";
import { usePageActions } from "@/app/_ui/page-actions";
import { describeError } from "@/app/_ui/query-client";
import { Status } from "@/app/_ui/status";
import { usePayload } from "@/app/_ui/text/use-payload";
import { Elapsed } from "@/app/_ui/time";
import { useNotify } from "@/app/_ui/toast";
import type { RunDetail } from "@/server/runs/read/inspect";
import { describeSource } from "../../describe-source";
import { RunActions } from "./actions";
import { AdjacentRuns } from "./adjacent-runs";
import { BackToRuns } from "./back-to-runs";
import { Version } from "./configuration";
import { curlOf } from "./curl";
import { HeaderFact } from "./fact";
import { RunTimes } from "./times";

/**
 * The head of a run's page: title, status, actions and figures. `reserve` keeps space for what appears when a watched
 * run ends.
 */
export function RunHeader({ run, reserve }: { run: RunDetail; reserve: boolean }) {
  return (
    <header className="px-4 pt-2 pb-3 sm:px-6">
      <div className="flex min-h-10 flex-wrap items-center gap-x-3 gap-y-1 lg:flex-nowrap">
        <span className="flex shrink-0 items-center">
          <BackToRuns />
          <AdjacentRuns runId={run.id} />
        </span>
        <h1 className="min-w-0 truncate font-semibold text-base" title={run.targetName}>
          {run.targetName}
        </h1>
        <span className="flex shrink-0 items-center text-muted">
          <span>
            run{" "}
            <span className="mono" title={run.id}>
              {shortId(run.id)}
            </span>
          </span>
          <CopyButton label="Copy the run's id" text={run.id} />
        </span>
        {/* As wide as the widest, since on a phone a wider one would wrap. */}
        <Status className={reserve ? "min-w-24" : ""} status={run.status} waiting={run.waiting} />
        <div className="ml-auto flex items-center gap-2">
          <RunActions reserve={reserve} run={run} />
          <MoreMenu run={run} />
        </div>
      </div>
      <dl className="flex flex-wrap gap-x-4 gap-y-0.5 text-muted max-lg:mt-1.5">
        <HeaderFact name="Started by">
          <StartedBy run={run} />
        </HeaderFact>
        <HeaderFact name="Version">
          <Version run={run} />
        </HeaderFact>
        {run.model ? <HeaderFact name="Model">{run.model}</HeaderFact> : null}
        <RunTimes reserve={reserve} run={run} />
        <HeaderFact name="Duration" strong>
          <span className={reserve ? "inline-block min-w-16" : undefined}>
            <Elapsed from={run.startedAt} lively to={run.finishedAt} />
            {run.startedAt === null ? "—" : null}
          </span>
        </HeaderFact>
        <HeaderFact name="Tokens" strong>
          <span
            className={reserve ? "inline-block min-w-22" : undefined}
            title={`${formatCount(run.inputTokens)} in, ${formatCount(run.outputTokens)} out`}
          >
            {formatPlural(run.tokens, "token")}
          </span>
        </HeaderFact>
        <HeaderFact name="Credits" strong>
          {formatCredits(run.credits)} credits
          {run.children > 0 ? (
            <span className="text-muted"> ({formatCredits(run.creditsWithChildren)} with child runs)</span>
          ) : null}
        </HeaderFact>
        <HeaderFact name="Steps" strong>
          {formatPlural(run.steps, "step")}
        </HeaderFact>
        {run.cancelledBy && run.status === "Cancelled" ? (
          <HeaderFact name="Cancelled">cancelled by {run.cancelledBy}</HeaderFact>
        ) : null}
        {run.parentRunId ? (
          <HeaderFact name="Parent">
            <Link className="text-accent underline" href={`/runs/${run.parentRunId}`}>
              parent run {shortId(run.parentRunId)}
            </Link>
          </HeaderFact>
        ) : null}
      </dl>
    </header>
  );
}

function StartedBy({ run }: { run: RunDetail }) {
  const source = describeSource(run);
  const href = run.triggerId
    ? `/runs?trigger=${run.triggerId}`
    : run.apiKeyId
      ? `/runs?key=${run.apiKeyId}`
      : null;
  return href ? (
    <Link className="hover:text-ink hover:underline" href={href}>
      {source}
    </Link>
  ) : (
    source
  );
}

function MoreMenu({ run }: { run: RunDetail }) {
  const notify = useNotify();
  const input = usePayload(run.input, `/api/runs/${run.id}/text?field=input`);
  const copy = async (text: () => string | Promise<string>, done: string, then?: string) => {
    try {
      await copyText(await text());
      notify(done, then);
    } catch (error) {
      notify("Copying failed", describeError(error).message);
    }
  };
  const copyCurl = () =>
    copy(
      async () => startingCall(run, await input.read()),
      "Copied as curl",
      "Set API_KEY to one of your keys before running it.",
    );
  const copyId = () => copy(() => run.id, "Run id copied");
  const file = `/api/runs/${run.id}/download`;
  usePageActions([
    { label: "Copy as curl", icon: <TerminalIcon />, run: () => void copyCurl() },
    { label: "Copy the run's id", icon: <CopyIcon />, run: () => void copyId() },
    { label: "Download the run as JSON", icon: <DownloadIcon />, href: file, download: true },
  ]);
  return (
    <Menu
      label="More"
      trigger={<MoreIcon />}
      triggerClass="inline-flex size-8 items-center justify-center rounded-md border border-line-strong bg-raised hover:bg-hover"
    >
      <MenuItem onClick={() => void copyCurl()}>
        <TerminalIcon className="text-muted" />
        Copy as curl
      </MenuItem>
      <MenuItem onClick={() => void copyId()}>
        <CopyIcon className="text-muted" />
        Copy id
      </MenuItem>
      <MenuLink download href={file}>
        <DownloadIcon className="text-muted" />
        Download as JSON
      </MenuLink>
    </Menu>
  );
}

/** A command that starts the same run again. */
function startingCall(run: RunDetail, input: string): string {
  const path = run.kind === "agent" ? `/v1/agents/run/${run.agentId}` : `/v1/tools/run/${run.toolId}`;
  const body = run.kind === "agent" ? JSON.stringify({ userMessage: input }) : input;
  return curlOf({ url: window.location.origin + path, body });
}
