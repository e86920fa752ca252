import { expect, inject, test } from "vitest";
import { prepareDatabase } from "@/server/base/db/prepare-database";
import { StartError } from "@/server/base/errors";

test.each([
  ["a wrong password", { password: "wrong" }, /rejects the user or password/],
  ["an unknown user", { username: "nobody" }, /rejects the user or password/],
  ["an unknown database", { pathname: "/nowhere" }, /does not exist. Create it/],
])("%s ends the start at once", async (_name, change, message) => {
  const url = Object.assign(new URL(inject("templateUrl")), change);
  const lines: string[] = [];
  const preparing = prepareDatabase(url.href, ".", (line) => lines.push(line));
  await expect(preparing).rejects.toThrow(StartError);
  await expect(preparing).rejects.toThrow(message);
  expect(lines, "no attempt was repeated").toEqual([]);
});
