/** How a step of a tool refers to a secret. */
export function referenceTo(name: string): string {
  return `{{ secrets.${name} }}`;
}

/** The hosts in a text: one per line, or separated by commas or spaces. */
export function readHosts(text: string): string[] {
  return text.split(/[\s,]+/).filter((host) => host !== "");
}

/** The labels of a form's fields. The message about a host begins with that host. */
export function labelsOf(hosts: readonly string[]): Record<string, string> {
  return {
    "/name": "Name",
    "/value": "Value",
    "/expiresAt": "The date",
    ...Object.fromEntries(hosts.map((host, index) => [hostPath(index), host])),
    "/hosts": "Allowed hosts",
  };
}

/** The error at the field of the hosts: about the first wrong one, or about the list. */
export function hostsError(
  at: (path: string) => string | undefined,
  hosts: readonly string[],
): string | undefined {
  for (const index of hosts.keys()) {
    const error = at(hostPath(index));
    if (error !== undefined) return error;
  }
  return at("/hosts");
}

const hostPath = (index: number) => `/hosts/${index}`;
