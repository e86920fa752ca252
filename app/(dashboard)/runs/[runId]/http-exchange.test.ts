import { expect, it } from "vitest";
import { readHttpExchange } from "./http-exchange";

it("tells what was sent where and the status that came back", () => {
  const input =
    '{"url":"https://api.test/a?x=1","method":"POST","query":{"q":["a","b"],"none":null},"body":{}}';
  expect(readHttpExchange(input, '{"status":404,"headers":{},"body":"')).toEqual({
    method: "POST",
    url: "https://api.test/a?x=1&q=a&q=b",
    status: 404,
  });
});

it("takes GET where no method is given, and no status from a failure", () => {
  expect(readHttpExchange('{"url":"https://api.test/"}', '{"error":"refused"}')).toEqual({
    method: "GET",
    url: "https://api.test/",
    status: null,
  });
});

it.each(['{"url":"https://api.te', "[]", "null", '{"url":7}', '"text"'])("knows nothing of %s", (input) => {
  expect(readHttpExchange(input, null)).toBeNull();
});

it("leaves an address alone that is none", () => {
  expect(readHttpExchange('{"url":"nowhere","query":{"a":1}}', null)).toMatchObject({ url: "nowhere" });
});
