import { mintOrgId } from "@/server/auth/mint-org-id";
import { operatorOf } from "@/server/catalog/organization/organizations";
import { RUN_STATUSES } from "@/server/contract/enums";
import { isUuid } from "@/server/ids";
import { cancelRun } from "@/server/runs/cancel";
import type { Services } from "@/server/services";
import { argument, CommandError, defineCommand, readLimit, renderTable, UsageError } from "./command";

export const listRunsCommand = defineCommand({
  name: "runs list",
  parameters: "[ORG]",
  summary: "List the newest runs",
  optionTexts: [
    ["--status STATUS", RUN_STATUSES.join(", ")],
    ["--limit N", "default 20"],
  ],
  options: { status: { type: "string" }, limit: { type: "string", default: "20" } },
  async run({ services, terminal }, { values, positionals }) {
    const status = RUN_STATUSES.find((known) => known.toLowerCase() === values.status?.toLowerCase());
    if (values.status !== undefined && status === undefined) {
      throw new UsageError(`"${values.status}" is not a status. Statuses: ${RUN_STATUSES.join(", ")}.`);
    }
    const limit = readLimit(values.limit);
    const [slug] = positionals;
    const actor = slug === undefined ? null : await operatorOf(services, slug);
    const runs = await services.db.run.findMany({
      where: { ...(actor ? { organizationId: actor.orgId } : {}), ...(status ? { status } : {}) },
      orderBy: { id: "desc" },
      take: limit,
      include: { organization: { select: { slug: true } } },
    });
    if (runs.length === 0) {
      terminal.err("No runs found.");
      return;
    }
    const now = services.clock.now();
    terminal.out(
      renderTable(
        ["ID", "ORG", "KIND", "TARGET", "STATUS", "STEPS", "CREDITS", "CREATED", "DURATION"],
        runs.map((run) => [
          run.id,
          run.organization.slug,
          run.kind,
          run.targetName,
          run.status,
          String(run.stepsExecuted),
          run.creditsUsed.toFixed(),
          run.createdAt.toISOString(),
          renderDuration(run.startedAt, run.finishedAt ?? now),
        ]),
        ["STEPS", "CREDITS", "DURATION"],
      ),
    );
  },
});

export const showRunCommand = defineCommand({
  name: "runs show",
  parameters: "RUN",
  summary: "Print a run with its steps",
  optionTexts: [["--full", "full inputs and outputs"]],
  options: { full: { type: "boolean", default: false } },
  async run({ services, terminal }, { values, positionals }) {
    const { id } = await findRun(services, argument(positionals, 0));
    const run = await services.db.run.findUniqueOrThrow({
      where: { id },
      include: { organization: { select: { slug: true } }, steps: { orderBy: { stepNumber: "asc" } } },
    });
    const cut = (text: string) => (values.full || text.length <= 300 ? text : `${text.slice(0, 300)}…`);
    const facts: [string, string | null][] = [
      ["run", run.id],
      ["organization", run.organization.slug],
      [run.kind, `${run.targetName} (version ${run.targetVersion})`],
      ["model", run.model],
      ["status", run.status],
      ["cancelled by", run.cancelledBy],
      ["source", run.source],
      ["created", run.createdAt.toISOString()],
      ["started", run.startedAt?.toISOString() ?? null],
      ["finished", run.finishedAt?.toISOString() ?? null],
      ["tokens", `${run.inputTokens} in, ${run.outputTokens} out`],
      ["actions", String(run.actionsUsed)],
      ["credits", `${run.creditsUsed.toFixed()} used, ${run.held.toFixed()} held`],
      ["input", cut(run.input)],
      ["output", run.output === null ? null : cut(run.output)],
      ["error", run.errorMessage],
    ];
    const shown = facts.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(13)} ${value}`]));
    for (const step of run.steps) {
      shown.push(
        "",
        `step ${step.stepNumber} (iteration ${step.iterationNumber})  ${step.toolName}  ${step.status}` +
          `${step.durationMs === null ? "" : `  ${step.durationMs} ms`}`,
        `  input   ${cut(step.input)}`,
        ...(step.output === null ? [] : [`  output  ${cut(step.output)}`]),
        ...(step.errorMessage === null ? [] : [`  error   ${step.errorMessage}`]),
      );
    }
    terminal.out(shown.join("\n"));
  },
});

export const cancelRunCommand = defineCommand({
  name: "runs cancel",
  parameters: "RUN",
  summary: "Cancel a run that has not ended",
  options: {},
  async run({ services, terminal }, { positionals }) {
    const found = await findRun(services, argument(positionals, 0));
    await cancelRun(services, mintOrgId(found.organizationId), { runId: found.id, by: "the operator" });
    const run = await services.db.run.findUniqueOrThrow({ where: { id: found.id } });
    if (found.status !== "Pending" && found.status !== "Running") {
      terminal.out(`The run had already ended: it is ${run.status}.`);
    } else if (run.status === "Pending" || run.status === "Running") {
      terminal.out("The run is being cancelled. It ends within 30 seconds.");
    } else {
      terminal.out(`The run is ${run.status}.`);
    }
  },
});

async function findRun(services: Services, id: string) {
  const run = isUuid(id) ? await services.db.run.findUnique({ where: { id } }) : null;
  if (!run) throw new CommandError(`There is no run "${id}".`);
  return run;
}

function renderDuration(from: Date | null, to: Date): string {
  if (from === null) return "";
  const ms = to.getTime() - from.getTime();
  return ms < 10_000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}
