/** Spans in OTLP's JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). */

type AttributeValue = string | number | boolean | readonly string[];

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

/** The body of a request to `/v1/traces`. */
export function toOtlp(spans: readonly Span[], resource: Span["attributes"]): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: toAttributes(resource) },
        scopeSpans: [{ scope: { name: "stepwell" }, spans: spans.map(toOtlpSpan) }],
      },
    ],
  });
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
  if (typeof value === "number")
    return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map(toValue) } };
}
