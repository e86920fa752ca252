import { z } from "zod";
import { anyNumber } from "@/server/base/json/any-json";
import { type Json, writeJson } from "@/server/base/json/json";
import { MIB } from "@/server/contract/sizes";
import { FunctionError } from "@/server/work/functions/core/define";

/** Largest body of a request, in bytes. */
export const MAX_REQUEST_BYTES = 4 * MIB;

/** A value of a form or a query; null leaves it out. */
const parameter = z.union([z.string(), anyNumber, z.boolean(), z.null()]);
/** Parameters by name; a list gives one parameter for each of its items. */
export const parametersByName = z.record(z.string(), z.union([parameter, z.array(parameter)]));

const part = z
  .strictObject({
    name: z.string().min(1).max(200),
    value: z.string().optional(),
    base64: z.string().optional(),
    filename: z.string().max(200).optional(),
    contentType: z.string().max(200).optional(),
  })
  .refine(({ value, base64 }) => (value === undefined) !== (base64 === undefined), "needs value or base64");

/** The inputs that make a request's body. At most one of them may be given. */
export const bodyInputs = {
  body: z
    .custom<Json>()
    .optional()
    .describe("The request's body: text is sent unchanged, any other value as JSON."),
  form: parametersByName.optional().describe("The body as a URL-encoded form."),
  multipart: z
    .array(part)
    .min(1)
    .max(50)
    .optional()
    .describe(
      'The body as multipart/form-data: a list of {"name", "value"} or {"name", "base64"}, optionally with ' +
        '"filename" and "contentType".',
    ),
  base64: z.string().optional().describe("The body as binary data in base64."),
};
type BodyInputs = z.output<z.ZodObject<typeof bodyInputs>>;

/** A body with its content type, as long as the caller names no other. */
type RequestBody = { content: string | Uint8Array<ArrayBuffer>; type: string };

function encodeParameters(values: z.output<typeof parametersByName>): string {
  const encoded = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== null) encoded.append(name, String(item));
    }
  }
  return encoded.toString();
}

/** Adds parameters to an address, whose own query stays as it is. */
export function addQuery(url: URL, values: z.output<typeof parametersByName>): void {
  url.search = [url.search.slice(1), encodeParameters(values)].filter(String).join("&");
}

/** The body that the inputs make, or undefined. Throws when there are several, or when one cannot be sent. */
export async function makeBody(inputs: BodyInputs): Promise<RequestBody | undefined> {
  const given = Object.entries(inputs).filter(([, value]) => value !== undefined && value !== null);
  if (given.length > 1) {
    const names = given.map(([name]) => name).join(", ");
    throw new FunctionError("invalid_request", `A request has one body: give only one of ${names}.`);
  }
  const made = await encode(inputs);
  if (made !== undefined && Buffer.byteLength(made.content) > MAX_REQUEST_BYTES) {
    const fault = `The request's body is larger than ${MAX_REQUEST_BYTES} bytes.`;
    throw new FunctionError("invalid_request", fault);
  }
  return made;
}

async function encode({ body, form, multipart, base64 }: BodyInputs): Promise<RequestBody | undefined> {
  if (form !== undefined) {
    return { content: encodeParameters(form), type: "application/x-www-form-urlencoded" };
  }
  if (multipart !== undefined) return encodeMultipart(multipart);
  if (base64 !== undefined)
    return { content: fromBase64(base64, "base64"), type: "application/octet-stream" };
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string") return { content: body, type: "text/plain;charset=UTF-8" };
  return { content: writeJson(body), type: "application/json" };
}

async function encodeMultipart(parts: readonly z.output<typeof part>[]): Promise<RequestBody> {
  const form = new FormData();
  for (const { name, value, base64, filename, contentType } of parts) {
    const content = base64 === undefined ? (value ?? "") : fromBase64(base64, `the part "${name}"`);
    if (typeof content === "string" && filename === undefined && contentType === undefined) {
      form.append(name, content);
    } else {
      form.append(name, new Blob([content], contentType ? { type: contentType } : {}), filename ?? name);
    }
  }
  const encoded = new Response(form);
  const type = encoded.headers.get("content-type") ?? "multipart/form-data";
  return { content: new Uint8Array(await encoded.arrayBuffer()), type };
}

function fromBase64(text: string, location: string): Uint8Array<ArrayBuffer> {
  const compact = text.replace(/\s+/g, "");
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(compact))
    throw new FunctionError("invalid_request", `What ${location} holds is not base64.`);
  return new Uint8Array(Buffer.from(compact, "base64"));
}
