import { expect, it } from "vitest";
import { readPosition, START, writePosition } from "./position";

it.each(["0", "12", "12(7.1:5)", "12(7.1:5,9.2:3(2.1:1))", "999999999"])(
  "%s is read as it is written",
  (text) => {
    const position = readPosition(text);
    expect(position && writePosition(position)).toBe(text);
  },
);

it.each([
  "",
  "x",
  "-1",
  "1.5",
  "1(",
  "1()",
  "1(2:3)",
  "1(2.1:3",
  "1(2.1:3))",
  "1(2.1:3,)",
  " 1",
  "1234567890",
  `1(${"2.1:1(".repeat(30)}`,
  `1(${Array.from({ length: 900 }, (_, n) => `${n}.1:1`).join(",")})`,
])("%s is none", (text) => {
  expect(readPosition(text)).toBeNull();
});

it("starts before the first event", () => {
  expect(writePosition(START)).toBe("0");
});
