import { describe, expect, it } from "vitest";
import { createMember, insertRun } from "@/testing/runs";
import { createTenant, createTrigger, openWorld } from "@/testing/world";
import { exportRuns } from "./export";

const world = await openWorld();
const tenant = await createTenant(world);
const actor = await createMember(world, tenant, "viewer");
const other = await createTenant(world);
await insertRun(world, other, { input: "of the other" });
for (let index = 0; index < 205; index += 1) {
  await insertRun(world, tenant, { input: JSON.stringify({ index }), durationMs: 42 });
}
await insertRun(world, tenant, { status: "Failed", error: '=1+1, "quoted"\nand broken' });

async function read(
  filter: Parameters<typeof exportRuns>[2]["filter"],
  format: "csv" | "json",
): Promise<string> {
  let text = "";
  for await (const piece of exportRuns(world, actor, { filter, format })) text += piece;
  return text;
}

describe("an export", () => {
  it("is one JSON array of all runs, newest first, over several pages", async () => {
    const runs: { id: string; input: string; durationMs: number }[] = JSON.parse(
      await read({ status: ["Completed"] }, "json"),
    );
    expect(runs).toHaveLength(205);
    expect(new Set(runs.map((run) => run.id)).size).toBe(205);
    expect(runs[0]).toMatchObject({ input: '{"index":204}', durationMs: 42 });
  });

  it("has runs without a byte of text", async () => {
    await insertRun(world, tenant, { status: "Pending", input: "" });
    const runs: { input: string }[] = JSON.parse(await read({ status: ["Pending"] }, "json"));
    expect(runs).toMatchObject([{ input: "" }]);
  });

  it("is an empty JSON array without matches", async () => {
    expect(JSON.parse(await read({ status: ["Cancelled"] }, "json"))).toEqual([]);
  });

  it("is CSV with a header, doubled quotes, and no formulas", async () => {
    const [head, ...lines] = (await read({ status: ["Failed"] }, "csv")).split("\r\n");
    expect(head).toMatch(/^\uFEFFid,kind,target,/);
    expect(lines.join("\r\n")).toContain(`"'=1+1, ""quoted""\nand broken"`);
  });

  it("names the trigger, key and user of each run, of this organization only", async () => {
    const starts = await createTenant(world);
    const member = await createMember(world, starts, "member");
    const trigger = await createTrigger(world, starts);
    await insertRun(world, starts, { source: "webhook", triggerId: trigger.id });
    await insertRun(world, starts, { source: "api" });
    await insertRun(world, starts, { source: "dashboard", userId: member.userId });
    let text = "";
    for await (const piece of exportRuns(world, member, { filter: {}, format: "json" })) text += piece;
    const { name } = await world.db.trigger.findUniqueOrThrow({ where: { id: trigger.id } });
    expect(JSON.parse(text)).toMatchObject([
      { source: "dashboard", trigger: null, key: null, person: member.name },
      { source: "api", trigger: null, key: "ci", person: null },
      { source: "webhook", trigger: name, key: null, person: null },
    ]);
  });

  it("has the metadata of each run: an object in JSON, its text in CSV", async () => {
    const marked = await createTenant(world);
    const member = await createMember(world, marked, "member");
    const plain = await insertRun(world, marked, {});
    const id = await insertRun(world, marked, { status: "Pending" });
    await world.db.run.update({ where: { id }, data: { metadata: '{"customer":"acme","order":42}' } });
    const texts = { json: "", csv: "" };
    for (const format of ["json", "csv"] as const) {
      for await (const piece of exportRuns(world, member, { filter: {}, format })) texts[format] += piece;
    }
    expect(JSON.parse(texts.json)).toMatchObject([
      { id, metadata: { customer: "acme", order: 42 } },
      { id: plain, metadata: {} },
    ]);
    const [head = "", line = ""] = texts.csv.split("\r\n");
    expect(head).toContain(",person,metadata,createdAt,");
    expect(line).toContain(',"{""customer"":""acme"",""order"":42}",');
  });

  it("writes each text as a field of CSV", async () => {
    const fields = [
      ["plain", "plain"],
      ["a,b", '"a,b"'],
      ["-1", "'-1"],
      ["@cmd", "'@cmd"],
      ["\n=1+1", "\"'\n'=1+1\""],
      ["a;=1+1", '"a;\'=1+1"'],
      ['a;"=1+1;', '"a;""\'=1+1;"'],
      ["a\t@cmd", '"a\t\'@cmd"'],
      ["a\r\n＝1+1", '"a\r\n\'＝1+1"'],
      ["a; b-1", '"a; b-1"'],
      ["＝1+1", "'＝1+1"],
      ["＋1", "'＋1"],
      ["－1", "'－1"],
      ["＠cmd", "'＠cmd"],
    ] as const;
    const writes = await createTenant(world);
    const reader = await createMember(world, writes, "viewer");
    for (const [error] of fields) await insertRun(world, writes, { status: "Failed", error });
    let text = "";
    for await (const piece of exportRuns(world, reader, { filter: {}, format: "csv" })) text += piece;
    // The error of a run stands between its credits and its input; it has no output.
    for (const [, field] of fields) expect(text).toContain(`,0.0000,${field},{},\r\n`);
  });
});
