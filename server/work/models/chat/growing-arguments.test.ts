import { afterEach, expect, test, vi } from "vitest";
import { isJsonObject, tryParseJson } from "@/server/base/json/json";
import { GrowingArguments } from "./growing-arguments";
import { StreamedCompletion } from "./streamed-completion";

afterEach(() => {
  vi.restoreAllMocks();
});

test.each([
  '{"a":{"b":[{}]},"c":"}{\\"]\\\\"} \n',
  '{"a":[0,{}',
  '{"a":"\\',
  '{"a":"one\ntwo"}',
  "{} x}",
  "{}{}",
  "{}\u00a0",
  "\u00a0{}",
  " {}",
  "[{}]",
  "}{}",
  '"{}"',
  "{a}",
  "12",
  "",
])("arguments are complete when they are a JSON object: %j", (text) => {
  for (const size of [1, 2, 3, text.length + 1]) {
    const known = new GrowingArguments();
    for (let at = 0; at <= text.length; at += size) {
      known.add(text.slice(at, at + size));
      const part = text.slice(0, at + size);
      expect(known.text).toBe(part);
      expect(known.isComplete, part).toBe(isJsonObject(tryParseJson(part)));
    }
  }
});

test.each([
  ["open", `{"a":[${"0,".repeat(50_000)}{}`],
  ["broken", `{"a":[${"0,".repeat(50_000)}{},]}`],
])("arguments that stay %s are not parsed for each piece", (_name, first) => {
  const parse = vi.spyOn(JSON, "parse");
  const answer = new StreamedCompletion(() => undefined);
  const pieces = [first, ...Array<string>(500).fill("{}")];
  for (const text of pieces) {
    const call = { index: 0, id: "a", function: { name: "look", arguments: text } };
    answer.add({ choices: [{ index: 0, delta: { tool_calls: [call] } }] });
  }
  const parsed = parse.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
  expect(parsed).toBeLessThan(4 * first.length);
});
