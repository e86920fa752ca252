import type { ApiKeyActor, KeyScope } from "@/server/base/actor";
import { AppError } from "@/server/base/errors";
import { authenticateKey } from "@/server/catalog/auth/authenticate-key";
import type { RunKind } from "@/server/contract/enums";
import { guardKey } from "@/server/guard/limits/memory-guards";
import type { Services } from "@/server/services";
import type { ApiRequest } from "./http/api-request";
import { clientAddress } from "./http/client-address";

type Rules = { scope: KeyScope; alsoNeeds?: readonly KeyScope[] | undefined; kind?: RunKind | undefined };

/** The key of a call and its request, which a call that was authorized before needs no longer. */
type Caller = { key: string | null; request?: Pick<ApiRequest, "peer" | "header"> };

/**
 * Authenticates the sender of a call and checks that it may make the call. `params`: those of the path. Throws
 * `unauthenticated`, `api_access_disabled`, `forbidden` and `organization_suspended`.
 */
export async function authorizeCaller(
  services: Services,
  { key, request }: Caller,
  { scope, alsoNeeds = [], kind, params = {} }: Rules & { params?: Readonly<Record<string, string>> },
): Promise<ApiKeyActor> {
  const address = () => (request === undefined ? "" : guardKey(clientAddress(services.env, request)));
  const actor = await authenticateKey(services, key, address);
  if (!actor.plan.apiAccess) {
    throw new AppError("api_access_disabled", "API access is not enabled on the organization's plan.");
  }
  const missing = [scope, ...alsoNeeds].find((each) => !actor.scopes.includes(each));
  if (missing !== undefined) {
    throw new AppError("forbidden", `The API key ${actor.name} lacks the scope ${missing}.`);
  }
  // The path of a start or an estimate names the target; other endpoints look it up (runs/read/read-run.ts).
  const target = params[`${kind}Id`]?.toLowerCase();
  if (target !== undefined && actor.targetIds.length > 0 && !actor.targetIds.includes(target)) {
    throw new AppError("forbidden", `The API key ${actor.name} may not start this ${kind}.`);
  }
  if (actor.suspended) throw new AppError("organization_suspended", "The organization is suspended.");
  return actor;
}
