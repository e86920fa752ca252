import { newId } from "@/server/base/ids";
import type { JsonObject } from "@/server/base/json/json";
import type { Tenant, World } from "./world";

/** A tool of the tenant with these steps, written straight to its tables; returns its id. */
export async function insertTool(
  world: World,
  tenant: Pick<Tenant, "orgId">,
  tool: { slug: string; definition: JsonObject; deadlineSeconds?: number },
): Promise<string> {
  const id = newId();
  const now = world.clock.now();
  const definition = JSON.stringify({ parameters: { type: "object" }, ...tool.definition });
  await world.db.tool.create({
    data: {
      id,
      organizationId: tenant.orgId,
      slug: tool.slug,
      name: tool.slug,
      createdAt: now,
      updatedAt: now,
      versions: {
        create: {
          number: 1,
          definition,
          createdBy: "operator",
          createdAt: now,
          ...(tool.deadlineSeconds !== undefined && { deadlineSeconds: tool.deadlineSeconds }),
        },
      },
    },
  });
  return id;
}

export async function setWriter(world: World, tenant: Tenant): Promise<void> {
  const definition = {
    parameters: { type: "object" },
    steps: [{ id: "text", uses: "generate_text", with: { prompt: "write" } }],
    output: "{{ steps.text }}",
  };
  await world.db.toolVersion.updateMany({
    where: { toolId: tenant.toolId },
    data: { definition: JSON.stringify(definition) },
  });
}
