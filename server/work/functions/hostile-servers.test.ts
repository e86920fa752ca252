import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import type { JsonObject } from "@/server/base/json/json";
import { createGuardedConnect } from "@/server/guard/egress/guarded-connect";
import { createGuardedEgress, type EgressOptions } from "@/server/guard/egress/guarded-fetch";
import type { EgressFetch } from "@/server/guard/egress/trusted-fetch";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import { createMailer } from "@/server/guard/mail/smtp";
import { SecretPlaceholders } from "@/server/guard/secrets/placeholders";
import type { FunctionContext } from "@/server/work/functions/core/define";
import { executeFunction } from "@/server/work/functions/core/execute";
import { createProvider } from "@/server/work/models/provider";
import { testClock } from "@/testing/clock";
import { testFunctionContext } from "@/testing/function-context";
import {
  drip,
  type HostileAnswer,
  type HostileServer,
  startHostileServer,
  writeForever,
} from "@/testing/servers/hostile-server";

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function serve(answer: HostileAnswer, options?: { speaksFirst: boolean }): Promise<HostileServer> {
  const server = await startHostileServer(answer, options);
  endings.push(server.close);
  return server;
}

function open(options: EgressOptions) {
  const egress = createGuardedEgress(options);
  endings.push(egress.close);
  return egress.fetch;
}

const MIB = 1024 * 1024;
const zeros = Buffer.alloc(64 * MIB);
const gzipBomb = gzipSync(zeros);
const brotliBomb = brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

const OK = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
const encoded = (encoding: string, body: Buffer) => (socket: Parameters<HostileAnswer>[0]) => {
  socket.write(`${OK}content-encoding: ${encoding}\r\ncontent-length: ${body.length}\r\n\r\n`);
  socket.end(body);
};
const send = (text: string) => (socket: Parameters<HostileAnswer>[0]) => socket.end(text);
const redirect = (location: string) => `HTTP/1.1 302 Found\r\nlocation: ${location}\r\n`;

// `endsByTime`: only the call's time limit ends it. `isReused`: the connection may stay open. `http`,
// `model`, `own`: the messages of http_request, and of generate_text with the operator's and an
// organization's provider.
type Row = {
  answer: HostileAnswer;
  endsByTime?: true;
  isReused?: true;
  http: string;
  model: string;
  own?: string;
};
const TOO_LONG = /took longer than|no complete answer within|no response in time|stopped/.source;

const NO_HTTP = "does not match the HTTP/1.1 protocol";
const WRONG_LENGTH = "body length does not match content-length";

const SERVERS: Record<string, Row> = {
  "a gzip bomb": {
    answer: encoded("gzip", gzipBomb),
    http: "larger than 4 MiB",
    model: "compressed",
  },
  "a brotli bomb": { answer: encoded("br", brotliBomb), http: "larger than 4 MiB", model: "compressed" },
  "a bomb within a bomb": {
    answer: encoded("gzip, gzip", gzipSync(gzipBomb)),
    http: "larger than 4 MiB",
    model: "compressed",
  },
  "a hundred encodings": {
    answer: encoded(Array(100).fill("gzip").join(", "), gzipBomb),
    http: "too many content-encodings",
    model: "compressed",
  },
  "a body that never ends": {
    answer: (socket) => writeForever(socket, `${OK}\r\n`, "x".repeat(64 * 1024)),
    http: "larger than 4 MiB",
    model: "larger than 16 MiB",
  },
  "a body that drips": {
    answer: (socket) => drip(socket, `${OK}\r\n`, "x"),
    endsByTime: true,
    http: TOO_LONG,
    model: TOO_LONG,
  },
  "headers that drip": {
    answer: (socket) => drip(socket, OK, "x"),
    endsByTime: true,
    http: TOO_LONG,
    model: TOO_LONG,
  },
  "no answer": { answer: () => undefined, endsByTime: true, http: TOO_LONG, model: TOO_LONG },
  "a header of 1 MB": {
    answer: send(`${OK}x-long: ${"x".repeat(MIB)}\r\ncontent-length: 2\r\n\r\n{}`),
    http: "its headers are too large",
    model: "its headers are too large",
  },
  "a hundred thousand headers": {
    answer: send(`${OK}${"a: b\r\n".repeat(100_000)}content-length: 2\r\n\r\n{}`),
    http: "its headers are too large",
    model: "its headers are too large",
  },
  "interim answers without end": {
    answer: (socket) =>
      writeForever(socket, "", "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(100)),
    endsByTime: true,
    http: TOO_LONG,
    model: TOO_LONG,
  },
  "a body shorter than it says": {
    answer: send(`${OK}content-length: 100\r\n\r\n{}`),
    http: "connection was closed",
    model: "connection was closed",
  },
  "two lengths": {
    answer: send(`${OK}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`),
    http: WRONG_LENGTH,
    model: WRONG_LENGTH,
  },
  "a length beside chunks": {
    answer: send(`${OK}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`),
    http: WRONG_LENGTH,
    model: WRONG_LENGTH,
  },
  "a chunk of an impossible size": {
    answer: send(`${OK}transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}`),
    http: NO_HTTP,
    model: NO_HTTP,
  },
  "no HTTP": {
    answer: send("220 mail.test ESMTP\r\n".repeat(10)),
    http: NO_HTTP,
    model: NO_HTTP,
  },
  "a redirect to a private address": {
    answer: send(`${redirect("http://169.254.169.254/latest/meta-data/")}content-length: 0\r\n\r\n`),
    http: "169.254.169.254 is not a public address",
    model: "302",
    own: "302",
  },
  "a redirect to itself": {
    answer: (socket, path) => socket.write(`${redirect(`${path}x`)}content-length: 0\r\n\r\n`),
    isReused: true,
    http: "redirects more than 5 times",
    model: "302",
    own: "302",
  },
  "a redirect with a body that never ends": {
    answer: (socket) => writeForever(socket, `${redirect("file:///etc/passwd")}\r\n`, "x".repeat(64 * 1024)),
    http: "Only http and https",
    model: "larger than 16 MiB",
    own: "larger than 4 MiB",
  },
};

type Call = (host: string, limitMs: number) => Promise<unknown>;

const request: Call = (host, timeoutMs) =>
  executeFunction("http_request", {
    input: { url: `http://${host}/` },
    context: testFunctionContext({ fetch: open({ allow: [host], timeoutMs }) }),
  });

function generateThrough(fetch: EgressFetch, host: string, attemptTimeoutMs: number) {
  const provider = createProvider({
    name: "test",
    baseUrl: `http://${host}/v1`,
    fetch,
    clock: testClock(),
    random: () => 1,
    sleep: async () => undefined,
    maxAttempts: 1,
    attemptTimeoutMs,
  });
  const callModel: FunctionContext["callModel"] = (wish, signal = new AbortController().signal) =>
    provider.call({ ...wish, maxOutputTokens: wish.maxOutputTokens ?? 100, signal });
  return executeFunction("generate_text", {
    input: { prompt: "hi" },
    context: testFunctionContext({ callModel }),
  });
}

const generate: Call = (host, limitMs) => {
  const egress = createTrustedEgress();
  endings.push(egress.close);
  return generateThrough(egress.fetch, host, limitMs);
};

const generateOwn: Call = (host, limitMs) => {
  const fetch = open({ allow: [host] });
  return generateThrough((url, init) => fetch(url, { ...init, redirect: "manual" }), host, limitMs);
};

const SOON_MS = 400;
const PATIENT_MS = 60_000;

describe.each(Object.entries(SERVERS))("%s", (_name, { answer, endsByTime, isReused, ...says }) => {
  test.each([
    ["http_request", request, says.http],
    ["generate_text", generate, says.model],
    ["generate_text of an organization's provider", generateOwn, says.own ?? says.http],
  ])("ends %s with an error and its connection", async (_function, call, message) => {
    const server = await serve(answer);
    const limitMs = endsByTime ? SOON_MS : PATIENT_MS;
    await expect(call(server.host, limitMs)).rejects.toThrow(new RegExp(message));
    // The largest limit is 16 MiB; the rest is what the system buffers.
    if (!isReused) expect(await server.closed()).toBeLessThan(40 * MIB);
  });
});

test("bytes after the declared length of a body are not the answer to the next call", async () => {
  let asked = 0;
  const server = await serve((socket) => {
    asked += 1;
    const body = asked === 1 ? `1 HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n"evil"` : "2";
    socket.write(`${OK}content-length: 1\r\n\r\n${body}`);
  });
  const fetch = open({ allow: [server.host] });
  const call = () =>
    executeFunction("http_request", {
      input: { url: `http://${server.host}/` },
      context: testFunctionContext({ fetch }),
    });
  expect([await call(), await call()]).toMatchObject([{ body: 1 }, { body: 2 }]);
});

test.each([
  ["POST", {}, 1],
  ["PATCH", {}, 1],
  ["POST", { "Idempotency-Key": "mine" }, 2],
  ["PUT", {}, 2],
])("a %s with %o whose connection breaks arrives %i times", async (method, headers, times) => {
  let asked = 0;
  const server = await serve((socket) => {
    asked += 1;
    socket.destroy();
  });
  const input: JsonObject = { url: `http://${server.host}/`, method, headers, body: { a: 1 } };
  const context = testFunctionContext({ fetch: open({ allow: [server.host] }) });
  await expect(executeFunction("http_request", { input, context })).rejects.toMatchObject({
    code: "call_failed",
  });
  expect(asked).toBe(times);
});

// Postcatlab/postcat#442
test.each([
  [301, "POST", "GET", 1],
  [302, "POST", "GET", 1],
  [303, "POST", "GET", 0],
  [307, "POST", "POST", 0],
  [308, "POST", "POST", 0],
  [301, "PUT", "PUT", 0],
])("after the redirect %i, a %s becomes a %s, with %i notes", async (status, method, expected, count) => {
  const server = await serve((socket, path, head) => {
    const used = head.split(" ", 1)[0] ?? "";
    if (path !== "/") return socket.end(`${OK}content-length: ${used.length + 2}\r\n\r\n"${used}"`);
    return socket.end(`HTTP/1.1 ${status} Moved\r\nlocation: /new\r\ncontent-length: 0\r\n\r\n`);
  });
  const notes: string[] = [];
  const context = testFunctionContext({
    fetch: open({ allow: [server.host] }),
    note: (text) => void notes.push(text),
  });
  const input = { url: `http://${server.host}/`, method, body: { a: 1 } };
  const output = await executeFunction("http_request", { input, context });
  const note = expect.stringContaining(`with the redirect ${status}, so it was repeated as GET`);
  expect(notes).toEqual(count === 0 ? [] : [note]);
  // A model that called the function reads its output only.
  expect(output).toMatchObject(count === 0 ? { body: expected } : { body: expected, note });
  expect(Object.keys(output ?? {})).toHaveLength(3 + count);
});

describe("a redirect to another host", () => {
  const placeholder = new SecretPlaceholders().of("api");

  async function follow(input: JsonObject, path = "/"): Promise<string[]> {
    const heads: string[] = [];
    const other = await serve((socket, _path, head) => {
      heads.push(head);
      socket.end(`${OK}content-length: 2\r\n\r\n{}`);
    });
    const to = `http://${other.host}${path}`;
    const server = await serve(
      send(`HTTP/1.1 307 Temporary Redirect\r\nlocation: ${to}\r\ncontent-length: 0\r\n\r\n`),
    );
    const secrets = [{ name: "api", placeholder, value: "s3cr3t-value", hosts: [server.host] }];
    const fetch = open({ allow: [server.host, other.host] });
    const call = executeFunction("http_request", {
      input: { url: `http://${server.host}/`, ...input },
      context: testFunctionContext({ fetch: (url, init) => fetch(url, { ...init, secrets }) }),
    });
    await call.catch((error: unknown) => heads.push(String(error)));
    return heads;
  }

  test("gets no header with a secret", async () => {
    const headers = { "x-key": `Bearer ${placeholder}`, authorization: placeholder, accept: "text/x" };
    const [head = ""] = await follow({ headers });
    expect(head).toContain("accept: text/x");
    expect(head).not.toMatch(/s3cr3t|x-key|authorization/i);
    const basicAuth = { username: "ada", password: placeholder };
    expect((await follow({ basicAuth }))[0]).not.toMatch(/authorization/i);
  });

  test.each<[string, JsonObject, string]>([
    ["a body", { method: "POST", body: { key: placeholder } }, "/"],
    ["a form", { method: "POST", form: { key: placeholder } }, "/"],
    ["an address that its answer copied it to", { query: { key: placeholder } }, "/?key=s3cr3t-value"],
  ])("is not followed with a secret in %s", async (_what, input, path) => {
    expect(await follow(input, path)).toEqual([
      expect.stringMatching(/secret "api" (may not be sent to|in the address)/),
    ]);
  });
});

describe("a name whose address changes", () => {
  function changing() {
    const addresses = ["2d00::1", "127.0.0.1"];
    let asked = 0;
    const lookup: NonNullable<EgressOptions["lookup"]> = (_name, options, callback) => {
      const address = addresses[Math.min(asked, 1)] ?? "";
      asked += 1;
      const family = address.includes(":") ? 6 : 4;
      if (options.all) callback(null, [{ address, family }]);
      else callback(null, address, family);
    };
    return { lookup, asked: () => asked };
  }

  test("gains nothing between the check and the connection of http_request", async () => {
    const server = await serve(send(`${OK}content-length: 2\r\n\r\n{}`));
    const { lookup, asked } = changing();
    const fetch = open({ lookup, timeoutMs: SOON_MS });
    const call = () =>
      executeFunction("http_request", {
        input: { url: `http://rebind.test:${server.port}/` },
        context: testFunctionContext({ fetch }),
      });
    // The connection is tried to the address that was checked, so it fails.
    await expect(call()).rejects.toThrow(/cannot be reached|timed out|took longer|EADDRNOTAVAIL|failed/);
    expect(asked()).toBe(1);
    await expect(call()).rejects.toThrow("rebind.test is not a public address");
    expect([asked(), server.connections()]).toEqual([2, 0]);
  });

  test("gains nothing by a redirect, at a retry, or for the second page", async () => {
    const server = await serve(send(`${OK}content-length: 2\r\n\r\n{}`));
    const rebinding = `http://rebind.test:${server.port}/`;
    const front = await serve(send(`${redirect(rebinding)}content-length: 0\r\n\r\n`));
    const rejection = "rebind.test is not a public address";
    const call = (input: JsonObject, fetch: FunctionContext["fetch"]) =>
      executeFunction("http_request", {
        input: { url: rebinding, ...input },
        context: testFunctionContext({ fetch }),
        timeoutMs: PATIENT_MS,
      });
    const changed = () => {
      const { lookup } = changing();
      lookup("rebind.test", { all: true }, () => {});
      return open({ lookup, allow: [front.host] });
    };

    await expect(call({ url: `http://${front.host}/` }, changed())).rejects.toThrow(rejection);

    const afterFirst = (first: Response) => {
      const answers = [first];
      const egress = changed();
      const fetch: FunctionContext["fetch"] = async (url, init) => answers.shift() ?? egress(url, init);
      return fetch;
    };
    const busy = new Response("", { status: 503, headers: { "retry-after": "0" } });
    await expect(call({ retries: 3 }, afterFirst(busy))).rejects.toThrow(rejection);
    const list = Response.json({ next: "/2" });
    await expect(call({ next: "body.next" }, afterFirst(list))).rejects.toThrow(rejection);
    expect(server.connections()).toBe(0);
  });

  test("gains nothing between the check and the connection of send_email", async () => {
    const server = await serve(() => undefined, { speaksFirst: true });
    const { lookup, asked } = changing();
    // The first call loads the mailer, which may take longer than the other limit.
    const call = () => sendThrough({ host: "rebind.test", port: server.port }, { lookup }, PATIENT_MS);
    await expect(call()).rejects.toThrow();
    expect(asked()).toBe(1);
    await expect(call()).rejects.toThrow("rebind.test is not a public address");
    expect([asked(), server.connections()]).toEqual([2, 0]);
  });
});

function sendThrough(
  { host, port }: { host: string; port: number },
  options: Parameters<typeof createGuardedConnect>[0],
  limitMs = SOON_MS,
) {
  const settings = { host, port, secure: false, requireTls: false, user: undefined, password: undefined };
  const sendMail = createMailer(
    { ...settings, from: "no-reply@stepwell.test" },
    createGuardedConnect(options),
  );
  const message = { to: "bob@example.test", subject: "Hi", text: "Hello" };
  return executeFunction("send_email", {
    input: message,
    context: testFunctionContext({ sendMail }),
    timeoutMs: limitMs,
  });
}

const GREETING = "220 mail.test ESMTP\r\n";
test.each<[string, HostileAnswer, number, RegExp]>([
  ["no greeting", () => undefined, SOON_MS, /took longer than 400 ms/],
  ["a greeting that drips", (socket) => drip(socket, "220-", "x"), SOON_MS, /took longer than 400 ms/],
  ["lines that drip", (socket) => drip(socket, "", "220-x\r\n"), SOON_MS, /took longer than 400 ms/],
  [
    "a greeting that never ends",
    (socket) => writeForever(socket, "220 ", "x".repeat(64 * 1024)),
    PATIENT_MS,
    /exceeds maximum allowed size/,
  ],
  [
    "lines that never end",
    (socket) => writeForever(socket, "", "220-x\r\n".repeat(1_000)),
    PATIENT_MS,
    /exceeds maximum allowed size/,
  ],
  ["HTTP", send(`${OK}\r\n{}`), PATIENT_MS, /did not take the message/],
  ["a greeting and no more", send(GREETING), PATIENT_MS, /did not take the message/],
])(
  "a mail server with %s ends send_email with an error and its connection",
  async (_name, answer, limitMs, message) => {
    const server = await serve(answer, { speaksFirst: true });
    await expect(
      sendThrough({ host: "127.0.0.1", port: server.port }, { allow: [server.host] }, limitMs),
    ).rejects.toThrow(message);
    expect(await server.closed()).toBeLessThan(40 * MIB);
  },
);
