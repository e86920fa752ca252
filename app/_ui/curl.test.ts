import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { curlOf } from "./curl";

const heard = { body: "", key: "" };
const server = createServer(async (request, response) => {
  heard.body = (await buffer(request)).toString();
  heard.key = String(request.headers["x-api-key"]);
  response.end("heard");
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

async function paste(command: string): Promise<string> {
  const shell = spawn("sh", { env: { ...process.env, API_KEY: "sw_key", no_proxy: "*" } });
  shell.stdin.end(`${command}\n`);
  const [printed, errors] = await Promise.all([buffer(shell.stdout), buffer(shell.stderr)]);
  return printed.toString() || errors.toString();
}

const NASTY = `it's "so" $HOME \`id\` $(id) \\n \\\\ %s %d !! \n\ta line, EOF\nEOF\n🙂 ü`;

describe("the copied call sends the body unchanged", () => {
  const bodies = {
    plain: '{"number":4}',
    "with what shells take for theirs": JSON.stringify({ userMessage: NASTY, raw: NASTY }),
    "that begins with a dash": "-n",
    "of several lines": `{\n  "text": ${JSON.stringify(NASTY)}\n}\n`,
    "longer than an argument may be": JSON.stringify({ userMessage: NASTY.repeat(2_500) }),
    "of 1 MiB": JSON.stringify({ userMessage: NASTY.repeat(30_000) }).slice(0, 1_048_576),
  };
  for (const [name, body] of Object.entries(bodies)) {
    test(name, async () => {
      const address = server.address();
      if (address === null || typeof address === "string") throw new Error("The server does not listen.");
      const url = `http://127.0.0.1:${address.port}/v1`;
      expect(await paste(curlOf({ url, body }))).toBe("heard");
      expect(heard.body === body, `${heard.body.length} of ${body.length} characters`).toBe(true);
      expect(heard.key).toBe("sw_key");
    });
  }
});
