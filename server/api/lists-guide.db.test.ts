import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { KEY_SCOPES, SCOPE_TEXTS } from "@/server/base/actor";
import { RUN_SOURCES } from "@/server/contract/enums";
import { hasProgram } from "@/testing/programs";
import { insertRun } from "@/testing/runs";
import { createKey, openRestServer } from "@/testing/servers/rest-server";
import { createTenant, createTrigger, openWorld } from "@/testing/world";
import { ENDPOINTS } from "./v1/endpoints";
import { handleWebhook } from "./webhook";

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/lists.md"), "utf8");
const SAMPLES = [...PAGE.matchAll(/^## ([^\n]+)\n(?:(?!^## )[\s\S])*?^```sh run\n([\s\S]*?)^```$/gm)].map(
  ([, title = "", code = ""]) => ({ title, code }),
);

const world = await openWorld();
const { origin } = await openRestServer(world);
const tenant = await createTenant(world);
const { token, id: triggerId } = await createTrigger(world, tenant);
const headers = { "Content-Type": "application/json" };
await handleWebhook(
  world,
  new Request(`http://stepwell.test/webhooks/${token}`, { method: "POST", headers, body: '{"order":42}' }),
);
const delivery = await world.db.delivery.findFirstOrThrow({ where: { triggerId } });
const runs = [
  await insertRun(world, tenant, { kind: "agent", input: "Hello" }),
  await insertRun(world, tenant, { kind: "agent", status: "Failed" }),
  await insertRun(world, tenant, { kind: "tool" }),
];

const cwd = mkdtempSync(join(tmpdir(), "stepwell-lists-"));
afterAll(() => rmSync(cwd, { recursive: true }));
const env = {
  BASE: origin,
  KEY: await createKey(world, tenant),
  RUN_ID: delivery.runId ?? "",
  DELIVERY_ID: delivery.id,
  AGENT_ID: tenant.agentId,
  TRIGGER_ID: triggerId,
};

it("lists the scopes of keys in a table, in the words of the keys page", () => {
  const listed = [...PAGE.matchAll(/^\| `(\w+:\w+)` \| (.*) \|$/gm)].map(([, scope, may]) => [scope, may]);
  const texts = KEY_SCOPES.map((scope) => [scope, SCOPE_TEXTS[scope].may]);
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(texts));
});

it("names the parameters that filter runs, and the sources", () => {
  const [, rows = ""] = /^\| Parameter \| Only runs … \|\n.*\n((?:\|.*\n)+)/m.exec(PAGE) ?? [];
  const namesIn = (text = "") => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name).sort();
  const cells = rows.split("\n").map((row) => row.split(" | "));
  const filters = ENDPOINTS["runs.list"]?.query.filter((name) => !["limit", "cursor"].includes(name));
  expect(cells.flatMap(([names]) => namesIn(names)).sort()).toEqual(filters?.sort());
  expect(namesIn(cells.find(([name]) => name === "| `source`")?.[1])).toEqual([...RUN_SOURCES].sort());
});

it("has a sample for each task", () => {
  expect(SAMPLES.map(({ title }) => title)).toEqual([
    "List runs",
    "Read all pages",
    "Read, cancel and repeat a run",
    "Read a receipt",
    "Read credits and metrics",
    "List and redeliver deliveries",
    "Read definitions",
    "Create and change definitions",
    "Archive a definition",
    "Apply and export a definition file",
  ]);
});

it.skipIf(!["sh", "curl"].every(hasProgram)).each(SAMPLES)(
  "the sample of “$title” works",
  async ({ title, code }) => {
    const { stdout } = await promisify(execFile)("sh", ["-euc", code], {
      cwd,
      env: { ...process.env, ...env },
    });
    if (title !== "Read all pages") return expect(stdout).toMatch(/^\{"/);
    const listed = stdout.trim().split("\n");
    expect(listed).toEqual(expect.arrayContaining(runs));
    expect(new Set(listed).size).toBe(listed.length);
  },
);
