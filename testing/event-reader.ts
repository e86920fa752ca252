import { sleep } from "@/server/base/sleep";

export type ReadEvent = { id: number | null; name: string; data: Record<string, unknown> };

export function readEvents(text: string): ReadEvent[] {
  const blocks = text.slice(0, text.lastIndexOf("\n\n") + 1).split("\n\n");
  return blocks.flatMap((block) => {
    const fields = new Map(block.split("\n").map((line) => splitField(line)));
    const name = fields.get("event");
    if (name === undefined) return [];
    const id = fields.get("id");
    const data = JSON.parse(fields.get("data") ?? "{}");
    return [{ id: id === undefined ? null : Number(id), name, data }];
  });
}

function splitField(line: string): [string, string] {
  const at = line.indexOf(": ");
  return [line.slice(0, at), line.slice(at + 2)];
}

const isEnd = ({ name }: ReadEvent) => ["run.completed", "run.failed", "run.cancelled"].includes(name);

/**
 * Follows a run from its first event to its end, as a client would: it asks again with the last id whenever a process
 * dies. `addressOf` is the address of the events in the process of the moment.
 */
export async function followThroughKills(addressOf: () => string, key: string): Promise<ReadEvent[]> {
  const events: ReadEvent[] = [];
  while (!events.some(isEnd)) {
    const last = events.findLast(({ id }) => id !== null)?.id ?? 0;
    const headers = { "X-API-Key": key, "Last-Event-ID": String(last) };
    const known = events.length;
    let text = "";
    try {
      const response = await fetch(addressOf(), { headers });
      if (response.ok) {
        for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
          text += chunk;
          events.splice(known, events.length, ...readEvents(text));
        }
      }
    } catch {
      // The process died, or does not listen yet.
    }
    await sleep(50);
  }
  return events;
}
