import { expect, it } from "vitest";
import { startRun } from "@/server/runs/start";
import { executeRun } from "@/testing/execute";
import { insertTool } from "@/testing/tools";
import { createTenant, openWorld, type Tenant } from "@/testing/world";

const sent: string[] = [];
const world = await openWorld({
  env: { SMTP_RECIPIENTS_PER_HOUR: "5" },
  sendMail: async ({ to }) => {
    sent.push(...to);
    return { messageId: "<1@stepwell.test>", accepted: [...to], rejected: [] };
  },
});

async function send(tenant: Tenant, slug: string, recipients: number) {
  const to = Array.from({ length: recipients }, (_, n) => `${slug}-${n}@stepwell.test`);
  const mail = { id: "mail", uses: "send_email", with: { to, subject: "Hi", text: "Hello" } };
  const targetId = await insertTool(world, tenant, { slug, definition: { steps: [mail] } });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const { runId } = await startRun(world, actor, { kind: "tool", targetId, input: {} });
  await executeRun(world, runId);
  return world.db.run.findUniqueOrThrow({ where: { id: runId }, include: { steps: true } });
}

it("an organization sends to so many recipients an hour, whatever others send", async () => {
  const one = await createTenant(world);
  const other = await createTenant(world);
  expect(await send(one, "first", 3)).toMatchObject({ status: "Completed" });
  const rejected = await send(one, "second", 3);
  expect(rejected).toMatchObject({
    status: "Failed",
    errorMessage: expect.stringMatching(
      /would exceed the organization's limit of 5 recipients in an hour\. Try again in \d+ s/,
    ),
  });
  expect(JSON.parse(rejected.steps[0]?.output ?? "")).toMatchObject({ code: "rate_limited" });
  // The rejected message used up none of the two that are left.
  expect(await send(one, "small", 2)).toMatchObject({ status: "Completed" });
  expect(await send(other, "third", 5)).toMatchObject({ status: "Completed" });
  expect(sent.filter((address) => address.startsWith("second"))).toEqual([]);
  world.clock.advance(3_601_000);
  expect(await send(one, "fourth", 5)).toMatchObject({ status: "Completed" });
});
