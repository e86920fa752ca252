import { expect, test } from "vitest";
import { keepOwnCookies } from "./own-cookies";

test.each([
  ["theme=dark; tz=Europe%2FOslo; zone=UTC", "theme=dark; tz=Europe%2FOslo; zone=UTC"],
  ["stepwell.session_token=a.b; other=1", "stepwell.session_token=a.b"],
  ["a=1;  __Secure-stepwell.session_token=x=y ; b=2", "__Secure-stepwell.session_token=x=y"],
  [
    "stepwell.session_data.0=a; stepwell.session_data.1=b",
    "stepwell.session_data.0=a; stepwell.session_data.1=b",
  ],
  ["theme=dark; theme=light", "theme=dark"],
  ["columns=status%2Ccredits; column=1", "columns=status%2Ccredits"],
  ["themes=dark; stepwell=1; xstepwell.a=1; Theme=dark", undefined],
  ["theme", "theme"],
  [";;;", undefined],
  ["", undefined],
  [undefined, undefined],
])("of the cookies %j, %j remain", (header, own) => {
  expect(keepOwnCookies(header)).toBe(own);
});

test("cookies that only look like ours are few", () => {
  const header = Array.from({ length: 1_000 }, (_, n) => `stepwell.${n}=1`).join("; ");
  expect(keepOwnCookies(header)?.split("; ")).toHaveLength(16);
});
