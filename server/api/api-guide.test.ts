import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { HTTP_STATUS } from "@/server/contract/errors";
import {
  MAX_BODY_BYTES,
  MAX_FINAL_OUTPUT_BYTES,
  MAX_STEP_OUTPUT_BYTES,
  MAX_USER_MESSAGE_BYTES,
} from "@/server/contract/sizes";
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
  const declared = Object.entries(document.paths?.["/webhooks/{token}"]?.post?.responses ?? {}).flatMap(
    ([status, { $ref = "" }]) => {
      const named = document.components?.responses?.[$ref.split("/").at(-1)];
      if (named === undefined) return [];
      const { content } = examples.parse(named);
      return Object.keys(content["application/json"].examples).map((code) => `${status} ${code}`);
    },
  );
  expect(declared.sort()).toEqual(listed.sort());
});

it("lists every endpoint with its scope and limit, and no other", () => {
  const listed = [
    ...contract.matchAll(
      /^\| [\d–] \| `(GET|POST) (\/v1\S+)` \| [^|]+ \| [^|]+ \| `([\w:]+)` \| (\w+) \|$/gm,
    ),
  ];
  const documented = listed.map(([, method, path, scope, limit]) => ({
    method,
    path,
    scope,
    limit: `${limit}s`,
  }));
  const declared = Object.values(ENDPOINTS).map(({ method, path, scope, limit }) => ({
    method,
    path,
    scope,
    limit,
  }));
  const sorted = (rows: { path?: string | undefined }[]) => rows.map((row) => JSON.stringify(row)).sort();
  expect(sorted(documented)).toEqual(sorted(declared));
});

it("lists the sizes", () => {
  const mib = (bytes: number) => `${bytes / 1024 ** 2} MiB`;
  expect(contract).toContain(`| A tool's input, a webhook's body | ${mib(MAX_BODY_BYTES)} |`);
  expect(contract).toContain(`| \`userMessage\` of endpoint 2 | ${MAX_USER_MESSAGE_BYTES / 1024} KiB;`);
  expect(contract).toContain(`| A function's output | ${mib(MAX_STEP_OUTPUT_BYTES)}:`);
  expect(contract).toContain(`| Final output | ${mib(MAX_FINAL_OUTPUT_BYTES)} |`);
  expect(webhooks).toContain(`- ${mib(MAX_BODY_BYTES)} for a body.`);
});

it("lists the default limits of the database", () => {
  const schema = readFileSync(join(import.meta.dirname, "../../prisma/schema.prisma"), "utf8");
  const preset = (field: string) =>
    new RegExp(`^ +${field} +Int\\?? +@default\\((\\d+)\\)`, "m").exec(schema)?.[1];
  const [starts, reads] = [preset("startsPerMinute"), preset("readsPerMinute")];
  expect(guide).toContain(`A key may make ${starts} starts and ${reads} reads in any 60 seconds`);
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
