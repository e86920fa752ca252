import { getServices } from "@/process-services";

/** Calls from an Inngest server. serve.ts answers them without Next. */
const handle = (request: Request) => getServices().engine.handle(request);

export { handle as GET, handle as POST, handle as PUT };
