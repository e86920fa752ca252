import { APIConnectionError, APIError } from "openai";
import { describe, expect, test } from "vitest";
import { EgressError, rejectedCall, responseTooLarge } from "@/server/guard/egress/failures";
import { createRedactor } from "@/server/guard/secrets/redact";
import { readProviderError } from "@/server/work/models/errors/provider-error";
import { ReplyError, readReportedError } from "@/server/work/models/errors/replies";
import { explainOpenAiError } from "@/server/work/models/openai/client";

const apiKey = "sk-proj-abcdefghijklmnop";
const read = (error: unknown) =>
  readProviderError(explainOpenAiError(error), { name: "test", apiKey }, new Date(0));

describe("an error that echoes the provider's key", () => {
  test.each([
    ["as it is", apiKey],
    ["in base64", Buffer.from(apiKey).toString("base64")],
    ["in base64 as credentials", Buffer.from(`user:${apiKey}`).toString("base64")],
    ["in hexadecimal", Buffer.from(apiKey).toString("hex")],
    ["URL-encoded", Buffer.from(apiKey).toString("hex").replace(/../g, "%$&")],
  ])("%s is redacted", (_name, echoed) => {
    const body = { message: `Wrong credentials ${echoed}` };
    const { message } = read(APIError.generate(401, { error: body }, undefined, new Headers()));
    expect(message).toContain("answered 401 Wrong credentials ");
    expect(message).toContain("[redacted]");
    expect(message).not.toContain(echoed);
    expect(message.length).toBeLessThan(90);
    expect(read(new ReplyError(body.message)).message).not.toContain(echoed);
  });
});

test("a provider whose name begins like a key is named", () => {
  const providerError = readProviderError(new ReplyError("No."), { name: "xai-europe", apiKey }, new Date(0));
  expect(providerError.message).toBe('the model provider "xai-europe" answered: No.');
});

test.each([230, 400])("a secret behind %s characters is redacted before the message is cut", (length) => {
  const value = "Zq7uN4vT9wKx".repeat(16);
  const { redact } = createRedactor([{ value, mark: "[secret far]" }]);
  const error = readReportedError({ error: { detail: "-".repeat(length) + value } });
  const { message } = readProviderError(error, { name: "test", apiKey: undefined, redact }, new Date(0));
  expect(message).toContain("[secret far]");
  expect(message).not.toContain(value.slice(0, 20));
});

test.each<[string, object, string]>([
  ["code is empty (Cerebras)", { type: "server_error", param: "", code: "", id: "" }, "unavailable"],
  ["code is empty, with a type that has a status", { type: "overloaded_error", code: "" }, "unavailable"],
  ["code is empty, with the type of a rejection", { type: "invalid_request_error", code: "" }, "rejected"],
  ["code is empty, with the type of a used up quota", { type: "insufficient_quota", code: "" }, "quota"],
  ["code is 0", { code: 0 }, "unavailable"],
  ['code is "0"', { code: "0" }, "unavailable"],
  ["code is -1", { code: -1 }, "unavailable"],
  ["code is the provider's own (Z.ai)", { code: "1302" }, "unavailable"],
  ["code is a status", { code: "400" }, "rejected"],
  ["code is that of a rejection", { code: "invalid_value" }, "rejected"],
])("an error in a successful response whose %s", (_name, error, reason) => {
  expect(read(readReportedError({ error: { message: "Try again.", ...error } }))).toMatchObject({ reason });
});

test("a redirect names the new address and is not retried", () => {
  const headers = new Headers({ location: "https://api.test/v2" });
  expect(read(APIError.generate(308, undefined, undefined, headers))).toMatchObject({
    reason: "rejected",
    message: expect.stringContaining("redirects to https://api.test/v2; configure that address instead"),
  });
});

test("an address that may not be called is not retried, unlike one that cannot be reached", () => {
  const readCaused = (cause: Error) => read(new APIConnectionError({ cause }));
  expect(readCaused(rejectedCall("not public"))).toMatchObject({
    reason: "rejected",
    message: 'the model provider "test" could not be reached: not public',
  });
  expect(readCaused(new EgressError("reset", { kind: "network" }))).toMatchObject({ reason: "unavailable" });
});

test("a response that is too large is not retried, also if the SDK wraps it", () => {
  const error = responseTooLarge(1000);
  const providerError = {
    reason: "rejected",
    message: 'the model provider "test" answered: The response is larger than 1000 bytes.',
  };
  expect(read(error)).toMatchObject(providerError);
  expect(read(new APIConnectionError({ cause: error }))).toMatchObject(providerError);
});
