import { expect, it } from "vitest";
import { KEY_SCOPES, type KeyScope } from "@/server/base/actor";
import { newId } from "@/server/base/ids";
import { newApiKey } from "@/server/catalog/auth/api-key";
import { executeRun } from "@/testing/execute";
import { createTenant, openWorld, scriptedModels, type World } from "@/testing/world";
import type { ApiRequest, ApiResponse } from "./http/api-request";
import { respondToPoll } from "./poll";
import { respondToRest } from "./rest";
import { ENDPOINTS } from "./v1/endpoints";

/**
 * Rights to read depend only on the key's scopes and targets, in the executing process and another, with and
 * without filled caches.
 */

// Is in the input and output of all runs, and in no id.
const MARK = "424242424242";

const world = await openWorld({ models: scriptedModels(() => ({ content: `Out ${MARK}` })) });
const beside = await openWorld({ beside: world });
const tenant = await createTenant(world);
await world.db.plan.updateMany({ data: { readsPerMinute: null, startsPerMinute: null } });

type Key = { name: string; key: string; scopes: readonly KeyScope[]; mayUse: boolean };

const SCOPES: readonly (readonly KeyScope[])[] = [[], ...KEY_SCOPES.map((scope) => [scope]), KEY_SCOPES];
const TARGETS = { all: [], own: [tenant.agentId, tenant.toolId], others: [newId()] };

const keys = await Promise.all(
  SCOPES.flatMap((scopes) =>
    Object.entries(TARGETS).map(async ([targets, targetIds]): Promise<Key> => {
      const { key, prefix, hash } = newApiKey();
      const name = `${scopes.join(" and ") || "no scope"}, ${targets} targets`;
      await world.db.apiKey.create({
        data: {
          id: newId(),
          organizationId: tenant.orgId,
          name,
          prefix,
          hash: new Uint8Array(hash),
          scopes: [...scopes],
          targetIds,
          createdBy: "operator",
          createdAt: world.clock.now(),
        },
      });
      return { name, key, scopes, mayUse: targets !== "others" };
    }),
  ),
);

const BODIES = { agent: { userMessage: `In ${MARK}` }, tool: { a: Number(MARK), b: 0 } };
const TARGET_IDS = { agent: tenant.agentId, tool: tenant.toolId };

function rulesOf(procedure: string) {
  const endpoint = ENDPOINTS[procedure];
  if (endpoint?.kind === undefined) throw new Error(`${procedure} is not about runs of one kind`);
  const { kind, parameters, ...rules } = endpoint;
  // Starts and estimates; the others name a run.
  return { ...rules, kind, namesTarget: parameters.includes(`${kind}Id`) };
}

function requestOf(procedure: string, key: string, runId: string): ApiRequest {
  const { method, path, kind, namesTarget } = rulesOf(procedure);
  const headers = new Map([
    ["x-api-key", key],
    ["content-type", "application/json"],
    // All keys repeat the same start.
    ["idempotency-key", procedure],
  ]);
  return {
    method,
    path: path.replace(/\{.*\}/, namesTarget ? TARGET_IDS[kind] : runId),
    query: "",
    header: (name) => headers.get(name) ?? null,
    headers: () => headers,
    peer: "192.0.2.1",
    signal: new AbortController().signal,
    readBody: async () => Buffer.from(JSON.stringify(BODIES[kind])),
  };
}

async function ask(process: World, request: ApiRequest): Promise<ApiResponse[]> {
  const key = request.header("x-api-key") ?? undefined;
  const poll =
    request.method === "GET" ? await respondToPoll(process, request.path, { "x-api-key": key }) : null;
  return [...(poll ? [poll] : []), await respondToRest(process, request)];
}

const textOf = ({ body, events }: ApiResponse) => (events ? new Response(events).text() : body);

const [full] = keys.filter(({ scopes, mayUse }) => scopes === KEY_SCOPES && mayUse);

async function endedRun(kind: "agent" | "tool"): Promise<string> {
  const [started] = await ask(world, requestOf(`${kind}s.run`, full?.key ?? "", ""));
  const { id } = JSON.parse(started?.body ?? "{}");
  await executeRun(world, id);
  return id;
}
const runIds = { agent: await endedRun("agent"), tool: await endedRun("tool") };

const OF_ONE_KIND = Object.entries(ENDPOINTS).flatMap(([name, { kind }]) =>
  kind === undefined ? [] : [name],
);

// The others have their own tests (v1/management.db.test.ts).
it.each(OF_ONE_KIND)("%s shows a key no more than its scopes and targets allow", async (procedure) => {
  const { scope, kind, namesTarget } = rulesOf(procedure);
  const runId = runIds[kind];
  let shown = 0;
  // Keys that may read come last, and fill the caches for the second round.
  for (const process of [beside, world, beside, world]) {
    for (const { name, key, scopes, mayUse } of keys) {
      const answers = await ask(process, requestOf(procedure, key, runId));
      const rejection = !scopes.includes(scope) || (namesTarget && !mayUse) ? 403 : mayUse ? 200 : 404;
      expect(answers.map(({ status }) => [name, status])).toEqual(answers.map(() => [name, rejection]));
      const texts = await Promise.all(answers.map(textOf));
      const marks = texts.filter((text) => text.includes(MARK)).length;
      if (!scopes.includes("runs:read") || rejection !== 200) expect([name, marks]).toEqual([name, 0]);
      shown += marks;
    }
  }
  // The mark is in each view that has message, input or output.
  const hasContent = !namesTarget && !["tools.status", "tools.cancel"].includes(procedure);
  expect(shown > 0).toBe(hasContent);
});

it("a cancel by a key that may not read answers like a start", async () => {
  const [startOnly] = keys.filter(({ scopes }) => scopes.join() === "runs:start");
  for (const kind of ["agent", "tool"] as const) {
    const [answer] = await ask(world, requestOf(`${kind}s.cancel`, startOnly?.key ?? "", runIds[kind]));
    expect(JSON.parse(answer?.body ?? "{}")).toEqual({
      success: true,
      id: runIds[kind],
      status: "Completed",
      message: "The run has ended.",
    });
  }
});
