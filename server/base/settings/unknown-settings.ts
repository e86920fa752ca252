import { nearestName } from "@/server/base/nearest-name";

const PREFIX = "STEPWELL_";
const OTHERS = /^STEPWELL_(ENV_FILE|NEXT_DIR|PACKAGE|E2E_\w+)$/;

// Other programs take them for outbound calls (langflow-ai/langflow#10297).
const PROXIES = /^(https?|all)_proxy$/i;

/**
 * A sentence for each STEPWELL_* name that nothing reads, with the setting that was probably meant, and one for each address
 * of a proxy.
 */
export function describeUnknownSettings(names: readonly string[], settings: readonly string[]): string[] {
  const unknown = names.filter(
    (name) => name.startsWith(PREFIX) && !settings.includes(name) && !OTHERS.test(name),
  );
  const proxies = names.filter((name) => PROXIES.test(name)).sort();
  const hints = unknown.sort().map((name) => {
    const meant = nearestName(name, settings);
    const hint = meant === undefined ? "docs/operating.md lists the settings." : `Did you mean ${meant}?`;
    return `${name} is not a setting and has no effect. ${hint}`;
  });
  return [...hints, ...proxies.map((name) => `${name} has no effect: outbound calls connect directly.`)];
}
