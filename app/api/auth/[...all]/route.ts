import { getServices } from "@/process-services";
import { clientAddressOf } from "@/server/api/http/client-address";
import { handleAuthRequest } from "@/server/catalog/auth/auth-requests";

function handle(request: Request): Promise<Response> {
  const services = getServices();
  return handleAuthRequest(services, request, clientAddressOf(services.env, request));
}

export { handle as GET, handle as POST };
