type Header = {
  description: string;
  required?: boolean;
  schema: { type: "string" | "integer"; minimum?: number; const?: string };
  example: string | number;
};

/** Response headers, by name; they become `components.headers`. */
export const RESPONSE_HEADERS = {
  "X-Request-Id": {
    description: "The request's id; search the service's log for it.",
    required: true,
    schema: { type: "string" },
    example: "019aa5d1-9f0e-7c43-8a55-0c4a3f1d2b6e",
  },
  ETag: {
    description: "The state of the answer. Of a run it is strong once the run has ended, weak before.",
    required: true,
    schema: { type: "string" },
    example: 'W/"pBLHzTwIgkhFDGGnGUbcpYCYmKc"',
  },
  "RateLimit-Policy": {
    description: "The limit that the call counts against: q calls in any w seconds.",
    schema: { type: "string" },
    example: '"starts";q=100;w=60',
  },
  RateLimit: {
    description: "r calls are left; the oldest counted call leaves the window in t seconds.",
    schema: { type: "string" },
    example: '"starts";r=87;t=41',
  },
  "Retry-After": {
    description: "Seconds until a call is allowed again.",
    required: true,
    schema: { type: "integer", minimum: 0 },
    example: 17,
  },
  "Idempotent-Replayed": {
    description: "Present when this is the answer to an earlier call with the same id. Nothing was started.",
    schema: { type: "string", const: "true" },
    example: "true",
  },
  Allow: {
    description: "The methods that the path takes.",
    required: true,
    schema: { type: "string" },
    example: "POST",
  },
  "Accept-Encoding": {
    description: "The encoding that bodies may have: none.",
    required: true,
    schema: { type: "string", const: "identity" },
    example: "identity",
  },
} as const satisfies Record<string, Header>;

export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

export function headerReferences(...names: ResponseHeader[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
