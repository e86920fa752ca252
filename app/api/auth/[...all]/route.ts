import { clientAddress } from "@/server/api/client-address";
import { CLIENT_ADDRESS_HEADER, getAuth } from "@/server/auth/sessions";
import { getServices } from "@/wiring";

/** Signing in and out. better-auth learns the client's address from us, never from what a client claims. */
function handle(request: Request): Promise<Response> {
  const services = getServices();
  const headers = new Headers(request.headers);
  headers.set(CLIENT_ADDRESS_HEADER, clientAddress(services.env, request.headers));
  return getAuth(services).handler(new Request(request, { headers }));
}

export { handle as GET, handle as POST };
