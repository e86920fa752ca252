import { afterAll, beforeAll, expect, test } from "vitest";
import { handleAuthRequest } from "@/server/auth/auth-requests";
import { newId } from "@/server/ids";
import { createMember } from "@/testing/runs";
import { TEST_ORIGIN } from "@/testing/sign-in";
import { createTenant, createWorld, type Tenant, type World } from "@/testing/world";
import { addMember, changeMemberRole } from "./members";

let world: World;
let tenant: Tenant;
beforeAll(async () => {
  world = await createWorld();
  tenant = await createTenant(world);
});
afterAll(() => world.close());

async function signInStatus(email: string, password: string): Promise<number> {
  const request = new Request(`${TEST_ORIGIN}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "Content-Type": "application/json", origin: TEST_ORIGIN, host: new URL(TEST_ORIGIN).host },
    body: JSON.stringify({ email, password }),
  });
  return (await handleAuthRequest(world, request, "192.0.2.1")).status;
}

test("a new account gets a password that signs in", async () => {
  const admin = await createMember(world, tenant, "admin");
  const email = `${newId()}@members.test`;
  const { password, role } = await addMember(world, admin, { email, role: "viewer" });
  expect(role).toBe("viewer");
  expect(password).toMatch(/^[\w-]{20}$/);
  expect(await signInStatus(email, password ?? "")).toBe(200);
});

test("an existing account keeps its password, and a member is not added twice", async () => {
  const admin = await createMember(world, tenant, "admin");
  const { email } = await createMember(world, await createTenant(world));
  expect(await addMember(world, admin, { email })).toMatchObject({ password: null, saved: "created" });
  await expect(addMember(world, admin, { email, role: "viewer" })).rejects.toMatchObject({
    code: "invalid_request",
    issues: [{ path: "/email", message: expect.stringContaining("already a member") }],
  });
});

test("an administrator appoints no owner, and the last owner stays", async () => {
  const own = await createTenant(world);
  const owner = await createMember(world, own, "owner");
  const admin = await createMember(world, own, "admin");
  const viewer = await createMember(world, own, "viewer");
  const forbidden = { code: "forbidden" };
  const email = `${newId()}@members.test`;
  await expect(addMember(world, admin, { email, role: "owner" })).rejects.toMatchObject(forbidden);
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
