import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { hasProgram } from "@/testing/programs";
import { newCallbackSecret } from "./callback-secrets";
import { signedHeaders } from "./send/sign";

const PAGE = readFileSync(join(import.meta.dirname, "../../../docs/callbacks.md"), "utf8");
const sampleOf = (language: string) =>
  new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, "m").exec(PAGE)?.[1] ?? "";

// Each prints `valid` or `invalid` for the callback in its environment.
const PROGRAMS = {
  js: {
    needs: [],
    command: process.execPath,
    options: ["--input-type=module", "-e"],
    use: `
      const { BODY, HEADERS, SECRET } = process.env;
      try { readCallback(BODY, JSON.parse(HEADERS), SECRET); console.log("valid"); } catch { console.log("invalid"); }`,
  },
  python: {
    needs: ["python3"],
    command: "python3",
    options: ["-c"],
    use: `
import json, os
e = os.environ
print("valid" if is_signed(e["BODY"].encode(), json.loads(e["HEADERS"]), e["SECRET"]) else "invalid")`,
  },
};

const BODY = '{"type":"run.completed","data":{"output":"é"}}';

describe.each(Object.entries(PROGRAMS))("the sample for %s", (language, { needs, command, options, use }) => {
  const [SECRET, NEWER, OTHER] = [newCallbackSecret(), newCallbackSecret(), newCallbackSecret()];
  const call = { id: "msg_1", at: new Date(), body: BODY };

  it.skipIf(!needs.every(hasProgram)).each([
    ["valid", "a body", [SECRET], {}],
    ["valid", "the older secret of two", [NEWER, SECRET], {}],
    ["invalid", "another secret", [OTHER], {}],
    ["invalid", "another body", [SECRET], { BODY: `${BODY} ` }],
    ["invalid", "an old call", [SECRET], { HEADERS: signedHeaders([SECRET], { ...call, at: new Date(0) }) }],
  ])("finds %s: %s", async (expected, _what, secrets, changed: { BODY?: string; HEADERS?: object }) => {
    const headers = JSON.stringify(changed.HEADERS ?? signedHeaders(secrets, call));
    const env = { ...process.env, BODY: changed.BODY ?? BODY, HEADERS: headers, SECRET };
    const { stdout } = await promisify(execFile)(command, [...options, sampleOf(language) + use], { env });
    expect(stdout.trim()).toBe(expected);
  });
});
