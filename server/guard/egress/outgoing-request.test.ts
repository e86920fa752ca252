import { expect, test } from "vitest";
import { type EgressInit, OutgoingRequest } from "@/server/guard/egress/outgoing-request";
import { SecretPlaceholders } from "@/server/guard/secrets/placeholders";

const VALUE = 'a"b\\c&d=é';
const placeholder = new SecretPlaceholders().of("key");
const secret = { name: "key", placeholder, value: VALUE, hosts: ["a.test", "b.test:8443"] };

async function fill(url: string, init: EgressInit, isTrusted = false) {
  const request = await OutgoingRequest.read(new URL(url), { secrets: [secret], ...init });
  const { body, headers, ...rest } = request.fill(isTrusted);
  return { ...rest, headers: Object.fromEntries(headers), body: body && Buffer.from(body).toString() };
}

test.each<[string, string, string]>([
  ["JSON", "application/json; charset=utf-8", JSON.stringify({ a: VALUE })],
  ["a kind of JSON", "application/vnd.api+json", JSON.stringify({ a: VALUE })],
])("a secret is escaped in %s", async (_name, type, expected) => {
  const body = JSON.stringify({ a: placeholder });
  const init = { method: "POST", body, headers: { "content-type": type } };
  expect((await fill("https://a.test/", init)).body).toBe(expected);
});

test("a secret is encoded in a form and in the query, and put in as it is elsewhere", async () => {
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const filled = await fill(`https://a.test/?k=${placeholder}`, {
    method: "POST",
    body: `é=1&k=${placeholder}`,
    headers: form,
  });
  expect(new URLSearchParams(filled.body ?? "").get("k")).toBe(VALUE);
  expect(filled.url.searchParams.get("k")).toBe(VALUE);
  const text = await fill("https://a.test/", { method: "POST", body: `é ${placeholder}`, headers: {} });
  expect(text.body).toBe(`é ${VALUE}`);
});

test("Basic credentials are encoded after the secret is in them, and replace a header of that name", async () => {
  const init = { headers: { authorization: "x" }, basicAuth: { username: "ada", password: placeholder } };
  expect((await fill("https://a.test/", init)).headers).toEqual({
    authorization: `Basic ${Buffer.from(`ada:${VALUE}`).toString("base64")}`,
  });
});

test.each([
  ["https://a.test/", true],
  ["https://A.test:443/", true],
  ["https://b.test:8443/", true],
  ["https://a.test:8443/", false],
  ["https://b.test/", false],
  ["https://a.test./", false],
  ["https://x.a.test/", false],
  ["https://a.test.evil.test/", false],
])("a secret goes to its hosts alone: %s", async (url, goes) => {
  const filled = fill(url, { headers: { k: placeholder } });
  if (goes) expect((await filled).headers.k).toBe(VALUE);
  else
    await expect(filled).rejects.toThrow(/^The secret "key" may not be sent to .*a\.test, b\.test:8443\.$/);
});

test("it goes without encryption only where the operator lists the host", async () => {
  const init = { headers: { k: placeholder } };
  await expect(fill("http://a.test/", init)).rejects.toThrow("is sent over https only");
  expect((await fill("http://a.test/", init, true)).headers.k).toBe(VALUE);
});

test.each([
  ["Telegram", "123456:AbC-d_e", "/bot", "/bot123456:AbC-d_e/send"],
  ["Slack", "T00/B00/XXx", "/services/", "/services/T00/B00/XXx/send"],
  ["any other", 'a"b?c#d%2Fe é', "/", "/a%22b%3Fc%23d%252Fe%20%C3%A9/send"],
])("a secret is put into the path as %s writes it", async (_name, value, before, path) => {
  const init = { secrets: [{ ...secret, value }] };
  const { url } = await fill(`https://a.test${before}${placeholder}/send?x=1`, init);
  expect(url.href).toBe(`https://a.test${path}?x=1`);
});

test("a secret in the path goes to its hosts alone, and never into a host", async () => {
  await expect(fill(`https://c.test/${placeholder}`, {})).rejects.toThrow("may not be sent to c.test");
  const init = { secrets: [{ ...secret, hosts: [`${placeholder}.test`] }] };
  await expect(fill(`https://${placeholder}.test/`, init)).rejects.toThrow("cannot be in the host");
});

test("unknown placeholders stay as they are", async () => {
  const unknown = new SecretPlaceholders().of("key");
  const filled = await fill(`https://a.test/${unknown}`, { headers: { k: unknown } });
  expect(filled.url.href).toBe(`https://a.test/${unknown}`);
  expect(filled.headers.k).toBe(unknown);
});

test("a secret that no header can hold is an error that does not show it", async () => {
  const request = await OutgoingRequest.read(new URL("https://a.test/"), {
    headers: { k: placeholder },
    secrets: [{ ...secret, value: "line\nline" }],
  });
  expect(() => request.fill(false)).toThrow(
    'The header "k" was not sent: a secret in it has a character that headers cannot hold.',
  );
});

test("a redirect keeps a header with a secret where the secret may go, and no other one", async () => {
  const headers = { k: `Bearer ${placeholder}`, "x-own": "1", accept: "text/x" };
  const request = await OutgoingRequest.read(new URL("https://a.test/"), { headers, secrets: [secret] });
  request.redirect(307, new URL("https://b.test:8443/"), false);
  expect(Object.fromEntries(request.fill(false).headers)).toEqual({ k: `Bearer ${VALUE}`, accept: "text/x" });
  request.redirect(307, new URL("https://c.test/"), false);
  expect(Object.fromEntries(request.fill(false).headers)).toEqual({ accept: "text/x" });
});
