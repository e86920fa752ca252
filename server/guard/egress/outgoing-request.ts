import { MIB } from "@/server/contract/sizes";
import { EgressError, rejectedCall } from "@/server/guard/egress/failures";
import { hasPlaceholder, replacePlaceholders } from "@/server/guard/secrets/placeholders";
import { createRedactor } from "@/server/guard/secrets/redact";

/** A secret that a request may carry in place of its placeholder, and the hosts that may receive it. */
export type CarriedSecret = {
  name: string;
  placeholder: string;
  value: string;
  /** `host` on the scheme's own port, or `host:port`; in lower case. */
  hosts: readonly string[];
  waitingHosts?: readonly string[];
};

/** Not a header itself: secrets must be inserted before the encoding. */
type BasicAuth = { username: string; password: string };

/** Of a guarded call that sets no other: decompressed bytes, and the time with redirects and body. */
export const EGRESS_LIMITS = { responseBytes: 4 * MIB, timeoutMs: 60_000 } as const;

/** The content of a guarded call. Headers, path, query and body may contain placeholders of `secrets`. */
export type EgressInit = RequestInit & {
  basicAuth?: BasicAuth;
  /** The server takes the request once, however often it arrives. It may then be sent again, whatever its method. */
  isRepeatable?: boolean;
  secrets?: readonly CarriedSecret[];
  /** Organizations share no connections. */
  organizationId?: string;
  timeoutMs?: number;
  maxResponseBytes?: number;
  /** If set, for a successful response of events, whose reader keeps at most `maxResponseBytes` of it. */
  maxStreamBytes?: number;
  /**
   * Called for a large response, with its greatest possible size. The response is read after it resolves. For a stream
   * of events, called with each part that was read; only the first is waited for, and at most half a minute.
   */
  holdResponse?: (bytes: number) => Promise<void>;
  /** Called if a redirect turns a POST into a GET without its body, as the Fetch standard says for 301 and 302. */
  onBodyDropped?: (status: number) => void;
};

type FilledRequest = { url: URL; headers: [string, string][]; body: Uint8Array<ArrayBuffer> | null };
type Insert = (text: string, encode?: (value: string) => string) => string;

// The headers that follow a redirect to another origin. All others may be secrets of the first origin.
const SAFE_HEADERS = new Set(["accept", "accept-language", "content-type", "user-agent", "idempotency-key"]);
const BODY_HEADERS = ["content-type", "content-length", "content-encoding", "content-language"];
// RFC 9110, section 5.5, as Latin-1.
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A header's value, whose bytes fetch gives as Latin-1: most servers send UTF-8. */
export function readField(value: string): string {
  const text = Buffer.from(value, "latin1").toString("utf8");
  return text.includes("\ufffd") ? value : text;
}

/** The target of a call, as EGRESS_ALLOW and a secret's hosts name it. */
export const entryOf = (url: URL) =>
  `${url.hostname}:${url.port || (url.protocol === "https:" ? "443" : "80")}`.toLowerCase();

/** A request, which redirects change. `fill` replaces its placeholders by secrets for the next host. */
export class OutgoingRequest {
  url: URL;
  method: string;
  readonly headers: Headers;
  readonly #secrets: readonly CarriedSecret[];
  #body: Uint8Array<ArrayBuffer> | null;
  #basicAuth: BasicAuth | undefined;

  private constructor(url: URL, init: EgressInit, body: Uint8Array<ArrayBuffer> | null) {
    this.url = url;
    this.method = (init.method ?? "GET").toUpperCase();
    this.headers = new Headers(init.headers);
    this.#body = body;
    this.#basicAuth = init.basicAuth;
    this.#secrets = init.secrets ?? [];
  }

  static async read(url: URL, init: EgressInit): Promise<OutgoingRequest> {
    const hasBody = init.body !== undefined && init.body !== null;
    const body = hasBody ? new Uint8Array(await new Response(init.body).arrayBuffer()) : null;
    return new OutgoingRequest(url, init, body);
  }

  /** Throws EgressError if a secret may not be sent to its host. */
  fill(isTrusted: boolean): FilledRequest {
    if (this.#secrets.length === 0) return { url: this.url, headers: this.#headerPairs(), body: this.#body };
    const insert: Insert = (text, encode = (value) => value) =>
      replacePlaceholders(text, (placeholder) => {
        const secret = this.#secrets.find((each) => each.placeholder === placeholder);
        if (secret === undefined) return placeholder;
        const rejection = describeRejection(secret, this.url, isTrusted);
        if (rejection !== null) throw rejectedCall(rejection);
        return encode(secret.value);
      });
    const url = new URL(this.url);
    if (hasPlaceholder(url.host)) throw rejectedCall("A secret cannot be in the host of an address.");
    url.pathname = insert(url.pathname, encodePath);
    url.search = insert(url.search, encodeURIComponent);
    const headers = this.#headerPairs(insert).map(([name, value]): [string, string] => {
      const filled = insert(value);
      if (FIELD_VALUE.test(filled)) return [name, filled];
      throw new EgressError(
        `The header "${name}" was not sent: a secret in it has a character that headers cannot hold.`,
      );
    });
    return { url, headers, body: this.#body && this.#fillBody(this.#body, insert) };
  }

  #headerPairs(insert: Insert = (text) => text): [string, string][] {
    const pairs = [...this.headers];
    if (this.#basicAuth === undefined) return pairs;
    const { username, password } = this.#basicAuth;
    const credentials = Buffer.from(`${insert(username)}:${insert(password)}`).toString("base64");
    return [...pairs.filter(([name]) => name !== "authorization"), ["authorization", `Basic ${credentials}`]];
  }

  // Secrets are escaped in a JSON body, encoded in a form, and unchanged in other bodies.
  #fillBody(body: Uint8Array<ArrayBuffer>, insert: Insert): Uint8Array<ArrayBuffer> {
    const type = (this.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
    const encode = (value: string) => {
      if (type === "application/json" || type.endsWith("+json")) return JSON.stringify(value).slice(1, -1);
      if (type === "application/x-www-form-urlencoded")
        return new URLSearchParams([["", value]]).toString().slice(1);
      return value;
    };
    // Latin-1 preserves every byte.
    const text = insert(Buffer.from(body).toString("latin1"), (value) =>
      Buffer.from(encode(value)).toString("latin1"),
    );
    return new Uint8Array(Buffer.from(text, "latin1"));
  }

  /**
   * To another origin, only safe headers and allowed secrets go along. Throws EgressError if the address itself
   * contains a secret that may not be sent there.
   */
  redirect(status: number, next: URL, isTrusted: boolean): void {
    const method = methodAfter(status, this.method);
    if (method !== this.method) {
      this.#body = null;
      for (const name of BODY_HEADERS) this.headers.delete(name);
    }
    this.method = method;
    for (const secret of this.#secrets) {
      if (describeRejection(secret, next, isTrusted) === null) continue;
      if (createRedactor([{ value: secret.value, mark: "" }]).redact(next.href) === next.href) continue;
      throw rejectedCall(
        `${this.url.host} redirects to ${next.host} with the secret "${secret.name}" in the address. ` +
          "The secret may not be sent there.",
      );
    }
    if (next.origin !== this.url.origin) {
      const keeps = (name: string, value: string) => {
        if (!hasPlaceholder(value)) return SAFE_HEADERS.has(name);
        const held = this.#secrets.filter(({ placeholder }) => value.includes(placeholder));
        return held.every((secret) => describeRejection(secret, next, isTrusted) === null);
      };
      for (const [name, value] of [...this.headers]) if (!keeps(name, value)) this.headers.delete(name);
      if (this.#basicAuth && !keeps("authorization", Object.values(this.#basicAuth).join(" ")))
        this.#basicAuth = undefined;
    }
    this.url = next;
  }
}

// Services give secrets as they stand in their addresses, with slashes and colons: `T0/B0/x`, `123:x` (RFC
// 3986, section 3.3).
function encodePath(value: string): string {
  return encodeURIComponent(value).replace(/%(?:2F|3A|40|24|26|2B|2C|3B|3D)/g, decodeURIComponent);
}

export function mayReceive(hosts: readonly string[], url: URL): boolean {
  return hosts.includes(entryOf(url)) || (url.port === "" && hosts.includes(url.hostname));
}

/** Null if the secret may be sent. Trusted hosts may be called without encryption. */
function describeRejection(secret: CarriedSecret, url: URL, isTrusted: boolean): string | null {
  if (!mayReceive(secret.hosts, url)) {
    if (mayReceive(secret.waitingHosts ?? [], url))
      return `The secret "${secret.name}" may not be sent to ${url.host} yet: the host was added after the value was set. Set the value again to confirm the host.`;
    return `The secret "${secret.name}" may not be sent to ${url.host}. Its allowed hosts: ${secret.hosts.join(", ") || "none"}.`;
  }
  if (url.protocol === "https:" || isTrusted) return null;
  return `The secret "${secret.name}" is sent over https only, and ${url.origin} is not https.`;
}

// Fetch standard, HTTP-redirect fetch, step 12.
function methodAfter(status: number, method: string): string {
  if ((status === 301 || status === 302) && method === "POST") return "GET";
  if (status === 303 && method !== "GET" && method !== "HEAD") return "GET";
  return method;
}
