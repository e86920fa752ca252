import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_EVENT_LENGTH } from "@/server/work/models/port";
import { EventStreamReader } from "./event-stream";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const read = (...chunks: Uint8Array[]) => {
  const reader = new EventStreamReader();
  return chunks.flatMap((chunk) => reader.push(chunk));
};

describe("reads", () => {
  test.each<[string, string, string[]]>([
    ["lines that end with LF", "data: a\n\ndata: b\n\n", ["a", "b"]],
    ["lines that end with CR", "data: a\r\rdata: b\r\r", ["a", "b"]],
    ["lines that end with CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
    ["line ends of several kinds", "data: a\r\ndata: b\n\rdata: c\r\n\n", ["a\nb", "c"]],
    ["data of several lines", "data: a\ndata:\ndata: b\n\n", ["a\n\nb"]],
    ["data without a blank, and with two", "data:a\n\ndata:  b\n\n", ["a", " b"]],
    ["a field without a colon", "data\n\n", [""]],
    ["a byte order mark", "\uFEFFdata: a\n\n", ["a"]],
    [
      "no comments and no other fields",
      ": hi\nevent: x\nid: 1\nretry: 5\ndatabase: no\n data: no\n\ndata: a\n\n",
      ["a"],
    ],
    ["no event that the stream ends in", "data: a\n\ndata: b\n", ["a"]],
    ["characters of two, three and four bytes", "data: é€😀\n\n", ["é€😀"]],
  ])("%s", (_name, text, events) => {
    expect(read(bytesOf(text))).toEqual(events);
    expect(read(...[...bytesOf(text)].map((byte) => Uint8Array.of(byte)))).toEqual(events);
  });

  test("the same events however the bytes are split", () => {
    const part = fc.constantFrom("data: ", "data:", "x", "é", "😀", "\n", "\r", "\r\n", ":", "event: a");
    fc.assert(
      fc.property(fc.array(part), fc.array(fc.nat(20)), (parts, cuts) => {
        const bytes = bytesOf(parts.join(""));
        const chunks: Uint8Array[] = [];
        let from = 0;
        for (const cut of cuts) {
          chunks.push(bytes.subarray(from, from + cut));
          from += cut;
        }
        expect(read(...chunks, bytes.subarray(from))).toEqual(read(bytes));
      }),
    );
  });
});

describe("gives up", () => {
  const pushMany = (chunk: string, count: number) => () => {
    const reader = new EventStreamReader();
    const bytes = bytesOf(chunk);
    for (let i = 0; i < count; i += 1) reader.push(bytes);
  };

  test("an endless line, in linear time", () => {
    expect(pushMany("xxxx", MAX_EVENT_LENGTH / 4)).not.toThrow();
    // If each chunk were joined or searched again, these 262,145 chunks would take minutes.
    expect(pushMany("xxxx", MAX_EVENT_LENGTH / 4 + 1)).toThrow(/is longer than/);
  });

  test("an endless event, counting empty data lines", () => {
    expect(pushMany("data:x\n", MAX_EVENT_LENGTH / 2)).not.toThrow();
    expect(pushMany("data:x\n", MAX_EVENT_LENGTH / 2 + 1)).toThrow(/is longer than/);
    expect(pushMany("data\n", MAX_EVENT_LENGTH + 1)).toThrow(/is longer than/);
  });
});
