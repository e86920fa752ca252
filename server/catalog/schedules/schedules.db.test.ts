import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { mintOrgId } from "@/server/base/mint-org-id";
import { applyDefinitionFile } from "@/server/catalog/definition-file/apply";
import { exportOrganization } from "@/server/catalog/definition-file/export";
import { createMember } from "@/testing/runs";
import { createSchedule, createTenant, openWorld } from "@/testing/world";
import { inspectSchedule, previewTimes, runScheduleNow } from "./inspect-schedules";
import { saveSchedule } from "./save-schedule";

const world = await openWorld();
const GUIDE = readFileSync(new URL("../../../docs/schedules.md", import.meta.url), "utf8");

describe("the guide", () => {
  it("has a definition file that applies, exports and applies again", async () => {
    const [, sample = ""] = /^```yaml\n([\s\S]*?)^```$/m.exec(GUIDE) ?? [];
    const ofTool = `      - { slug: hourly, agent: reporter, message: Hi, cron: 0 * * * *, overlap: queue, paused: true }\n`;
    const [applied] = await applyDefinitionFile(world, sample + ofTool);
    expect(applied?.schedules).toMatchObject([
      { slug: "morning-report", saved: "created" },
      { slug: "hourly", saved: "created" },
    ]);
    const orgId = mintOrgId(applied?.id ?? "");
    const text = await exportOrganization(world, { kind: "operator", orgId, name: "operator" });
    expect(text).toContain("message: Write the report of yesterday.");
    const [again] = await applyDefinitionFile(world, text);
    expect(again?.schedules.map(({ saved }) => saved)).toEqual(["unchanged", "unchanged"]);
  });

  it("has cron expressions that come", async () => {
    const tenant = await createTenant(world);
    const viewer = await createMember(world, tenant, "viewer");
    const expressions = [...GUIDE.matchAll(/^\| `(\S+ \S+ \S+ \S+ \S+)` \|/gm)].map(([, cron = ""]) => cron);
    expect(expressions).toHaveLength(4);
    for (const cron of expressions) {
      const preview = await previewTimes(world, viewer, { cron, timeZone: "Europe/Berlin" });
      expect(preview).toMatchObject({ issue: null });
      expect(preview.times).toHaveLength(10);
    }
  });
});

describe("a schedule", () => {
  it("gets its next time when it changes, and keeps it otherwise", async () => {
    const tenant = await createTenant(world);
    const member = await createMember(world, tenant, "member");
    const { id, slug } = await createSchedule(world, tenant);
    const nextOf = async () => (await inspectSchedule(world, member, { scheduleId: id })).nextAt;
    const definition = { slug, agent: "helper", message: "Good morning", name: "Hourly", cron: "0 * * * *" };
    const first = await nextOf();
    world.clock.advance(7_200_000);
    await saveSchedule(world, member, { definition: { ...definition, message: "Hello" } });
    expect(await nextOf()).toBe(first);
    await saveSchedule(world, member, { definition: { ...definition, cron: "30 * * * *" } });
    expect(new Date((await nextOf()) ?? 0) > world.clock.now()).toBe(true);
    const { facts } = await inspectSchedule(world, member, { scheduleId: id });
    await saveSchedule(world, member, { definition: { ...definition, cron: "30 * * * *", paused: true } });
    expect(await nextOf()).toBeNull();
    // A form that is older.
    const renamed = { ...definition, name: "Each hour", cron: "30 * * * *" };
    await saveSchedule(world, member, { definition: renamed, replaces: facts });
    expect(await inspectSchedule(world, member, { scheduleId: id })).toMatchObject({
      name: "Each hour",
      pausedAt: expect.any(String),
      nextAt: null,
    });
    const older = saveSchedule(world, member, { definition, replaces: facts });
    await expect(older).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringMatching(/^Somebody changed this schedule since you opened it/),
    });
  });

  it.each([
    [{ cron: "0 8 * *" }, "/cron", /five fields/],
    [{ cron: "61 8 * * *" }, "/cron", /not a cron expression/],
    [{ timeZone: "Mars/Base" }, "/timeZone", /time zone/],
    [{ agent: "nobody" }, "/agent", /is not an agent/],
    [{ message: undefined }, "/message", /is missing/],
    [{ tool: "adder" }, "", /either an agent or a tool/],
    [{ agent: undefined, tool: "adder" }, "/message", /schedules of agents/],
    [{ catchUpSeconds: 59 }, "/catchUpSeconds", /60/],
  ])("with %j is rejected at %s", async (change, path, message) => {
    const tenant = await createTenant(world);
    const member = await createMember(world, tenant, "member");
    const definition = { slug: "s", agent: "helper", message: "Hi", cron: "0 8 * * *", ...change };
    await expect(saveSchedule(world, member, { definition })).rejects.toMatchObject({
      code: "invalid_request",
      issues: expect.arrayContaining([{ path, message: expect.stringMatching(message) }]),
    });
  });

  it("is recorded in the audit log, and runs now for a member", async () => {
    const tenant = await createTenant(world);
    const member = await createMember(world, tenant, "member");
    const { id } = await createSchedule(world, tenant);
    const entries = await world.db.auditEntry.findMany({ where: { subjectId: id } });
    expect(entries.map(({ action }) => action)).toEqual(["schedule.created"]);
    const { runId } = await runScheduleNow(world, member, { scheduleId: id });
    expect(await world.db.run.findUniqueOrThrow({ where: { id: runId } })).toMatchObject({
      source: "dashboard",
      input: "Good morning",
    });
  });
});
