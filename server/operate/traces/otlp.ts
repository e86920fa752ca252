import { MIB } from "@/server/contract/sizes";

/** Spans in OTLP's JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). */

/** `double`: a number that may have a fraction. Its type must not depend on its value. */
type AttributeValue = string | number | boolean | readonly string[] | { double: number };

export type Span = {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  parentSpanId: string | null;
  name: string;
  kind: "internal" | "client";
  startedAt: Date;
  finishedAt: Date;
  /** Those that are null or undefined are left out. */
  attributes: Readonly<Record<string, AttributeValue | null | undefined>>;
  /** Null: it succeeded. */
  error: string | null;
};

const KINDS = { internal: 1, client: 3 } as const;
const ERROR = 2;

// Collectors limit the size of a request.
const SPANS_PER_REQUEST = 500;
const BYTES_PER_REQUEST = 4 * MIB;

/** The bodies of requests to `/v1/traces`, none for no spans. It holds the spans of one request. */
export async function* toOtlp(
  spans: AsyncIterable<Span> | Iterable<Span>,
  resource: Span["attributes"],
): AsyncGenerator<string> {
  const ofSource = JSON.stringify({ attributes: toAttributes(resource) });
  const write = (texts: readonly string[]) =>
    `{"resourceSpans":[{"resource":${ofSource},"scopeSpans":[{"scope":{"name":"stepwell"},"spans":[${texts.join(",")}]}]}]}`;
  let texts: string[] = [];
  let bytes = 0;
  for await (const span of spans) {
    const text = JSON.stringify(toOtlpSpan(span));
    const size = Buffer.byteLength(text);
    if (texts.length === SPANS_PER_REQUEST || (texts.length > 0 && bytes + size > BYTES_PER_REQUEST)) {
      yield write(texts);
      texts = [];
      bytes = 0;
    }
    texts.push(text);
    bytes += size;
  }
  if (texts.length > 0) yield write(texts);
}

function toOtlpSpan({ traceId, spanId, parentSpanId, name, kind, startedAt, ...rest }: Span): object {
  const { finishedAt, attributes, error } = rest;
  return {
    traceId,
    spanId,
    ...(parentSpanId !== null && { parentSpanId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanoseconds(startedAt),
    // A clock may have been set back between the two.
    endTimeUnixNano: nanoseconds(finishedAt < startedAt ? startedAt : finishedAt),
    attributes: toAttributes(attributes),
    ...(error !== null && { status: { code: ERROR, message: error } }),
  };
}

// 64-bit numbers are texts in this JSON.
const nanoseconds = (at: Date) => `${at.getTime()}000000`;

function toAttributes(attributes: Span["attributes"]): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: toValue(value) }],
  );
}

function toValue(value: AttributeValue): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") return { intValue: String(value) };
  if ("double" in value) return { doubleValue: value.double };
  return { arrayValue: { values: value.map(toValue) } };
}
