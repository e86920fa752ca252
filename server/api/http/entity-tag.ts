import { hash } from "node:crypto";
import type { RunKind } from "@/server/contract/enums";
import type { TaggedBody } from "@/server/runs/ended-runs";
import type { ApiResponse } from "./api-request";

/** Entity tags of the views of runs (RFC 9110, section 8.8.3). */

/**
 * Adds the tag of a view's body: strong if the run has ended, because the body never changes then. Otherwise it is
 * weak, and leaves out the duration of a tool, which grows while nothing happens.
 */
export function tagBody(body: string, { kind, isFinal }: { kind: RunKind; isFinal: boolean }): TaggedBody {
  if (isFinal) return { body, etag: `"${digest(body)}"` };
  // It is the last field of both views.
  const end = kind === "tool" ? body.lastIndexOf(',"duration":') : body.length;
  return { body, etag: `W/"${digest(body.slice(0, end))}"` };
}

const digest = (text: string) => hash("sha1", text, "base64url");

/** Compares weakly with the header If-None-Match (RFC 9110, section 13.1.2). */
function isKnown(etag: string, ifNoneMatch: string): boolean {
  const opaque = etag.replace("W/", "");
  return ifNoneMatch.split(",").some((given) => {
    const text = given.trim();
    return text === "*" || text.replace("W/", "") === opaque;
  });
}

/** Turns a response into 304 if the client knows the body. */
export function answerIfChanged(
  response: ApiResponse,
  etag: string,
  ifNoneMatch: string | null,
): ApiResponse {
  if (ifNoneMatch === null || !isKnown(etag, ifNoneMatch)) return response;
  const { "Content-Type": _, ...headers } = response.headers;
  return { status: 304, headers, body: "" };
}
