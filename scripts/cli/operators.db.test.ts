import { expect, test } from "vitest";
import { createUser } from "@/server/catalog/auth/accounts";
import { callCommandLine } from "@/testing/command-line";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";

const world = await openWorld();
const call = (...argv: string[]) => callCommandLine(world, argv);

test("operators are added, listed and removed, with an audit entry for each change", async () => {
  const { email } = await createMember(world, await createTenant(world), "viewer");
  expect(await call("operators", "add", email.toUpperCase())).toEqual({
    code: 0,
    out: `${email} is now an operator.\n`,
    err: "",
  });
  expect((await call("operators", "add", email)).out).toBe(`${email} is already an operator.\n`);
  expect((await call("operators", "list")).out).toMatch(
    new RegExp(`^EMAIL +NAME +SINCE\n${email} +A viewer +\\S+Z\n$`),
  );
  expect((await call("operators", "remove", email)).out).toBe(`${email} is no longer an operator.\n`);
  expect((await call("operators", "remove", email)).out).toBe(`${email} was not an operator.\n`);
  const audit = (await call("audit", "list")).out.match(/operator +user\.\S+ +\S+/g);
  expect(audit?.map((line) => line.replace(/ +/g, " "))).toEqual([
    `operator user.operator_removed ${email}`,
    `operator user.operator_added ${email}`,
  ]);
});

test("rejects a person without an account or an organization", async () => {
  expect(await call("operators", "add", "nobody@acme.test")).toEqual({
    code: 1,
    out: "",
    err: "nobody@acme.test has no account.\n",
  });
  const person = { email: "pat@acme.test", name: "Pat", password: "correct horse", at: world.clock.now() };
  await createUser(world.db, person);
  expect((await call("operators", "add", "pat@acme.test")).out).toContain(
    "Pages need a membership: npm run -s stepwell -- users create pat@acme.test --org ORG --role viewer",
  );
  expect((await call("users", "remove", "pat@acme.test", "--yes")).code).toBe(0);
  expect((await call("operators", "list")).out).not.toContain("pat@acme.test");
});
