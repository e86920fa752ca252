/** The services that verbs use; built once by wiring.ts. Each room below names those that it needs. */
export type { Services } from "./catalog/services";
