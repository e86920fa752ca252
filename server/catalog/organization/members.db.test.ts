import { expect, test } from "vitest";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { changeMemberRole } from "./members";

const world = await openWorld();
const tenant = await createTenant(world);

test("an administrator appoints no owner, and the last owner stays", async () => {
  const own = await createTenant(world);
  const owner = await createMember(world, own, "owner");
  const admin = await createMember(world, own, "admin");
  const viewer = await createMember(world, own, "viewer");
  const forbidden = { code: "forbidden" };
  const appointed = { userId: viewer.userId, role: "owner" } as const;
  await expect(changeMemberRole(world, admin, appointed)).rejects.toMatchObject(forbidden);
  await expect(changeMemberRole(world, owner, { userId: owner.userId, role: "admin" })).rejects.toMatchObject(
    { issues: [{ path: "/role" }] },
  );
  expect(await changeMemberRole(world, owner, appointed)).toMatchObject({ saved: "updated" });
});

test("only an admin or owner changes a role", async () => {
  const viewer = await createMember(world, tenant, "viewer");
  for (const role of ["viewer", "member"] as const) {
    const actor = await createMember(world, tenant, role);
    const change = changeMemberRole(world, actor, { userId: viewer.userId, role: "member" });
    await expect(change).rejects.toMatchObject({ code: "forbidden" });
  }
});
