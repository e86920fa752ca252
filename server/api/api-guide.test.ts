import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { UNACCEPTED } from "@/server/catalog/webhooks/delivery-bounds";
import { HTTP_STATUS } from "@/server/contract/errors";
import { IDEMPOTENCY_HOURS, MAX_IDEMPOTENCY_KEY_LENGTH } from "@/server/contract/limits";
import { JSON_TYPE } from "@/server/contract/media-types";
import {
  formatLimit,
  MAX_ANSWERS_BYTES,
  MAX_BODY_BYTES,
  MAX_FINAL_OUTPUT_BYTES,
  MAX_INSERTED_LENGTH,
  MAX_METADATA_BYTES,
  MAX_STEP_INPUTS_BYTES,
  MAX_STEP_OUTPUT_BYTES,
  MAX_STEP_OUTPUTS_BYTES,
  MAX_TREE_OUTPUTS_BYTES,
  MAX_USER_MESSAGE_BYTES,
} from "@/server/contract/sizes";
import { WEBHOOK, webhookPath } from "@/server/contract/webhook";
import { createOpenApiDocument } from "./openapi/document";
import { ENDPOINTS } from "./v1/endpoints";

const read = (name: string) => readFileSync(join(import.meta.dirname, "../../docs", name), "utf8");
const guide = read("api.md");
const webhooks = read("webhooks.md");
const contract = read("contract.md");

it("lists every error code with its status, and no other", () => {
  const listed = [...contract.matchAll(/^\| (\d{3}) \| `(\w+)` \| [^|]+ \| [^|]+ \|$/gm)];
  const table = Object.fromEntries(listed.map(([, status, code = ""]) => [code, Number(status)]));
  expect(listed).toHaveLength(Object.keys(HTTP_STATUS).length);
  expect(table).toEqual(HTTP_STATUS);
});

it("lists for webhooks only codes that exist, with their status there", () => {
  const listed = [...webhooks.matchAll(/^\| (\d{3}) `(\w+)` \|/gm)];
  expect(listed.length).toBeGreaterThan(8);
  const statuses = z.record(z.string(), z.number()).parse({ ...HTTP_STATUS, organization_suspended: 400 });
  for (const [, status, code = ""] of listed) {
    // A compressed body has the code of invalid requests and a status of its own.
    const expected = status === "415" ? 415 : statuses[code];
    expect([code, Number(status)]).toEqual([code, expected]);
  }
});

it("lists for webhooks the errors that the OpenAPI document lists", () => {
  const listed = [...webhooks.matchAll(/^\| (\d{3}) `(\w+)` \|/gm)].map(
    ([, status, code]) => `${status} ${code}`,
  );
  const document = createOpenApiDocument("https://stepwell.test");
  const examples = z.object({
    content: z.object({ "application/json": z.object({ examples: z.record(z.string(), z.unknown()) }) }),
  });
  const declared = Object.entries(document.paths?.[WEBHOOK.path]?.post?.responses ?? {}).flatMap(
    ([status, { $ref = "" }]) => {
      const named = document.components?.responses?.[$ref.split("/").at(-1)];
      if (named === undefined) return [];
      const { content } = examples.parse(named);
      return Object.keys(content["application/json"].examples).map((code) => `${status} ${code}`);
    },
  );
  expect(declared.sort()).toEqual(listed.sort());
});

it("lists every call with its scopes and limit, and no other", async () => {
  const byPath = Object.values(ENDPOINTS).sort((one, other) => (one.path < other.path ? -1 : 1));
  const rows = byPath.map(({ method, path, scope, alsoNeeds = [], limit }) => {
    const scopes = [scope, ...alsoNeeds].map((each) => `\`${each}\``).join(", ");
    return `| \`${method} ${path}\` | ${scopes} | ${limit.slice(0, -1)} |`;
  });
  const table = ["| Call | Scopes | Counts as |", "|---|---|---|", ...rows].join("\n");
  const page = contract.replace(
    /(<!-- All calls: .*? -->\n\n)[\s\S]*?(?=\n\n)/,
    (_, head: string) => head + table,
  );
  expect(page).toContain(table);
  const file = join(import.meta.dirname, "../../docs/contract.md");
  await expect(page, "Out of date: run `npm run docs:generate`.").toMatchFileSnapshot(file);
});

it("lists the sizes", () => {
  const most = Object.fromEntries(
    [...contract.matchAll(/^\| ([^|]+) \| (\d+ [KM]iB)\b[^|]*\|$/gm)].map(([, of = "", size]) => [of, size]),
  );
  const sizes = {
    "A tool's input, a webhook's body": MAX_BODY_BYTES,
    "A definition, the file of `/v1/apply`": MAX_BODY_BYTES,
    "`userMessage` of endpoint 2": MAX_USER_MESSAGE_BYTES,
    "A function's output": MAX_STEP_OUTPUT_BYTES,
    "The inputs of a tool run's calls together": MAX_STEP_INPUTS_BYTES,
    "The outputs of a run's steps together": MAX_STEP_OUTPUTS_BYTES,
    "The same with the steps of the runs in progress that it calls": MAX_TREE_OUTPUTS_BYTES,
    "The answers of an agent's model together, with reasoning and calls": MAX_ANSWERS_BYTES,
    "The values that one template inserts, in characters": MAX_INSERTED_LENGTH,
    "`X-Metadata`": MAX_METADATA_BYTES,
    "Final output": MAX_FINAL_OUTPUT_BYTES,
  };
  expect(most).toEqual(
    Object.fromEntries(Object.entries(sizes).map(([of, bytes]) => [of, formatLimit(bytes)])),
  );
});

it("states the webhook endpoint as it is declared", () => {
  const { method, path, maxBodyBytes, flood, unknownTokens } = WEBHOOK;
  const size = formatLimit(maxBodyBytes);
  expect(contract).toContain(`\`${method} ${path}\``);
  expect(webhooks).toContain(`${method} ${webhookPath("TOKEN")}\nContent-Type: ${JSON_TYPE}\n`);
  expect(webhooks).toContain(`| 413 \`payload_too_large\` | The body is larger than ${size} |`);
  expect(webhooks).toContain(
    `- ${flood.limit} calls in ${flood.seconds} seconds from one IP address to one trigger`,
  );
  expect(webhooks).toContain(
    `- ${unknownTokens.limit} calls in ${unknownTokens.seconds} seconds from one IP address to unknown tokens.`,
  );
  expect(webhooks).toContain(`- ${size} for a body.`);
  expect(webhooks).toContain(`a call larger than ${size}, or not a ${method}`);
  expect(webhooks).toContain(
    `up to ${formatLimit(UNACCEPTED.bodyBytes)} of bodies a minute for each trigger and process. ` +
      `Of a trigger's bodies, the newest ${formatLimit(UNACCEPTED.kept.bodyBytes)} are stored`,
  );
  expect(webhooks).toContain(`above ${flood.limit} in ${flood.seconds} seconds from one IP address`);
  expect(webhooks).toContain(`or ${formatLimit(UNACCEPTED.rowBytes)} of headers and small bodies a minute`);
  expect(webhooks).toContain(`send an id of 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} printable\nASCII characters`);
  expect(webhooks).toContain(`For ${IDEMPOTENCY_HOURS} hours:`);
});

it("lists the default limits of the database", () => {
  const schema = readFileSync(join(import.meta.dirname, "../../prisma/schema.prisma"), "utf8");
  const preset = (field: string) =>
    new RegExp(`^ +${field} +Int\\?? +@default\\((\\d+)\\)`, "m").exec(schema)?.[1];
  const [starts, reads] = [preset("startsPerMinute"), preset("readsPerMinute")];
  expect(guide).toContain(`An organization executes ${preset("concurrency")} runs at once`);
  expect(contract).toContain(`| Starts | ${starts} in 60 seconds`);
  expect(contract).toContain(`| Reads and cancels | ${reads} in 60 seconds`);
  expect(contract).toContain(
    `| Webhooks | ${preset("rateLimitRequests")} in ${preset("rateLimitSeconds")} seconds for each token`,
  );
  expect(webhooks).toContain(
    `- ${preset("rateLimitRequests")} accepted calls in any ${preset("rateLimitSeconds")} seconds`,
  );
});
