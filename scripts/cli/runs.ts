import { isUuid } from "@/server/base/ids";
import { mintOrgId } from "@/server/base/mint-org-id";
import { operatorOf } from "@/server/catalog/organization/organizations";
import { RUN_STATUSES } from "@/server/contract/enums";
import { listNewestRuns } from "@/server/operate/newest-runs";
import { listProcesses } from "@/server/operate/system/processes";
import { cancelRun } from "@/server/runs/cancel";
import type { Services } from "@/server/services";
import { choose, declareCommand, flag, LIMIT, option, readLimit, renderTable } from "./command";

export const runCommands = [
  declareCommand({
    name: "runs list",
    parameters: ["[ORG]"],
    summary: "List the newest runs",
    options: { status: option("STATUS", RUN_STATUSES.join(", ")), ...LIMIT },
    async run({ services, terminal }, [slug], values) {
      const status = values.status === undefined ? null : choose(RUN_STATUSES, values.status, "status");
      const limit = readLimit(values.limit);
      const orgId = slug === undefined ? null : (await operatorOf(services, slug)).orgId;
      const runs = await listNewestRuns(services, { orgId, status, limit });
      if (runs.length === 0) {
        terminal.err("No runs found.");
        return "";
      }
      const now = services.clock.now();
      return renderTable(runs, {
        ID: ({ id }) => id,
        ORG: ({ organization }) => organization.slug,
        KIND: ({ kind }) => kind,
        TARGET: ({ targetName }) => targetName,
        STATUS: ({ status }) => status,
        STEPS: ({ stepsExecuted }) => stepsExecuted,
        CREDITS: ({ creditsUsed }) => creditsUsed,
        CREATED: ({ createdAt }) => createdAt,
        DURATION: ({ startedAt, finishedAt }) => renderDuration(startedAt, finishedAt ?? now),
      });
    },
  }),
  declareCommand({
    name: "runs show",
    parameters: ["RUN"],
    summary: "Print a run with its steps",
    options: { full: flag("full inputs and outputs") },
    async run({ services }, [given], { full }) {
      const { id } = await findRun(services, given);
      const run = await services.db.run.findUniqueOrThrow({
        where: { id },
        include: { organization: { select: { slug: true } }, steps: { orderBy: { stepNumber: "asc" } } },
      });
      const cut = (text: string) => (full || text.length <= 300 ? text : `${text.slice(0, 300)}…`);
      const facts: [string, string | null | undefined][] = [
        ["run", run.id],
        ["organization", run.organization.slug],
        [run.kind, `${run.targetName} (version ${run.targetVersion})`],
        ["model", run.model],
        ["status", run.status],
        ["cancelled by", run.cancelledBy],
        ["source", run.source],
        ["created", run.createdAt.toISOString()],
        ["started", run.startedAt?.toISOString()],
        ["finished", run.finishedAt?.toISOString()],
        ["tokens", `${run.inputTokens} in, ${run.outputTokens} out`],
        ["actions", String(run.actionsUsed)],
        ["credits", `${run.creditsUsed.toFixed()} used, ${run.held.toFixed()} held`],
        ["input", cut(run.input)],
        ["output", run.output && cut(run.output)],
        ["error", run.errorMessage],
      ];
      const steps = run.steps.flatMap((step) => [
        "",
        `step ${step.stepNumber} (iteration ${step.iterationNumber})  ${step.toolName}  ${step.status}` +
          `${step.durationMs === null ? "" : `  ${step.durationMs} ms`}`,
        `  input   ${cut(step.input)}`,
        ...(step.output === null ? [] : [`  output  ${cut(step.output)}`]),
        ...(step.errorMessage === null ? [] : [`  error   ${step.errorMessage}`]),
      ]);
      const shown = facts.flatMap(([name, value]) => (value == null ? [] : `${name.padEnd(13)} ${value}`));
      return [...shown, ...steps].join("\n");
    },
  }),
  declareCommand({
    name: "runs cancel",
    parameters: ["RUN"],
    summary: "Cancel a run that has not ended",
    options: {},
    async run({ services }, [given]) {
      const found = await findRun(services, given);
      await cancelRun(services, mintOrgId(found.organizationId), { runId: found.id, by: "the operator" });
      const { status, finishedAt } = await findRun(services, found.id);
      if (found.finishedAt !== null) return `The run had already ended: it is ${status}.`;
      if (finishedAt !== null) return `The run is ${status}.`;
      // A process that crashed still has its runs; another one takes them over.
      const processes = await listProcesses(services);
      return processes.some(({ settings }) => settings?.role !== "web")
        ? "The run is being cancelled. It ends within 30 seconds."
        : "No process executes runs. The run will be cancelled when one starts.";
    },
  }),
  declareCommand({
    name: "audit list",
    parameters: ["[ORG]"],
    summary: "List the newest changes to the installation, or to an organization",
    options: LIMIT,
    async run({ services }, [slug], { limit }) {
      const organizationId = slug === undefined ? null : (await operatorOf(services, slug)).orgId;
      const lines = await services.db.auditEntry.findMany({
        where: { organizationId },
        orderBy: { id: "desc" },
        take: readLimit(limit),
      });
      return renderTable(lines, {
        TIME: ({ createdAt }) => createdAt,
        BY: ({ actorName }) => actorName,
        ACTION: ({ action }) => action,
        SUBJECT: ({ subjectName }) => subjectName,
        CHANGES: ({ changes }) => changes,
      });
    },
  }),
];

async function findRun(services: Pick<Services, "db">, id: string) {
  const run = isUuid(id) ? await services.db.run.findUnique({ where: { id } }) : null;
  if (!run) throw new Error(`There is no run "${id}".`);
  return run;
}

function renderDuration(from: Date | null, to: Date): string {
  if (from === null) return "";
  const ms = to.getTime() - from.getTime();
  return ms < 10_000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}
