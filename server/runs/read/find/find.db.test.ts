// @module-tag once
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MemberActor } from "@/server/base/actor";
import { SEARCHED_CHARACTERS } from "@/server/contract/limits";
import { createMember, insertRun } from "@/testing/runs";
import { createTenant, createTrigger, createWorld, type Tenant, type World } from "@/testing/world";
import { exportRuns } from "../export";
import { listRuns } from "../list";
import { type RunFilter, runFilter } from "./filter";
import { findFitting, findNeighbors, findRunIds } from "./find";
import { indexEndedRuns } from "./run-index";

type Made = Parameters<typeof insertRun>[2] & { id: string; createdAt: Date };

let world: World;
let tenant: Tenant;
let actor: MemberActor;
let triggerId: string;
const made: Made[] = [];
const HOUR = 3_600_000;

beforeAll(async () => {
  world = await createWorld();
  tenant = await createTenant(world);
  actor = await createMember(world, tenant, "viewer");
  ({ id: triggerId } = await createTrigger(world, tenant));
  const now = world.clock.now().getTime();
  const words = ["alpha", "beta", "gamma delta", "alphabet's \\\\ end", "it's"];
  for (let n = 0; n < 80; n += 1) {
    const status =
      (["Completed", "Failed", "Cancelled", "Running", "Pending"] as const)[n % 9] ?? "Completed";
    const source = (["operator", "api", "webhook", "dashboard", "run"] as const)[n % 5] ?? "operator";
    const run = {
      kind: n % 3 === 0 ? ("agent" as const) : ("tool" as const),
      status,
      source,
      admitted: status === "Running" && n % 2 === 1,
      ...(source === "webhook" ? { triggerId } : {}),
      ...(source === "dashboard" ? { userId: actor.userId } : {}),
      ...(source === "run" && made[0] ? { parentRunId: made[0].id } : {}),
      input: `{"n":${n},"word":"${words[n % 5]}"}`,
      // Over a month, so that a search covers many scopes.
      createdAt: new Date(now - (80 - n) * 9 * HOUR),
      error: "broken",
      ...(n % 4 === 0
        ? {}
        : { metadata: JSON.stringify({ customer: `c${n % 3}`, "order=": n % 5, paid: n % 2 === 0 }) }),
      durationMs: 2 ** (n % 20),
      tokens: (n % 13) * 100,
      credits: (n % 7 === 0 ? 0 : n / 100).toFixed(4),
    };
    made.push({ ...run, id: await insertRun(world, tenant, run) });
  }
  const other = await createTenant(world);
  await insertRun(world, other, { input: "alpha beta" });
});
afterAll(() => world.close());

const idOf = fc.constantFrom<Partial<RunFilter>>({ agentId: "agent" }, { toolId: "tool" });
const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const filters = fc
  .record({
    status: sometimes(
      fc.uniqueArray(fc.constantFrom("Pending", "Running", "Waiting", "Completed", "Failed", "Cancelled"), {
        minLength: 1,
      }),
    ),
    kind: sometimes(fc.constantFrom("agent", "tool")),
    source: sometimes(fc.constantFrom("operator", "api", "webhook", "dashboard", "run", "outside")),
    target: sometimes(idOf),
    triggerId: sometimes(fc.constant("trigger")),
    apiKeyId: sometimes(fc.constant("key")),
    userId: sometimes(fc.constant("user")),
    period: sometimes(fc.constantFrom("24h", "7d", "30d")),
    minDurationMs: sometimes(fc.integer({ min: 0, max: 600_000 })),
    maxDurationMs: sometimes(fc.integer({ min: 0, max: 600_000 })),
    minTokens: sometimes(fc.integer({ min: 0, max: 1300 })),
    maxTokens: sometimes(fc.integer({ min: 0, max: 1300 })),
    minCredits: sometimes(fc.integer({ min: 0, max: 100 })),
    maxCredits: sometimes(fc.integer({ min: 0, max: 100 })),
    metadata: sometimes(
      fc.constantFrom<Record<string, string>>(
        { customer: "c1" },
        { customer: "c1", "order=": "4" },
        { paid: "true" },
        { customer: "C1" },
        { other: "c1" },
      ),
    ),
    text: sometimes(fc.constantFrom("alpha", "delta gam", "it's", "xylophone", "be", "%")),
  })
  .map(({ target, minCredits, maxCredits, ...rest }) => {
    const all = {
      ...rest,
      ...(target?.agentId ? { agentId: tenant.agentId } : {}),
      ...(target?.toolId ? { toolId: tenant.toolId } : {}),
      ...(rest.triggerId ? { triggerId } : {}),
      ...(rest.apiKeyId ? { apiKeyId: tenant.apiKeyId } : {}),
      ...(rest.userId ? { userId: actor.userId } : {}),
      ...(minCredits === undefined ? {} : { minCredits: String(minCredits / 100) }),
      ...(maxCredits === undefined ? {} : { maxCredits: String(maxCredits / 100) }),
    };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as RunFilter;
  });

const shownStatus = ({ status = "Completed", admitted }: Made) =>
  status === "Running" && !admitted ? "Waiting" : status;

function creditsOf(run: Made): number {
  const below = made.filter((each) => each.parentRunId === run.id);
  return Number([run, ...below].reduce((sum, each) => sum + Number(each.credits), 0).toFixed(4));
}

function fits(run: Made, filter: RunFilter): boolean {
  const ended = !["Pending", "Running"].includes(run.status ?? "Completed");
  const within = (value: number, least?: number | string, most?: number | string) =>
    (least === undefined || value >= Number(least)) && (most === undefined || value <= Number(most));
  const elapsed =
    run.status === "Pending" ? Number.NaN : world.clock.now().getTime() - run.createdAt.getTime();
  const days = filter.period ? { "1h": 1 / 24, "24h": 1, "7d": 7, "30d": 30, "90d": 90 }[filter.period] : 1e5;
  const words = (run.input ?? "").toLowerCase().split(/[^a-z0-9]+/);
  const terms = (filter.text ?? "")
    .toLowerCase()
    .split(/[^a-z0-9%]+/)
    .filter(Boolean);
  const found = ended
    ? terms.every((word) => words.some((each) => (word.length > 2 ? each.startsWith(word) : each === word)))
    : (run.input ?? "").toLowerCase().includes(filter.text ?? "");
  const pairs: Record<string, unknown> = JSON.parse(run.metadata ?? "{}");
  return (
    (!filter.status || filter.status.includes(shownStatus(run))) &&
    (!filter.kind || run.kind === filter.kind) &&
    (!filter.source || (filter.source === "outside" ? run.source !== "run" : run.source === filter.source)) &&
    (!filter.agentId || run.kind === "agent") &&
    (!filter.toolId || run.kind === "tool") &&
    (!filter.triggerId || run.source === "webhook") &&
    (!filter.apiKeyId || run.source === "api") &&
    (!filter.userId || run.source === "dashboard") &&
    run.createdAt.getTime() >= world.clock.now().getTime() - days * 24 * HOUR &&
    within(ended ? (run.durationMs ?? 0) : elapsed, filter.minDurationMs, filter.maxDurationMs) &&
    within(run.tokens ?? 0, filter.minTokens, filter.maxTokens) &&
    within(creditsOf(run), filter.minCredits, filter.maxCredits) &&
    Object.entries(filter.metadata ?? {}).every(([key, value]) => String(pairs[key]) === value) &&
    (filter.text === undefined || (found && filter.text !== "%"))
  );
}

/** All tests share the queue. */
const INDEXED = [
  ["none is indexed", 0],
  ["some are indexed", 30],
  ["all are indexed", 1_000],
] as const;

describe.each(INDEXED)("finding runs when %s", (_, indexed) => {
  beforeAll(() => indexEndedRuns(world, indexed));

  it("answers any combination of conditions like a full scan, newest first", async () => {
    await fc.assert(
      fc.asyncProperty(filters, async (filter) => {
        const wanted = made.filter((run) => fits(run, filter)).map((run) => run.id);
        const found = await findRunIds(world, tenant.orgId, { filter, page: { limit: 100 } });
        expect(found).toEqual(wanted.toReversed());
        const all = made.map((run) => run.id);
        expect((await findFitting(world, tenant, { filter, ids: all })).sort()).toEqual(wanted);
      }),
      { numRuns: 100 },
    );
  });

  it("finds the runs next to any run in the list of any filter", async () => {
    await fc.assert(
      fc.asyncProperty(filters, fc.nat({ max: 79 }), async (filter, at) => {
        const runId = made[at]?.id ?? "";
        const older = made.slice(0, at).findLast((run) => fits(run, filter))?.id ?? null;
        const newer = made.slice(at + 1).find((run) => fits(run, filter))?.id ?? null;
        expect(await findNeighbors(world, actor, { runId, filter })).toEqual({ newer, older });
      }),
      { numRuns: 100 },
    );
  });
});

describe("finding runs", () => {
  it("finds open runs by the time and credits used so far", async () => {
    const stuck = await createTenant(world);
    const at = (minutes: number) => new Date(world.clock.now().getTime() - minutes * 60_000);
    const hung = await insertRun(world, stuck, {
      status: "Running",
      admitted: true,
      createdAt: at(90),
      tokens: 700,
      credits: "0.5",
    });
    const young = await insertRun(world, stuck, { status: "Running", createdAt: at(2) });
    await insertRun(world, stuck, { status: "Pending", createdAt: at(95) });
    const find = (filter: RunFilter) => findRunIds(world, stuck.orgId, { filter, page: { limit: 10 } });
    expect(await find({ minDurationMs: HOUR })).toEqual([hung]);
    expect(await find({ maxDurationMs: HOUR })).toEqual([young]);
    expect(await find({ minTokens: 1 })).toEqual([hung]);
    expect(await find({ minCredits: "0.5", status: ["Running", "Failed"] })).toEqual([hung]);
    world.clock.advance(60 * 60_000);
    expect(await find({ minDurationMs: HOUR })).toEqual([young, hung]);
    world.clock.advance(-60 * 60_000);
  });

  it("pages through a search without gaps or duplicates, over all scopes", async () => {
    for (const filter of [
      { text: "alpha" },
      { metadata: { customer: "c1" } },
      { kind: "tool", status: ["Completed", "Running"] },
    ] as RunFilter[]) {
      const seen: string[] = [];
      let before: string | undefined;
      do {
        const page = await listRuns(world, actor, { filter, before, limit: 3 });
        seen.push(...page.items.map((run) => run.id));
        before = page.nextCursor ?? undefined;
      } while (before !== undefined);
      expect(seen).toEqual(
        made
          .filter((run) => fits(run, filter))
          .map((run) => run.id)
          .toReversed(),
      );
      expect(await findRunIds(world, tenant.orgId, { filter, page: { after: seen[5], limit: 100 } })).toEqual(
        seen.slice(0, 5),
      );
    }
  });

  it.each(["20261121", "deadbeef", "6f1c2a9e-0b1d-4c3e-9a77-0123456789ab"])(
    "finds the word %s, which looks like a run id but is not one",
    async (text) => {
      const id = await insertRun(world, tenant, { input: `{"order":"${text}"}` });
      expect(await findRunIds(world, tenant.orgId, { filter: { text }, page: { limit: 10 } })).toEqual([id]);
    },
  );

  it("survives a rebuild of its index, which uses another search path", async () => {
    await world.pool.query("REINDEX INDEX run_index_terms");
    expect(
      await findRunIds(world, tenant.orgId, { filter: { text: "alpha" }, page: { limit: 100 } }),
    ).not.toEqual([]);
  });

  it("exports what a search finds", async () => {
    let json = "";
    for await (const piece of exportRuns(world, actor, { filter: { text: "gamma" }, format: "json" }))
      json += piece;
    const wanted = made.filter((run) => fits(run, { text: "gamma" })).map((run) => run.id);
    expect(JSON.parse(json).map((run: { id: string }) => run.id)).toEqual(wanted.toReversed());
  });

  it("rejects what belongs to another organization", async () => {
    const stranger = await createTenant(world);
    expect(
      await findRunIds(world, stranger.orgId, { filter: { text: "alpha" }, page: { limit: 10 } }),
    ).toEqual([]);
    expect(await findRunIds(world, stranger.orgId, { filter: { triggerId }, page: { limit: 10 } })).toEqual(
      [],
    );
    const filter = { metadata: { customer: "c1" } };
    expect(await findRunIds(world, stranger.orgId, { filter, page: { limit: 10 } })).toEqual([]);
    expect(await findFitting(world, stranger, { filter: {}, ids: made.map((run) => run.id) })).toEqual([]);
  });
});

it("accepts characters that no run can contain", async () => {
  const filter = runFilter.parse({ text: "alpha\0 \ud800" });
  expect((await listRuns(world, actor, { filter, limit: 5 })).items).toHaveLength(0);
});

it("finds metadata of any characters, but not by a search for text", async () => {
  const { orgId, ...other } = await createTenant(world);
  const metadata = { "a b:*&|!'\\": "it's \\ 'x' & <-> 東京 #", empty: "" };
  const id = await insertRun(world, { orgId, ...other }, { metadata: JSON.stringify(metadata), input: "" });
  const find = (filter: RunFilter) => findRunIds(world, orgId, { filter, page: { limit: 10 } });
  for (const indexed of [0, 1_000]) {
    await indexEndedRuns(world, indexed);
    expect(await find({ metadata })).toEqual([id]);
    expect(await find({ metadata, kind: "tool", status: ["Completed"] })).toEqual([id]);
    expect(await find({ metadata: { empty: "x" } })).toEqual([]);
    expect(await find({ text: "東京" })).toEqual([]);
  }
});

it("rejects times that the database cannot store", () => {
  expect(runFilter.safeParse({ to: "0000-01-01T00:00:00.000Z" }).success).toBe(false);
  expect(runFilter.safeParse({ from: "2026-11-21T00:00:00.000Z" }).success).toBe(true);
  expect(runFilter.safeParse({ from: "yesterday" }).error?.issues).toHaveLength(1);
});

it("covers as much of each text as the filter bar and the guide say", async () => {
  const long = "x".repeat(10_000);
  const { text, error } = SEARCHED_CHARACTERS;
  const { rows } = await world.pool.query("SELECT length(run_text($1, $1, $1)) AS covered", [long]);
  expect(rows).toEqual([{ covered: text + 1 + text + 1 + error }]);
  const guide = readFileSync("docs/dashboard.md", "utf8").replaceAll("\n", " ");
  const count = (value: number) => value.toLocaleString("en-US");
  expect(guide).toContain(`the first ${count(text)} characters of an ended run's input and output`);
  expect(guide).toContain(`the first ${count(error)} of its error`);
});

describe("a word of any length", () => {
  // PostgreSQL drops words of more than 2,046 bytes, and stores those too long for the index differently.
  const lengths = [199, 200, 201, 202, 508, 1_017, 2_033, 2_034, 2_035, 2_036, 2_046, 2_047, 2_048, 5_000];

  it.each([
    ["one byte", "x"],
    ["two", "é"],
    ["four", "𠀀"],
  ])("is found by its beginning, in letters of %s", async (_, letter) => {
    const { orgId, ...other } = await createTenant(world);
    const lookFor = (text: string) =>
      findRunIds(world, orgId, { filter: runFilter.parse({ text: `xa ${text}` }), page: { limit: 20 } });
    for (const length of lengths) {
      const name = `w${length}`;
      const word = name + letter.repeat(length - name.length);
      const id = await insertRun(world, { orgId, ...other }, { output: `{"blob":"${word}", "of": "Xa"}` });
      if (length % 2 === 0) await indexEndedRuns(world);
      const beginning = (letters: number) => [...word].slice(0, letters).join("");
      // The longest search: 200 UTF-16 units, three of them for the other word.
      expect([length, await lookFor(beginning(letter === "𠀀" ? 100 : 197))]).toEqual([length, [id]]);
      expect([length, await lookFor(beginning(20).toUpperCase())]).toEqual([length, [id]]);
      expect([length, await lookFor(`${name}y`)]).toEqual([length, []]);
    }
  });
});

describe("a word", () => {
  const found = async (content: string, text: string) => {
    const searched = await createTenant(world);
    const id = await insertRun(world, searched, { input: content });
    await insertRun(world, searched, { input: "nothing of this" });
    const filter = runFilter.parse({ text });
    const find = async () => {
      const ids = await findRunIds(world, searched.orgId, { filter, page: { limit: 10 } });
      expect(await findFitting(world, searched, { filter, ids: [id] })).toEqual(ids);
      return ids;
    };
    const queued = await find();
    await indexEndedRuns(world);
    expect(await find()).toEqual(queued);
    expect([[], [id]]).toContainEqual(queued);
    return queued.length === 1;
  };

  it.each([
    ["a number behind a dash", '{"order":"A-1234"}', "1234"],
    ["a number with its dash", '{"order":"A-1234"}', "A-1234"],
    ["a number behind letters", '{"order":"A1234"}', "1234"],
    ["a number's beginning behind letters", '{"order":"INV20261"}', "2026"],
    ["a negative number without its sign", '{"change":-5.5}', "5.5"],
    ["an address's host", "write to ada@example.com", "example.com"],
    ["an address's name", "write to ada.lovelace@example.com", "lovelace"],
    ["a host within an address", "https://shop.example.com/a", "example.com"],
    ["a part of a path", "https://shop.test/orders/late?state=unpaid&page=2", "late"],
    ["a part of a query", "https://shop.test/orders/late?state=unpaid&page=2", "unpaid"],
    ["a path's beginning", "https://shop.test/orders/late?state=unpaid", "shop.test/orders"],
    ["a file's name", '{"file":"/var/lib/reports/november.pdf"}', "november.pdf"],
    ["a folder", '{"file":"/var/lib/reports/november.pdf"}', "reports"],
    ["a version without its letter", "release v1.2.3 is out", "1.2.3"],
    ["a tag", '<invoice number="x7">due</invoice>', "invoice"],
    ["an attribute and its value", '<invoice number="overdue">due</invoice>', "number overdue"],
    ["what follows a line break in JSON", '{"text":"Dear Ada,\\nregarding\\tyour order"}', "regarding your"],
    ["what follows a backslash elsewhere", "C:\\new\\report.txt", "new"],
    ["the second half of a word with a dash", "a self-hosted service", "hosted"],
    ["an underscore's other side", '{"customer_email":1}', "email"],
    ["letters with accents", "Größe: ÜBERGRÖSSE", "übergr"],
    ["another alphabet", "Заказ №17 доставлен", "доставл"],
    ["later characters", "東京都は大きい", "京都"],
    ["one character", "東京都は大きい", "都"],
    ["the last character", "ここは東京", "京"],
    ["three characters", "これは東京都です", "東京都"],
    ["characters beside letters", "Python入門", "入門"],
    ["letters beside characters", "入門Python", "pyth"],
    ["a word beside a symbol", "done✅shipped", "shipped"],
    ["full-width punctuation", "東京、大阪「名古屋」", "名古屋"],
  ])("is found: %s", async (_, content, text) => {
    expect(await found(content, text)).toBe(true);
  });

  it.each([
    ["a middle", "wonderful", "derful"],
    ["a number's end", "order 991234", "1234"],
    ["characters that do not stand together", "東京都", "東都"],
    ["another version", "release v1.2.3", "1.2.4"],
    ["punctuation alone", "a -> b", "->"],
  ])("is not found: %s", async (_, content, text) => {
    expect(await found(content, text)).toBe(false);
  });
});
