import { randomUUID } from "node:crypto";
import { z } from "zod";
import { anyNumber } from "@/server/base/json/any-json";
import { type Json, writeJson } from "@/server/base/json/json";
import { formatLimit, MIB } from "@/server/contract/sizes";
import { FunctionError } from "@/server/work/functions/core/define";

export const MAX_REQUEST_BYTES = 4 * MIB;

// Null leaves the value out.
const parameter = z.union([z.string(), anyNumber, z.boolean(), z.null()], {
  error: "must be a text, a number, true, false or null",
});
/** Parameters by name; a list gives one parameter for each of its items. */
export const parametersByName = z.record(
  z.string(),
  z.union([parameter, z.array(parameter)], {
    error: "must be a text, a number, true, false, null, or a list of these",
  }),
);

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
export function makeBody(inputs: BodyInputs): RequestBody | undefined {
  const given = Object.entries(inputs).filter(([, value]) => value !== undefined && value !== null);
  if (given.length > 1) {
    const names = given.map(([name]) => name).join(", ");
    throw new FunctionError("invalid_request", `A request has one body: give only one of ${names}.`);
  }
  const made = encode(inputs);
  if (made !== undefined && Buffer.byteLength(made.content) > MAX_REQUEST_BYTES) {
    const issue = `The request's body is larger than ${formatLimit(MAX_REQUEST_BYTES)}.`;
    throw new FunctionError("invalid_request", issue);
  }
  return made;
}

function encode({ body, form, multipart, base64 }: BodyInputs): RequestBody | undefined {
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

// A part is a file if it has a filename or binary data; a text with a content type has no filename (form-data/form-data#74).
function encodeMultipart(parts: readonly z.output<typeof part>[]): RequestBody {
  const boundary = `----stepwell-${randomUUID()}`;
  const encoded = parts.flatMap(({ name, value = "", base64, filename, contentType }) => {
    if (contentType !== undefined && !/^[\t\x20-\x7e]*$/.test(contentType))
      throw new FunctionError("invalid_request", `The content type of the part "${name}" cannot be sent.`);
    const isFile = base64 !== undefined || filename !== undefined;
    const type = contentType || (isFile ? "application/octet-stream" : "");
    const file = isFile ? `; filename="${escapeQuoted(filename ?? name)}"` : "";
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeQuoted(name)}"${file}\r\n`;
    const text = isFile ? value : value.replace(/\r\n?|\n/g, "\r\n");
    const content = base64 === undefined ? Buffer.from(text) : fromBase64(base64, `the part "${name}"`);
    return [Buffer.from(`${head}${type && `Content-Type: ${type}\r\n`}\r\n`), content, Buffer.from("\r\n")];
  });
  const content = new Uint8Array(Buffer.concat([...encoded, Buffer.from(`--${boundary}--\r\n`)]));
  return { content, type: `multipart/form-data; boundary=${boundary}` };
}

// HTML standard, multipart form data.
const escapeQuoted = (name: string) => name.replace(/\r\n?|\n/g, "%0D%0A").replaceAll('"', "%22");

function fromBase64(text: string, location: string): Uint8Array<ArrayBuffer> {
  const compact = text.replace(/\s+/g, "");
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(compact))
    throw new FunctionError("invalid_request", `What ${location} holds is not base64.`);
  return new Uint8Array(Buffer.from(compact, "base64"));
}
