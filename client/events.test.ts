import { describe, expect, it } from "vitest";
import { openScriptedServer, type ScriptedAnswer } from "@/testing/servers/scripted-server";
import { MessageReader } from "./src/event-stream.js";
import { TextsProgress } from "./src/events.js";
import { type RunEvent, StepwellClient, type TreeEvent } from "./src/index.js";

const ID = "019aa5d1-a2c4-7d11-9b6e-3f1c5e7a9b02";
const STREAM = { "content-type": "text/event-stream" };
const sse = (id: number | null, type: string, data: object) =>
  `${id === null ? "" : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;

const stream =
  (text: string, isCut: boolean): ScriptedAnswer =>
  (response) => {
    response.writeHead(200, STREAM);
    response.write(text, () => (isCut ? response.destroy() : response.end()));
  };

async function follow(...answers: [ScriptedAnswer, ...ScriptedAnswer[]]) {
  const server = await openScriptedServer(...answers);
  const client = new StepwellClient({ url: server.url, key: "k-1", retries: 1 });
  const seen: RunEvent<unknown>[] = [];
  let error: unknown = null;
  try {
    for await (const event of client.agentRun(ID).events()) seen.push(event);
  } catch (thrown) {
    error = thrown;
  }
  await server.close();
  return { seen, error, asked: server.requests.map(({ headers }) => headers["last-event-id"] ?? null) };
}

describe("the events of a run", () => {
  it("continue after the last one, through cuts, orderly ends and rejections", async () => {
    const { seen, error, asked } = await follow(
      stream(
        `retry: 1000\n\n${sse(3, "snapshot", { steps: [] })}${sse(4, "step.started", {})}id: 5\nevent: st`,
        true,
      ),
      { status: 503 },
      stream(sse(5, "step.completed", {}), false),
      stream(": still here\n\n", true),
      stream(sse(6, "run.completed", { status: "Completed" }), false),
    );
    expect(error).toBeNull();
    expect(seen.map(({ id, type }) => [id, type])).toEqual([
      [3, "snapshot"],
      [4, "step.started"],
      [5, "step.completed"],
      [6, "run.completed"],
    ]);
    expect(asked).toEqual([null, "4", "4", "5", "5"]);
  });

  it("repeat no text, and start it again if it is another one", async () => {
    const delta = (text: string, iteration = 1) => sse(null, "text.delta", { iteration, text });
    const { seen } = await follow(
      stream(sse(1, "snapshot", {}) + delta("Hel") + delta("lo"), true),
      stream(delta("Hello") + delta(" there"), true),
      stream(delta("Hello there, you"), true),
      stream(delta("Good day") + delta("Two", 2) + sse(2, "run.failed", {}), false),
    );
    expect(seen.slice(1, -1).map(({ type, data }) => [type, data])).toEqual([
      ["text.delta", { iteration: 1, text: "Hel" }],
      ["text.delta", { iteration: 1, text: "lo" }],
      ["text.delta", { iteration: 1, text: " there" }],
      ["text.delta", { iteration: 1, text: ", you" }],
      ["text.reset", { iteration: 1 }],
      ["text.delta", { iteration: 1, text: "Good day" }],
      ["text.delta", { iteration: 2, text: "Two" }],
    ]);
  });

  it("end without any if the reader has the last one", async () => {
    const server = await openScriptedServer((response) => response.writeHead(204).end());
    const events = new StepwellClient({ url: server.url, key: "k-1" }).toolRun(ID).events({ since: 7 });
    expect(await events.next()).toEqual({ done: true, value: undefined });
    await server.close();
    expect(server.requests.map(({ headers }) => headers["last-event-id"])).toEqual(["7"]);
  });

  it("end with the error of a run that is gone, or of a service that sends none", async () => {
    const gone = { status: 404, body: { code: "not_found", message: "Not found.", requestId: "r-1" } };
    const { error, seen } = await follow(stream(sse(1, "snapshot", {}), true), gone);
    expect(seen).toHaveLength(1);
    expect(error).toMatchObject({ status: 404, code: "not_found" });
    const empty = await follow(stream("", false));
    expect(empty.error).toMatchObject({ name: "ConnectionError" });
    expect(empty.asked).toHaveLength(2);
    expect((await follow({ status: 200, body: {} })).error).toMatchObject({ name: "ApiError", status: 200 });
  });

  it("stop when the reader leaves", async () => {
    let isOpen = true;
    const server = await openScriptedServer((response) => {
      response.writeHead(200, STREAM);
      response.write(sse(1, "snapshot", {}));
      response.on("close", () => {
        isOpen = false;
      });
    });
    const client = new StepwellClient({ url: server.url, key: "k-1" });
    for await (const event of client.toolRun(ID).events()) {
      expect(event.type).toBe("snapshot");
      break;
    }
    await expect.poll(() => isOpen).toBe(false);
    const leave = new AbortController();
    const events = client.toolRun(ID).events({ signal: leave.signal });
    await events.next();
    const next = events.next();
    leave.abort(new Error("enough"));
    await expect(next).rejects.toThrow("enough");
    await server.close();
  });
});

describe("the reader of messages", () => {
  const TEXT = "\r\n:c\r\nid: 7\r\nevent: a\r\ndata: 1\r\ndata:2\r\n\r\nevent: none\n\ndata\rid: 8\r\r";
  const MESSAGES = [
    { id: "7", event: "a", data: "1\n2" },
    { id: "8", event: "message", data: "" },
  ];

  it("takes every line ending, in pieces of any length", () => {
    for (let length = 1; length <= TEXT.length; length += 1) {
      const reader = new MessageReader();
      const found = [];
      for (let at = 0; at < TEXT.length; at += length)
        found.push(...reader.read(TEXT.slice(at, at + length)));
      expect(found).toEqual(MESSAGES);
    }
  });

  it("takes a long message of many pieces in linear time", () => {
    const reader = new MessageReader();
    const data = "xxxx".repeat(262_144);
    expect(reader.read("data: ")).toEqual([]);
    // If each piece were joined or searched again, these 262,144 pieces would take minutes.
    for (let at = 0; at < data.length; at += 4) reader.read(data.slice(at, at + 4));
    expect(reader.read("\n\n")).toEqual([{ id: null, event: "message", data }]);
  });
});

it("a new attempt of a model starts its text again", () => {
  const texts = new TextsProgress();
  const delta = (text: string) => ({ id: null, type: "text.delta" as const, data: { iteration: 1, text } });
  texts.pass(delta("One"));
  texts.pass({ id: null, type: "text.reset", data: { iteration: 1 } });
  texts.pass(delta("Two"));
  texts.reconnect();
  expect(texts.pass(delta("Two and three"))).toEqual([delta(" and three")]);
});

it("the events of called runs have their path, continue after their ids, and do not end the stream", async () => {
  const path = [{ stepNumber: 2, agentRunId: "r-2" }];
  const place = (id: string, type: string, data: object) => sse(null, type, data).replace(/^/, `id: ${id}\n`);
  const delta = (text: string, data: object = {}) => sse(null, "text.delta", { iteration: 1, text, ...data });
  const server = await openScriptedServer(
    stream(
      place("1", "step.started", { stepNumber: 2 }) +
        delta("root") +
        place("1(1.1:1)", "run.running", { startedAt: "now", path }) +
        delta("called", { path }),
      true,
    ),
    stream(
      delta("root") +
        delta("called run", { path }) +
        place("1(1.1:2)", "run.completed", { status: "Completed", path }) +
        place("2", "run.completed", { status: "Completed" }),
      false,
    ),
  );
  const client = new StepwellClient({ url: server.url, key: "k-1", retries: 1 });
  const seen: TreeEvent[] = [];
  for await (const event of client.toolRun(ID).events({ children: true, since: 0 })) seen.push(event);
  await server.close();
  expect(server.requests.map(({ path, headers }) => [path, headers["last-event-id"]])).toEqual([
    [`/v1/tools/run/${ID}/events?children=true`, "0"],
    [`/v1/tools/run/${ID}/events?children=true`, "1(1.1:1)"],
  ]);
  expect(seen).toEqual([
    { id: "1", type: "step.started", data: { stepNumber: 2 }, path: [] },
    { id: null, type: "text.delta", data: { iteration: 1, text: "root" }, path: [] },
    { id: "1(1.1:1)", type: "run.running", data: { startedAt: "now" }, path },
    { id: null, type: "text.delta", data: { iteration: 1, text: "called" }, path },
    { id: null, type: "text.delta", data: { iteration: 1, text: " run" }, path },
    { id: "1(1.1:2)", type: "run.completed", data: { status: "Completed" }, path },
    { id: "2", type: "run.completed", data: { status: "Completed" }, path: [] },
  ]);
});
