/**
 * The header in which a call names the organization and person of its page (`pageOf`). If the session is another
 * person's or in another organization, the answer has it, with the id of the session's organization.
 */
export const ORGANIZATION_HEADER = "x-stepwell-organization";

/** The same as a query parameter: links and event streams cannot set headers. */
export const ORGANIZATION_PARAM = "organization";

export const pageOf = ({ orgId, userId }: { orgId: string; userId: string }) => `${orgId}.${userId}`;
