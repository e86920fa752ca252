import { z } from "zod";
import { defineQuery } from "@/server/base/db/statement";
import { AppError, isAppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { tryParseJson } from "@/server/base/json/json";
import { sleep } from "@/server/base/sleep";
import { CLIENT_ADDRESS_HEADER, getAuth, isSameOrigin } from "@/server/catalog/auth/sessions";
import { admitSignIn, forgiveSignIn } from "@/server/catalog/auth/sign-in-limits";
import type { Services } from "@/server/catalog/services";
import { MAX_PASSWORD_LENGTH } from "@/server/contract/limits";
import { JSON_TYPE } from "@/server/contract/media-types";
import { MAX_SIGN_IN_BYTES } from "@/server/contract/sizes";
import { readBody } from "@/server/guard/limits/read-body";

const SIGN_IN = "/api/auth/sign-in/email";
const ENDPOINTS = new Set([SIGN_IN, "/api/auth/sign-out"]);

/**
 * Handles better-auth's endpoints (sign-in, sign-out). Accepts changes from our own pages only, and uses the given
 * client address, whatever the request's headers contain.
 */
export async function handleAuthRequest(
  services: Services,
  request: Request,
  clientAddress: string,
): Promise<Response> {
  try {
    return await respondToAuthRequest(services, request, clientAddress);
  } catch (error) {
    if (!isAppError(error)) throw error;
    const { code, message, status, headers } = error;
    const requestId = newId();
    return Response.json(
      { success: false, code, message, requestId },
      { status, headers: { ...headers, "x-request-id": requestId } },
    );
  }
}

async function respondToAuthRequest(services: Services, request: Request, clientAddress: string) {
  const { method, url } = request;
  const endpoint = new URL(url).pathname;
  if (!ENDPOINTS.has(endpoint)) throw new AppError("not_found", `There is no ${endpoint.slice(0, 200)}.`);
  if (method !== "POST") {
    throw new AppError("method_not_allowed", `${method} is not allowed here.`, {
      headers: { allow: "POST" },
    });
  }
  if (!isSameOrigin(services, request.headers)) {
    throw new AppError("forbidden", "Sign in from the dashboard.");
  }
  // Anyone may send this, so its size is bounded.
  const body = await readBody(request, MAX_SIGN_IN_BYTES);
  const headers = new Headers(request.headers);
  headers.set(CLIENT_ADDRESS_HEADER, clientAddress);
  const handle = (sent: string) => {
    headers.set("content-type", JSON_TYPE);
    headers.delete("content-length");
    return getAuth(services).handler(new Request(url, { method, headers, body: sent }));
  };
  if (endpoint !== SIGN_IN) return handle("{}");
  const signIn = readSignIn(request, body);
  const attempt = { email: signIn.email, clientAddress, sleep };
  await admitSignIn(services, attempt);
  const verified = await READ_PASSWORD(services.pool, [signIn.email]);
  const response = await handle(JSON.stringify(signIn));
  if (!response.ok) return response;
  await requireSamePassword(services, { email: signIn.email, verified, response });
  await forgiveSignIn(services, attempt);
  return response;
}

const passwordRow = z.object({ password: z.string().nullable() });
type PasswordRow = z.infer<typeof passwordRow>;
const PASSWORD_OF = `
  SELECT account.password
  FROM accounts account JOIN users person ON person.id = account.user_id
  WHERE person.email = $1 AND account.provider_id = 'credential'`;
const READ_PASSWORD = defineQuery("read-password", passwordRow, PASSWORD_OF);
const AWAIT_PASSWORD = defineQuery("await-password", passwordRow, `${PASSWORD_OF} FOR SHARE OF account`);

const signedIn = z.object({ token: z.string() });

/**
 * better-auth creates the session some time after it has verified the password. A new password set in between ends
 * only the sessions that exist, so this one ends here. The lock waits for a change that has not committed.
 */
async function requireSamePassword(
  services: Services,
  { email, verified, response }: { email: string; verified: PasswordRow[]; response: Response },
): Promise<void> {
  const current = await AWAIT_PASSWORD(services.pool, [email]);
  if (current[0]?.password === verified[0]?.password) return;
  const { token } = signedIn.parse(await response.json());
  const { internalAdapter } = await getAuth(services).$context;
  await internalAdapter.deleteSession(token);
  throw new AppError("unauthenticated", "The password was changed. Sign in with the new one.");
}

const signInBody = z.object({
  email: z.string().max(320),
  password: z.string().max(MAX_PASSWORD_LENGTH),
  rememberMe: z.boolean().optional(),
});

/** Reads the body as better-auth does, so that the limits count the email that is looked up. */
function readSignIn(request: Request, body: Buffer): z.infer<typeof signInBody> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== JSON_TYPE) {
    throw new AppError("invalid_request", `Send email and password as ${JSON_TYPE}.`);
  }
  const parsed = signInBody.safeParse(tryParseJson(body.toString()));
  if (!parsed.success) throw new AppError("invalid_request", "Email and password are required.");
  return { ...parsed.data, email: parsed.data.email.trim().toLowerCase() };
}
