import tls from "node:tls";
import fc from "fast-check";
import { afterEach, describe, expect, it, test, vi } from "vitest";
import type { SmtpSettings } from "@/server/base/settings/env";
import { createGuardedConnect } from "@/server/guard/egress/guarded-connect";
import { executeFunction } from "@/server/work/functions/core/execute";
import { testFunctionContext } from "@/testing/function-context";
import { TEST_CERTIFICATE } from "@/testing/servers/certificate";
import { type MailServer, startMailServer } from "@/testing/servers/mail-server";
import { createMailer } from "./smtp";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function serve(options: Parameters<typeof startMailServer>[0] = {}): Promise<MailServer> {
  const server = await startMailServer(options);
  ends.push(server.close);
  return server;
}

const PASSWORD = "p4ss-of-the-operator";
const ENCODED = Buffer.from(`\0ada\0${PASSWORD}`).toString("base64");

function mailer({ port }: Pick<MailServer, "port">, fields: Partial<SmtpSettings> = {}) {
  const settings: SmtpSettings = {
    host: "127.0.0.1",
    port,
    secure: false,
    requireTls: false,
    user: undefined,
    password: undefined,
    from: "Stepwell <no-reply@stepwell.test>",
    ...fields,
  };
  return createMailer(settings, createGuardedConnect({ allow: [`${settings.host}:${port}`] }));
}

type Message = { to?: string | string[]; subject?: string; text?: string; html?: string };

const send = (
  sendMail: ReturnType<typeof mailer>,
  message: Message = {},
  { organizationId = "org-1", timeoutMs }: { organizationId?: string; timeoutMs?: number } = {},
) =>
  executeFunction("send_email", {
    input: { to: "bob@example.test", subject: "Hi", text: "Hello", ...message },
    context: testFunctionContext({ sendMail, organizationId }),
    timeoutMs,
  });

function trustCertificate(): void {
  const { connect } = tls;
  const { cert } = TEST_CERTIFICATE;
  Object.assign(tls, {
    connect: (options: tls.ConnectionOptions, done: () => void) => connect({ ...options, ca: cert }, done),
  });
  ends.push(() => Object.assign(tls, { connect }));
}

describe("encryption", () => {
  const login = { user: "ada", password: PASSWORD };

  test.each([
    ["STARTTLS", "localhost", { tls: "starttls" }, { requireTls: true }],
    ["STARTTLS", "127.0.0.1", { tls: "starttls" }, { requireTls: true }],
    ["implicit TLS", "localhost", { tls: "implicit" }, { secure: true }],
    ["implicit TLS", "127.0.0.1", { tls: "implicit" }, { secure: true }],
  ] as const)("%s with %s: password and message go over TLS only", async (_kind, host, options, fields) => {
    trustCertificate();
    const warnings: string[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning.message);
    process.on("warning", onWarning);
    ends.push(() => process.off("warning", onWarning));
    const server = await serve(options);
    await send(mailer(server, { host, ...fields, ...login }));
    expect(server.messages).toHaveLength(1);
    expect(server.commands.filter((each) => !each.startsWith("*"))).toEqual(
      options.tls === "starttls" ? [expect.stringMatching(/^EHLO/), "STARTTLS"] : [],
    );
    expect(server.commands).toContain(`*AUTH PLAIN ${ENCODED}`);
    expect(warnings).toEqual([]);
  });

  test.each([
    ["STARTTLS", { tls: "starttls" }, { requireTls: true }],
    ["STARTTLS that is not required", { tls: "starttls" }, {}],
    ["implicit TLS", { tls: "implicit" }, { secure: true }],
  ] as const)("%s with a self-signed certificate: nothing is sent", async (_kind, options, fields) => {
    const server = await serve(options);
    await expect(send(mailer(server, { host: "localhost", ...fields, ...login }))).rejects.toMatchObject({
      code: "mail_failed",
      message: expect.stringMatching(/self.signed certificate/),
    });
    expect(server.commands.join("\n")).not.toMatch(/AUTH|MAIL|\*/);
  });

  it("trusts nothing that was sent in plain text before TLS", async () => {
    trustCertificate();
    const server = await serve({ tls: "starttls", injects: "250-localhost\r\n250 AUTH X-INJECTED\r\n" });
    const attempt = send(mailer(server, { host: "localhost", requireTls: true, ...login }));
    await attempt.catch(() => undefined);
    expect(server.commands.filter((each) => /AUTH|MAIL/.test(each) && !each.startsWith("*"))).toEqual([]);
  });
});

describe("a server that rejects", () => {
  test.each([
    ["the greeting", "greeting", "421 4.3.2 Too many connections"],
    ["the login", "AUTH", "535 5.7.8 Wrong password"],
    ["the login for now", "AUTH", "454 4.7.0 Try later"],
    ["the sender", "MAIL", "550 5.7.1 Not yours"],
    ["the recipient, as greylisting does", "RCPT", "451 4.7.1 Greylisted, try again in 300 s"],
    ["the recipient for good", "RCPT", "550 5.1.1 No such mailbox"],
    ["the data", "DATA", "452 4.3.1 Disk full"],
    ["the message", "data", "552 5.3.4 Too large"],
  ])("%s fails the call with its words, and nothing is repeated", async (_what, command, words) => {
    const server = await serve({ answer: (each) => (each.startsWith(command) ? words : null) });
    await expect(send(mailer(server, { user: "ada", password: PASSWORD }))).rejects.toMatchObject({
      code: "mail_failed",
      message: expect.stringContaining(words.replace(/^\d+ (\d\.\d\.\d )?/, "")),
    });
    expect(server.commands.filter((each) => each.startsWith("EHLO")).length).toBeLessThanOrEqual(1);
  });

  it("some recipients for now: they are named, and the others get the message", async () => {
    const server = await serve({ answer: (each) => (each.includes("eve@") ? "451 Greylisted" : null) });
    const to = ["bob@example.test", "eve@example.test", "ada@example.test"];
    expect(await send(mailer(server), { to })).toMatchObject({
      accepted: ["bob@example.test", "ada@example.test"],
      rejected: ["eve@example.test"],
    });
    expect(server.messages).toHaveLength(1);
  });

  it("with text that no database and no terminal takes: the error is a short line", async () => {
    const words = `550 \0\x1b[31m${"\xff".repeat(10)}${"x".repeat(100_000)}`;
    const server = await serve({ answer: (each) => (each.startsWith("MAIL") ? words : null) });
    const error = await send(mailer(server)).catch((failure: Error) => failure);
    expect(error).toMatchObject({ code: "mail_failed" });
    expect(String(error).length).toBeLessThan(400);
  });
});

it("a server that answers each command late is left after the call's time", async () => {
  let closed = false;
  const server = await serve({
    answer: async (command) => {
      if (command !== "DATA") return null;
      await new Promise<void>((end) => ends.push(end));
      closed = true;
      return "354 Go on";
    },
  });
  await expect(send(mailer(server), {}, { timeoutMs: 300 })).rejects.toMatchObject({ code: "timeout" });
  expect([closed, server.messages]).toEqual([false, []]);
});

it("a connection that is reset before anyone listens to it does not end the process", async () => {
  const server = await serve();
  const connect = createGuardedConnect({ allow: [server.host] });
  const socket = await connect("127.0.0.1", server.port, new AbortController().signal);
  const closed = new Promise((done) => socket.once("close", done));
  socket.destroy(new Error("read ECONNRESET"));
  await closed;
});

describe("many messages at once", () => {
  it("take turns over few connections, so that an organization's burst does not stop others", async () => {
    let open = 0;
    const release: (() => void)[] = [];
    const server = await serve({
      answer: async (command) => {
        if (command === "greeting") {
          open += 1;
          return open > 10 ? "421 Too many connections" : null;
        }
        if (command === "DATA") await new Promise<void>((done) => release.push(done));
        if (command === "data") open -= 1;
        return null;
      },
    });
    const sendMail = mailer(server);
    const burst = Array.from({ length: 30 }, () => send(sendMail, {}, { organizationId: "a" }));
    await vi.waitFor(() => expect(release.length).toBeGreaterThan(0));
    // While the server holds every message of the burst.
    const other = send(sendMail, { to: "ada@example.test" }, { organizationId: "b" });
    await vi.waitFor(() => expect(server.commands).toContain("RCPT TO:<ada@example.test>"), {
      timeout: 10_000,
    });
    const releasing = setInterval(() => release.splice(0).forEach((done) => void done()), 5);
    ends.push(() => clearInterval(releasing));
    await expect(other).resolves.toMatchObject({ rejected: [] });
    for (const each of await Promise.all(burst)) expect(each).toMatchObject({ rejected: [] });
    expect(server.messages).toHaveLength(31);
    expect(server.most()).toBeLessThanOrEqual(10);
  });

  it("carry nothing of another organization: each has its own connection and login", async () => {
    const server = await serve();
    const sendMail = mailer(server, { user: "ada", password: PASSWORD });
    for (const organizationId of ["a", "b", "a"]) await send(sendMail, {}, { organizationId });
    const kinds = server.commands.map((each) => each.split(/[ :]/)[0]);
    expect(kinds).toEqual(Array(3).fill(["EHLO", "AUTH", "MAIL", "RCPT", "DATA"]).flat());
  });
});

it("no character of any field adds a header, a recipient, a command or a second message", async () => {
  const server = await serve();
  const sendMail = mailer(server);
  const hostile = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc
      .array(
        fc.constantFrom(
          "\r\n",
          "\n",
          "\r",
          "\0",
          ".",
          "\r\n.\r\n",
          "\n.\n",
          "\r.\r",
          "\n.\r\n",
          "\r\n.\n",
          "\x0b",
          "\x0c",
          "\x85",
          "\u2028",
          "Bcc: eve@evil.test",
          "MAIL FROM:<eve@evil.test>",
          "RCPT TO:<eve@evil.test>",
          "DATA",
          "QUIT",
          "=?utf-8?Q?=0D=0A?=",
          " ",
          "\t",
          "x".repeat(1_100),
          "é",
          "\ud800",
        ),
        { maxLength: 12 },
      )
      .map((parts) => parts.join("")),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.record({ subject: hostile, text: hostile, html: hostile }, { requiredKeys: ["subject", "text"] }),
      async (fields) => {
        server.commands.length = 0;
        server.messages.length = 0;
        const sent = await send(sendMail, fields).catch((error: unknown) => error);
        if (sent instanceof Error) {
          expect(sent).toMatchObject({ code: "invalid_input" });
          return;
        }
        expect(server.commands.slice(1)).toEqual([
          "MAIL FROM:<no-reply@stepwell.test>",
          "RCPT TO:<bob@example.test>",
          "DATA",
        ]);
        const [message = ""] = server.messages;
        expect(server.messages).toHaveLength(1);
        // Bare line ends, or a dot alone in a line, are where servers disagree on the end of a message.
        expect(message).not.toMatch(/\r(?!\n)|(?<!\r)\n|(^|\r\n)\.\r\n/);
        const [head = ""] = message.split(/\r\n\r\n|\r\n$/);
        const names = head
          .replace(/\r\n[ \t][^\r]*/g, "")
          .split("\r\n")
          .map((line) => line.split(":")[0]?.toLowerCase());
        const known = [
          "from",
          "to",
          "subject",
          "message-id",
          "date",
          "mime-version",
          "content-type",
          "content-transfer-encoding",
        ];
        for (const name of names) expect(known).toContain(name);
        expect(new Set(names).size).toBe(names.length);
        for (const line of message.split("\r\n")) expect(line.length).toBeLessThanOrEqual(998);
      },
    ),
    { numRuns: 300 },
  );
});

it("the largest message that the limits allow arrives complete", async () => {
  const server = await serve();
  const text = "ä".repeat(256 * 1024);
  await send(mailer(server), { text, html: `<p>${"x".repeat(512 * 1024 - 7)}</p>` });
  expect(server.messages[0]?.length).toBeGreaterThan(1024 * 1024);
  expect(server.messages[0]?.match(/=C3=A4|w6TDpMOk/g)?.length).toBeGreaterThan(1_000);
});
