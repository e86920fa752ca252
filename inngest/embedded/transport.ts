import { ZodError } from "zod";
import { isPassing } from "@/server/db/outage";
import {
  type Checkpoint,
  checkpointSchema,
  describeError,
  type SentEvents,
  sentEventsSchema,
} from "./protocol";

/** What the SDK may ask of its server, as far as this engine answers it. */
export type Server = {
  /** Takes events in and returns their ids. `idSeed` is the same when the SDK repeats a send. */
  send(events: SentEvents, idSeed: string | null): Promise<string[]>;
  /** Saves steps of a call under way. False: the call is stale and must stop. */
  checkpoint(checkpoint: Checkpoint): Promise<boolean>;
};

/**
 * Makes the `fetch` that an `Inngest` client is given: every call to its server is answered in this process.
 * Statuses: 200; 409 for a stale checkpoint, upon which the SDK stops; 400 for what cannot be read; 404 for an endpoint
 * that this engine does not have; 503 while the database is away. It never throws and never leaves the process.
 */
export function createTransport(server: Server): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    try {
      if (request.method === "POST" && pathname.startsWith("/e/")) {
        const body: unknown = await request.json();
        const events = sentEventsSchema.parse(Array.isArray(body) ? body : [body]);
        const ids = await server.send(events, request.headers.get("x-inngest-event-id-seed"));
        return Response.json({ ids, status: 200 });
      }
      if (request.method === "POST" && /^\/v1\/checkpoint\/[^/]+\/async$/.test(pathname)) {
        const held = await server.checkpoint(checkpointSchema.parse(await request.json()));
        return held
          ? Response.json({})
          : refuse(409, "This call is stale: its job has another holder or is gone.");
      }
      return refuse(404, `The embedded engine does not implement ${request.method} ${pathname}.`);
    } catch (error) {
      if (error instanceof ZodError || error instanceof SyntaxError)
        return refuse(400, describeError(error).message);
      return refuse(isPassing(error) ? 503 : 500, describeError(error).message);
    }
  };
}

function refuse(status: number, error: string): Response {
  return Response.json({ error, status }, { status });
}
