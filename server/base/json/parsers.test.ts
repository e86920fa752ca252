import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

// May call JSON.parse, because their texts have no tenants' values or only need a check. Others call
// `readJson`, which keeps exact numbers.
const OWN_TEXTS = new Set([
  "app/(dashboard)/_editor/tool/catalog.tsx",
  "app/(dashboard)/runs/(list)/use-live-runs.ts",
  "app/(dashboard)/runs/[runId]/use-live-run.ts",
  "app/_ui/json/spacing.ts",
  "app/_ui/text/long-text.ts",
  "serve/pages.ts",
  "server/api/try/test-call.ts",
  "server/base/db/plain-data.ts",
  "server/base/json/json.ts",
  "server/base/version.ts",
  "server/catalog/definition-file/yaml-document.ts",
  "server/catalog/webhooks/redeliver.ts",
  "server/catalog/webhooks/senders/signature-check.ts",
  "server/runs/engine/takeover.ts",
  "server/runs/engine/write/flush-items.ts",
  "server/runs/find-model-providers.ts",
  "server/runs/fork/take-over.ts",
  "server/work/functions/core/registry.ts",
  // The protocol's package parses all numbers of a call itself.
  "server/api/mcp/call-tool.ts",
  // Their numbers are marked.
  "server/work/json-schema/exact-keywords.ts",
  "server/work/json-schema/schema.ts",
]);

it("only readers of our own texts call JSON.parse", () => {
  const files = ["app", "inngest", "serve", "server"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  );
  const callers = files.filter(
    (name) =>
      /(?<!\.test)\.tsx?$/.test(name) &&
      !name.includes("/generated/") &&
      /\bJSON\.parse\b/.test(readFileSync(name, "utf8").replace(/^\s*(?:\*|\/\/|\/\*\*).*$/gm, "")),
  );
  expect(callers.sort()).toEqual([...OWN_TEXTS].sort());
});
