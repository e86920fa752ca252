import { z } from "zod";
import type { callbackDefinition } from "@/server/catalog/callbacks/callback-definition";
import { createCallback } from "@/server/catalog/callbacks/change-callback";
import type { Tenant, World } from "./world";

/** Creates a callback of the tenant; returns its id and secret. */
export async function insertCallback(
  world: World,
  { orgId }: Pick<Tenant, "orgId">,
  definition: Partial<z.input<typeof callbackDefinition>> & { url: string },
): Promise<{ id: string; secret: string }> {
  const operator = { kind: "operator", orgId, name: "test" } as const;
  const events = ["run.completed", "run.failed", "run.cancelled", "run.waiting"];
  const { id, secret } = await createCallback.run(world, operator, { slug: "erp", events, ...definition });
  return { id, secret: z.string().parse(secret) };
}
