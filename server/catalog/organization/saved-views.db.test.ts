import { expect, test } from "vitest";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { removeMember } from "./members";
import { listViews, newView, removeView, renameView, saveView } from "./saved-views";

const world = await openWorld();

const view = (name: string) => ({ name, query: "?status=Failed", columns: "status,credits" });

async function people() {
  const tenant = await createTenant(world);
  const [ada, jonas] = [
    await createMember(world, tenant, "owner"),
    await createMember(world, tenant, "viewer"),
  ];
  return { ada, jonas };
}

test("a view is its person's alone, and has a name of its own", async () => {
  const { ada, jonas } = await people();
  const { id } = await saveView(world, jonas, view("Failed"));
  expect(await listViews(world, jonas)).toEqual([{ id, ...view("Failed") }]);
  expect(await listViews(world, ada)).toEqual([]);
  await expect(saveView(world, jonas, view("Failed"))).rejects.toMatchObject({
    code: "invalid_request",
    issues: [{ path: "/name", message: 'is taken: you have a view "Failed"' }],
  });
  await saveView(world, ada, view("Failed"));
  for (const change of [renameView, removeView]) {
    await expect(change(world, ada, { id, name: "Mine" })).rejects.toMatchObject({ code: "not_found" });
  }
  await renameView(world, jonas, { id, name: "Broken" });
  await renameView(world, jonas, { id, name: "Broken" });
  expect(await listViews(world, jonas)).toMatchObject([{ name: "Broken" }]);
  await removeView(world, jonas, { id });
  expect(await listViews(world, jonas)).toEqual([]);
});

test("a person has at most 50 views, also if several are saved at once", async () => {
  const { jonas } = await people();
  for (let n = 0; n < 48; n += 1) await saveView(world, jonas, view(`View ${n}`));
  const saved = await Promise.allSettled(
    [1, 2, 3, 4].map((n) => saveView(world, jonas, view(`At once ${n}`))),
  );
  expect(saved.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
  expect(await listViews(world, jonas)).toHaveLength(50);
});

test("views go with the membership", async () => {
  const { ada, jonas } = await people();
  await saveView(world, jonas, view("Failed"));
  await removeMember(world, ada, { userId: jonas.userId });
  expect(await world.db.savedView.count({ where: { userId: jonas.userId } })).toBe(0);
});

test.each([
  { ...view("x"), name: " " },
  { ...view("x"), name: "x".repeat(61) },
  { ...view("x"), query: "//elsewhere.test" },
  { ...view("x"), query: `?q=${"x".repeat(2_000)}` },
])("rejects %j", (input) => {
  expect(newView.safeParse(input).success).toBe(false);
});
