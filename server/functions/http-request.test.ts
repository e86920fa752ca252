import { expect, test } from "vitest";
import type { EgressFetch } from "@/server/functions/define";
import { executeFunction } from "@/server/functions/execute";
import type { Json } from "@/server/json";
import { testFunctionContext } from "@/testing/function-context";

/** Runs http_request against a canned response; gives the result and the one request that was made. */
async function call(input: Json, response: () => Response = () => new Response("ok")) {
  const requests: Request[] = [];
  const fetch: EgressFetch = async (url, init) => {
    requests.push(new Request(url, init));
    return response();
  };
  const output = await executeFunction("http_request", input, testFunctionContext({ fetch }));
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

test.each<[string, BodyInit | null, string, Json]>([
  ["text", "héllo", "text/html", "héllo"],
  ["text in another encoding", new Uint8Array([0xe9]), "text/plain; charset=iso-8859-1", "é"],
  ["text that only says it is JSON", "<html>", "application/json", "<html>"],
  [
    "a nest of JSON",
    "[".repeat(5000) + "]".repeat(5000),
    "application/json",
    "[".repeat(5000) + "]".repeat(5000),
  ],
  ["no body", null, "text/plain", ""],
  ["binary", new Uint8Array([0xff, 0xd8, 0]), "image/jpeg", { base64: "/9gA", bytes: 3 }],
  ["a NUL", "a\u0000b", "text/plain", { base64: "YQBi", bytes: 3 }],
  ["an unknown charset", "x", "text/plain; charset=nonsense", { base64: "eA==", bytes: 1 }],
])("reads %s", async (_name, body, type, expected) => {
  const { output } = await call({ url: "https://x.test/" }, answer(body, type));
  expect(output).toMatchObject({ body: expected });
});

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

test("what cannot be sent is a clear error", async () => {
  await expect(call({ url: "nonsense" })).rejects.toThrow('"nonsense" is not a URL');
  await expect(call({ url: "https://x.test/", body: {} })).rejects.toThrow("cannot have a body");
  await expect(call({ url: "https://x.test/", headers: { "a\nb": "c" } })).rejects.toThrow("cannot be sent");
  await expect(call({ url: "https://x.test/", method: "BREW" })).rejects.toThrow("/method");
});
