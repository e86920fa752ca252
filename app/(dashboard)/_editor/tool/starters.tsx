import { ChevronRightIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";

/** A complete tool, as the start of a new one. Its slug also names it in the address of the page for a new tool. */
export type ToolStarter = { slug: string; name: string; about: string; yaml: string };

export const EMPTY_TOOL = `slug: ""
name: ""
steps: []
`;

export const TOOL_STARTERS: readonly ToolStarter[] = [
  {
    slug: "greeting",
    name: "Greeting",
    about: "One step that makes a text of the input",
    yaml: `slug: greeting
name: Greeting
description: Greets a city.
parameters:
  type: object
  properties:
    city: { type: string, description: "A city, such as Oslo" }
  required: [city]
steps:
  - id: greeting
    uses: transform_json
    with:
      value: "{{ input }}"
      expression: '"Hello " & city'
output: "{{ steps.greeting }}"
`,
  },
  {
    slug: "look-up-orders",
    name: "Look up orders",
    about: "Asks an HTTP service, then keeps what matters of the answer",
    yaml: `slug: look-up-orders
name: Look up orders
description: Finds the open orders of a customer, with their total.
parameters:
  type: object
  properties:
    customer: { type: string, description: "The customer's number, such as C-1002" }
  required: [customer]
steps:
  - id: orders
    uses: http_request
    with:
      url: https://api.example.com/orders
      query:
        customer: "{{ input.customer }}"
        status: open
    retries: 2
  - id: summary
    uses: transform_json
    with:
      value: "{{ steps.orders.body }}"
      expression: '{"count": $count(orders), "total": $sum(orders.total)}'
output: "{{ steps.summary }}"
`,
  },
  {
    slug: "page-by-email",
    name: "Page by email",
    about: "Reads a web page and sends its text, if there is any",
    yaml: `slug: page-by-email
name: Page by email
description: Sends the text of a web page.
parameters:
  type: object
  properties:
    url: { type: string, description: "The page's address" }
    to: { type: string, description: "Who gets the text" }
  required: [url, to]
steps:
  - id: page
    uses: http_request
    with:
      url: "{{ input.url }}"
  - id: content
    uses: extract_text
    with:
      html: "{{ steps.page.body }}"
  - id: mail
    uses: send_email
    if: steps.content.text != ""
    with:
      to: "{{ input.to }}"
      subject: "{{ steps.content.title }}"
      text: "{{ steps.content.text }}"
output: "{{ steps.mail }}"
`,
  },
];

export function ToolStarterLinks() {
  return (
    <section aria-labelledby="starters" className="flex max-w-3xl flex-col gap-2">
      <h2 className="font-semibold" id="starters">
        Begin with a template
      </h2>
      <ul className="divide-y divide-line overflow-hidden rounded-md border border-line-strong bg-raised">
        {TOOL_STARTERS.map(({ slug, name, about }) => (
          <li key={slug}>
            <Link
              className="flex items-center gap-3 px-4 py-2.5 -outline-offset-2 hover:bg-hover"
              href={`/tools/new?from=${slug}`}
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
      <p className="text-muted">Or begin empty: name the tool, then add its first step.</p>
    </section>
  );
}
