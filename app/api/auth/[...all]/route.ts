import { clientAddressOf } from "@/server/api/client-address";
import { handleAuthRequest } from "@/server/auth/auth-requests";
import { getServices } from "@/wiring";

/** Signing in and out. */
function handle(request: Request): Promise<Response> {
  const services = getServices();
  return handleAuthRequest(services, request, clientAddressOf(services.env, request));
}

export { handle as GET, handle as POST };
