import { expect, test } from "vitest";
import { newId } from "@/server/base/ids";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { lockCatalog, organizationLock } from "../change";
import { createInvitation } from "./invitations";
import { changeMemberRole, removeMember } from "./members";

const world = await openWorld();
const tenant = await createTenant(world);

test("an admin appoints no owner, and the last owner stays", async () => {
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

test("a change that waits for another one uses the role that it leaves", async () => {
  const own = await createTenant(world);
  const [demoted, lowered, removed] = [
    await createMember(world, own, "admin"),
    await createMember(world, own, "owner"),
    await createMember(world, own, "owner"),
  ];
  const invite = (actor: typeof demoted, role: "member" | "owner") =>
    createInvitation(world, actor, { email: `${newId()}@stepwell.test`, role });
  let waiting: Promise<PromiseSettledResult<unknown>[]> | undefined;
  await world.db.$transaction(async (tx) => {
    await lockCatalog(tx, [organizationLock(own.orgId)]);
    waiting = Promise.allSettled([
      invite(demoted, "member"),
      invite(lowered, "owner"),
      removeMember(world, removed, { userId: demoted.userId }),
    ]);
    const queued = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    await expect.poll(async () => (await world.pool.query(queued)).rowCount).toBe(3);
    const setRole = (userId: string, role: "member" | "admin") =>
      tx.member.updateMany({ where: { organizationId: own.orgId, userId }, data: { role } });
    await setRole(demoted.userId, "member");
    await setRole(lowered.userId, "admin");
    await tx.member.deleteMany({ where: { organizationId: own.orgId, userId: removed.userId } });
  });
  expect(await waiting).toMatchObject([
    { reason: { code: "forbidden" } },
    { reason: { code: "forbidden" } },
    { reason: { code: "forbidden" } },
  ]);
});
