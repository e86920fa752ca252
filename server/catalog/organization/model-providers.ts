import { mayReceive } from "@/server/egress/outgoing-request";
import type { Issue } from "@/server/errors";
import { keySecretOf, type OwnProvider } from "@/server/models/own-provider";
import type { Change } from "../change";
import { prefixIssues } from "../issues";

/** Faults of model providers: keys that are no secrets of the organization, or may not be sent to the provider. */
export async function findProviderFaults(
  { tx, actor }: Pick<Change, "tx" | "actor">,
  providers: readonly OwnProvider[],
): Promise<Issue[]> {
  if (providers.length === 0) return [];
  const secrets = await tx.secret.findMany({
    where: { organizationId: actor.orgId },
    orderBy: { name: "asc" },
    select: { name: true, allowedHosts: true },
  });
  return providers.flatMap((provider, index) => {
    const name = keySecretOf(provider);
    const secret = secrets.find((each) => each.name === name);
    const at = (message: string) => prefixIssues([index], [{ path: "/apiKey", message }]);
    if (name === null) return [];
    if (secret === undefined) {
      const known = secrets.map((each) => each.name).join(", ") || "none";
      return at(`there is no secret "${name}"; known secrets: ${known}`);
    }
    const url = new URL(provider.baseUrl);
    if (mayReceive(secret.allowedHosts, url)) return [];
    return at(
      `the secret "${name}" may not be sent to ${url.host}; its hosts: ${secret.allowedHosts.join(", ")}`,
    );
  });
}
