import type { MemberActor } from "@/server/base/actor";
import { listAudit } from "@/server/base/audit";
import { mintOrgId } from "@/server/base/mint-org-id";
import { listAgents, listTools, listTriggers } from "@/server/catalog/overview";
import { listDeliveries } from "@/server/catalog/webhooks/inspect-deliveries";
import { listLedger, readBalance } from "@/server/credits/read-ledger";
import { RUN_PERIODS } from "@/server/runs/read/enums";
import { exportRuns } from "@/server/runs/read/export";
import { countStatuses } from "@/server/runs/read/find/count-statuses";
import { groupErrors } from "@/server/runs/read/find/error-groups";
import type { RunFilter } from "@/server/runs/read/find/filter";
import { findFitting, findRunIds } from "@/server/runs/read/find/find";
import { listRuns } from "@/server/runs/read/list";
import { readRunMetrics } from "@/server/runs/read/metrics/metrics";
import type { Services } from "@/server/services";
import { type Landmarks, WORDS } from "./million-runs";

type Question = { name: string; boundMs: number; ask: () => Promise<unknown> };

const question = (name: string, ask: () => Promise<unknown>, boundMs = 100) => ({ name, ask, boundMs });
const METRICS_MS = 250;

/** The questions of the dashboard to a database with a million runs. */
export function questionsOf(services: Services, at: Landmarks): Question[] {
  const actor: MemberActor = {
    kind: "member",
    orgId: mintOrgId(at.orgId),
    userId: at.user,
    name: "Person 0",
    role: "owner",
  };
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  /** The smallest UUID v7 of a day in the middle of the history. */
  const deep = `${Math.floor(Date.now() - 45 * 86_400_000)
    .toString(16)
    .padStart(12, "0")
    .replace(/^(.{8})/, "$1-")}-7000-8000-000000000000`;
  /** As many as a stream names at once. */
  const changed = findRunIds(services, actor.orgId, { filter: {}, page: { before: deep, limit: 200 } });
  const list = (name: string, filter: RunFilter, before?: string) =>
    question(`list: ${name}`, () => listRuns(services, actor, { filter, before, limit: 50 }));
  const metrics = (name: string, subject: Pick<Parameters<typeof readRunMetrics>[2], "subject"> = {}) =>
    RUN_PERIODS.map((period) => {
      const ask = () => readRunMetrics(services, actor, { period, ...subject });
      return question(`metrics: ${period}${name}`, ask, METRICS_MS);
    });
  const ledger = (name: string, more: { cursor?: number; kind?: "grant" | "refund" } = {}) =>
    question(`ledger: ${name}`, () => listLedger(services, actor, { holds: true, limit: 50, ...more }));
  const deliveries = (name: string, outcome?: "rejected" | "repeated") =>
    question(`deliveries: ${name}`, () =>
      listDeliveries(services, actor, { triggerId: at.trigger, outcome, limit: 50 }),
    );
  return [
    list("first page", {}),
    list("a page in the middle of the history", {}, deep),
    list("root runs", { source: "outside" }),
    list("root runs, deep", { source: "outside" }, deep),
    list("root runs, Failed", { source: "outside", status: ["Failed"] }),
    question("statuses of root runs", () =>
      countStatuses(services, actor, { filter: { source: "outside" } }),
    ),
    question("statuses of root runs, 24 hours", () =>
      countStatuses(services, actor, { filter: { source: "outside", period: "24h" } }),
    ),
    question("equal errors of root runs", () =>
      groupErrors(services, actor, { filter: { source: "outside" } }),
    ),
    list("status Failed", { status: ["Failed"] }),
    list("status Cancelled, deep", { status: ["Cancelled"] }, deep),
    list("status Pending or Running", { status: ["Pending", "Running"] }),
    list("all statuses but one", { status: ["Pending", "Running", "Completed", "Failed"] }),
    list("kind", { kind: "tool" }),
    list("source webhook", { source: "webhook" }),
    list("source operator", { source: "operator" }),
    list("common agent", { agentId: at.commonAgent }),
    list("rare tool", { toolId: at.rareTool }),
    list("trigger", { triggerId: at.trigger }),
    list("key, deep", { apiKeyId: at.key }, deep),
    list("last hour", { period: "1h" }),
    list("last 30 days, Failed", { period: "30d", status: ["Failed"] }),
    list("a day two months ago", { from: daysAgo(60), to: daysAgo(59) }),
    list("a day two months ago, Cancelled", { from: daysAgo(60), to: daysAgo(59), status: ["Cancelled"] }),
    list("rare tool and rare status", { toolId: at.rareTool, status: ["Cancelled"] }),
    list("common agent and Failed, which never meet", { agentId: at.commonAgent, status: ["Failed"] }),
    list("common tool and webhook, which never meet", { toolId: at.commonTool, source: "webhook" }),
    list("kind agent and common tool, which cannot meet", { toolId: at.commonTool, kind: "agent" }),
    list("common tool, Cancelled, 30 days: nothing", {
      toolId: at.commonTool,
      status: ["Cancelled"],
      period: "30d",
    }),
    list("person", { userId: at.user }),
    list("two statuses", { status: ["Failed", "Cancelled"] }),
    list("took over a minute", { minDurationMs: 60_000 }),
    list("took over an hour: nearly none", { minDurationMs: 3_600_000 }),
    list("took over a day: none", { minDurationMs: 86_400_000 }),
    list("cost over 50 credits", { minCredits: "50" }),
    list("between 1,000 and 1,010 tokens", { minTokens: 1_000, maxTokens: 1_010 }),
    list("Failed, a tool, over a minute", {
      status: ["Failed"],
      toolId: at.commonTool,
      minDurationMs: 60_000,
    }),
    list("text: very common word", { text: WORDS.common }),
    list("text: very common word, deep", { text: WORDS.common }, deep),
    list("text: word in 2 %", { text: WORDS.some }),
    list("text: rare word", { text: WORDS.rare }),
    list("text: word of one run", { text: at.uniqueWord }),
    list("text: word of no run", { text: "xylophonist" }),
    list("text: beginning of every reference", { text: "ref1" }),
    list("text: two letters", { text: "ka" }),
    list("text: one letter", { text: "a" }),
    list("text: two letters and a word of no run", { text: "ka xylophonist" }),
    list("text: two common words", { text: "order customer" }),
    list("text: words of errors", { text: "timeout shard13" }),
    list("text: common word, Failed", { text: WORDS.common, status: ["Failed"] }),
    list("text: common word, rare tool", { text: WORDS.common, toolId: at.rareTool }),
    list("text: common word, combination without runs", {
      text: WORDS.common,
      agentId: at.commonAgent,
      status: ["Failed"],
    }),
    list("text: rare word, common agent", { text: WORDS.rare, agentId: at.commonAgent }),
    list("text: an id's beginning", { text: at.orgId.slice(0, 8) }),
    ...[
      { name: "all", filter: {} },
      { name: "a common word", filter: { text: WORDS.common } },
      { name: "a word of no run", filter: { text: "xylophonist" } },
    ].flatMap(({ name, filter }) => [
      question(`live: a thousand ids, ${name}`, () =>
        findRunIds(services, actor.orgId, { filter, page: { limit: 1_000 } }),
      ),
      question(`live: which of 200 fit, ${name}`, async () =>
        findFitting(services, actor, { filter, ids: await changed }),
      ),
    ]),
    ...metrics(""),
    ...metrics(", common agent", { subject: { dimension: "agent", id: at.commonAgent } }),
    question("balance", () => readBalance(services, actor)),
    ledger("first page"),
    ledger("deep page", { cursor: 1_500_000 }),
    ledger("grants, of which there is one", { kind: "grant" }),
    ledger("refunds, of which there are none", { kind: "refund" }),
    question("audit log: first page", () => listAudit(services, actor, { limit: 50 })),
    question("audit log: deep page", () => listAudit(services, actor, { cursor: deep, limit: 50 })),
    deliveries("first page"),
    deliveries("rejected", "rejected"),
    deliveries("repeated, of which there are none", "repeated"),
    question("agents with their last runs", () => listAgents(services, actor)),
    question("tools with their last runs", () => listTools(services, actor)),
    question("triggers with their last runs", () => listTriggers(services, actor)),
    question("export: first piece", async () => {
      const pieces = exportRuns(services, actor, { filter: {}, format: "csv" });
      await pieces.next();
      await pieces.next();
      await pieces.return(undefined);
    }),
  ];
}
