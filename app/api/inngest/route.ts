import { getServices } from "@/wiring";

/** The Inngest server's calls; there is nothing here while runs are driven by the embedded engine. */
async function handle(request: Request): Promise<Response> {
  const answer = await getServices().engine.handle(request);
  return answer ?? new Response("Not found", { status: 404 });
}

export { handle as GET, handle as POST, handle as PUT };
