import { once } from "node:events";
import { SMTPServer } from "smtp-server";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { readEnvironment, type SmtpSettings } from "@/server/base/settings/env";
import { createGuardedConnect } from "@/server/guard/egress/guarded-connect";
import { executeFunction } from "@/server/work/functions/core/execute";
import { testFunctionContext } from "@/testing/function-context";
import { createMailer } from "./smtp";

type Received = { from: string; to: string[]; message: string; user: unknown };
let received: Received[] = [];
let logins = 0;
let server: SMTPServer;
let port: number;

beforeAll(async () => {
  server = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, done) {
      logins += 1;
      if (username === "ada" && password === "p@ss") done(null, { user: username });
      else done(new Error("Invalid login"));
    },
    onRcptTo({ address }, _session, done) {
      done(address.startsWith("unknown@") ? new Error("No such mailbox") : null);
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          message: Buffer.concat(chunks).toString(),
          user: session.user,
        });
        done();
      });
    },
  });
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  port = z.object({ port: z.number() }).parse(server.server.address()).port;
});
afterEach(() => {
  received = [];
});
afterAll(() => new Promise<void>((done) => server.close(() => done())));

const settings = (fields: Partial<SmtpSettings> = {}): SmtpSettings => ({
  host: "127.0.0.1",
  port,
  secure: false,
  requireTls: false,
  user: "ada",
  password: "p@ss",
  from: "Stepwell <no-reply@stepwell.test>",
  ...fields,
});

const send = (input: object, fields: Partial<SmtpSettings> = {}, allow = [`127.0.0.1:${port}`]) => {
  const sendMail = createMailer(settings(fields), createGuardedConnect({ allow }));
  const message = { to: "bob@example.test", subject: "Hi", text: "Hello", ...input };
  return executeFunction("send_email", { input: message, context: testFunctionContext({ sendMail }) });
};

it("sends text and HTML to all recipients, as the operator's sender", async () => {
  const to = ["bob@example.test", "eve@example.test"];
  const result = await send({ to, subject: "Grüße", text: "Hello\n.\nworld", html: "<p>Hello</p>" });
  expect(result).toEqual({
    messageId: expect.stringMatching(/^<\w{40}@stepwell\.test>$/),
    accepted: to,
    rejected: [],
  });
  expect(received).toMatchObject([{ from: "no-reply@stepwell.test", to, user: "ada" }]);
  const [{ message } = { message: "" }] = received;
  expect(message).toContain("From: Stepwell <no-reply@stepwell.test>");
  expect(message).toContain("multipart/alternative");
  expect(message).toContain("<p>Hello</p>");
});

it("repeats a message under the same Message-ID, and has another one for another step", async () => {
  const ids = async (idempotencyKey: string) => {
    const sendMail = createMailer(settings(), createGuardedConnect({ allow: [`127.0.0.1:${port}`] }));
    const input = { to: "bob@example.test", subject: "Hi", text: "Hello" };
    const result = await executeFunction("send_email", {
      input,
      context: testFunctionContext({ sendMail, idempotencyKey }),
    });
    return z.object({ messageId: z.string() }).parse(result).messageId;
  };
  const first = await ids("run:step");
  expect(await ids("run:step")).toBe(first);
  expect(await ids("run:other")).not.toBe(first);
  expect(received.filter(({ message }) => message.includes(`Message-ID: ${first}`))).toHaveLength(2);
});

it("names the recipients that the server rejects", async () => {
  const to = ["bob@example.test", "unknown@example.test"];
  expect(await send({ to })).toMatchObject({
    accepted: ["bob@example.test"],
    rejected: ["unknown@example.test"],
  });
});

it.each([
  ["all recipients are rejected", { to: "unknown@example.test" }, {}, /No such mailbox/],
  ["the login is wrong", {}, { password: "wrong" }, /Invalid login/],
  ["no process listens", {}, { port: 1 }, /connection was refused/],
])("fails when %s", async (_name, input, fields, message) => {
  const allow = [`127.0.0.1:${port}`, "127.0.0.1:1"];
  await expect(send(input, fields, allow)).rejects.toMatchObject({
    code: "mail_failed",
    message: expect.stringMatching(message),
  });
});

it("sends no password to a server that does not offer TLS, unless that is allowed", async () => {
  logins = 0;
  await expect(send({}, { requireTls: true })).rejects.toMatchObject({
    code: "mail_failed",
    message: expect.stringContaining("SMTP_REQUIRE_TLS=0"),
  });
  expect([logins, received]).toEqual([0, []]);
  expect(await send({}, { requireTls: false })).toMatchObject({ rejected: [] });
});

it.each([
  ["smtp://user:secret@mail.test:587", {}, true],
  ["smtp://user:secret@mail.test:587", { SMTP_REQUIRE_TLS: "0" }, false],
  ["smtp://user:secret@127.0.0.1:1025", {}, false],
  ["smtp://user:secret@[::1]:1025", {}, false],
  ["smtp://user:secret@localhost:1025", {}, false],
  ["smtp://user:secret@10.0.0.1:25", {}, true],
  ["smtp://mail.test:25", {}, false],
])("%s with %j requires TLS: %s", (address, env, expected) => {
  const { smtp } = readEnvironment({
    DATABASE_URL: "postgres://localhost/x",
    STEPWELL_SECRET: "x".repeat(32),
    SMTP_URL: address,
    SMTP_FROM: "no-reply@stepwell.test",
    ...env,
  });
  expect(smtp?.requireTls).toBe(expected);
});

it.each([
  ["an address", "127.0.0.1"],
  ["a name", "localhost"],
])("does not connect to a private server by %s unless EGRESS_ALLOW names it", async (_name, host) => {
  await expect(send({}, { host }, [])).rejects.toMatchObject({
    code: "mail_failed",
    message: expect.stringContaining(`EGRESS_ALLOW=${host}:${port}`),
  });
  expect(received).toEqual([]);
});

it("resolves a name once and rejects it when any of its addresses is private", async () => {
  let lookups = 0;
  const connect = createGuardedConnect({
    lookup: (_host, _options, callback) => {
      lookups += 1;
      // Another answer for the name gains nothing: the socket connects to the checked address.
      const addresses = lookups === 1 ? ["93.184.215.14", "127.0.0.1"] : ["93.184.215.14"];
      callback(
        null,
        addresses.map((address) => ({ address, family: 4 })),
      );
    },
  });
  const sendMail = createMailer(settings({ host: "mail.test" }), connect);
  const input = { to: "bob@example.test", subject: "Hi", text: "Hello" };
  await expect(
    executeFunction("send_email", { input, context: testFunctionContext({ sendMail }) }),
  ).rejects.toMatchObject({
    code: "mail_failed",
    message: expect.stringContaining("is not a public address"),
  });
  expect(lookups).toBe(1);
  expect(received).toEqual([]);
});

it.each([
  ["a second recipient in a line", { to: "bob@example.test\r\nBcc: eve@example.test" }],
  ["a list in one address", { to: "bob@example.test, eve@example.test" }],
  ["a header in the subject", { subject: "Hi\r\nBcc: eve@example.test" }],
  ["too many recipients", { to: Array.from({ length: 51 }, (_, i) => `a${i}@example.test`) }],
])("rejects %s", async (_name, input) => {
  await expect(send(input)).rejects.toMatchObject({ code: "invalid_input" });
  expect(received).toEqual([]);
});

it("keeps the password out of a rejection that repeats the command", async () => {
  const password = "p@ssw0rd-of-the-operator";
  for (const echo of [password, Buffer.from(`\0ada\0${password}`).toString("base64")]) {
    for (const before of [0, 270]) {
      const rejecting = new SMTPServer({
        disabledCommands: ["STARTTLS"],
        allowInsecureAuth: true,
        onAuth: (_auth, _session, done) => done(new Error(`${"-".repeat(before)} AUTH PLAIN ${echo}`)),
      });
      rejecting.listen(0, "127.0.0.1");
      await once(rejecting.server, "listening");
      const other = z.object({ port: z.number() }).parse(rejecting.server.address()).port;
      const rejected = await send({}, { password, port: other }, [`127.0.0.1:${other}`]).catch(String);
      await new Promise<void>((done) => rejecting.close(done));
      expect(rejected).toContain("The mail server did not take the message");
      expect(rejected).not.toContain(echo.slice(echo === password ? 0 : 8, 16));
    }
  }
});

it("reports that no mail server is configured", async () => {
  const input = { to: "bob@example.test", subject: "Hi", text: "Hello" };
  await expect(
    executeFunction("send_email", { input, context: testFunctionContext() }),
  ).rejects.toMatchObject({
    code: "not_configured",
    message: expect.stringContaining("SMTP_URL"),
  });
});

it("ends when the run is cancelled", async () => {
  const controller = new AbortController();
  const reason = new Error("cancelled");
  const sendMail = createMailer(settings(), createGuardedConnect({ allow: [`127.0.0.1:${port}`] }));
  controller.abort(reason);
  const message = {
    organizationId: "org-1",
    to: ["bob@example.test"],
    subject: "Hi",
    text: "Hello",
    idempotencyKey: "k",
  };
  await expect(sendMail(message, controller.signal)).rejects.toBe(reason);
});
