import { hash } from "node:crypto";
import { AppError } from "@/server/base/errors";
import { writeJson } from "@/server/base/json/json";
import type { RunKind } from "@/server/contract/enums";
import type { TaggedBody } from "@/server/runs/ended-runs";
import type { ApiResponse } from "./api-request";

/** Entity tags (RFC 9110, section 8.8.3). */

/**
 * Adds the tag of a body: strong if the run has ended, because its view never changes then, or if the body is no
 * view of a run. Otherwise it is weak, and leaves out the duration of a tool, which grows while nothing happens.
 * `known`: an earlier body.
 */
export function tagBody(
  body: string,
  { kind, isFinal, known }: { kind?: RunKind | undefined; isFinal: boolean; known?: TaggedBody | undefined },
): TaggedBody {
  if (isFinal) return { body, etag: `"${digest(body)}"` };
  if (known?.body === body) return known;
  const text = withoutDuration(body, kind);
  // A digest costs more than the comparison of two texts.
  if (known !== undefined && withoutDuration(known.body, kind) === text) return { body, etag: known.etag };
  return { body, etag: `W/"${digest(text)}"` };
}

// The duration is the last field of both views of a tool run.
function withoutDuration(body: string, kind: RunKind | undefined): string {
  return kind === "tool" ? body.slice(0, body.lastIndexOf(',"duration":')) : body;
}

/**
 * The tag of a definition. `state`: fields that change without a change of the definition. They are in a second part of
 * the tag: a read with a known tag hides no change of them, and If-Match compares the first part.
 */
export function tagDefinition(view: object, state: readonly string[] = []): string {
  const whole = digest(writeJson(view));
  if (state.length === 0) return `"${whole}"`;
  const fixed = Object.entries(view).filter(([field]) => !state.includes(field));
  return `"${digest(writeJson(Object.fromEntries(fixed)))}.${whole}"`;
}

const definitionPart = (etag: string) => etag.replace(/\..*/, "");

const digest = (text: string) => hash("sha1", text, "base64url");

// Compares weakly with the header If-None-Match (RFC 9110, section 13.1.2).
function isKnown(etag: string, ifNoneMatch: string): boolean {
  const opaque = etag.replace("W/", "");
  return ifNoneMatch.split(",").some((given) => {
    const text = given.trim();
    return text === "*" || text.replace("W/", "") === opaque;
  });
}

/** Throws `precondition_failed` unless the header If-Match names a definition's tag (RFC 9110, section 13.1.1). */
export function requireMatch(etag: string, ifMatch: string): void {
  const names = ifMatch.split(",").map((given) => definitionPart(given.trim()));
  if (names.includes("*") || names.includes(definitionPart(etag))) return;
  throw new AppError(
    "precondition_failed",
    "The definition has changed since the ETag in If-Match. Read it again.",
  );
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
