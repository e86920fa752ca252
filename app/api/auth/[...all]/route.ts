import { getAuth } from "@/server/auth/sessions";
import { getServices } from "@/wiring";

const handle = (request: Request) => getAuth(getServices()).handler(request);

export { handle as GET, handle as POST };
