/**
 * The header in which a call names the id of the organization that its page shows. An answer has it, with the id of the
 * session's organization, if that is another one.
 */
export const ORGANIZATION_HEADER = "x-stepwell-organization";

/** The same as a query parameter: links and event streams cannot set headers. */
export const ORGANIZATION_PARAM = "organization";
