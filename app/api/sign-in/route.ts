import { problemOfStatus, type SignInProblem } from "@/app/sign-in/problem";
import { targetAfterSignIn } from "@/app/sign-in-target";
import { getServices } from "@/process-services";
import { clientAddressOf } from "@/server/api/http/client-address";
import { isAppError } from "@/server/base/errors";
import { handleAuthRequest } from "@/server/catalog/auth/auth-requests";
import { JSON_TYPE } from "@/server/contract/media-types";
import { MAX_SIGN_IN_BYTES } from "@/server/contract/sizes";
import { readBody } from "@/server/guard/limits/read-body";

/**
 * The sign-in form without JavaScript, with the same origin check and rate limits. Redirects to `?to=`, or back to
 * the form with the problem. `?to=` survives an unreadable body.
 */
export async function POST(request: Request): Promise<Response> {
  const services = getServices();
  const to = new URL(request.url).searchParams.get("to") ?? undefined;
  const body = await readBody(request, MAX_SIGN_IN_BYTES).catch((error: unknown) => {
    if (isAppError(error)) return error;
    throw error;
  });
  if (!Buffer.isBuffer(body)) return goBack(problemOfStatus(body.status), to);
  const form = new URLSearchParams(body.toString());
  const headers = new Headers(request.headers);
  headers.set("content-type", JSON_TYPE);
  headers.delete("content-length");
  const asked = new Request(new URL("/api/auth/sign-in/email", request.url), {
    method: "POST",
    headers,
    body: JSON.stringify({
      email: form.get("email") ?? "",
      password: form.get("password") ?? "",
      rememberMe: true,
    }),
  });
  const answer = await handleAuthRequest(services, asked, clientAddressOf(services.env, request));
  if (!answer.ok) return goBack(problemOfStatus(answer.status), to);
  const response = goTo(targetAfterSignIn(to));
  for (const cookie of answer.headers.getSetCookie()) response.headers.append("set-cookie", cookie);
  return response;
}

function goBack(problem: SignInProblem, to: string | undefined): Response {
  const search = new URLSearchParams({ problem, ...(to === undefined ? {} : { to: targetAfterSignIn(to) }) });
  return goTo(`/sign-in?${search}`);
}

/** Relative, so that it works at every address of the page. */
function goTo(location: string): Response {
  return new Response(null, { status: 303, headers: { location, "cache-control": "no-store" } });
}
