import type { Wired } from "@/process-services";
import { serveFetch } from "@/testing/servers/fetch-server";
import type { Stage } from "./stage";

/** A stage for an Inngest server that calls this machine's loopback address. `env` are a service's settings for it. */
export async function createServerStage(env: Record<string, string>): Promise<Stage & { url: string }> {
  let current: Wired | undefined;
  const { origin, close } = await serveFetch(
    async (request) => (await current?.engine.handle(request)) ?? new Response(null, { status: 503 }),
  );
  return {
    url: `${origin}/api/inngest`,
    env: { APP_URL: origin, ...env },
    serve: (services) => {
      current = services;
    },
    close,
  };
}
