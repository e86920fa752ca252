import { AppError } from "@/server/base/errors";
import { decodeText, parseBodyText, requireType } from "@/server/base/json/body";
import type { Json } from "@/server/base/json/json";
import { JSON_TYPE, YAML_TYPE } from "@/server/contract/media-types";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import type { Endpoint } from "./endpoint";
import type { ApiRequest } from "./http/api-request";
import { METADATA_PARAMETER } from "./v1/filters";

type Params = Record<string, string>;

/** Reads the input of a call's procedure, `{ …parameters, body }`. Throws `invalid_request`. */
export async function readInput(
  request: ApiRequest,
  {
    endpoint,
    params,
    body,
    memory,
  }: { endpoint: Endpoint; params: Params; body: Buffer | undefined; memory: StepMemory },
): Promise<object> {
  const input = { ...params, ...readQuery(request.query, endpoint) };
  return body === undefined
    ? input
    : { ...input, body: await parseBody(request, endpoint, { body, memory }) };
}

// Parameters such as `metadata.customer` become a JSON object, the declared `metadata.KEY`. Throws
// `invalid_request` for an unknown or repeated parameter.
function readQuery(text: string, { query, ignoresUnknownQuery }: Endpoint): Params {
  const found: Params = {};
  const pairs: Params = {};
  if (text === "" || (query.length === 0 && ignoresUnknownQuery)) return found;
  for (const [name, value] of new URLSearchParams(text)) {
    const isPair = name.startsWith(PAIR_PREFIX) && query.includes(METADATA_PARAMETER);
    const isKnown = isPair || query.includes(name);
    if (!isKnown && ignoresUnknownQuery) continue;
    const known = query.length === 0 ? "This call takes none." : `This call takes ${query.join(", ")}.`;
    const issue = isKnown
      ? name in found || name in pairs
        ? "is given twice."
        : null
      : `is unknown. ${known}`;
    if (issue !== null) {
      throw new AppError("invalid_request", `The query parameter ${name.slice(0, 100)} ${issue}`);
    }
    if (isPair) pairs[name] = value;
    else found[name] = value;
  }
  const metadata = Object.entries(pairs).map(([name, value]) => [name.slice(PAIR_PREFIX.length), value]);
  return metadata.length === 0
    ? found
    : { ...found, [METADATA_PARAMETER]: JSON.stringify(Object.fromEntries(metadata)) };
}

const PAIR_PREFIX = METADATA_PARAMETER.replace("KEY", "");

async function parseBody(
  request: ApiRequest,
  endpoint: Endpoint,
  { body, memory }: { body: Buffer; memory: StepMemory },
): Promise<Json> {
  if (body.length === 0 && endpoint.body?.optional) return {};
  const isText = endpoint.body?.yaml !== undefined;
  requireType(request.header("content-type"), isText ? [JSON_TYPE, YAML_TYPE] : [JSON_TYPE]);
  const text = decodeText(body);
  await memory.holdText(text);
  return isText ? text : parseBodyText(text);
}
