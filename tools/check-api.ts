import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { z } from "zod";
import { KEY_SCOPES } from "@/server/base/actor";
import { webhookPath } from "@/server/contract/webhook";
import { applyDefinitions, startService, untilReady } from "@/testing/services/service-process";
import { createThrowaway, removeThrowaway } from "../scripts/postgres/throwaway.mjs";
import { freePort } from "../scripts/support/ports.mjs";

/**
 * `npm run check:api`: Schemathesis calls every operation of the OpenAPI document on the built service, with ids that
 * exist. Fails for a status of 500 or more, and for an answer that the document does not have. Schemathesis is a program
 * of yours: `pip install schemathesis`. -- --program schemathesis --examples 30
 */
const { values } = parseArgs({
  options: {
    program: { type: "string", default: "schemathesis" },
    examples: { type: "string", default: "30" },
    seed: { type: "string", default: "1" },
  },
});

const CHECKS = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
];

const DEFINITIONS = `organizations:
  - slug: check
    credits: 100000
    plan: { startsPerMinute: unlimited, readsPerMinute: unlimited, concurrency: 50 }
    apiKeys: [{ name: check, scopes: [${KEY_SCOPES.map((scope) => `"${scope}"`).join(", ")}] }]
    agents: [{ slug: helper, name: Helper, model: gpt-5-mini, systemPrompt: You help., functions: [calculate] }]
    tools:
      - slug: sum
        name: Sum
        parameters: { type: object, properties: { a: { type: number } } }
        steps: [{ id: one, uses: calculate, with: { expression: 1 + 1 } }]
        output: "{{ steps.one }}"
    triggers: [{ slug: inbound, tool: sum }]
    schedules: [{ slug: yearly, tool: sum, cron: 0 0 1 1 * }]
    callbacks: [{ slug: ends, url: https://receiver.example.com/ends, events: [run.failed] }]
`;

/** Their answers are texts. Schemathesis would compare what it reads in them with the schema of a text. */
const TEXTS = ["followAgentRun", "followToolRun", "exportDefinitionFile"];
const withoutSchema = (operationId: string) => [
  "[[operations]]",
  `include-operation-id = "${operationId}"`,
  "[operations.checks]",
  "response_schema_conformance.enabled = false",
];

const started = z.object({ id: z.string() });
const page = z.object({ data: z.array(started).min(1) });

execFileSync(process.execPath, ["scripts/build.mjs"], { stdio: "inherit" });
const folder = await createThrowaway();
const port = await freePort();
const origin = `http://127.0.0.1:${port}`;
const env = {
  ...process.env,
  PORT: String(port),
  STEPWELL_DATA_DIR: folder,
  STEPWELL_ENV_FILE: "",
  STEPWELL_DEMO: "on",
};
const child = startService({ env });
try {
  if (!(await untilReady(child, port))) throw new Error("The service ended.");
  const [organization] = await applyDefinitions(DEFINITIONS, { env });
  if (organization === undefined) throw new Error("The organization was not created.");
  const key = organization.apiKeys[0]?.key ?? "";
  const call = async (path: string, body?: string) => {
    const headers = { "X-API-Key": key, "Content-Type": "application/json" };
    const response = await fetch(origin + path, { headers, ...(body && { method: "POST", body }) });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const idIn = async (path: string) => page.parse(await call(path)).data[0]?.id;
  const [agentId, toolId] = [await idIn("/v1/agents"), await idIn("/v1/tools")];
  const token = organization.triggers[0]?.token ?? "";
  const agentRunId = started.parse(
    await call(`/v1/agents/run/${agentId}`, '{"userMessage":"What is 6 * 7?"}'),
  ).id;
  const toolRunId = started.parse(await call(`/v1/tools/run/${toolId}`, "{}")).id;
  await call(webhookPath(token), "{}");
  await sleep(3_000);
  const ids = {
    agentId,
    toolId,
    triggerId: await idIn("/v1/triggers"),
    scheduleId: await idIn("/v1/schedules"),
    callbackId: await idIn("/v1/callbacks"),
    agentRunId,
    toolRunId,
    runId: toolRunId,
    deliveryId: await idIn("/v1/deliveries"),
    token,
  };
  const lines = Object.entries(ids).map(([name, id]) => `"path.${name}" = "${id}"`);
  const config = join(folder, "schemathesis.toml");
  // As an option, `--checks` would also enable those that an operation has disabled.
  const checks = ["[checks]", "enabled = false", ...CHECKS.map((name) => `${name}.enabled = true`)];
  writeFileSync(config, ["[parameters]", ...lines, ...checks, ...TEXTS.flatMap(withoutSchema)].join("\n"));
  const run = (...options: string[]) =>
    spawnSync(
      values.program,
      [
        ...["--config-file", config, "run", `${origin}/openapi.json`, "--url", origin],
        ...["--header", `X-API-Key: ${key}`, "--continue-on-failure"],
        ...["--max-examples", values.examples, "--seed", values.seed, "--request-timeout", "40"],
        ...["--phases", "examples,coverage,fuzzing", "--suppress-health-check", "all"],
        ...options,
      ],
      { cwd: folder, stdio: "inherit" },
    ).status;
  // Operations that archive the definitions come last.
  const passes = [run("--exclude-method", "DELETE"), run("--include-method", "DELETE")];
  process.exitCode = passes.every((status) => status === 0) ? 0 : 1;
} finally {
  child.kill("SIGINT");
  await once(child, "exit");
  await removeThrowaway(folder);
}
