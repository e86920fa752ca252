import { expect, it } from "vitest";
import { errorHeadline } from "./error-headline";

it.each([
  [
    'The model provider "openai" answered 500 The server had an error while processing your request. Id req_8f1c2.',
    "Provider openai answered 500",
  ],
  ['The model provider "openai" answered 429: slow down', "Provider openai answered 429"],
  [
    'the model provider "local" could not be reached: connect ECONNREFUSED 10.0.0.1:80',
    "Provider local could not be reached: connect ECONNREFUSED 10.0.0.1:80",
  ],
  ['Step "check" failed: Error: The warehouse answered 503. Try later.', "The warehouse answered 503"],
  ['Step "one" failed: No such order 0.811093986500055 (at character 7)', "No such order … (at character 7)"],
  ['Step "check" failed: warehouse.example answered 503', "warehouse.example answered 503"],
  ['Step "each" failed: item 3: step "inner": no such order 1234567', "No such order …"],
  [
    "The output does not match the output schema: /t must be number.",
    "The output does not match the output schema: /t must be number",
  ],
  [
    'Step "pause" failed: The wait until 2026-11-26T21:39:20.141Z would end after the run\'s deadline, 2026-11-26T21:24:20.141Z. Raise it.',
    "The wait until … would end after the run's deadline, …",
  ],
  ["The run passed its deadline of 120 seconds.", "The run passed its deadline of 120 seconds"],
  ["", ""],
])("%s", (message, headline) => {
  expect(errorHeadline(message)).toBe(headline);
});

it("cuts a long sentence, so that a row shows its start", () => {
  expect(errorHeadline(`A ${"very ".repeat(50)}long error.`)).toMatch(/^A very .*…$/);
});
