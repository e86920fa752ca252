import { z } from "zod";

/** An id from a caller, in lower case as ids are stored. Any UUID passes, whatever its version: unknown ids are 404. */
export const idInput = (message?: string) => z.guid(message).toLowerCase();
