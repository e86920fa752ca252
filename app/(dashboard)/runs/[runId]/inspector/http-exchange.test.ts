import { expect, it } from "vitest";
import { readHttpExchange } from "./http-exchange";

it("shows method, address and returned status", () => {
  const input =
    '{"url":"https://api.test/a?x=1","method":"POST","query":{"q":["a","b"],"none":null},"body":{}}';
  expect(readHttpExchange(input, '{"status":404,"headers":{},"body":"')).toEqual({
    method: "POST",
    url: "https://api.test/a?x=1&q=a&q=b",
    status: 404,
  });
});

it("defaults to GET, and shows no status for a failed request", () => {
  expect(readHttpExchange('{"url":"https://api.test/"}', '{"error":"rejected"}')).toEqual({
    method: "GET",
    url: "https://api.test/",
    status: null,
  });
});

it.each(['{"url":"https://api.te', "[]", "null", '{"url":7}', '"text"'])(
  "returns nothing for %s",
  (input) => {
    expect(readHttpExchange(input, null)).toBeNull();
  },
);

it("shows an invalid address unchanged", () => {
  expect(readHttpExchange('{"url":"nowhere","query":{"a":1}}', null)).toMatchObject({ url: "nowhere" });
});

it("keeps references to secrets in the address readable", () => {
  const url = "https://api.test/bot{{ secrets.bot }}/send";
  expect(readHttpExchange(JSON.stringify({ url, query: { a: 1 } }), null)).toMatchObject({
    url: `${url}?a=1`,
  });
});
