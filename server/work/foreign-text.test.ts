import { expect, test } from "vitest";
import { readJson } from "@/server/base/json/json";
import { parseJson } from "@/server/base/json/text";
import { createLogger } from "@/server/base/log";
import { parseTraceParent } from "@/server/base/trace-context";
import { formFields } from "@/server/catalog/webhooks/senders/call-body";
import { retryAfterMs } from "@/server/guard/egress/failures";
import { createRedactor } from "@/server/guard/secrets/redact";
import { findSecretNames } from "@/server/guard/secrets/references";
import { replaceNul } from "@/server/guard/secrets/stored-output";
import { decodeBody } from "@/server/work/functions/http-request/charset";
import { readLinks } from "@/server/work/functions/http-request/exchange";
import { repairLooseJson } from "@/server/work/models/calls/loose-json";
import { readModelList } from "@/server/work/models/calls/model-list";
import { escapeControls } from "@/server/work/models/calls/raw-controls";
import { StreamedCompletion } from "@/server/work/models/chat/streamed-completion";
import { readJsonAnswer } from "@/server/work/models/json-answer";
import { createProvider } from "@/server/work/models/provider";
import { isTimeZone } from "@/server/work/schedules/time-zone";
import { testClock } from "@/testing/clock";
import { modelRequest } from "@/testing/servers/model-server";

const tools = [{ name: "look", description: "", parameters: { type: "object" } }];

/** A call of a model whose server answers so. */
async function callModel(status: number, type: string, body: string): Promise<unknown> {
  const provider = createProvider({
    name: "test",
    baseUrl: "http://127.0.0.1:1",
    fetch: async () => new Response(body, { status, headers: { "content-type": type } }),
    clock: testClock(),
    random: () => 1,
    sleep: async () => undefined,
  });
  return provider.call(modelRequest("Hi", { tools })).catch((error: unknown) => error);
}

function answerOf(text: string): string {
  const choice = { message: { content: text }, finish_reason: "stop" };
  return JSON.stringify({ choices: [choice], usage: { prompt_tokens: 1, completion_tokens: 1 } });
}

const log = createLogger({ destination: { write: () => undefined } });
const redactor = createRedactor([{ value: "sk-abcdefgh", mark: "[secret a]" }]);

function orError(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error;
  }
}

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  "the log's requests": (path) =>
    log.request({ requestId: "r", method: "GET", path, status: 200, durationMs: 1 }),
  "the log's entries": (text) => log.info(text, { error: new Error(text) }),
  "an error of a model": (message) =>
    callModel(400, "application/json", JSON.stringify({ error: { message } })),
  "an error page of a model": (text) => callModel(500, "text/html", text),
  "an answer of a model": (text) => callModel(200, "application/json", answerOf(text)),
  "no answer of a model": (text) => callModel(200, "text/event-stream", text),
  "a JSON answer": (text) => readJsonAnswer(text, { type: "object" }, "o"),
  "a list of models": (name) => orError(() => readModelList({ data: [{ id: name }] })),
  "loose JSON": (text) => [repairLooseJson(`{${text}`), escapeControls(`"${text}`)],
  JSON: (text) => [orError(() => parseJson(text)), orError(() => readJson(text))],
  "JSON texts": (text) => [parseJson(JSON.stringify(text)), replaceNul(text)],
  "a content type": (text) => decodeBody(Buffer.from("x"), `text/html;a="${text}`),
  "a body": (text) => decodeBody(Buffer.from(text), "text/html"),
  links: (link) => readLinks({ link }),
  "a time zone": isTimeZone,
  "a trace": parseTraceParent,
  "a form": formFields,
  "a wait": (text) =>
    orError(() => retryAfterMs(new Headers({ "retry-after": `1${text.trim()}` }), new Date())),
  secrets: redactor.redact,
  references: (text) => findSecretNames({ a: text }),
};

const UNITS = [
  ...[
    " ",
    "\n",
    "\t",
    "a",
    "1",
    "1,",
    "1.",
    ".",
    ",",
    "a+",
    "a:",
    "://",
    "a+://",
    "a@",
    "/",
    "%",
    "&",
    "=",
    "-",
    "_",
  ],
  ...[
    '"',
    '\\"',
    '"\\',
    "\\",
    "'",
    "<",
    "<a>",
    "{",
    "[",
    "(",
    "{{",
    "```\n",
    "``` ",
    "data:",
    "data: [DONE]\n",
  ],
  ...[
    "charset=",
    "<meta charset ",
    "> 1",
    "sk-",
    "Bearer ",
    "/webhooks/",
    "[secret a]",
    "<think>",
    "<tool_call>",
  ],
  ...["thinking ", "not support ", "tool call id ", "reasoning_content ", "compile ", "think value "],
];
const TEXTS = [
  ...UNITS.map((unit) => ["", unit] as const),
  ...(["\n", " ", "\n```"] as const).map((unit) => ["```", unit] as const),
  ["<think>a</think>", " "] as const,
  ...(["1", "1,", "1,,", "1."] as const).map((unit) => ["maximum context length ", unit] as const),
];

const cpu = async (work: () => unknown) => {
  const before = process.cpuUsage();
  await work();
  return process.cpuUsage(before).user;
};

test.each(Object.keys(READERS))("%s: read in linear time", async (name) => {
  const read = READERS[name] ?? expect.fail();
  await read(UNITS.join("").repeat(4));
  for (const [beginning, unit] of TEXTS) {
    const textOf = (length: number) => `${beginning}${unit.repeat(length / unit.length)}://!\\`;
    const once = await cpu(() => read(textOf(4 * 1024)));
    const often = await cpu(() => read(textOf(64 * 1024)));
    // Sixteen times the text; quadratic time would be 256 times as long.
    expect(often, JSON.stringify(beginning + unit)).toBeLessThan(64 * Math.max(once, 2_000));
  }
});

test("answers in pieces of white space are read in linear time", async () => {
  for (const beginning of ["", "<think>", "<think>a</think>"]) {
    const readPieces = (count: number) => {
      const answer = new StreamedCompletion(() => undefined);
      for (const content of [beginning, ...Array<string>(count).fill(" \n\t ")])
        answer.add({ choices: [{ index: 0, delta: { content } }] });
    };
    await cpu(() => readPieces(100));
    const once = await cpu(() => readPieces(1024));
    expect(await cpu(() => readPieces(16 * 1024)), beginning).toBeLessThan(64 * Math.max(once, 2_000));
  }
});
