import { describe, expect, test } from "vitest";
import { type Json, type JsonObject, readJson, writeJson } from "@/server/base/json/json";
import { EgressError } from "@/server/guard/egress/failures";
import { SecretPlaceholders } from "@/server/guard/secrets/placeholders";
import { createRedactor } from "@/server/guard/secrets/redact";
import { redactJson } from "@/server/guard/secrets/stored-output";
import type { FunctionContext } from "@/server/work/functions/core/define";
import { executeFunction } from "@/server/work/functions/core/execute";
import { testFunctionContext } from "@/testing/function-context";

async function call(input: Json, response: () => Response = () => new Response("ok")) {
  const requests: Request[] = [];
  const fetch: FunctionContext["fetch"] = async (url, init) => {
    requests.push(new Request(url, init));
    return response();
  };
  const output = await executeFunction("http_request", { input, context: testFunctionContext({ fetch }) });
  const [request] = requests;
  if (request === undefined) throw new Error("no request was made");
  return { output, request };
}

const answer =
  (body: BodyInit | null, type: string, status = 200) =>
  () =>
    new Response(body, { status, headers: { "content-type": type } });

test("adds the query and parses JSON, whatever the status", async () => {
  const { output, request } = await call(
    { url: "https://x.test/a?b=1", query: { q: "São Paulo", n: 2, list: ["x", "y"], none: null } },
    answer('{"a":[1]}', "application/problem+json; charset=utf-8", 503),
  );
  expect(request.url).toBe("https://x.test/a?b=1&q=S%C3%A3o+Paulo&n=2&list=x&list=y");
  expect(request.method).toBe("GET");
  expect(request.headers.has("idempotency-key")).toBe(false);
  expect(output).toEqual({
    status: 503,
    headers: { "content-type": "application/problem+json; charset=utf-8" },
    body: { a: [1] },
  });
});

test.each(["Content-Length", "transfer-encoding", "Keep-Alive", "Expect"])(
  "%s is rejected at once (request/request#2156)",
  async (name) => {
    const input = { url: "https://x.test/", method: "POST", body: "hello", headers: { [name]: "3" } };
    await expect(call(input)).rejects.toThrow(`/headers/${name} cannot be set`);
  },
);

test.each(["form", "query"])(
  "a nested value of a %s is named with the types that it takes",
  async (field) => {
    const input = (order: Json) => ({ url: "https://x.test/", method: "POST", [field]: { order } });
    await expect(call(input({ id: 1 }))).rejects.toThrow(
      `/${field}/order must be a text, a number, true, false, null, or a list of these`,
    );
    await expect(call(input(["a", { id: 1 }]))).rejects.toThrow(
      `/${field}/order/1 must be a text, a number, true, false or null`,
    );
  },
);

test("a part's content type adds no line to its head", async () => {
  const part = { name: "a", value: "1", contentType: "text/plain\r\nX-A: 1" };
  const input = { url: "https://x.test/", method: "POST", multipart: [part] };
  await expect(call(input)).rejects.toThrow('The content type of the part "a" cannot be sent.');
});

test.each([
  ["application/csv", Buffer.from("Zo\xeb", "latin1"), "Zoë"],
  ["application/x-json", '{"a":1}', { a: 1 }],
  ["application/json, application/json", '{"a":1}', { a: 1 }],
])("reads %s (n8n-io/n8n#10194)", async (type, body, expected) => {
  expect((await call({ url: "https://x.test/" }, answer(body, type))).output).toMatchObject({
    body: expected,
  });
});

test("adds a query without a change of the address's own", async () => {
  const url = "https://x.test/a?flag&b=a%20b&c=~%2F+d&e=%ff&";
  const { request } = await call({ url, query: { q: "x y" } });
  expect(request.url).toBe(`${url}&q=x+y`);
  expect((await call({ url, query: {} })).request.url).toBe(url);
});

test("returns every cookie, and headers in UTF-8 or Latin-1", async () => {
  const { output, request } = await call({ url: "https://x.test/", headers: { "X-Name": "Zoë ☂" } }, () => {
    const headers = new Headers([
      ["set-cookie", "a=1; Path=/"],
      ["set-cookie", "b=2, 3"],
      ["x-utf-8", Buffer.from("Zoë ☂").toString("latin1")],
      ["x-latin-1", "Zo\xeb"],
    ]);
    return new Response(null, { headers });
  });
  expect(output).toMatchObject({
    headers: { "set-cookie": ["a=1; Path=/", "b=2, 3"], "x-utf-8": "Zoë ☂", "x-latin-1": "Zoë" },
  });
  expect(Buffer.from(request.headers.get("x-name") ?? "", "latin1").toString("utf8")).toBe("Zoë ☂");
});

const latin2 = (text: string) => Buffer.from(text.replaceAll("ł", "\xb3"), "latin1");

const utf16 = (text: string) => Buffer.from(text, "utf16le");

test.each<[string, BodyInit | null, string, Json]>([
  ["text", "héllo", "text/html", "héllo"],
  ["text in another encoding", new Uint8Array([0xe9]), "text/plain; charset=iso-8859-1", "é"],
  // langgenius/dify#41252
  ["a charset within another parameter", "玥", 'text/plain; a="x; charset=gbk"; charset="utf-8"', "玥"],
  ["text in UTF-16 by its header", utf16("é"), "text/plain; charset=utf-16le", "é"],
  ["text in UTF-16 by its mark", utf16("\ufeffé"), "text/plain", "é"],
  // Azure/azure-functions-nodejs-worker#168
  ["text in UTF-16 without a mark", utf16("é a"), "text/plain; charset=utf-16", "é a"],
  ["big-endian text without a mark", utf16("é a").swap16(), "text/plain; charset=UTF-16", "é a"],
  ["text in UTF-16, big-endian", utf16("\ufeffé").swap16(), "text/plain; charset=utf-16", "é"],
  ["JSON in UTF-16", utf16('\ufeff{"a":1}'), "application/json", { a: 1 }],
  ["text of a JSON type that is no JSON", "<html>", "application/json", "<html>"],
  [
    "a nest of JSON",
    "[".repeat(5000) + "]".repeat(5000),
    "application/json",
    "[".repeat(5000) + "]".repeat(5000),
  ],
  [
    "HTML whose meta names its charset",
    latin2('<head><meta charset="iso-8859-2">ł'),
    "text/html",
    '<head><meta charset="iso-8859-2">ł',
  ],
  [
    "HTML whose old meta names its charset",
    latin2("<meta http-equiv=content-type content='text/html; charset=latin2'>ł"),
    "text/html",
    "<meta http-equiv=content-type content='text/html; charset=latin2'>ł",
  ],
  [
    "XML that declares its charset",
    latin2('<?xml version="1.0" encoding="ISO-8859-2"?><a>ł</a>'),
    "application/rss+xml",
    '<?xml version="1.0" encoding="ISO-8859-2"?><a>ł</a>',
  ],
  ["text with a mark that contradicts its header", "\ufeffé", "text/plain; charset=latin1", "é"],
  ["text of no charset that is no UTF-8", latin2("caf\xe9"), "text/csv", "café"],
  ["text of an unknown charset", latin2("caf\xe9"), "text/plain; charset=x-none", "café"],
  ["HTML that says UTF-16 in ASCII", '<meta charset="utf-16">é', "text/html", '<meta charset="utf-16">é'],
  ["text with a byte that is no UTF-8", latin2("a\xffb"), "text/plain; charset=utf-8", "a\ufffdb"],
  ["no body", null, "text/plain", ""],
  ["binary", new Uint8Array([0xff, 0xd8, 0]), "image/jpeg", { base64: "/9gA", bytes: 3 }],
  ["a NUL in text of no charset", latin2("a\0\xe9"), "text/plain", { base64: "YQDp", bytes: 3 }],
  [
    "a NUL in text that is no UTF-8",
    latin2("a\0\xe9"),
    "text/plain; charset=utf-8",
    { base64: "YQDp", bytes: 3 },
  ],
  ["a NUL", "a\u0000b", "text/plain", { base64: "YQBi", bytes: 3 }],
  ["an unknown charset", "x", "text/plain; charset=none", "x"],
])("reads %s", async (_name, body, type, expected) => {
  const { output } = await call({ url: "https://x.test/" }, answer(body, type));
  expect(output).toMatchObject({ body: expected });
});

test("takes secrets out of binary data before it is encoded", async () => {
  const context = testFunctionContext({
    redact: async (value) => (typeof value === "string" ? value.replaceAll("68756e746572", "***") : value),
    fetch: async () => new Response(Buffer.from("\xff68756e746572\0", "latin1")),
  });
  expect(await executeFunction("http_request", { input: { url: "https://x.test/" }, context })).toMatchObject(
    {
      body: { base64: Buffer.from("\xff***\0", "latin1").toString("base64"), bytes: 5 },
    },
  );
});

test.each<[string, (secret: string) => Buffer]>([
  ["little-endian", utf16],
  ["big-endian", (secret) => utf16(secret).swap16()],
  ["little-endian at an odd byte", (secret) => Buffer.concat([Buffer.of(1), utf16(secret)])],
  ["big-endian at an odd byte", (secret) => Buffer.concat([Buffer.of(1), utf16(secret).swap16()])],
])("takes secrets in UTF-16, %s, out of binary data", async (_name, encode) => {
  const redact = createRedactor([{ value: "hunter22é", mark: "***" }]);
  const body = Buffer.concat([encode("hunter22é"), Buffer.of(0, 0xff, 0)]);
  const context = testFunctionContext({
    redact: (value) => redactJson(value, redact),
    fetch: async () => new Response(body),
  });
  const cleaned = Buffer.concat([encode("***"), Buffer.of(0, 0xff, 0)]);
  const output = await executeFunction("http_request", { input: { url: "https://x.test/" }, context });
  expect(output).toMatchObject({ body: { base64: cleaned.toString("base64"), bytes: cleaned.length } });
});

test.each(["text/plain", "application/json; charset=utf-8"])(
  "takes secrets out of UTF-16 that is sent as %s",
  async (type) => {
    const redact = createRedactor([{ value: "hunter22", mark: "***" }]);
    const context = testFunctionContext({
      redact: (value) => redactJson(value, redact),
      fetch: async () => new Response(utf16("clé: hunter22"), { headers: { "content-type": type } }),
    });
    const cleaned = utf16("clé: ***");
    const output = await executeFunction("http_request", { input: { url: "https://x.test/" }, context });
    expect(output).toMatchObject({ body: { base64: cleaned.toString("base64"), bytes: cleaned.length } });
  },
);

test("sends values as JSON and texts unchanged, with the step's idempotency key", async () => {
  const json = await call({ url: "https://x.test/", method: "POST", body: { a: 1 } });
  expect(await json.request.text()).toBe('{"a":1}');
  expect(json.request.headers.get("content-type")).toBe("application/json");
  expect(json.request.headers.get("idempotency-key")).toBe("step-1");

  const own = await call({
    url: "https://x.test/",
    method: "PUT",
    body: "a=1",
    headers: { "Content-Type": "application/x-www-form-urlencoded", "Idempotency-Key": "mine" },
  });
  expect(await own.request.text()).toBe("a=1");
  expect(own.request.headers.get("content-type")).toBe("application/x-www-form-urlencoded");
  expect(own.request.headers.get("idempotency-key")).toBe("mine");
});

test("sends forms, parts and binary data", async () => {
  const form = await call({
    url: "https://x.test/",
    method: "POST",
    form: { a: "1 & 2", list: [1, true, null] },
  });
  expect(await form.request.text()).toBe("a=1+%26+2&list=1&list=true");
  expect(form.request.headers.get("content-type")).toBe("application/x-www-form-urlencoded");

  const multipart = await call({
    url: "https://x.test/",
    method: "POST",
    headers: { "content-type": "replaced" },
    multipart: [
      { name: "title", value: "A picture" },
      { name: "file", base64: "/9gA", filename: "a.jpg", contentType: "image/jpeg" },
    ],
  });
  const parts = await multipart.request.formData();
  expect(parts.get("title")).toBe("A picture");
  const file = parts.get("file");
  if (!(file instanceof File)) throw new Error("no file");
  expect([file.name, file.type, ...(await file.bytes())]).toEqual(["a.jpg", "image/jpeg", 0xff, 0xd8, 0]);

  // form-data/form-data#74
  const typed = await call({
    url: "https://x.test/",
    method: "POST",
    multipart: [
      { name: 'a"b', value: '{"a":1}', contentType: "application/json" },
      { name: "file", base64: "aGk=" },
    ],
  });
  const boundary = typed.request.headers.get("content-type")?.split("boundary=")[1];
  expect(await typed.request.text()).toBe(
    `--${boundary}\r\nContent-Disposition: form-data; name="a%22b"\r\nContent-Type: application/json\r\n\r\n{"a":1}\r\n` +
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="file"\r\n` +
      `Content-Type: application/octet-stream\r\n\r\nhi\r\n--${boundary}--\r\n`,
  );

  const binary = await call({
    url: "https://x.test/",
    method: "PUT",
    base64: "/9gA",
    headers: { "content-type": "image/jpeg" },
  });
  expect([...(await binary.request.bytes())]).toEqual([0xff, 0xd8, 0]);
  expect(binary.request.headers.get("content-type")).toBe("image/jpeg");
});

describe("retries", () => {
  const busy = (headers: Record<string, string> = {}) => new Response("busy", { status: 503, headers });

  test("send an idempotent request again until it passes, and return the last answer", async () => {
    const answers = [
      () => busy(),
      () => Promise.reject(new EgressError("reset", { kind: "network" })),
      () => new Response("ok"),
    ];
    let sent = 0;
    const fetch: FunctionContext["fetch"] = async () => {
      sent += 1;
      return (answers.shift() ?? (() => busy()))();
    };
    const run = (retries: number) =>
      executeFunction("http_request", {
        input: { url: "https://x.test/", retries },
        context: testFunctionContext({ fetch }),
      });
    expect(await run(2)).toMatchObject({ status: 200 });
    expect(sent).toBe(3);
    expect(await run(1)).toMatchObject({ status: 503, body: "busy" });
    expect(sent).toBe(5);
  });

  test("do not wait for a server that asks for minutes, and repeat network errors only", async () => {
    let sent = 0;
    const send = (answer: () => Promise<Response>) =>
      executeFunction("http_request", {
        input: { url: "https://x.test/", retries: 5 },
        context: testFunctionContext({
          fetch: () => {
            sent += 1;
            return answer();
          },
        }),
      });
    expect(await send(async () => busy({ "retry-after": "120" }))).toMatchObject({ status: 503 });
    await expect(send(() => Promise.reject(new EgressError("not public")))).rejects.toThrow("not public");
    expect(sent).toBe(2);
  });
});

describe("pages", () => {
  const list = (change: (page: number) => Response | null = () => null) => {
    const asked: string[] = [];
    const fetch: FunctionContext["fetch"] = async (address) => {
      const url = new URL(address);
      asked.push(url.pathname + url.search);
      const page = Number(url.searchParams.get("page") ?? 1);
      const next = page < 3 ? `/list?page=${page + 1}` : null;
      return (
        change(page) ??
        Response.json(
          { data: [`${page}a`, `${page}b`], next },
          {
            headers: next ? { link: `<https://x.test/list?page=3>; rel="last", <${next}>; rel="next"` } : {},
          },
        )
      );
    };
    return { asked, context: testFunctionContext({ fetch }) };
  };
  const read = (input: JsonObject, { context } = list()) =>
    executeFunction("http_request", {
      input: { url: "https://x.test/list", query: { size: 2 }, ...input },
      context,
    });

  test("are followed by an expression, and their items put together", async () => {
    const pages = list();
    expect(await read({ next: "body.next", items: "body.data" }, pages)).toMatchObject({
      status: 200,
      body: ["1a", "1b", "2a", "2b", "3a", "3b"],
      pages: 3,
      hasMore: false,
    });
    expect(pages.asked).toEqual(["/list?size=2", "/list?page=2", "/list?page=3"]);
    expect(await read({ next: "links.next" })).toMatchObject({ body: [{}, {}, { next: null }], pages: 3 });
  });

  test("end at their bound, which the result contains", async () => {
    expect(await read({ next: "body.next", items: "body.data", maxPages: 2 })).toMatchObject({
      body: ["1a", "1b", "2a", "2b"],
      pages: 2,
      hasMore: true,
    });
  });

  test("on another origin, in a circle or with an error fail", async () => {
    await expect(read({ next: "'https://y.test/'" })).rejects.toThrow("another origin: https://y.test");
    await expect(read({ next: "'/list?size=2'" })).rejects.toThrow("already read");
    const broken = list((page) => (page === 2 ? new Response("", { status: 500 }) : null));
    await expect(read({ next: "body.next" }, broken)).rejects.toThrow("Page 2 returned status 500.");
    const missing = list(() => new Response("none", { status: 404 }));
    expect(await read({ next: "body.next" }, missing)).toMatchObject({ status: 404, body: "none", pages: 1 });
    await expect(read({ next: "2" })).rejects.toMatchObject({
      code: "page_failed",
      message: "next must find the address of a page, not a value of the type number.",
    });
    await expect(read({ next: "['/a', '/b']" })).rejects.toThrow("type list");
    expect(await read({ next: "links.more ? body.next : false" })).toMatchObject({ hasMore: false });
  });

  test("are seen by expressions without secrets, whose parameters stay", async () => {
    const placeholder = new SecretPlaceholders().of("api");
    const asked: string[] = [];
    const context = testFunctionContext({
      redact: async (value) => JSON.parse(JSON.stringify(value).replaceAll("s3cr3t-value", "[secret api]")),
      fetch: async (address) => {
        asked.push(new URL(address).search);
        return Response.json({ next: asked.length === 1 ? "?key=s3cr3t-value&page=2" : null });
      },
    });
    await read({ query: { key: placeholder }, next: "body.next" }, { asked, context });
    expect(asked).toEqual([`?key=${placeholder}`, `?key=${placeholder}&page=2`]);
  });

  test("keep the secret in their path", async () => {
    const placeholders = new SecretPlaceholders();
    const url = `https://x.test/bot${placeholders.of("api")}/list`;
    const { redact } = createRedactor([{ value: "123:s3cr3t", mark: "[secret api]" }]);
    const asked: string[] = [];
    const context = testFunctionContext({
      redact: (value) =>
        redactJson(value, {
          redact: (text) => placeholders.describe(redact(text)),
          redactLong: async (text) => placeholders.describe(redact(text)),
        }),
      fetch: async (address) => {
        asked.push(String(address));
        return Response.json({
          next: asked.length === 1 ? "https://x.test/bot123:s3cr3t/list?page=2" : null,
        });
      },
    });
    await executeFunction("http_request", { input: { url, next: "body.next" }, context });
    expect(asked).toEqual([url, `${url}?page=2`]);
  });
});

test("what cannot be sent is a clear error", async () => {
  await expect(call({ url: "nonsense" })).rejects.toThrow('"nonsense" is not a URL');
  await expect(call({ url: "https://x.test/", body: {} })).rejects.toThrow("cannot have a body");
  await expect(call({ url: "https://x.test/", headers: { "a\nb": "c" } })).rejects.toThrow("cannot be sent");
  const post = { url: "https://x.test/", method: "POST" };
  await expect(call({ ...post, body: "a", form: { a: 1 } })).rejects.toThrow("only one of body, form");
  await expect(call({ ...post, base64: "é" })).rejects.toThrow("is not base64");
  await expect(call({ ...post, multipart: [{ name: "a" }] })).rejects.toThrow("needs value or base64");
  await expect(call({ ...post, retries: 1 })).rejects.toThrow("might do something twice");
  await expect(call({ ...post, next: "body.next" })).rejects.toThrow("/next is only for GET");
  const headers = { Host: "y.test" };
  await expect(call({ url: "https://x.test/", headers })).rejects.toThrow("/headers/Host cannot be set");
  await expect(call({ ...post, body: "x".repeat(4 * 1024 * 1024 + 1) })).rejects.toThrow("larger than 4 MiB");
  await expect(call({ url: "https://x.test/", method: "BREW" })).rejects.toThrow("/method");
});

test("numbers that a double cannot hold keep their digits in both directions", async () => {
  const text = '{"id":8202522731445525542,"price":[0.12345678901234567891]}';
  const input = {
    url: "https://x.test/",
    method: "POST",
    body: readJson(text),
    query: readJson('{"id":8202522731445525542}'),
  };
  const { output, request } = await call(input, answer(text, "application/json"));
  expect(request.url).toBe("https://x.test/?id=8202522731445525542");
  expect(await request.text()).toBe(text);
  expect(writeJson(output)).toContain(`"body":${text}`);
});
