import { z } from "zod";
import { defineCommand, defineQuery } from "@/server/base/db/statement";
import { transact } from "@/server/base/db/transaction";
import { newId } from "@/server/base/ids";
import { callbackSecretPurpose, newCallbackSecret } from "@/server/catalog/callbacks/callback-secrets";
import type { Services } from "@/server/catalog/services";
import { CALLBACK_END_EVENTS } from "@/server/contract/enums";

const FIND_LACKING = defineQuery(
  "find-organizations-without-address-endpoint",
  z.object({ orgId: z.string() }),
  `SELECT DISTINCT e.organization_id AS "orgId" FROM callback_events e JOIN runs r ON r.id = e.run_id
   WHERE e.expanded_at IS NULL AND r.callback_url IS NOT NULL AND NOT EXISTS (
     SELECT FROM callback_endpoints c WHERE c.organization_id = e.organization_id AND c.slug IS NULL AND c.deleted_at IS NULL)
   LIMIT 100`,
);
const INSERT_ENDPOINT = defineQuery(
  "insert-address-endpoint",
  z.object({ id: z.string() }),
  `INSERT INTO callback_endpoints (id, organization_id, name, events, created_at, updated_at)
   VALUES ($1, $2, 'X-Callback-Url', $3, $4, $4) ON CONFLICT DO NOTHING RETURNING id`,
);
const INSERT_SECRET = defineCommand(
  "insert-address-secret",
  "INSERT INTO callback_secrets (id, endpoint_id, sealed, created_at) VALUES ($1, $2, $3, $4)",
);

/**
 * Creates the endpoint of organizations whose runs were started with X-Callback-Url: it has no address of its own, but
 * the secret that signs those callbacks.
 */
export async function createAddressEndpoints({ pool, clock, encryption }: Services): Promise<void> {
  for (const { orgId } of await FIND_LACKING(pool)) {
    const id = newId();
    const now = clock.now();
    const sealed = encryption.seal(newCallbackSecret(), callbackSecretPurpose(id));
    await transact(pool, async (client) => {
      const [created] = await INSERT_ENDPOINT(client, [id, orgId, [...CALLBACK_END_EVENTS], now]);
      if (created) await INSERT_SECRET(client, [newId(), id, sealed, now]);
    });
  }
}
