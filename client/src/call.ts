import { StepwellError } from "./errors.js";
import type { RunEvent, TreeEvent } from "./events.js";
import { type FollowOptions, type FollowTreeOptions, follow, followTree } from "./follow.js";
import { OPERATIONS } from "./operations.js";
import { type Settings, send } from "./transport.js";
import type { Answer, CallArguments, CallId, Item, ListId, TextId, TextInput } from "./types.js";

export type CallOptions = {
  signal?: AbortSignal;
  /** Called with the answer, for its headers such as ETag or RateLimit. */
  onResponse?: (response: { status: number; headers: Headers }) => void;
};

/** The input of any operation; types.ts has the exact types. */
type AnyInput = {
  path?: Record<string, string>;
  query?: Record<string, unknown>;
  headers?: Record<string, unknown>;
  body?: unknown;
};

/** Calls operations of the OpenAPI document. */
export class Caller {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** The answer as YAML. */
  call<Id extends TextId>(id: Id, input: TextInput<Id>, options?: CallOptions): Promise<string>;
  /** Calls an operation by its id. Throws `ApiError`, `ConnectionError` or the reason of an aborted signal. */
  call<Id extends CallId>(id: Id, ...[input, options]: CallArguments<Id, CallOptions>): Promise<Answer<Id>>;
  call(id: CallId, input?: AnyInput, options?: CallOptions): Promise<unknown> {
    return this.#send(id, input, options);
  }

  /** All items of a list, page by page. */
  each<Id extends ListId>(
    id: Id,
    ...[input, options]: CallArguments<Id, CallOptions>
  ): AsyncGenerator<Item<Id>, void, undefined>;
  async *each(
    id: ListId,
    input: AnyInput = {},
    options?: CallOptions,
  ): AsyncGenerator<unknown, void, undefined> {
    let cursor: object = {};
    for (;;) {
      const page = await this.#send(id, { ...input, query: { ...input.query, ...cursor } }, options);
      if (!isPage(page)) throw new StepwellError(`The answer to ${id} is not a page of a list.`);
      yield* page.data;
      if (page.nextCursor === null) return;
      cursor = { cursor: page.nextCursor };
    }
  }

  /** The events at a path, until the run's last one. */
  follow<Status>(path: string, options: FollowOptions): AsyncGenerator<RunEvent<Status>, void, undefined> {
    return follow(this.#settings, path, options);
  }

  /** Those at a path and of the runs that the run calls. */
  followTree(path: string, options: FollowTreeOptions): AsyncGenerator<TreeEvent, void, undefined> {
    return followTree(this.#settings, path, options);
  }

  async #send(id: CallId, input: AnyInput = {}, options: CallOptions = {}): Promise<unknown> {
    const { method, path, repeat, texts } = OPERATIONS[id];
    const { body, query = {} } = input;
    const headers = {
      ...(repeat === "with-key" && { "Idempotency-Key": newIdempotencyKey() }),
      ...textsOf(input.headers ?? {}),
      ...(body !== undefined && { "Content-Type": "application/json" }),
    };
    const wait = Number(query.wait ?? 0);
    const request = {
      method,
      path: fillPath(path, input.path ?? {}) + queryOf(query),
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      isRepeatable: repeat !== "never",
      moreTimeMs: wait * 1_000,
      signal: options.signal,
    };
    return send(this.#settings, request, async (response, connection) => {
      const text = await response.text();
      connection.close();
      const { status, headers: got } = response;
      options.onResponse?.({ status, headers: got });
      const [type = ""] = (got.get("content-type") ?? "").split(";");
      if (texts?.includes(type.trim())) return text;
      try {
        return JSON.parse(text);
      } catch (cause) {
        throw new StepwellError(`The answer to ${id} is not JSON.`, { cause });
      }
    });
  }
}

function isPage(value: unknown): value is { data: unknown[]; nextCursor: string | null } {
  return (
    typeof value === "object" &&
    value !== null &&
    "data" in value &&
    Array.isArray(value.data) &&
    "nextCursor" in value
  );
}

function fillPath(path: string, values: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined || value === "")
      throw new TypeError(`The parameter ${name} of the path is missing.`);
    return encodeURIComponent(value);
  });
}

function queryOf(query: Record<string, unknown>): string {
  const text = new URLSearchParams(textsOf(query)).toString();
  return text === "" ? "" : `?${text}`;
}

function textsOf(values: Record<string, unknown>): Record<string, string> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
