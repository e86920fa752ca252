import { describe, expect, it } from "vitest";
import { newId } from "@/server/base/ids";
import { createMember, insertRun } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";

/** The rules of `rules.sql`; each rejects a statement. */

const world = await openWorld();
const tenant = await createTenant(world);
const { orgId: organizationId } = tenant;
await createMember(world, tenant, "viewer");
await insertRun(world, tenant, { status: "Running", steps: 1, tokens: 1 });
await insertRun(world, tenant, { status: "Completed" });
const at = world.clock.now();
const host = { allowedHosts: ["api.example.com"], createdBy: "operator", createdAt: at, updatedAt: at };
await world.db.secret.create({ data: { id: newId(), organizationId, name: "key", sealed: "x", ...host } });
const trigger = await world.db.trigger.create({
  data: {
    id: newId(),
    organizationId,
    slug: "orders",
    name: "Orders",
    tokenHash: new Uint8Array(32),
    tokenSealed: "x",
    agentId: tenant.agentId,
    createdAt: at,
    updatedAt: at,
  },
});
const target = { organizationId, agentId: tenant.agentId, createdAt: at, updatedAt: at };
const { id: scheduleId } = await world.db.schedule.create({
  data: {
    id: newId(),
    slug: "hourly",
    name: "Hourly",
    input: "Hi",
    cron: "0 * * * *",
    nextAt: at,
    ...target,
  },
});
await world.db.scheduleTick.create({ data: { scheduleId, organizationId, dueAt: at, attemptAt: at } });
await world.db.delivery.create({
  data: {
    id: newId(),
    organizationId,
    triggerId: trigger.id,
    receivedAt: at,
    outcome: "rejected",
    status: 400,
    code: "invalid_request",
    reason: "empty",
    headers: "{}",
    body: new Uint8Array(),
    bodyBytes: 0,
  },
});
await world.db.callbackEndpoint.create({
  data: {
    id: newId(),
    organizationId,
    slug: "erp",
    name: "ERP",
    url: "https://erp.test",
    events: ["run.completed"],
    createdAt: at,
    updatedAt: at,
  },
});

const entry = (values: string, number = 900) =>
  `INSERT INTO credit_entries (organization_id, sequence, kind, amount, balance_before, balance_after, run_id, actor, created_at)
   SELECT id, ${number}, ${values}, 'operator', now() FROM organizations`;
const ofRunning = "WHERE status = 'Running'";

/** Each statement breaks one check and no other rule. */
const BREAKS: Record<string, string> = {
  agent_versions_ranges: "UPDATE agent_versions SET number = 0",
  agents_slug_shape: "UPDATE agents SET slug = 'No'",
  api_keys_hash_length: "UPDATE api_keys SET hash = 'short'",
  api_keys_limits: "UPDATE api_keys SET max_credits = 0",
  callback_endpoints_address: "UPDATE callback_endpoints SET url = NULL",
  callback_endpoints_credits: "UPDATE callback_endpoints SET credits_below = 1",
  callback_endpoints_slug_shape: "UPDATE callback_endpoints SET slug = 'No'",
  credit_entries_adds_up: entry("'grant', 1, 0, 5, NULL"),
  credit_entries_not_negative: entry("'adjustment', -1, 0, -1, NULL"),
  credit_entries_run: entry("'hold', -1, 1, 0, NULL"),
  credit_entries_sign: entry("'grant', -1, 1, 0, NULL"),
  deliveries_outcome: "UPDATE deliveries SET reason = NULL",
  model_calls_finished: "UPDATE model_calls SET finished_at = NULL",
  organizations_balance_not_negative: "UPDATE organizations SET balance = -1",
  organizations_in_flight: "UPDATE organizations SET in_flight = -1",
  organizations_slug_shape: "UPDATE organizations SET slug = 'No'",
  plans_ranges: "UPDATE plans SET concurrency = 0",
  runs_cancelled: `UPDATE runs SET status = 'Cancelled', finished_at = now() ${ofRunning}`,
  runs_error: `UPDATE runs SET error_message = 'failed' ${ofRunning}`,
  runs_figures: `UPDATE runs SET input_tokens = -1 ${ofRunning}`,
  runs_hold_ends: `UPDATE runs SET status = 'Completed', output = '{}', finished_at = now(), held = 1 ${ofRunning}`,
  runs_one_target: `UPDATE runs SET kind = 'agent' ${ofRunning}`,
  runs_output: `UPDATE runs SET output = '{}' ${ofRunning}`,
  runs_root: `UPDATE runs SET root_run_id = gen_random_uuid() ${ofRunning}`,
  runs_source: `UPDATE runs SET source = 'api' ${ofRunning}`,
  runs_times: `UPDATE runs SET finished_at = now() ${ofRunning}`,
  schedule_ticks_outcome: "UPDATE schedule_ticks SET outcome = 'started'",
  schedules_one_target: "UPDATE schedules SET agent_id = NULL",
  schedules_ranges: "UPDATE schedules SET jitter_seconds = -1",
  schedules_rest: "UPDATE schedules SET paused_at = now()",
  schedules_slug_shape: "UPDATE schedules SET slug = 'No'",
  secrets_confirmed_hosts: "UPDATE secrets SET confirmed_hosts = '{other.test}'",
  secrets_expire_with_value: "UPDATE secrets SET sealed = NULL, expires_at = now()",
  secrets_have_hosts: "UPDATE secrets SET allowed_hosts = '{}'",
  secrets_name_shape: "UPDATE secrets SET name = '1st'",
  steps_finished: "UPDATE steps SET finished_at = NULL",
  steps_numbers: "UPDATE steps SET step_number = 0",
  tool_versions_ranges: "UPDATE tool_versions SET deadline_seconds = 0",
  tools_slug_shape: "UPDATE tools SET slug = 'No'",
  triggers_hash_length: "UPDATE triggers SET token_hash = 'short'",
  triggers_limits: "UPDATE triggers SET rate_limit_requests = 0",
  triggers_one_target: "UPDATE triggers SET agent_id = NULL",
  triggers_slug_shape: "UPDATE triggers SET slug = 'No'",
};

describe("checks", () => {
  it.each(Object.entries(BREAKS))("%s", async (constraint, statement) => {
    await expect(world.pool.query(statement)).rejects.toMatchObject({ code: "23514", constraint });
  });

  it("are all listed here", async () => {
    const { rows } = await world.pool.query<{ name: string }>(
      `SELECT conname AS name FROM pg_constraint WHERE contype = 'c' AND conrelid <> 0 AND connamespace = 'public'::regnamespace
       UNION ALL SELECT (regexp_matches(prosrc, $$THEN '(\\w+)'$$, 'g'))[1] FROM pg_proc WHERE proname LIKE '%\\_rules'`,
    );
    expect(rows.map(({ name }) => name).sort()).toEqual(Object.keys(BREAKS).sort());
  });
});

describe("triggers", () => {
  it.each([
    ["keep entries of the ledger unchanged", "UPDATE credit_entries SET note = 'x'", "append-only"],
    ["keep entries of the ledger", "DELETE FROM credit_entries", "append-only"],
    ["keep ended runs unchanged", "UPDATE runs SET input = 'x' WHERE status = 'Completed'", "frozen"],
    ["keep started runs started", `UPDATE runs SET status = 'Pending' ${ofRunning}`, "back to Pending"],
  ])("%s", async (_name, statement, message) => {
    await expect(world.pool.query(statement)).rejects.toThrow(message);
  });
});

it("a run is refunded at most once", async () => {
  const run = "(SELECT id FROM runs WHERE status = 'Completed')";
  await world.pool.query(entry(`'refund', 1, 0, 1, ${run}`));
  await expect(world.pool.query(entry(`'refund', 1, 0, 1, ${run}`, 901))).rejects.toMatchObject({
    code: "23505",
    constraint: "credit_entries_one_refund",
  });
});
