import { beforeAll, expect, it } from "vitest";
import { insertCallback } from "@/testing/callbacks";
import { countTableReads } from "@/testing/table-reads";
import { createTenant, openWorld } from "@/testing/world";
import { listCallbackDeliveries } from "./inspect-callback-deliveries";

const world = await openWorld();
const tenant = await createTenant(world);

const INSERT_DELIVERED = `
  WITH events AS (
    INSERT INTO callback_events (id, organization_id, type, created_at, expanded_at)
    SELECT gen_random_uuid(), $1, 'test', now(), now() FROM generate_series(1, 1000) RETURNING id
  )
  INSERT INTO callback_deliveries (id, organization_id, event_id, endpoint_id, created_at, delivered_at)
  SELECT gen_random_uuid(), $1, id, $2, now(), now() FROM events`;
const FIND_LOW_ID = "SELECT id FROM callback_deliveries ORDER BY id OFFSET 10 LIMIT 1";

beforeAll(async () => {
  const { id } = await insertCallback(world, tenant, { url: "https://example.com/" });
  await world.pool.query(INSERT_DELIVERED, [tenant.orgId, id]);
  await world.pool.query("ANALYZE callback_deliveries, callback_events");
});

it.each([
  ["of what was not delivered", { state: "undelivered" }, 0],
  ["far from the first one", { state: "delivered" }, 5],
  ["of all", {}, 5],
] as const)("a page %s reads only its deliveries", async (_name, filter, lines) => {
  const [low] = (await world.pool.query<{ id: string }>(FIND_LOW_ID)).rows;
  const { rows } = await countTableReads(world, "callback_deliveries", async ({ pool }) => {
    // The sixth and later ones share a plan.
    for (let n = 0; n < 7; n += 1) {
      const page = await listCallbackDeliveries({ pool }, tenant, { ...filter, cursor: low?.id, limit: 5 });
      expect(page.items).toHaveLength(lines);
    }
  });
  expect(rows).toBeLessThan(7 * 20);
});
