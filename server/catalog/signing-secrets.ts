import { z } from "zod";
import { rejection } from "@/server/base/issues";

/** The seconds that earlier secrets stay valid after a rotation. */
export const overlapSeconds = z
  .int()
  .min(0)
  .max(30 * 24 * 3600);

/** Each call is checked against all of them, or signed with all of them. */
const MAX_SECRETS = 5;

/** Throws `invalid_request` if as many secrets as possible are valid already. An overlap of 0 ends them all. */
export function requireFewSecrets(valid: number): void {
  if (valid < MAX_SECRETS) return;
  const message = `must be 0, which ends the earlier secrets: ${MAX_SECRETS} are valid, the most possible`;
  throw rejection([{ path: "/overlapSeconds", message }]);
}
