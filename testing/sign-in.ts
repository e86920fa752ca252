import { handleAuthRequest } from "@/server/catalog/auth/auth-requests";
import { TEST_PASSWORD } from "./runs";
import type { World } from "./world";

export const TEST_ORIGIN = "http://stepwell.test";

let address = 0;

/** Signs a member in like the sign-in page; returns the `cookie` header for further requests. */
export async function signInCookie(world: World, { email }: { email: string }): Promise<string> {
  // A new address for each, because the rate limit is not tested here.
  address += 1;
  const request = new Request(`${TEST_ORIGIN}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: TEST_ORIGIN, host: "stepwell.test" },
    body: JSON.stringify({ email, password: TEST_PASSWORD }),
  });
  const response = await handleAuthRequest(world, request, `192.0.2.${address}`);
  return response.headers
    .getSetCookie()
    .map((each) => each.split(";")[0])
    .join("; ");
}
