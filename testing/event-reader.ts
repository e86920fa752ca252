import { sleep } from "@/server/base/sleep";

/** `place` is the id as the service wrote it, which a number cannot hold if called runs are followed. */
export type ReadEvent = {
  id: number | null;
  place: string | null;
  name: string;
  data: Record<string, unknown>;
};

export function readEvents(text: string): ReadEvent[] {
  const blocks = text.slice(0, text.lastIndexOf("\n\n") + 1).split("\n\n");
  return blocks.flatMap((block) => {
    const fields = new Map(block.split("\n").map((line) => splitField(line)));
    const name = fields.get("event");
    if (name === undefined) return [];
    const place = fields.get("id") ?? null;
    const data = JSON.parse(fields.get("data") ?? "{}");
    return [{ id: place === null ? null : Number.parseInt(place, 10), place, name, data }];
  });
}

function splitField(line: string): [string, string] {
  const at = line.indexOf(": ");
  return [line.slice(0, at), line.slice(at + 2)];
}

/** Not the end of a run that the run called. */
export const isEnd = ({ name, data }: ReadEvent) =>
  data.path === undefined && ["run.completed", "run.failed", "run.cancelled"].includes(name);

/**
 * Follows a run from its first event to its end, as a client would: it asks again with the last id whenever a process
 * dies. `addressOf` is the address of the events in the process of the moment. With `snapshot`, it starts with one.
 */
export async function followThroughKills(
  addressOf: () => string,
  key: string,
  { snapshot = false }: { snapshot?: boolean } = {},
): Promise<ReadEvent[]> {
  const events: ReadEvent[] = [];
  while (!events.some(isEnd)) {
    const last = events.findLast(({ place }) => place !== null)?.place ?? (snapshot ? null : "0");
    const headers = { "X-API-Key": key, ...(last !== null && { "Last-Event-ID": last }) };
    const known = events.length;
    let text = "";
    const response = await fetch(addressOf(), { headers }).catch(() => null);
    if (response !== null && response.status >= 400 && response.status < 500) {
      throw new Error(`${response.status} for the event after ${last}: ${await response.text()}`);
    }
    try {
      for await (const chunk of (response?.ok && response.body?.pipeThrough(new TextDecoderStream())) || []) {
        text += chunk;
        events.splice(known, events.length, ...readEvents(text));
      }
    } catch {
      // The process died.
    }
    await sleep(50);
  }
  return events;
}
