import { ChevronRightIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import type { AgentFields } from "./agent-fields";

/** A complete agent, as the start of a new one. */
export type Starter = {
  about: string;
  fields: Pick<AgentFields, "slug" | "name" | "systemPrompt"> & Partial<AgentFields>;
};

export const AGENT_STARTERS: readonly Starter[] = [
  {
    about: "Works out totals and discounts, and shows how",
    fields: {
      slug: "price-desk",
      name: "Price desk",
      systemPrompt: `You answer questions about prices.

- Use calculate for every figure. Never calculate yourself.
- From ten pieces of one item, give a discount of 10 %.
- Answer with the total first, then one line on how it came about.`,
      functions: ["calculate"],
    },
  },
  {
    about: "Sorts a message, says how urgent it is and drafts a reply, as JSON",
    fields: {
      slug: "support-triage",
      name: "Support triage",
      systemPrompt: `You sort messages to a shop's support.

- category: what the message is about.
- urgent: true if the sender loses money or time by waiting.
- reply: a draft of two to four sentences, friendly and concrete. Promise nothing.`,
      outputSchema: {
        type: "object",
        properties: {
          category: { type: "string", enum: ["delivery", "payment", "product", "other"] },
          urgent: { type: "boolean" },
          reply: { type: "string" },
        },
        required: ["category", "urgent", "reply"],
        additionalProperties: false,
      },
    },
  },
  {
    about: "Reads a public web page and sums it up",
    fields: {
      slug: "page-reader",
      name: "Page reader",
      systemPrompt: `You read web pages and sum them up.

- Fetch each address in the message with http_request, and take its text with extract_text.
- Write at most five points, each one sentence. Quote figures exactly.
- If you cannot read a page, say which and why.`,
      functions: ["http_request", "extract_text"],
    },
  },
];

export function StarterLinks() {
  return (
    <ul
      aria-label="Agents to begin with"
      className="w-full max-w-2xl divide-y divide-line overflow-hidden rounded-md border border-line-strong bg-raised"
    >
      {AGENT_STARTERS.map(({ about, fields: { slug, name } }) => (
        <li key={slug}>
          <Link
            className="flex items-center gap-3 px-4 py-2.5 -outline-offset-2 hover:bg-hover"
            href={`/agents/new?from=${slug}`}
          >
            <span className="min-w-0 flex-1">
              <span className="block font-medium text-ink">{name}</span>
              <span className="block text-muted">{about}</span>
            </span>
            <ChevronRightIcon className="shrink-0 text-muted" />
          </Link>
        </li>
      ))}
    </ul>
  );
}
